"""A crawl at one moment, as its dashboard and its stream of events show it: read once for everybody who looks."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import Any, Final

import msgspec

from gossamer.agent import Progress, read_index_status
from gossamer.agent.history import RINGS, Sample, read_history
from gossamer.agent.index_status import IndexStatus
from gossamer.errors import GossamerError
from gossamer.service.crawl_view import CrawlView
from gossamer.service.host_tables import HostTables
from gossamer.service.problems import Problem
from gossamer.service.processes import Usage, size_of

FRESH: Final = 0.9  # seconds that a picture serves
_COARSE: Final = 60.0  # seconds after which the longer rings are read again
_SIZES: Final = 15.0  # seconds after which files are measured again


class Taken(msgspec.Struct):
    """What a process takes of the machine."""

    core: float = 0.0
    memory: int = 0


class Picture(msgspec.Struct):
    """`at` is now, by the service's clock; `progress` is as of the last commit. `exists`: there is a crawl."""

    at: float
    exists: bool
    progress: Progress
    samples: list[Sample] = []
    tables: HostTables = msgspec.field(default_factory=HostTables)
    index: IndexStatus | None = None
    index_taken: Taken = msgspec.field(default_factory=Taken)
    service_taken: Taken = msgspec.field(default_factory=Taken)
    sizes: dict[str, int] = {}  # bytes on disk by folder
    disk_free: int = 0
    trouble: str = ""  # why the crawl cannot be read, where it cannot
    boards: dict[Any, dict[str, str]] = {}  # what was made of it, for those who ask for the same


class Watcher:
    """Takes the pictures. For any number of threads.

    Invariant: one is taken at a time and serves for FRESH seconds, so that the crawl is read as often for one who
    looks as for a hundred.
    """

    def __init__(self, view: CrawlView, clock: Callable[[], float] = time.monotonic) -> None:
        self._view = view
        self._clock = clock
        self._lock = Lock()
        self._picture: Picture | None = None
        self._taken_at = self._coarse_at = self._sizes_at = -1e9
        self._coarse: list[Sample] = []
        self._sizes: dict[str, int] = {}
        self._tables = HostTables()
        self._index, self._service = Usage(clock), Usage(clock)

    def picture(self) -> Picture:
        with self._lock:
            now = self._clock()
            if self._picture is None or now - self._taken_at >= FRESH:
                self._picture = self._take(now)
                self._taken_at = now
            return self._picture

    def look_at_hosts(self) -> None:
        """May take seconds where there are very many; pictures show what was found last."""
        with suppress(Problem, GossamerError):
            self._tables = self._view.hosts.tables()

    def _take(self, now: float) -> Picture:
        view = self._view
        try:
            progress = view.progress()
            samples = self._samples(now)
        except Problem:  # there is none yet
            self._coarse, self._coarse_at, self._tables = [], -1e9, HostTables()
            return Picture(view.clock(), False, Progress(running=view.directory.in_use()))
        except GossamerError as error:
            return Picture(view.clock(), True, Progress(running=view.directory.in_use()), trouble=str(error))
        index = read_index_status(view.directory.index)
        self._index.look(index.pid if index else 0, "index")
        self._service.look(os.getpid())
        if now - self._sizes_at >= _SIZES:
            self._sizes_at, self._sizes = now, self._measure()
        return Picture(
            view.clock(),
            True,
            progress,
            [sample for sample in samples if sample.at <= progress.updated_at],
            self._tables,
            index,
            Taken(self._index.core, self._index.memory),
            Taken(self._service.core, self._service.memory),
            self._sizes,
            shutil.disk_usage(view.directory.home).free,
        )

    def _samples(self, now: float) -> list[Sample]:
        """Every sample once, the oldest first."""
        frontier = self._view.frontier()
        if now - self._coarse_at >= _COARSE:
            self._coarse_at, self._coarse = now, read_history(frontier, range(1, len(RINGS)))
        found = {sample.at: sample for sample in (*self._coarse, *read_history(frontier, range(1)))}
        return [found[at] for at in sorted(found)]

    def _measure(self) -> dict[str, int]:
        home = self._view.directory
        return {"pages": size_of(home.warc), "frontier": size_of(home.frontier), "index": size_of(home.index)}
