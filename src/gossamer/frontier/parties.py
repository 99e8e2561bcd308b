"""Whose turn it is: the parties of a crawl and their shares of the requests that are started (P1).

Parties are the crawl's own links, the visits that are made again, and applications. The priority under which an entry
is queued says whose it is: the upper four bits are the party, the lower four its own priority from 0 to 9. So the owner
of a request is as durable as its place in the queue, and a crawl without applications has nothing to do for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from gossamer.frontier import keys
from gossamer.frontier.hosts import ROBOTS, HostQueue, Level
from gossamer.frontier.schedule import A_LOWER_LEVEL_EVERY, Schedule
from gossamer.model import Visit

LINKS: Final = 0  # the party of links that pages have
RECRAWL: Final = 15  # of visits that are made again
APPLICATIONS: Final = range(1, RECRAWL)  # those that applications can have
_SAVED: Final = 16  # requests that a party may be behind for, when it had nothing to ask for


def level_of(party: int, priority: int) -> int:
    """The priority under which what a party asks for is queued."""
    return party << keys.PARTY_BITS | priority


def read_level(level: int) -> tuple[int, int]:
    """The party, and its own priority."""
    return divmod(level, keys.ASKED)


def party_of(level: Level) -> int:
    return level.priority >> keys.PARTY_BITS or (RECRAWL if level.visits_again else LINKS)


def owner_of(visit: Visit) -> int:
    """The party that a visit in hand is for."""
    return visit.priority >> keys.PARTY_BITS or (RECRAWL if visit.before is not None else LINKS)


class Shares:
    """Stride scheduling: each party has passed a distance of its own, and each request that it starts takes it further
    by one over its share. The one that has passed the least is next.

    Invariant: a party is behind the one that was last chosen by `_SAVED` of its requests at most, so that the share
    that it did not use went to the others.
    """

    def __init__(self) -> None:
        self._passed = [0.0] * (RECRAWL + 1)
        self._started = [0] * (RECRAWL + 1)
        self._now = 0.0
        self.change({})

    def change(self, shares: Mapping[int, float]) -> None:
        """By party; one that is not named has a share of 1."""
        self._stride = [1 / shares.get(party, 1.0) for party in range(RECRAWL + 1)]

    def taken(self) -> dict[int, int]:
        """Requests started since this was last asked."""
        found = {party: count for party, count in enumerate(self._started) if count}
        self._started = [0] * (RECRAWL + 1)
        return found

    def at(self, party: int, ahead: int = 0) -> float:
        """How far it is, when `ahead` more of its requests are made."""
        stride = self._stride[party]
        return max(self._passed[party], self._now - _SAVED * stride) + ahead * stride

    def next(self, parties: Iterable[int]) -> int:
        return min(parties, key=lambda party: (self.at(party), party))

    def started(self, party: int) -> None:
        at = self.at(party)
        self._now = max(self._now, at)
        self._passed[party] = at + self._stride[party]
        self._started[party] += 1


class SharedSchedule(Schedule):
    """A schedule that keeps to shares. A ready host is in a heap of the party that its next visit is for.

    Invariant: `host.party` of a ready host names that party.
    """

    __slots__ = ("_shares",)

    def __init__(self, domain_connections: int, address_connections: int, shares: Shares) -> None:
        super().__init__(domain_connections, address_connections)
        self._shares = shares
        self._first = self._first_of
        self.next_level = self._next_level

    def begin(self, host: HostQueue, now: float) -> None:
        super().begin(host, now)
        if ROBOTS not in host.leased:  # which is nobody's
            self._shares.started(host.party)

    def _next_level(self, host: HostQueue, _: float) -> Level:
        """Of the party whose turn it is at this host: its first level that has something waiting, now and then a lower
        one. Instead of `HostQueue.next_level`.
        """
        found = _waiting(host)
        party = host.party if host.party in found else self._shares.next(found)
        levels = found[party]
        host.party = party
        host.turn += 1
        turn, rest = divmod(host.turn, A_LOWER_LEVEL_EVERY)
        return levels[0] if rest or len(levels) == 1 else levels[1 + turn % (len(levels) - 1)]

    def _first_of(self, host: HostQueue) -> tuple[int, int]:
        """Which heap a host belongs to now, and its number there. Of several parties that it has something of, the one
        that is furthest behind, what is ready for each of them counted as made.
        """
        found = _waiting(host)
        if len(found) == 1:
            (party,) = found
        else:
            ready = dict.fromkeys(found, 0)
            for key, heap in self._ready.items():
                if (party := key >> keys.PARTY_BITS) in ready:
                    ready[party] += len(heap)
            party = min(found, key=lambda each: (self._shares.at(each, ready[each]), each))
        host.party = party
        level = found[party][0]
        return level.priority | (party << keys.PARTY_BITS), level.next_number

    def _choose(self, levels: Iterable[int], picks: int) -> int:
        """Return the priority whose turn it is: of the party that is furthest behind."""
        parties: dict[int, list[int]] = {}
        for key in levels:
            parties.setdefault(key >> keys.PARTY_BITS, []).append(key)
        return super()._choose(parties[self._shares.next(parties)], picks)


def _waiting(host: HostQueue) -> dict[int, list[Level]]:
    """The levels that have something waiting, in their order, by party; those that are put aside only if none else."""
    found: dict[int, list[Level]] = {}
    aside: Level | None = None
    for priority, level in sorted(host.levels.items()):
        if not level.waits:
            continue
        if priority == keys.ASIDE and host.manners.skips:
            aside = level
            continue
        found.setdefault(party_of(level), []).append(level)
    if not found and aside is not None:
        found[LINKS] = [aside]
    return found
