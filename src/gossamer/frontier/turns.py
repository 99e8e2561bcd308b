"""The usual course of a visit, compiled where that can be: what every page makes the frontier do.

Usual is a host that has one queue, whose beginning is in memory, robots rules that are known and allow the page, a
first visit without marks, manners without caps and blocks, a page that came at once and without trouble. Everything
else, and all of it where nothing is compiled, is done by `Frontier`, `Settling` and `Schedule`: they say what is right.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any, Protocol

from gossamer.frontier import keys
from gossamer.frontier.counts import Counts
from gossamer.frontier.hosts import ROBOTS, Chunk, Entry, Group, HostQueue, Level, Place
from gossamer.frontier.schedule import Schedule
from gossamer.model import State, Visit
from gossamer.rules.policy import BUSY, Manners
from gossamer.rules.yields import Yields


class Turns(Protocol):
    """Each either does all that is to be done, or nothing and says so."""

    def lease(self, now: float, most: int, visits: list[Visit], /) -> HostQueue | None:
        """Add to `visits` those that come next, up to `most` altogether, as long as they are usual. Gives the first
        host whose next one is not, taken out of the schedule.
        """

    def settle(
        self,
        visit: Visit,
        status: int,
        now: float,
        seconds: float,
        stored: Any,
        address: str,
        digest: bytes,
        validators: tuple[bytes, bytes],
        /,
    ) -> bool:
        """The visit brought a page, and all is done that follows from that."""


def turns(
    schedule: Schedule,
    hosts: dict[str, HostQueue],
    changes: dict[bytes, bytes | None],
    counts: Counts,
    touch: Callable[[HostQueue], None],
    offer: Callable[[HostQueue, float], None],
) -> Turns | None:
    """None where nothing is compiled, or where parties share the crawl, which is not usual. `touch` and `offer` are
    those of the roster and of `Settling`.
    """
    if _turns is None or type(schedule) is not Schedule:
        return None
    return _turns.Turns(schedule, hosts, changes, counts, touch, offer)


_CLASSES = (HostQueue, Level, Chunk, Group, Entry, Visit, Counts, Yields, Manners, Schedule)
try:
    from gossamer.frontier import _turns

    _turns.bind(
        {each.__name__: each for each in _CLASSES},
        {
            "idle": Place.IDLE, "ready": Place.READY, "waiting": Place.WAITING,
            "fetched": State.FETCHED, "busy": BUSY, "pack_page": keys.pack_page, "heappush": heappush,
            "heappop": heappop, "scheme_starts": {code: f"{name}://" for code, name in keys.SCHEME_NAMES.items()},
            "robots": ROBOTS, "aside": keys.ASIDE,
        },
    )  # fmt: skip
except ImportError:  # no compiler was at hand when it was installed
    _turns = None  # type: ignore[assignment]
