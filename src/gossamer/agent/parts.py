"""What a crawl is made of: one directory, or those of the agents that share the work on one machine."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import msgspec

from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.held import HELD, read_held
from gossamer.agent.progress import Progress
from gossamer.errors import CrawlDirError
from gossamer.frontier.reader import FrontierReader
from gossamer.model import State, VisitRecord

AGENTS: Final = "agents"


class Part(msgspec.Struct, frozen=True):
    """The directory of an agent, opened to be read."""

    directory: CrawlDir
    frontier: FrontierReader
    progress: Progress


def parts(home: Path) -> list[CrawlDir]:
    """The directories of the agents, in the order of their names; [home] for an ordinary crawl."""
    try:
        found = [path for path in (home / AGENTS).iterdir() if (path / "gossamer.toml").is_file()]
    except OSError:
        found = []
    return [CrawlDir(path) for path in sorted(found, key=lambda path: (len(path.name), path.name))] or [CrawlDir(home)]


def is_part(home: Path) -> bool:
    """Whether it is the directory of an agent of a crawl on one machine."""
    whole = home.absolute().parent.parent
    return home.absolute().parent == whole / AGENTS and (whole / "gossamer.toml").is_file()


def whole_of(home: Path) -> Path:
    """The directory of the crawl that it is a part of; itself where it is the whole."""
    return home.absolute().parent.parent if is_part(home) else home


def readable_parts(home: Path) -> list[CrawlDir]:
    """Those that can be read; an agent that has just been started cannot be yet. Raises CrawlDirError if none can."""
    found = parts(home)
    if len(found) > 1:
        begun = [part for part in found if part.frontier.is_dir()]
        if not begun:
            raise CrawlDirError(f"the agents in {home / AGENTS} have not begun yet. Try again in a moment.")
        found = begun
    for part in found:
        part.check_readable()
    return found


def progress_of(directory: CrawlDir, frontier: FrontierReader) -> Progress:
    """As of its last commit."""
    stored = frontier.meta("progress")
    progress = msgspec.msgpack.decode(stored, type=Progress) if stored else Progress()
    progress.running = directory.in_use()
    if progress.apps and not progress.running:
        from gossamer.agent.running_app import at_rest  # few crawls have any

        progress.apps = at_rest(progress.apps, directory.home)
    return progress


@contextmanager
def opened(home: Path) -> Iterator[list[Part]]:
    """Every part, the one with the newest commit first.

    Where two know the same URL, its partition has moved from one to the other, and the one that held it later is right.
    """
    with tempfile.TemporaryDirectory(prefix="gossamer-") as scratch, ExitStack() as open_:
        found = []
        for number, directory in enumerate(readable_parts(home)):
            (own := Path(scratch) / str(number)).mkdir()
            frontier = FrontierReader(directory.frontier, own)
            open_.callback(frontier.close)
            found.append(Part(directory, frontier, progress_of(directory, frontier)))
        _hide(found)
        yield sorted(found, key=lambda part: -part.progress.updated_at)


def _hide(parts: Sequence[Part]) -> None:
    """What a directory has of partitions that another one held later is not to be seen."""
    tokens = [read_held(part.frontier.meta(HELD)).tokens for part in parts]
    last: dict[int, int] = {}
    for held in tokens:
        for partition, token in held.items():
            last[partition] = max(last.get(partition, 0), token)
    for part, held in zip(parts, tokens, strict=True):
        part.frontier.hidden = frozenset(each for each, token in held.items() if token < last[each])
        if part.frontier.hidden:
            _recount(part)


def _recount(part: Part) -> None:
    """Of the URLs and hosts that are to be seen; pages were stored here all the same."""
    outcomes, progress = part.frontier.outcomes(), part.progress
    progress.urls = outcomes.total()
    progress.queued = sum(count for (state, *_), count in outcomes.items() if state is State.QUEUED)
    progress.excluded = sum(count for (state, *_), count in outcomes.items() if state is State.EXCLUDED)
    progress.hosts = sum(1 for _ in part.frontier.hosts())


def visit_in(frontiers: Sequence[FrontierReader]) -> Callable[[str], VisitRecord | None]:
    """Looks a URL up in all of them, in their order."""

    def visit(url: str) -> VisitRecord | None:
        return next((found for frontier in frontiers if (found := frontier.visit(url)) is not None), None)

    return visit


def shares(frontiers: Sequence[FrontierReader]) -> Iterator[tuple[FrontierReader, list[int]]]:
    """Which partitions are to be read where: each in the first that has something of it."""
    taken: set[int] = set()
    for frontier in frontiers:
        left = [number for number in range(frontier.counts().partitions) if number not in taken]
        held = left if frontier is frontiers[-1] else [number for number in left if frontier.holds(number)]
        taken.update(held)
        yield frontier, held
