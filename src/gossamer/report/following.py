"""Facts made while a crawl goes on, a little at a time, so that a report finds them there.

It takes what nobody else needs: one process of the lowest priority, that rests whenever it has caught up.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Final

from gossamer.agent.crawl_dir import CrawlDir
from gossamer.errors import CrawlDirError, GossamerError
from gossamer.report.engine import Engine
from gossamer.report.making import catch_up
from gossamer.report.shelf import Shelf
from gossamer.report.source import CrawlSource

LOOK_EVERY: Final = 20.0  # seconds between two looks for more; each makes a file
_TURN: Final = 4.0  # seconds for which others are kept from writing; a report waits longer than that
_PAUSE: Final = 0.2  # seconds between two turns, in which others may take theirs
_MEMORY: Final = "256MB"  # of the database: it writes files of a few thousand facts, and merges them


class FactFollower:
    """Invariant: it has the facts for itself a few seconds at a time, so that a report can take them and make the rest
    on all cores. It only reads the crawl.
    """

    def __init__(self, home: Path, turn: float = _TURN) -> None:
        directory = CrawlDir(home)
        directory.check_readable()
        self._home = home
        self._turn = turn
        self._shelf = Shelf(home / "facts")

    def follow(self, wait: Callable[[float], bool], stop: Callable[[], bool] = lambda: False) -> int:
        """Until `wait`, which sleeps for the time it is given or less, or `stop` says that it is to end: at once, for
        who asks for a report then makes the rest on all cores. Gives how many captures were read.
        """
        made = 0
        while not stop():
            new, all_of_it = self._take_turn(stop)
            made += new
            if wait(LOOK_EVERY if all_of_it else _PAUSE):
                break
        return made

    def _take_turn(self, stop: Callable[[], bool]) -> tuple[int, bool]:
        """What a turn brought, and whether that was all there was."""
        until = monotonic() + self._turn

        def enough() -> bool:
            return stop() or monotonic() >= until

        try:
            with CrawlSource(self._home) as source, Engine(memory=_MEMORY) as engine, self._shelf.taken() as ours:
                if not ours:
                    return 0, False
                made = catch_up(source, self._shelf, engine, lambda _: None, 0, enough)
                done, total = source.sizes(self._shelf.read().places)
                return made, done >= total
        except CrawlDirError:
            raise
        except GossamerError:
            return 0, True  # a full disk, a file that is just being replaced: the next look may find it otherwise
