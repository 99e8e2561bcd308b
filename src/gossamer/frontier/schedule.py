"""Which hosts may be visited now (P8). Knows no clock, disk or event loop."""

from __future__ import annotations

import sys
from collections.abc import Callable
from heapq import heappop, heappush
from weakref import WeakValueDictionary

from gossamer.frontier.hosts import Group, HostQueue, Level, Place
from gossamer.frontier.keys import ASIDE

A_LOWER_LEVEL_EVERY = 16  # picks: a level that starves still moves
_SPREAD = 64  # places in the order between two ready hosts of a domain
_TURNS = (1 << 24) - 1
_IDLE, _READY, _WAITING = Place.IDLE, Place.READY, Place.WAITING  # found sooner so, for every page


class Schedule:
    """Ready hosts by priority and request number, waiting hosts by time; hosts of a full domain or address are held.

    Invariants: a host is in the one place that its `place` names, iff it has entries that wait and may have one more
    visit in hand; entries of a heap whose host has another place by now are stale and skipped. No domain and no
    address has more visits in hand than allowed (0: any number). With `sites` no more hosts than that are begun and not
    finished.
    """

    __slots__ = (
        "_begun", "_down", "_due_then", "_first", "_groups", "_most", "_picks", "_ready", "_ready_hosts", "_ready_of",
        "_turn", "_unfinished", "_waiting", "held", "leased", "next_level", "ready", "sites", "waiting",
    )  # fmt: skip

    def __init__(self, domain_connections: int = 0, address_connections: int = 0) -> None:
        # Heaps of plain numbers, as tuples take twice as long to compare; no number is in a heap twice.
        self._ready: dict[int, list[int]] = {}
        self._ready_hosts: dict[int, HostQueue] = {}
        self._waiting: list[float] = []
        self._due_then: dict[float, list[HostQueue]] = {}
        self._down: set[str] = set()
        self._groups: WeakValueDictionary[str, Group] = WeakValueDictionary()  # "d example.org", "a 192.0.2.7"
        self._unfinished = Group("", sys.maxsize)  # who waits until another host is finished
        self.held = 0  # hosts, in all groups
        self.limit(domain_connections, address_connections)
        self._ready_of: dict[str, int] = {}  # domain -> its hosts that are ready
        self._first: Callable[[HostQueue], tuple[int, int]] = HostQueue.first
        self.next_level: Callable[[HostQueue, float], Level] = HostQueue.next_level
        self._turn = 0
        self._picks = 0
        self.ready = 0
        self.waiting = 0  # those that are down not counted
        self.leased = 0  # visits in hand, of all hosts
        self.sites = 0  # hosts that may be begun at a time; 0: any number
        self._begun: dict[str, HostQueue] = {}

    def limit(self, domain_connections: int, address_connections: int) -> None:
        """The limits that hold from now on."""
        self._most = {"d": domain_connections, "a": address_connections}
        for group in self._groups.values():
            group.most = self._most[group.name[0]] or sys.maxsize

    @property
    def down(self) -> int:
        return len(self._down)

    @property
    def empty(self) -> bool:
        """Nothing is or will be ready, but for hosts that are down."""
        return not (self.ready or self.waiting or self.held)

    @property
    def next_due(self) -> float | None:
        return self._waiting[0] if self._waiting else None

    @property
    def has_links(self) -> bool:
        """A host is ready for what the pages of the crawl lead to."""
        return any(priority <= ASIDE for priority in self._ready)

    def offer(self, host: HostQueue, now: float, down: bool = False) -> None:
        """This host has entries that wait, and is in no place."""
        if host.due > now:
            host.place = _WAITING
            self._wait(host)
            if down:
                self._down.add(host.name)
            else:
                self.waiting += 1
            return
        priority, number = self._first(host)
        if host.manners.priority >= 0:
            priority = host.manners.rank(priority)
        host.place = _READY
        self.ready += 1
        heap = self._ready.get(priority)
        if heap is None:
            heap = self._ready[priority] = []
        # The n-th host of a domain that is ready comes that much later than its number says, so that the many hosts of
        # one domain, found in a row, are not visited in a row (P7).
        others = self._ready_of.get(host.domain, 0)
        self._ready_of[host.domain] = others + 1
        self._turn = (self._turn + 1) & _TURNS
        place = (number + others * _SPREAD) * (_TURNS + 1) + self._turn
        self._ready_hosts[place] = host
        host.spot = place
        heappush(heap, place)

    def _wait(self, host: HostQueue) -> None:
        others = self._due_then.get(host.due)
        if others is None:
            self._due_then[host.due] = [host]
            heappush(self._waiting, host.due)
        else:
            others.append(host)

    def take(self, now: float) -> HostQueue | None:
        """The host to visit next, taken out of the schedule. Its domain and address have room for the visit."""
        if self._waiting and self._waiting[0] <= now:
            self._wake(now)
        while self.ready:
            host = self._pop()
            if host is None:
                continue
            full = None
            for group in host.groups:
                if group.in_hand >= group.most:
                    full = group
                    break
            if full is None and self.sites and not self._may_begin(host):
                full = self._unfinished
            if full is None:
                host.place = _IDLE
                return host
            host.place = Place.HELD
            full.held.append(host)
            self.held += 1
        return None

    def drop(self, host: HostQueue) -> None:
        """Take a host out wherever it is; what a heap still holds of it is skipped."""
        if host.place is Place.READY:
            self._no_longer_ready(host)
        elif host.place is Place.WAITING:
            if host.name in self._down:
                self._down.discard(host.name)
            else:
                self.waiting -= 1
        elif host.place is Place.HELD:
            for group in (*host.groups, self._unfinished):
                if host in group.held:
                    group.held.remove(host)
                    self.held -= 1
        host.place = Place.IDLE

    # -- domains and addresses ---------------------------------------------------------------------------------------

    def begin(self, host: HostQueue) -> None:
        """A visit of this host is in hand."""
        self.leased += 1
        for group in host.groups:
            group.in_hand += 1

    def end(self, host: HostQueue, now: float) -> None:
        """It no longer is; a host that was held for it may come."""
        self.leased -= 1
        for group in host.groups:
            group.in_hand -= 1
        if self.held:
            self.pass_on(host, now)

    def pass_on(self, host: HostQueue, now: float) -> None:
        """This host does not use its turn, or no longer: one that was held for it may come."""
        for group in host.groups:
            if group.held:
                self._let_go(group, now)

    def _let_go(self, group: Group, now: float) -> None:
        """The first that it holds is offered again."""
        host = group.held.popleft()
        self.held -= 1
        host.place = Place.IDLE
        self.offer(host, now)

    def _may_begin(self, host: HostQueue) -> bool:
        if host.name not in self._begun and len(self._begun) >= self.sites:
            return False
        self._begun[host.name] = host
        return True

    @property
    def begun(self) -> list[str]:
        """Hosts that count as begun, in the order in which they were."""
        return list(self._begun)

    def go_on_with(self, host: HostQueue) -> None:
        """An earlier run has begun this host, which is in the schedule by now."""
        self._begun[host.name] = host

    def next_site(self, now: float) -> bool:
        """Hosts that have nothing left, are down, or may not be visited, make room for others; whether one comes."""
        for name, host in list(self._begun.items()):
            if name in self._down or (host.place in (Place.IDLE, Place.GONE) and not host.leased):
                del self._begun[name]
        held = self._unfinished.held
        room = self.sites - len(self._begun)
        if not held or room <= 0:
            return False
        for _ in range(min(room, len(held))):
            self._let_go(self._unfinished, now)
        return True

    def group(self, host: HostQueue) -> None:
        """Say which domain and address a host belongs to; not while it has visits in hand."""
        names = []
        if self._most["d"] and host.domain != host.name:
            names.append(f"d {host.domain}")
        if self._most["a"] and host.address:
            names.append(f"a {host.address}")
        host.groups = tuple([self._group(name) for name in names])

    def _group(self, name: str) -> Group:
        group = self._groups.get(name)
        if group is None:
            group = self._groups[name] = Group(name, self._most[name[0]])
        return group

    # -- heaps -------------------------------------------------------------------------------------------------------

    def _wake(self, now: float) -> None:
        waiting = self._waiting
        while waiting and waiting[0] <= now:
            for host in self._due_then.pop(heappop(waiting)):
                if host.place is not _WAITING:
                    continue
                if host.due > now:  # another visit of the host ended meanwhile
                    self._wait(host)
                    continue
                if host.name in self._down:
                    self._down.discard(host.name)
                else:
                    self.waiting -= 1
                self.offer(host, now)

    def _pop(self) -> HostQueue | None:
        """From the first level that has a ready host, now and then from a lower one; None for a stale entry."""
        levels = self._ready
        if len(levels) == 1:
            (priority,) = levels
        else:
            order = sorted(levels)
            self._picks += 1
            turn, rest = divmod(self._picks, A_LOWER_LEVEL_EVERY)
            priority = order[0] if rest else order[1 + turn % (len(order) - 1)]
        heap = levels[priority]
        place = heappop(heap)
        host = self._ready_hosts.pop(place)
        if not heap:
            del levels[priority]
        if host.place is not _READY or host.spot != place:  # it was taken out, and perhaps put back elsewhere
            return None
        self._no_longer_ready(host)
        return host

    def _no_longer_ready(self, host: HostQueue) -> None:
        self.ready -= 1
        others = self._ready_of[host.domain] - 1
        if others:
            self._ready_of[host.domain] = others
        else:
            del self._ready_of[host.domain]
