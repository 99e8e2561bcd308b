"""Reading a crawl from outside, while it runs or not. Loads nothing of what fetches and parses."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.findings import FINDING, KeptFinding
from gossamer.agent.progress import Progress
from gossamer.frontier.reader import FrontierReader
from gossamer.model import State, VisitRecord


def read_progress(home: Path) -> Progress:
    """How the crawl in `home` stood at its last commit; works while it runs."""
    directory = CrawlDir(home)
    directory.check_readable()
    with tempfile.TemporaryDirectory(prefix="gossamer-") as scratch:
        reader = FrontierReader(directory.frontier, Path(scratch))
        try:
            stored = reader.meta("progress")
        finally:
            reader.close()
    progress = msgspec.msgpack.decode(stored, type=Progress) if stored else Progress()
    progress.running = directory.in_use()
    return progress


def read_findings(home: Path) -> list[KeptFinding]:
    """The hosts and places that the crawl left because they repeat others, by kind and name, as of the last commit."""
    directory = CrawlDir(home)
    directory.check_readable()
    with tempfile.TemporaryDirectory(prefix="gossamer-") as scratch:
        reader = FrontierReader(directory.frontier, Path(scratch))
        try:
            return [msgspec.msgpack.decode(value, type=KeptFinding) for value in reader.metas(FINDING)]
        finally:
            reader.close()


def read_visits(home: Path, state: State | None = None) -> Iterator[VisitRecord]:
    """Every URL known at the last commit; works while the crawl runs."""
    directory = CrawlDir(home)
    directory.check_readable()
    return _visits(directory, state)


def _visits(directory: CrawlDir, state: State | None) -> Iterator[VisitRecord]:
    with tempfile.TemporaryDirectory(prefix="gossamer-") as scratch:
        reader = FrontierReader(directory.frontier, Path(scratch))
        try:
            yield from reader.visits(state)
        finally:
            reader.close()
