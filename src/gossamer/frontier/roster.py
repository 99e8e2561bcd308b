"""Which hosts are in memory: those the speed needs (P9). The others wait on disk, found again through an index."""

from __future__ import annotations

from gossamer.frontier import keys
from gossamer.frontier.counts import Counts
from gossamer.frontier.database import Database
from gossamer.frontier.hosts import HostQueue, Place
from gossamer.frontier.schedule import Schedule
from gossamer.model.domain import partition_of, registered_domain
from gossamer.model.url import host_of
from gossamer.rules.policy import Policy

Origin = tuple[HostQueue, bytes, bytes]  # host, key prefix of its visits, code of the scheme

_SOON = 30.0  # seconds: a host that rests longer need not be in memory
_LOOKED_AT = 2000  # places of the index at a time
_LOOK_AGAIN = 5.0  # seconds after the whole index held nobody to call
_KEPT = 0.8  # share of the limit that an eviction leaves


class Roster:
    """Invariants: a host in memory is newer than what the database says of it; every host with a queue is in the
    index as of the last commit; `active` hosts in memory have a queue, `parked` of them are not in the schedule.
    """

    def __init__(
        self,
        database: Database,
        schedule: Schedule,
        policy: Policy,
        counts: Counts,
        limit: int,
        opened: float,
        rested: float,
    ) -> None:
        """`rested`: nobody is visited before its delay has passed since then (0 after a clean stop)."""
        self.hosts: dict[str, HostQueue] = {}
        self.origins: dict[str, Origin] = {}
        self.active = 0
        self.parked = 0
        self.resting = False  # hosts on disk rest for long, and are not down: the crawl is not over
        self._database = database
        self._schedule = schedule
        self._policy = policy
        self._counts = counts
        self._limit = limit
        self._opened = opened
        self._rested = rested
        self._dirty: list[HostQueue] = []
        self._cursor = keys.INDEX
        self._called = False  # somebody, since the cursor was at the beginning
        self._look_again = 0.0

    # -- finding -----------------------------------------------------------------------------------------------------

    def origin(self, origin: str) -> Origin:
        """Of an origin such as https://example.org:8080; its host is loaded, or made if it is new."""
        known = self.origins.get(origin)
        if known is not None:
            return known
        name = host_of(origin + "/")
        host = self.hosts.get(name)
        if host is None:
            host = self._make(name)
            stored = self._database.get(host.key)
            if stored is not None:
                self._fill(host, keys.HostRecord.unpack(stored))
            else:
                self._counts.hosts += 1
                host.due = self._rested + host.delay if self._rested else 0.0
                self.touch(host)
        scheme = origin.partition(":")[0]
        known = (host, keys.visit_prefix(host.partition, name, scheme), keys.SCHEMES[scheme])
        self.origins[origin] = known
        host.origins.append(origin)
        return known

    def _make(self, name: str) -> HostQueue:
        domain = registered_domain(name)
        partition = keys.partition_prefix(partition_of(domain, self._counts.partitions))
        key, queue = keys.host_key(partition, name), keys.queue_prefix(partition, name)
        host = self.hosts[name] = HostQueue(name, domain, self._policy.manners(name), partition, key, queue)
        self._schedule.group(host)
        return host

    def _fill(self, host: HostQueue, record: keys.HostRecord) -> None:
        host.load(record)
        if self._policy.is_down(host.failures) and host.failed_at < self._opened:
            # A new run gives it one more chance, whatever the last one thought of it.
            host.failures = self._policy.max_tries - 1
            host.due = min(host.due, self._opened + host.delay)
        if self._rested:
            host.due = max(host.due, self._rested + host.delay)
        if host.queued:
            self.active += 1
            self.park(host)

    def touch(self, host: HostQueue) -> None:
        """It must be written at the next commit."""
        if not host.dirty:
            host.dirty = True
            self._dirty.append(host)

    def begins(self, host: HostQueue) -> None:
        """A host has a queue now."""
        self._counts.busy_hosts += 1
        self.active += 1

    def ends(self, host: HostQueue) -> None:
        """A host has none any more."""
        self._counts.busy_hosts -= 1
        self.active -= 1

    # -- calling -----------------------------------------------------------------------------------------------------

    @property
    def crowded(self) -> bool:
        """Memory is full of hosts that have a queue: new ones had better wait on disk."""
        return self.active > self._limit

    @property
    def room(self) -> int:
        return int(self._limit * _KEPT) - self.active

    @property
    def has_room(self) -> bool:
        """Hosts wait on disk, though there is room for them."""
        return self._counts.busy_hosts > self.active and self.room > 0

    def park(self, host: HostQueue) -> None:
        """It is called when it is its turn."""
        host.place = Place.PARKED
        self.parked += 1

    def activate(self, now: float, most: int) -> list[HostQueue]:
        """Up to `most` parked hosts, those in memory first, then those whose turn it is by the index on disk."""
        found: list[HostQueue] = []
        if self.parked:
            found = [host for host in self.hosts.values() if host.place is Place.PARKED][:most]
        if len(found) < most and self._counts.busy_hosts > self.active and now >= self._look_again:
            found += self._from_index(now, most - len(found))
        for host in found:
            host.place = Place.IDLE
            self.parked -= 1
        return found

    def _from_index(self, now: float, most: int) -> list[HostQueue]:
        found: list[HostQueue] = []
        if self._cursor == keys.INDEX:
            self.resting = self._called = False
        for looked_at, (key, _) in enumerate(self._database.scan(self._cursor, keys.INDEX), 1):
            self._cursor = key + b"\0"
            name = keys.indexed_host(key)
            if name not in self.hosts and (host := self._call(name, now)) is not None:
                found.append(host)
            if len(found) >= most or looked_at >= _LOOKED_AT:
                self._called = self._called or bool(found)
                return found
        if not found and not self._called:
            self._look_again = now + _LOOK_AGAIN
        self._cursor = keys.INDEX
        return found

    def _call(self, name: str, now: float) -> HostQueue | None:
        """A host from disk, unless it rests for long."""
        host = self._make(name)
        stored = self._database.get(host.key)
        assert stored is not None, f"{name} is in the index, but there is no record of it"
        record = keys.HostRecord.unpack(stored)
        self._fill(host, record)
        if host.due <= now + _SOON:
            return host
        self.resting = self.resting or not self._policy.is_down(host.failures)
        self._forget(host)
        return None

    # -- the commit --------------------------------------------------------------------------------------------------

    def save(self) -> None:
        """Put what changed into the database's changes."""
        changes = self._database.changes
        for host in self._dirty:
            place = host.index_place() if host.queued else None
            if host.index is None or place is None or place[0] < host.index[0]:
                self._index(host, place)
            changes[host.key] = host.record().pack()

    def _index(self, host: HostQueue, place: tuple[int, int] | None) -> None:
        """An entry of the index stays as it is while the host has a queue, unless something more urgent came."""
        changes = self._database.changes
        if host.index is not None:
            changes[keys.index_key(host.index, host.name)] = None
        host.index = place
        if place is not None:
            changes[keys.index_key(place, host.name)] = b""
            self._look_again = 0.0
            self._cursor = min(self._cursor, keys.INDEX + keys.place(*place))

    def committed(self, now: float) -> int:
        """What was saved is on disk: queues need not keep it, and memory is for the hosts that are needed.

        Gives how many entries left memory with the hosts that did.
        """
        for host in self._dirty:
            for level in host.levels.values():
                level.committed()
            if len(host.levels) > 1:
                host.levels = {priority: level for priority, level in host.levels.items() if level.queued}
            host.dirty = False
        self._dirty.clear()
        return self._evict(now) if len(self.hosts) > self._limit else 0

    def _evict(self, now: float) -> int:
        """Idle hosts first, then those that rest for long, then those found last."""
        oldest_first = [host for host in self.hosts.values() if not host.leased]
        victims = [host for host in oldest_first if host.place in (Place.IDLE, Place.PARKED)]
        scheduled = [host for host in oldest_first if host.place in (Place.READY, Place.WAITING)]
        victims += [host for host in scheduled if host.due > now + _SOON]
        victims += [host for host in reversed(scheduled) if host.due <= now + _SOON]
        excess = len(self.hosts) - int(self._limit * _KEPT)
        return sum(map(self._forget, victims[:excess]))

    def _forget(self, host: HostQueue) -> int:
        if host.place is Place.PARKED:
            self.parked -= 1
        else:
            self._schedule.drop(host)
        host.place = Place.GONE
        if host.queued:
            self.active -= 1
        del self.hosts[host.name]
        for origin in host.origins:
            del self.origins[origin]
        return sum(len(level.head) for level in host.levels.values())
