"""An agent at one moment, as far as its own machine can tell."""

from __future__ import annotations

import shutil
import socket
import time
from collections.abc import Callable
from threading import Lock
from typing import Final

import msgspec

from gossamer.agent import Progress, read_index_status
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.history import RINGS, Sample, read_history
from gossamer.agent.index_status import IndexStatus
from gossamer.frontier.reader import FrontierReader
from gossamer.service.processes import Usage, size_of

_SIZES: Final = 15.0  # seconds after which files are measured again


class Taken(msgspec.Struct):
    """What a process takes of the machine."""

    core: float = 0.0
    memory: int = 0


class Look(msgspec.Struct):
    """`progress` is as of the last commit, and `samples` go up to it."""

    progress: Progress
    samples: list[Sample] = []
    index: IndexStatus | None = None
    index_taken: Taken = msgspec.field(default_factory=Taken)
    sizes: dict[str, int] = {}  # bytes on disk by folder
    disk_free: int = 0
    disk: str = ""  # by which those on the same are known


class Looker:
    """Looks at the directory of one agent. For any number of threads."""

    def __init__(self, directory: CrawlDir, clock: Callable[[], float] = time.monotonic) -> None:
        self._directory = directory
        self._clock = clock
        self._lock = Lock()
        self._index = Usage(clock)
        self._sizes_at = -1e9
        self._sizes: dict[str, int] = {}

    def look(self, frontier: FrontierReader, progress: Progress, since: float, longer: bool) -> Look:
        """With samples after a moment; `longer`: of all that is kept, otherwise of the last minutes."""
        home, now = self._directory, self._clock()
        samples = read_history(frontier, range(len(RINGS) if longer else 1))
        index = read_index_status(home.index)
        with self._lock:
            self._index.look(index.pid if index else 0, "index")
            if now - self._sizes_at >= _SIZES:
                self._sizes_at, self._sizes = now, self._measure()
        return Look(
            progress,
            [sample for sample in samples if since < sample.at <= progress.updated_at],
            index,
            Taken(self._index.core, self._index.memory),
            self._sizes,
            shutil.disk_usage(home.home).free,
            f"{socket.gethostname()} {home.home.stat().st_dev}",
        )

    def _measure(self) -> dict[str, int]:
        home = self._directory
        return {"pages": size_of(home.warc), "frontier": size_of(home.frontier), "index": size_of(home.index)}
