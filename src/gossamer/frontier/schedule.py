"""Which hosts may be visited now. Knows no clock, disk or event loop."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from math import inf
from weakref import WeakValueDictionary

from gossamer.frontier.hosts import Group, HostQueue, Level, Place
from gossamer.frontier.keys import ASIDE

A_LOWER_LEVEL_EVERY = 16  # picks: a level that starves still moves
_SPREAD = 64  # places in the order between two ready hosts of a domain
_TURNS = (1 << 24) - 1
_IDLE, _READY, _WAITING = Place.IDLE, Place.READY, Place.WAITING  # found sooner so, for every page


class Schedule:
    """Ready hosts by priority and request number, waiting hosts by time; hosts of a domain or address that may not be
    visited now are held by its group.

    Invariants: a host is in the one place that its `place` names, iff it has entries that wait and may have one more
    visit in hand; entries of a heap whose host has another place by now are stale and skipped. No domain and no
    address has more visits in hand than allowed (0: any number), nor one begun before its pause is over. A group that
    holds hosts has no room, is called at its time, or has let a host go that is still ready. With `sites` no more hosts
    than that are begun and not finished.
    """

    __slots__ = (
        "_begun", "_down", "_due_then", "_first", "_groups", "_held_by", "_most", "_picks", "_ready", "_ready_hosts",
        "_ready_of", "_turn", "_unfinished", "_waiting", "held", "leased", "next_level", "ready", "since", "sites",
        "waiting",
    )  # fmt: skip

    def __init__(self, domain_connections: int = 0, address_connections: int = 0) -> None:
        # Heaps of plain numbers, as tuples take twice as long to compare; no number is in a heap twice.
        self._ready: dict[int, list[int]] = {}
        self._ready_hosts: dict[int, HostQueue] = {}
        self._waiting: list[float] = []
        self._due_then: dict[float, list[HostQueue | Group]] = {}
        self._down: set[str] = set()
        self._groups: WeakValueDictionary[str, Group] = WeakValueDictionary()  # "d example.org", "a 192.0.2.7"
        self._unfinished = Group("", sys.maxsize)  # who waits until another host is finished
        self.held = 0  # hosts, in all groups
        self._held_by: set[Group] = set()  # all domains and addresses that hold some, and perhaps others
        self.limit(domain_connections, address_connections)
        self._ready_of: dict[str, int] = {}  # domain -> its hosts that are ready
        self._first: Callable[[HostQueue], tuple[int, int]] = HostQueue.first
        self.next_level: Callable[[HostQueue, float], Level] = HostQueue.next_level
        self._turn = 0
        self._picks = 0
        self.ready = 0
        self.waiting = 0  # those that are down not counted
        self.leased = 0  # visits in hand, of all hosts
        self.since = -inf  # when an earlier run may have made its last visit
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
        priority, number = self._priority(host)
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

    def _priority(self, host: HostQueue) -> tuple[int, int]:
        """Return the priority under which a host comes, and the number of what comes next."""
        priority, number = self._first(host)
        return (priority if host.manners.priority < 0 else host.manners.rank(priority)), number

    def _wait(self, host: HostQueue | Group) -> None:
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
            full = self._full(host, now)
            if full is None and self.sites and not self._may_begin(host):
                full = self._unfinished
            if full is None:
                host.place = _IDLE
                return host
            self.hold(host, full, now)
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
        elif host.held_by is not None:
            host.held_by.leave(host)
            self.held -= 1
        host.place = Place.IDLE
        for group in host.groups:
            if group.next is host:
                group.next = None
            if group.held or group.due:  # the turn was perhaps this host's; and a group that rests is not forgotten
                self._call(group)

    # -- domains and addresses ---------------------------------------------------------------------------------------

    def begin(self, host: HostQueue, now: float) -> None:
        """Count one more visit of the host, which begins now."""
        self.leased += 1
        for group, pause in zip(host.groups, host.pauses, strict=True):
            group.in_hand += 1
            if pause:
                self.rest(group, now, pause)
        self.pass_on(host, now)

    @staticmethod
    def rest(group: Group, now: float, pause: float) -> None:
        """Let nothing of a group be visited for so long. Visits of a burst take their pauses all at once."""
        group.due = max(group.due, now) + pause

    def due_besides(self, host: HostQueue, other: HostQueue) -> float:
        """Return when the other host's groups, those that both have apart, may be visited in a visit of the first."""
        paces = zip(other.groups, other.pauses, strict=True)
        return max([group.due for group, pause in paces if pause and group not in host.groups], default=0.0)

    def rest_besides(self, host: HostQueue, other: HostQueue, now: float) -> None:
        """Let these groups rest, as such a visit begins."""
        for group, pause in zip(other.groups, other.pauses, strict=True):
            if pause and group not in host.groups:
                self.rest(group, now, pause)

    def end(self, host: HostQueue, now: float) -> None:
        """Count one visit of the host less; a host that was held for it may come."""
        self.leased -= 1
        for group in host.groups:
            group.in_hand -= 1
        if self.held:
            self.pass_on(host, now)

    def pass_on(self, host: HostQueue, now: float) -> None:
        """Let hosts come that were held for this one, which has used its turn, or does not."""
        for group in host.groups:
            if group.next is host:
                group.next = None
            if group.held:
                self._let_one_go(group, now)

    def hold(self, host: HostQueue, full: Group, now: float) -> None:
        """Keep a host that is in no place until its group has room; its turn in other groups goes to others."""
        host.place = Place.HELD
        full.keep(host, self._priority(host)[0])
        self.held += 1
        if full is not self._unfinished:
            self._held_by.add(full)
        self.pass_on(host, now)

    @staticmethod
    def _full(host: HostQueue, now: float) -> Group | None:
        """Return the group of a host that has no room for a visit of it, if there is one. A host in a burst goes on."""
        for group, pause in zip(host.groups, host.pauses, strict=True):
            if group.in_hand >= group.most or (
                pause and not host.burst and (group.due > now or group.next not in (None, host))
            ):
                return group
        return None

    def _let_one_go(self, group: Group, now: float) -> None:
        """Offer the first host that a group holds if the group has room now, or else when it has."""
        if group.next is not None or group.in_hand >= group.most:
            return  # when it begins, or a visit ends, this is asked again
        if group.due > now:
            self._call(group)
            return
        while group.held and group.next is None:
            host = self._let_go(group, now)
            if host.place is Place.READY:
                group.next = host

    def _let_go(self, group: Group, now: float) -> HostQueue:
        """Offer the first host that a group holds."""
        group.picks += 1
        host = next(iter(group.held[self._choose(group.held, group.picks)]))
        group.leave(host)
        self.held -= 1
        host.place = Place.IDLE
        self.offer(host, now)
        return host

    def _call(self, group: Group) -> None:
        """Look at a group when it may be visited again. Until then it is remembered, whoever else has forgotten it."""
        if not group.called:
            group.called = True
            self._wait(group)

    def repace(self, hosts: Iterable[HostQueue]) -> None:
        """Take up other pauses of these hosts, which are all: where they are shorter, groups rest less from now on."""
        before = {group: group.pause for group in self._groups.values()}
        for group in before:
            group.pause = 0.0
        for host in hosts:
            self.pace(host)
        for group, pause in before.items():
            if group.pause < pause:
                group.due -= pause - group.pause
                group.called = False  # what was to be looked at later is looked at sooner

    def rest_since(self, host: HostQueue, moment: float, least: float) -> None:
        """Let the groups of a host rest since a moment at which another agent may have visited them."""
        for group, pause in zip(host.groups, host.pauses, strict=True):
            group.due = max(group.due, moment + max(pause, least if pause else 0.0))

    def locate(self, host: HostQueue, address: str, now: float) -> None:
        """Say where a host is, which a visit to it has shown: that visit counts there. It has none in hand now."""
        host.address = address
        self.group(host)
        if host.pauses[-1]:
            self.rest(host.groups[-1], now, host.pauses[-1])

    def relocate(self, host: HostQueue, address: str, now: float) -> bool:
        """Say where a host is whose visits in hand count there from now on. Return whether the last may be made now."""
        before, visits = host.groups, len(host.leased)
        for group in before:
            group.in_hand -= visits
        host.address = address
        self.group(host)
        group, pause = host.groups[-1], host.pauses[-1]
        full = group.in_hand >= group.most or (pause and (group.due > now or group.next is not None))
        for each in host.groups:
            each.in_hand += visits
        for each in before:
            if each.held and each not in host.groups:
                self._let_one_go(each, now)
        if not full and pause:
            self.rest(group, now, pause)
        return not full

    def pace(self, host: HostQueue) -> None:
        """Say how long the groups of a host rest after a visit, and that they have room for what one may have."""
        pauses = {"d": host.manners.domain_pause(host.crawl_delay), "a": host.manners.address_pause(host.crawl_delay)}
        host.pauses = tuple([float(pauses[group.name[0]]) for group in host.groups])
        for group, pause in zip(host.groups, host.pauses, strict=True):
            group.most = max(group.most, host.manners.connections)
            if pause:
                if not group.pause:  # it is new here, and was perhaps visited until then
                    group.due = max(group.due, self.since + pause)
                group.pause = pause

    def _holding(self) -> list[Group]:
        """Return the domains and addresses that hold hosts."""
        self._held_by = {group for group in self._held_by if group.held}
        return list(self._held_by)

    def busy(self, seconds: float) -> list[str]:
        """Return the names of the groups that hold enough hosts for so long."""
        held = self._holding() if self.held else ()
        return [group.name for group in held if group.waiting * group.pause > seconds]

    def surplus(self, seconds: float) -> list[HostQueue]:
        """Return the hosts that are held beyond those that are enough for so long."""
        held = [group for group in self._holding() if group.pause]
        beyond = [host for group in held for host in group.beyond(int(seconds / group.pause) + 1)]
        return [host for host in beyond if not host.leased]

    def waits(self, most: int) -> dict[str, int]:
        """Return how many hosts wait for a domain or an address, for those for which most do."""
        found = sorted([(group.waiting, group.name[2:]) for group in self._holding()], reverse=True)
        return {name: number for number, name in found[:most]}

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
        room = min(self.sites - len(self._begun), self._unfinished.waiting)
        if room <= 0:
            return False
        for _ in range(room):
            self._let_go(self._unfinished, now)
        return True

    def group(self, host: HostQueue) -> None:
        """Say which domain and address a host belongs to; not while it has visits in hand."""
        domain = self._group(f"d {host.domain}")
        host.groups = (domain, self._group(f"a {host.address}")) if host.address else (domain,)
        self.pace(host)

    def _group(self, name: str) -> Group:
        group = self._groups.get(name)
        if group is None:
            group = self._groups[name] = Group(name, self._most[name[0]] or sys.maxsize)
        return group

    # -- heaps -------------------------------------------------------------------------------------------------------

    def _wake(self, now: float) -> None:
        waiting = self._waiting
        while waiting and waiting[0] <= now:
            for host in self._due_then.pop(heappop(waiting)):
                if isinstance(host, Group):
                    host.called = False
                    if host.held:
                        self._let_one_go(host, now)
                    continue
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

    def _choose(self, levels: Iterable[int], picks: int) -> int:
        """Return the priority whose turn it is: the first, now and then a lower one."""
        order = sorted(levels)
        turn, rest = divmod(picks, A_LOWER_LEVEL_EVERY)
        return order[0] if rest or len(order) == 1 else order[1 + turn % (len(order) - 1)]

    def _pop(self) -> HostQueue | None:
        """From the level whose turn it is; None for a stale entry."""
        levels = self._ready
        if len(levels) == 1:
            (priority,) = levels
        else:
            self._picks += 1
            priority = self._choose(levels, self._picks)
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
