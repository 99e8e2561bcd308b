"""For how long an agent may fetch, and when others may take its place. Pure: time is passed in.

Nobody's clock is compared with another's. The owner counts from the moment *before* it sent a beat that was accepted,
an observer from the moment *after* it first saw that beat, so that the observer's count begins later whatever the
network did in between. If no clock is wrong by more than `drift`, seconds counted here are seconds there but for that:

    owner     stops at  sent + lease * (1 - drift) - gap    on its clock, at most lease - gap of true seconds later
    observer  acts at   seen + lease * (1 + drift)          on its clock, at least lease of true seconds later

The clock must be CLOCK_BOOTTIME, which goes on while a machine sleeps and is set by nobody.
"""

from __future__ import annotations

import time
from math import inf
from typing import Final

import msgspec

from gossamer.errors import ConfigError

_BEATS: Final = 2  # that may be missed before an agent stops fetching


class Terms(msgspec.Struct, frozen=True):
    """The same for all agents of a crawl. Seconds."""

    lease: float = 6.0  # a shorter one: failures are noticed sooner, and pauses of a busy machine are failures
    gap: float = 1.0  # between an agent's last fetch and another's first
    renewal: float = 1.0  # between beats
    drift: float = 0.001  # of clocks: a hundred times what quartz has

    def __post_init__(self) -> None:
        if not (self.lease > 0 and self.gap >= 0 and self.renewal > 0 and 0 <= self.drift < 0.5):
            raise ConfigError("lease and renewal are positive, gap is not negative, drift is below a half")
        if self.own < _BEATS * self.renewal:
            raise ConfigError(
                f"a lease of {self.lease:g} s is too short for a gap of {self.gap:g} s and beats each {self.renewal:g}"
            )

    @property
    def own(self) -> float:
        """Seconds that an owner may fetch after it has sent a beat, on its clock."""
        return self.lease * (1 - self.drift) - self.gap

    @property
    def others(self) -> float:
        """Seconds that an observer waits after it has seen a beat, on its clock."""
        return self.lease * (1 + self.drift)


def boot_time() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Tenure:
    """The owner's side. Invariant: the deadline rests on a beat that was accepted, and on when it was first sent.

    One beat is on its way at a time. It is sent again as it is, not anew, while nobody knows what became of it: then it
    does not matter which of its copies was accepted.
    """

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._sent = inf  # of the beat that is on its way
        self._since = -inf

    def sent(self, now: float) -> None:
        """Before it is sent, for the first time or again."""
        self._sent = min(self._sent, now)

    def accepted(self) -> None:
        self._since, self._sent = max(self._since, self._sent), inf

    def lost(self) -> None:
        """Whatever was accepted: others have said that it is over."""
        self._since, self._sent = -inf, inf

    @property
    def deadline(self) -> float:
        """No fetch begins, and no byte is sent, at this time or later."""
        return self._since + self._terms.own

    def may_fetch(self, now: float) -> bool:
        return now < self.deadline

    def beat_due(self, now: float) -> float:
        """Seconds until the next beat: at once if the last accepted one was sent long ago."""
        return max(0.0, min(self._since + self._terms.renewal - now, self._terms.renewal))


class Observer:
    """Everybody else's side. Invariant: a session expires only if its newest known beat was known for a whole window in
    which the broker was heard of. To act on that is safe only by compare-and-set from that beat's revision.
    """

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._seen: dict[str, tuple[int, float]] = {}  # session's name -> revision, and when it was first seen

    def saw(self, name: str, revision: int, now: float) -> None:
        """Also again, and also what is older than what is known: that is no news."""
        known = self._seen.get(name)
        if known is None or revision > known[0]:
            self._seen[name] = revision, now

    def known(self, name: str) -> int:
        """The newest revision; 0 if none was seen."""
        return self._seen[name][0] if name in self._seen else 0

    def forget(self, name: str) -> None:
        self._seen.pop(name, None)

    def restart(self, now: float) -> None:
        """The broker was not heard of, and is now: agents that could not reach it either get a whole window again."""
        self._seen = {name: (revision, now) for name, (revision, _) in self._seen.items()}

    def expired(self, now: float) -> list[tuple[str, int]]:
        """Names and revisions, those first that were seen first."""
        over = [
            (seen, name, revision) for name, (revision, seen) in self._seen.items() if now >= seen + self._terms.others
        ]
        return [(name, revision) for _, name, revision in sorted(over)]
