"""The indexing process that a crawl starts, keeps running, and waits for at its end: then it catches up and ends."""

from __future__ import annotations

import resource
import shlex
import signal
import sys
from collections.abc import Callable
from math import inf
from pathlib import Path
from time import monotonic
from typing import Final

from gossamer.agent.companion import FIRST_REST, Companion
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.index_status import IndexStatus, read_status

COMMAND: Final = (sys.executable, "-m", "gossamer", "index", "--follow", "--leash", "--dir")


class IndexProcess(Companion):
    """What it has not done when it is stopped, the next run goes on with."""

    name = "index"
    called = "the indexing process"
    comfort = "pages are stored all the same"

    def __init__(
        self, home: Path, notice: Callable[[str], None], command: tuple[str, ...] = COMMAND, rest: float = FIRST_REST
    ) -> None:
        self._directory = CrawlDir(home)
        super().__init__((*command, str(home)), self._directory.logs / "indexer.log", notice, rest=rest)
        self._spent = _children()
        self._broken_off = False

    @property
    def cpu_seconds(self) -> float:
        """User and system, of the processes that have ended."""
        return _children() - self._spent

    def status(self) -> IndexStatus:
        """What it said last of itself."""
        return read_status(self._directory.index) or IndexStatus()

    def finish(self, watch: Callable[[IndexStatus], None], every: float, patience: float = inf) -> IndexStatus:
        """Wait until it has caught up, so many seconds at most. Ctrl-C and SIGTERM end the waiting, and the process."""
        if self._process is None:  # the crawl had nothing to do, but its last run may have left something
            self._start()
        if self._process is None:
            return self.status()
        before = {number: signal.signal(number, _interrupted) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            self._let_go()
            began = monotonic()
            told = began - every
            while self._process.poll() is None:
                if monotonic() - began > patience:
                    self._break_off(" within the time limit")
                    break
                if monotonic() - told >= every:
                    told = monotonic()
                    watch(self.status())
                self._wait(0.1)
            if self._process.returncode and not self._broken_off:
                self._notice(
                    f"index: {self._ended()}, so some pages cannot be found yet; {self.comfort}."
                    f" To go on: {self._go_on()}"
                )
        except KeyboardInterrupt:
            self._break_off()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        return self.status()

    def _break_off(self, when: str = "") -> None:
        self._broken_off = True
        self.stop()
        self._notice(f"index: not caught up{when}; the next run goes on with it, as does: {self._go_on()}")

    def _go_on(self) -> str:
        """The command that brings the index up to date."""
        return f"gossamer index --dir {shlex.quote(str(self._directory.home))}"


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def _children() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime
