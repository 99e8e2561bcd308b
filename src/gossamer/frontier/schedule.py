"""Which hosts may be visited now (P8). Knows no clock, disk or event loop."""

from __future__ import annotations

from heapq import heappop, heappush

from gossamer.frontier.hosts import HostQueue, Place

_BEFORE_ALL = 1 << 62


class Schedule:
    """Ready hosts by priority and request number, waiting hosts by time.

    Invariant: a host is in exactly one heap, the one its `place` names, iff it has entries that wait and may have
    one more visit in hand; `down` counts the waiting hosts that are.
    """

    def __init__(self) -> None:
        self._ready: list[tuple[int, int, HostQueue]] = []
        self._waiting: list[tuple[float, int, HostQueue]] = []
        self._down: set[str] = set()
        self._turn = 0

    @property
    def ready(self) -> int:
        return len(self._ready)

    @property
    def waiting(self) -> int:
        return len(self._waiting) - len(self._down)

    @property
    def down(self) -> int:
        return len(self._down)

    @property
    def next_due(self) -> float | None:
        return self._waiting[0][0] if self._waiting else None

    def offer(self, host: HostQueue, now: float, down: bool = False) -> None:
        """This host has entries that wait, and is in no heap."""
        self._turn += 1
        if host.due <= now:
            # A head on disk is not known yet: such a host takes its turn by the order of offers.
            first = host.head[0] if host.head else None
            host.place = Place.READY
            heappush(
                self._ready, (first.priority, first.number, host) if first else (0, self._turn - _BEFORE_ALL, host)
            )
        else:
            host.place = Place.WAITING
            heappush(self._waiting, (host.due, self._turn, host))
            if down:
                self._down.add(host.name)

    def take(self, now: float) -> HostQueue | None:
        """The host to visit next, taken out of the schedule."""
        waiting = self._waiting
        while waiting and waiting[0][0] <= now:
            host = heappop(waiting)[2]
            self._down.discard(host.name)
            self.offer(host, now)
        if not self._ready:
            return None
        host = heappop(self._ready)[2]
        host.place = Place.IDLE
        return host
