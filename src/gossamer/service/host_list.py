"""All hosts of a crawl in several orders."""

from __future__ import annotations

import base64
import binascii
import time
from bisect import bisect_right
from collections.abc import Callable
from threading import Lock
from typing import Literal

import msgspec

from gossamer.frontier.reader import FrontierReader, HostCounts
from gossamer.service.host_tables import HostTables, tables_of
from gossamer.service.problems import Problem

Order = Literal["pages", "queued", "failures", "name"]
_READ_SECONDS = 4.0  # that hosts are read for; a crawl may know millions
_LOOK = 4096  # hosts between two looks at the clock
_KEEP = 20.0  # times as long as reading took, a list is used


class HostPage(msgspec.Struct):
    """A part of the list. `complete`: every host of the crawl was looked at."""

    hosts: list[HostCounts]
    total: int  # hosts known to the crawl
    complete: bool
    next: str


class HostSum(msgspec.Struct):
    """Some hosts, together."""

    hosts: int
    pages: int
    queued: int
    complete: bool


class _Snapshot(msgspec.Struct):
    made_at: float
    seconds: float
    complete: bool
    total: int
    hosts: list[HostCounts]
    ordered: dict[str, list[tuple[float, str, HostCounts]]] = {}
    tables: HostTables | None = None

    def by(self, order: Order) -> list[tuple[float, str, HostCounts]]:
        """Most first, then by name: (what it is ordered by, name, host). A list that is sorted is kept."""
        found = self.ordered.get(order)
        if found is None:
            key = sort_key(order)
            found = self.ordered[order] = sorted((*key(host), host) for host in self.hosts)
        return found


class HostList:
    """Counting what is queued means reading the queues, so a list is made when asked for and serves for a while.

    Invariant: one list is made at a time, and none is read for longer than _READ_SECONDS.
    """

    def __init__(self, frontier: Callable[[], FrontierReader], clock: Callable[[], float] = time.monotonic) -> None:
        self._frontier = frontier
        self._clock = clock
        self._lock = Lock()
        self._snapshot: _Snapshot | None = None

    def part(self, order: Order, prefix: str, limit: int, cursor: str, inside: str = "") -> HostPage:
        """Names that begin with `prefix` and have `inside` somewhere."""
        after = read_cursor(cursor)
        snapshot = self._current()
        rows = snapshot.by(order)
        start = bisect_right(rows, after, key=lambda row: row[:2]) if after else 0
        chosen: list[tuple[float, str, HostCounts]] = []
        for row in rows[start:] if start else rows:
            if row[1].startswith(prefix) and inside in row[1]:
                chosen.append(row)
                if len(chosen) > limit:
                    break
        more = len(chosen) > limit
        del chosen[limit:]
        following = write_cursor(*chosen[-1][:2]) if more else ""
        return HostPage([host for _, _, host in chosen], snapshot.total, snapshot.complete, following)

    def those(self, belongs: Callable[[str], bool]) -> HostSum:
        """Hosts whose names belong, counted."""
        snapshot = self._current()
        found = [host for host in snapshot.hosts if belongs(host.name)]
        pages, queued = sum(host.pages for host in found), sum(host.queued for host in found)
        return HostSum(len(found), pages, queued, snapshot.complete)

    def tables(self) -> HostTables:
        """The heads of all lists, made once for each list."""
        snapshot = self._current()
        if snapshot.tables is None:
            snapshot.tables = tables_of(snapshot.hosts, snapshot.complete)
        return snapshot.tables

    def _current(self) -> _Snapshot:
        """While one thread makes a newer list, the others have the old one."""
        made = self._snapshot
        if not self._lock.acquire(blocking=made is None):
            assert made is not None
            return made
        try:
            made, now = self._snapshot, self._clock()
            if made is None or now - made.made_at > max(1.0, made.seconds * _KEEP):
                made = self._snapshot = self._make(now)
            return made
        finally:
            self._lock.release()

    def _make(self, now: float) -> _Snapshot:
        frontier = self._frontier()
        hosts = []
        complete = True
        for host in frontier.hosts():
            hosts.append(host)
            if len(hosts) % _LOOK == 0 and self._clock() - now > _READ_SECONDS:
                complete = False
                break
        return _Snapshot(now, self._clock() - now, complete, frontier.counts().hosts, hosts)


def sort_key(order: Order) -> Callable[[HostCounts], tuple[float, str]]:
    """Most first, then by name."""
    return lambda host: (0 if order == "name" else -getattr(host, order), host.name)


def write_cursor(value: float, name: str) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode((value, name))).decode().rstrip("=")


def read_cursor(cursor: str) -> tuple[float, str] | None:
    if not cursor:
        return None
    try:
        packed = base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True)
        return msgspec.json.decode(packed, type=tuple[float, str])
    except (binascii.Error, ValueError, msgspec.DecodeError):
        raise Problem(422, "cursor: this is none that a list of hosts gave.") from None
