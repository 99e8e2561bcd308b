"""A crawl at one moment, as its dashboard and its stream of events show it: read once for everybody who looks."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from threading import Lock
from typing import Any, Final

import msgspec

from gossamer.agent import Progress
from gossamer.agent.history import Sample
from gossamer.agent.index_status import IndexStatus, status_of_all
from gossamer.agent.together import merge
from gossamer.errors import GossamerError
from gossamer.service.host_tables import HostTables
from gossamer.service.look import Look, Taken
from gossamer.service.problems import Problem
from gossamer.service.processes import Usage
from gossamer.service.samples import Curves
from gossamer.service.served import Served

FRESH: Final = 0.9  # seconds that a picture serves
_LONGER: Final = 60.0  # seconds after which all curves are read again
_OVERLAP: Final = 10.0  # seconds before the last sample: some agents commit later than others


class Picture(msgspec.Struct):
    """`at` is now, by the service's clock; `progress` is as of the last commit. `exists`: there is a crawl. `agents`
    are those of a crawl of several, `missing` of these do not answer, `ended` have said good-bye.
    """

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
    agents: dict[str, Progress] = {}
    missing: list[str] = []
    ended: list[str] = []
    boards: dict[Any, dict[str, str]] = {}  # what was made of it, for those who ask for the same


class Watcher:
    """Takes the pictures. For any number of threads.

    Invariant: one is taken at a time and serves for FRESH seconds, so that the crawl is read as often for one who
    looks as for a hundred.
    """

    def __init__(self, view: Served, clock: Callable[[], float] = time.monotonic) -> None:
        self._view = view
        self._clock = clock
        self._lock = Lock()
        self._picture: Picture | None = None
        self._taken_at = self._longer_at = -1e9
        self._since = 0.0
        self._curves = Curves()
        self._tables = HostTables()
        self._service = Usage(clock)

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
            self._tables = self._view.asked().tables()

    def _take(self, now: float) -> Picture:
        view = self._view.asked()
        longer = now - self._longer_at >= _LONGER
        try:
            looks = view.looks(0.0 if longer else self._since - _OVERLAP, longer)
        except Problem:  # there is none yet
            self._curves.clear()
            self._longer_at, self._tables = -1e9, HostTables()
            return Picture(view.clock(), False, Progress(running=view.running), missing=list(view.missing))
        except GossamerError as error:
            return Picture(view.clock(), True, Progress(running=view.running), trouble=str(error))
        self._curves.keep({*looks, *view.missing, *view.ended})
        samples = self._samples(looks, now, longer)
        self._service.look(os.getpid())
        progress = _together([look.progress for look in looks.values()])
        return Picture(
            view.clock(),
            True,
            progress,
            samples,
            self._tables,
            status_of_all(look.index for look in looks.values()),
            Taken(
                sum(look.index_taken.core for look in looks.values()),
                sum(look.index_taken.memory for look in looks.values()),
            ),
            Taken(self._service.core, self._service.memory),
            _added(looks),
            sum({look.disk: look.disk_free for look in looks.values()}.values()),
            agents={name: look.progress for name, look in looks.items() if name},
            missing=list(view.missing),
            ended=list(view.ended),
        )

    def _samples(self, looks: Mapping[str, Look], now: float, longer: bool) -> list[Sample]:
        for name, look in looks.items():
            if longer:
                self._curves.replace(name, look.samples)
            else:
                self._curves.add(name, look.samples)
        if longer:
            self._longer_at = now
        found = self._curves.all()
        self._since = found[-1].at if found else 0.0
        return found


def _together(found: list[Progress]) -> Progress:
    return found[0] if len(found) == 1 else merge(found)


def _added(looks: Mapping[str, Look]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for look in looks.values():
        for name, size in look.sizes.items():
            sizes[name] = sizes.get(name, 0) + size
    return sizes
