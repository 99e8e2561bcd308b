"""What became of the URLs of a host: how many came to which end, and its last visits."""

from __future__ import annotations

import heapq
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from gossamer.model import State, VisitRecord

LAST: Final = 200
_MOST: Final = 200_000  # visits that are looked at
_SECONDS: Final = 2.0
_LOOK: Final = 2048  # visits between two looks at the clock


class HostVisits(msgspec.Struct):
    """`last` are the newest, newest first. `complete`: all of the host's URLs were looked at."""

    states: Counter[str]
    statuses: Counter[int]
    reasons: Counter[tuple[str, str]]  # state, reason
    last: list[VisitRecord]
    looked: int
    complete: bool
    again: int = 0  # are visited again
    overdue: int = 0  # of these should have been by now
    changed: int = 0  # of these were seen changed


def visits_of(visits: Iterable[VisitRecord], now: float, clock: Callable[[], float] = time.monotonic) -> HostVisits:
    """Bounded in number and time: a host may have millions."""
    found = HostVisits(Counter(), Counter(), Counter(), [], 0, True)
    newest: list[tuple[float, int, VisitRecord]] = []
    until = clock() + _SECONDS
    for visit in visits:
        if found.looked >= _MOST or (found.looked % _LOOK == _LOOK - 1 and clock() > until):
            found.complete = False
            break
        found.looked += 1
        state = visit.state.name.lower()
        found.states[state] += 1
        if visit.status and visit.state is State.FETCHED:
            found.statuses[visit.status] += 1
        if visit.reason and visit.state is not State.QUEUED:
            found.reasons[state, visit.reason] += 1
        if visit.seen:
            found.again += 1
            found.overdue += visit.due <= now
            found.changed += visit.changes > 0
        if visit.fetched_at:
            entry = (visit.fetched_at, -found.looked, visit)
            if len(newest) < LAST:
                heapq.heappush(newest, entry)
            else:
                heapq.heappushpop(newest, entry)
    found.last = [visit for _, _, visit in sorted(newest, reverse=True)]
    return found
