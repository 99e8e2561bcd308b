"""Which hosts are in memory: those the speed needs (P9). The others wait on disk, found again through an index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from gossamer.frontier import keys
from gossamer.frontier.counts import Counts
from gossamer.frontier.database import Changes, Database
from gossamer.frontier.host_freshness import HostFreshness
from gossamer.frontier.hosts import Chunk, HostQueue, Level, Origin, Place, append
from gossamer.frontier.notes import Notes, pack_notes, read_notes
from gossamer.frontier.recent import Recent
from gossamer.frontier.rulebook import read_rules
from gossamer.frontier.schedule import Schedule
from gossamer.frontier.share import Share
from gossamer.model import Exclusion
from gossamer.model.domain import registered_domain, reversed_host, wrong_name
from gossamer.model.url import host_of, split
from gossamer.rules.policy import Policy
from gossamer.rules.yields import REPEATS

_SOON = 30.0  # seconds: a host that rests longer need not be in memory
_SLOWEST = 600.0  # seconds: no response is so slow that its host rests longer for it
_LOOKED_AT = 2000  # places of the index at a time
_LOOK_AGAIN = 5.0  # seconds after the whole index held nobody to call
_LOOK_LATER = _SOON / 2  # the same where hosts of domains were passed by of which memory has enough for _SOON
_KEPT = 0.8  # share of the limit that an eviction leaves
_CROWDED = 1.25  # share of the limit that is never exceeded by calling hosts, only until the next commit
_URGENT = 4  # priorities before this one get their host into memory even when that is full, up to twice the limit
_ORIGINS_AT_HAND = 32_768
_HOSTS_MET = 1 << 20
_ENTRIES_AT_HAND = 200_000  # over all hosts, about
_RECORD, _ROBOTS, _NOTES, _FRESH = keys.RECORD[0], keys.ROBOTS[0], keys.NOTES[0], keys.FRESH[0]
_NOTHING: tuple[int, list[int]] = (0, [])


class Roster:
    """Invariants: a host in memory is newer than what the database says of it; of a host on disk only `_late` is newer.
    The index has every level of every host that has a stored chunk, as of the last commit. While `on_disk` is false
    no host outside memory has a queue; while `busy` is false none has but those that are down.
    """

    def __init__(
        self,
        database: Database,
        schedule: Schedule,
        policy: Policy,
        counts: Counts,
        limit: int,
        room: int,
        opened: float,
        rested: float,
        share: Share,
    ) -> None:
        """`room`: entries of a host in memory. `rested`: nobody is visited before its delay has passed since then (0
        after a clean stop).
        """
        self.hosts: dict[str, HostQueue] = {}
        self.origins: dict[str, Origin] = {}
        self.now = opened  # as far as is known here
        self.on_disk = self.busy = counts.queued + counts.revisits > 0
        self.address_of: Callable[[str], str] = lambda _: ""
        self._database = database
        self._changes = database.hosts
        self._schedule = schedule
        self._policy = policy
        self._counts = counts
        self._limit = limit
        self._most_room = room
        self._opened = opened
        self._rested = rested
        self._share = share
        self._late: dict[bytes, dict[int, list[Chunk]]] = {}  # host on disk -> priority -> found since the last commit
        self._met = Recent(_HOSTS_MET)  # that are certainly known: to ask the disk reads a block of a host's queue
        self._dirty: list[HostQueue] = []
        self._cursor = keys.INDEX
        self._left, self._left_up = False, False  # since the cursor was at the beginning, a host was left on disk
        self._again = False  # since then a host with a queue went to disk: it may be behind the cursor
        self._look_again = 0.0
        self._evict_again = 0.0

    # -- finding -----------------------------------------------------------------------------------------------------

    def origin(self, text: str) -> Origin:
        """Of a text such as https://example.org:8080. If its host is new it is known from now on."""
        known = self.origins.get(text)
        if known is not None:
            return known
        name = host_of(text + "/")
        host = self.hosts.get(name)
        scheme = keys.SCHEMES[text.partition(":")[0]]
        prefix = self._prefix(name, registered_domain(name)) if host is None else host.prefix
        found = self.origins[text] = Origin(name, scheme, prefix, self._policy.manners(name))
        found.malformed = wrong_name(name) != ""
        found.away = found.malformed or self._share.is_away(prefix)
        if host is not None:
            self._belongs(found, host)
        return found

    def _prefix(self, name: str, domain: str) -> bytes:
        return keys.host_prefix(keys.partition_prefix(self._share.place(domain)), name)

    def prefix(self, name: str) -> bytes:
        """Of the keys of a host, in memory or not."""
        host = self.hosts.get(name)
        return self._prefix(name, registered_domain(name)) if host is None else host.prefix

    def key_of(self, url: str) -> bytes:
        """Of the visit to a normalised URL."""
        start, path = split(url)
        return self.origin(start).prefix + path.encode()

    def is_away(self, origin: Origin) -> bool:
        """Whether it is in a partition of another agent's."""
        return self._share.is_away(origin.host_prefix)

    def is_ours(self, url: str) -> bool:
        """Whether it is in a partition that no other agent has."""
        return self._share.is_ours(self.origin(split(url)[0]).host_prefix)

    def notes(self, name: str) -> Notes:
        """What a host, in memory or not, was found to repeat."""
        host = self.hosts.get(name)
        if host is not None:
            return host.notes()
        stored = self._database.host(self.prefix(name) + keys.NOTES)
        return Notes() if stored is None else read_notes(stored)

    @staticmethod
    def _belongs(origin: Origin, host: HostQueue) -> None:
        origin.host = host
        host.origins.append(origin)

    def knows(self, origin: Origin) -> bool:
        """Whether the host of an origin is in memory or on disk, or was met since the last commit."""
        return (
            origin.met or origin.name in self.hosts or self._database.host(origin.host_prefix + keys.RECORD) is not None
        )

    def enter(self, origin: Origin, priority: int) -> HostQueue | None:
        """The host of an origin, which is on disk, if there is room in memory and nobody waits for it."""
        if not (self.on_disk or self.full) or (
            (priority < _URGENT or priority >= keys.ASKED) and len(self.hosts) < 2 * self._limit
        ):
            return self._load(origin.name)
        return None

    def enter_named(self, name: str) -> HostQueue:
        """The host, which is known, in memory; in nobody's way, as few are asked for by name."""
        return self.hosts.get(name) or self._load(name)

    def put_late(self, origin: Origin, entries: list[str], priority: int) -> None:
        """Queue entries for a host on disk without reading what is there."""
        prefix = origin.host_prefix
        if not origin.met:
            origin.met = True
            if self._met.fresh([origin.name]) and self._database.host(prefix + keys.RECORD) is None:
                self._counts.hosts += 1
                self._changes[prefix + keys.RECORD] = b""
        levels = self._late.get(prefix)
        if levels is None:
            levels = self._late[prefix] = {}
        chunks = levels.get(priority)
        if chunks is None:
            chunks = levels[priority] = []
        append(chunks, entries, self._counts)
        self.on_disk = self.busy = self._again = True

    @property
    def full(self) -> bool:
        return len(self.hosts) >= self._limit

    @property
    def room(self) -> int:
        """Entries of a host that memory has room for."""
        return min(self._most_room, _ENTRIES_AT_HAND // (len(self.hosts) + 1) + 1)

    def _load(self, name: str) -> HostQueue:
        """Bring a host into memory, in the schedule or not."""
        domain = registered_domain(name)
        prefix = self._prefix(name, domain)
        host = self.hosts[name] = HostQueue(name, domain, self._policy.manners(name), prefix)
        host.closed = self._share.is_closed(prefix)
        record = self._read(host)
        if record is None:
            record = keys.HostRecord()
            if prefix + keys.RECORD not in self._changes:  # or it was met, but not brought into memory
                self._counts.hosts += 1
                self.touch(host)
        self._revive(host, record)
        for priority, chunks in self._late.pop(prefix, {}).items():
            host.level(priority).put_late(chunks)
            self.touch(host)
        host.address = self.address_of(name)
        self._schedule.group(host)
        if self._share.divided:
            self._schedule.rest_since(host, *self._share.rested(prefix, 0.0))
        for scheme in keys.SCHEMES:
            origin = self.origins.get(f"{scheme}://{name}")
            if origin is not None:
                self._belongs(origin, host)
        return host

    def _read(self, host: HostQueue) -> keys.HostRecord | None:
        """All that the disk has of a host: its record, robots rules, and the beginning of each level of its queue."""
        record: keys.HostRecord | None = None
        settled: dict[int, tuple[int, list[int]]] = {}
        prefix, kind, room = host.prefix, len(host.prefix), self.room
        found = self._database.hosts_cursor()
        found.seek(prefix)
        while found.valid():
            key = found.key()
            if not key.startswith(prefix):
                break
            if key[kind] == _RECORD:
                record = keys.HostRecord.unpack(found.value())
                settled = {priority: (below, besides) for priority, below, besides in record.done}
            elif key[kind] == _ROBOTS:
                host.robots[chr(key[-1])] = read_rules(found.value())
            elif key[kind] == _NOTES:
                host.load_notes(read_notes(found.value()))
            elif key[kind] == _FRESH:
                host.fresh = HostFreshness(found.value())
            else:
                priority = key[kind + 1]
                level = host.level(priority)
                below, besides = settled.get(priority, _NOTHING)
                if sum([chunk.left for chunk in level.chunks]) >= room:
                    level.more, level.resume = True, keys.number_of(key)
                    level.besides = tuple(number for number in besides if number >= level.resume)
                    found.seek(prefix + keys.QUEUE + bytes((priority + 1,)))
                    continue
                level.chunks.append(_chunk(key, found.value(), below, besides))
            found.next()
        self._database.checked(found)
        return record

    def refill(self, host: HostQueue, level: Level) -> None:
        """Read the chunks of a level from `resume` on, as many as there is room for."""
        chunks: list[Chunk] = []
        resume, room = 0, self.room
        prefix = host.prefix + keys.QUEUE + bytes((level.priority,))
        for key, value in self._database.scan_hosts(host.prefix + keys.place(level.priority, level.resume), prefix):
            if room <= 0:
                resume = keys.number_of(key)
                break
            chunks.append(_chunk(key, value, 0, level.besides))
            room -= chunks[-1].left
        level.refill(chunks, resume)

    def _revive(self, host: HostQueue, record: keys.HostRecord) -> None:
        host.load(record)
        longest = max(host.delay, self._policy.longest_wait)
        if host.due > self.now + 2 * longest:  # the clock was set back since
            host.due = self._opened + longest
        if not (host.failures or host.added_delay):
            slowest = (host.delay + _SLOWEST) * host.manners.burst
            if host.due > self.now + slowest:  # it was to rest for a pause that no longer holds
                host.due = self._opened + host.delay
        self._give_chance(host)
        rested, gap = self._share.rested(host.prefix, self._rested)
        if rested:
            host.due = max(host.due, rested + max(host.delay, gap))

    def _give_chance(self, host: HostQueue) -> bool:
        """A new run, or an operator, gives a host one more, whatever was thought of it before."""
        if not self._policy.is_down(host.failures) or host.failed_at >= self._opened:
            return False
        host.failures = self._policy.max_tries - 1
        host.due = min(host.due, self._opened + host.delay)
        return True

    def revive(self, now: float, names: Iterable[str] | None) -> list[HostQueue]:
        """Hosts that are down get one more chance: these, or all, the others when they are called. Gives those that
        are in memory.
        """
        before = self._opened
        self._opened = now
        hosts = list(self.hosts.values()) if names is None else [self.enter_named(name) for name in names]
        revived = [host for host in hosts if self._give_chance(host)]
        for host in revived:
            self.touch(host)
        if names is None:
            self._somebody_waits()
        else:
            self._opened = before
        return revived

    def ask_for_rules_again(self, origins: Iterable[Origin]) -> None:
        """Have the robots.txt of these asked for before their next pages. Until it can be had, the rules known hold."""
        changes: Changes = {}
        for origin in origins:
            key = origin.host_prefix + keys.ROBOTS + origin.scheme.encode()
            stored = self._database.host(key)
            if stored is not None and keys.read_robots(stored)[0]:
                changes[key] = keys.pack_robots(0.0, keys.read_robots(stored)[1])
            known = self.hosts[origin.name].robots if origin.name in self.hosts else {}
            if origin.scheme in known:
                known[origin.scheme] = (known[origin.scheme][0], 0.0)
        if changes:
            self._changes.update(changes)
            self._database.write({}, changes, {})  # at once: a host that comes from disk has what was written

    def left(self) -> dict[str, int]:
        """Count the hosts that have URLs waiting, by why nothing can be visited: the reason of their last fault,
        `blocklist`, or `repeats`. What is on disk is as of the last commit.
        """
        names = {name for name, host in self.hosts.items() if not all(level.empty for level in host.levels.values())}
        names |= {keys.host_of_prefix(prefix) for prefix in self._late}
        for key, _ in self._database.scan_hosts(keys.INDEX, keys.INDEX):
            name = keys.indexed_host(key)
            if name not in self.hosts and not self._share.is_away(self.prefix(name)):
                names.add(name)
        return Counter(map(self._why_left, names))

    def _why_left(self, name: str) -> str:
        if self._policy.manners(name).blocked:
            return Exclusion.BLOCKLIST
        host = self.hosts.get(name)
        if host is None:
            stored = self._database.host(self.prefix(name) + keys.RECORD)
            failures = keys.HostRecord.unpack(stored or b"").failures
        else:
            failures = host.failures
        return self.notes(name).trouble if failures else REPEATS

    def change_policy(self, policy: Policy) -> list[HostQueue]:
        """Gives the hosts in memory; each has its new manners."""
        self._policy = policy
        for host in self.hosts.values():
            before = host.delay
            host.manners = policy.manners(host.name)
            if not (host.failures or host.added_delay):
                host.due -= max(before - host.delay, 0.0)  # it rests for the pause that holds now
        for origin in self.origins.values():
            origin.manners = policy.manners(origin.name)
        self._somebody_waits()  # perhaps a host on disk was blocked
        return list(self.hosts.values())

    # -- partitions that come and go ---------------------------------------------------------------------------------

    def opened(self, partition: bytes) -> list[HostQueue]:
        """A partition has become this frontier's: it is on disk, and whatever was thought of its hosts is old. Gives
        those that are in memory all the same, as it was about to be given up.
        """
        for origin in self.origins.values():
            if origin.host_prefix[:2] == partition:
                origin.away, origin.met, origin.let_in = origin.malformed, False, None
        self._somebody_waits()
        found = [host for host in self.hosts.values() if host.prefix[:2] == partition]
        for host in found:
            host.closed = False
        return found

    def closed(self, partition: bytes) -> None:
        """None of its hosts is visited any more; what is in hand comes in. Its URLs are for others from now on."""
        for origin in self.origins.values():
            if origin.host_prefix[:2] == partition:
                origin.away = True
        for host in self.hosts.values():
            if host.prefix[:2] == partition:
                host.closed = True
                self._schedule.drop(host)

    def in_hand(self, partition: bytes) -> int:
        """Visits of its hosts."""
        return sum([len(host.leased) for host in self.hosts.values() if host.prefix[:2] == partition])

    def touch(self, host: HostQueue) -> None:
        """It must be written at the next commit."""
        if not host.dirty:
            host.dirty = True
            self._dirty.append(host)

    # -- calling -----------------------------------------------------------------------------------------------------

    def call(self, now: float, most: int) -> list[HostQueue]:
        """Up to `most` hosts whose turn it is by the index on disk."""
        most = min(most, int(_CROWDED * self._limit) + 1 - len(self.hosts))
        if most <= 0 or not self.on_disk or now < self._look_again:
            return []
        found: list[HostQueue] = []
        if self._cursor == keys.INDEX:
            self._left = self._left_up = self._again = False
        busy = self._schedule.busy(_SOON)  # enough hosts of these domains and addresses wait in memory
        domains = {reversed_host(name[2:]).encode() for name in busy if name[0] == "d"}
        addresses = {name[2:] for name in busy if name[0] == "a"}
        for looked_at, (key, _) in enumerate(self._database.scan_hosts(self._cursor, keys.INDEX), 1):
            self._cursor = key + b"\0"
            if (
                busy
                and looked_at < _LOOKED_AT
                and (keys.is_indexed_of(key, domains) or self.address_of(keys.indexed_host(key)) in addresses)
            ):
                self._left = self._left_up = True
                continue
            if keys.indexed_priority(key) == keys.ASIDE and self._policy.skips_everywhere:
                self._left = True  # and so are all of this priority
                self._cursor = keys.index_start(keys.ASIDE + 1)
                return found or self.call(now, most)
            name = keys.indexed_host(key)
            if name not in self.hosts and (host := self._awake(name, now)) is not None:
                found.append(host)
            if len(found) >= most or looked_at >= _LOOKED_AT:
                return found
        self._cursor = keys.INDEX
        for prefix in list(self._late)[: most - len(found)]:  # the index will know them after the next commit
            found.append(self._load(keys.host_of_prefix(prefix)))
        self.on_disk = self._left or self._again or bool(self._late)
        self.busy = self._left_up or self._again or bool(self._late)
        if not found:
            self._look_again = now + (_LOOK_LATER if busy else _LOOK_AGAIN)
        return found

    def call_asked(self, most: int) -> list[HostQueue]:
        """Up to `most` hosts on disk that applications have asked for something of: those of the index that come last,
        and whose parties have shares that must not wait for all others.
        """
        most = min(most, 2 * self._limit - len(self.hosts))
        found: list[HostQueue] = []
        for key, _ in self._database.scan_hosts(keys.index_start(keys.ASKED), keys.INDEX):
            if len(found) >= most:
                break
            name = keys.indexed_host(key)
            if name not in self.hosts and (host := self._awake(name, self.now)) is not None:
                found.append(host)
        return found

    def _awake(self, name: str, now: float) -> HostQueue | None:
        """A host from disk, unless it rests for long, is blocked, or repeats another one or itself."""
        share, closed = self._share, self._database.closed
        if (
            self._policy.manners(name).blocked
            or (share.divided and share.is_away(self.prefix(name)))
            or (closed and self.prefix(name)[:2] in closed)
        ):
            self._left = True
            return None
        host = self._load(name)
        if (host.mirrors or not host.waiting) and not host.dirty:
            self._left = True
            self._forget(host)
            return None
        if host.due <= now + _SOON or host.dirty:
            return host
        self._left = True
        self._left_up = self._left_up or not self._policy.is_down(host.failures)
        self._forget(host)
        return None

    # -- the commit --------------------------------------------------------------------------------------------------

    def save(self) -> None:
        """Put what changed into the database's changes."""
        changes = self._changes
        for host in self._dirty:
            for level in host.levels.values():
                if level.new:
                    level.indexed = self._save_chunks(host.prefix, level.priority, level.new, level.indexed)
                if level.finished:
                    self._save_finished(host, level)
            changes[host.prefix + keys.RECORD] = host.record().pack()
            if host.noted:
                host.noted = False
                changes[host.prefix + keys.NOTES] = pack_notes(host.notes())
            if host.fresh is not None and host.fresh.changed:
                host.fresh.changed = False
                changes[host.prefix + keys.FRESH] = host.fresh.pack()
        for prefix, levels in self._late.items():
            for priority, chunks in levels.items():
                self._save_chunks(prefix, priority, chunks, -1)
        if self._late:
            self._late.clear()
            self._somebody_waits()

    def _save_chunks(self, prefix: bytes, priority: int, chunks: Iterable[Chunk], indexed: int) -> int:
        changes = self._changes
        for chunk in chunks:
            if not chunk.left:
                continue  # found and settled between two commits: the disk never sees it
            changes[prefix + keys.place(priority, chunk.first)] = keys.pack_chunk(chunk.entries)
            chunk.stored = True
            epoch = keys.epoch(chunk.first)
            if epoch != indexed:
                indexed = epoch
                changes[keys.index_key(priority, epoch, prefix)] = b""
        return indexed

    def _save_finished(self, host: HostQueue, level: Level) -> None:
        """Chunks of which nothing is left go, and places in the index that have no chunk any more."""
        changes = self._changes
        remaining = {keys.epoch(chunk.first) for chunk in (*level.chunks, *level.late)}
        if level.more:
            remaining.add(keys.epoch(level.resume))
        for first in level.finished:
            changes[host.prefix + keys.place(level.priority, first)] = None
        for epoch in {keys.epoch(first) for first in level.finished} - remaining:
            changes[keys.index_key(level.priority, epoch, host.prefix)] = None
            if level.indexed == epoch:
                level.indexed = -1

    def committed(self, now: float) -> None:
        """What was saved is on disk: memory is for what is needed soon."""
        room = self.room
        for host in self._dirty:
            host.tidy(room)
        self._dirty.clear()
        if len(self.hosts) > self._limit or (self.full and self.on_disk and now >= self._evict_again):
            self._evict_again = now + _LOOK_AGAIN
            self._evict(now)
        if len(self.origins) > _ORIGINS_AT_HAND:
            self._forget_origins()

    def _evict(self, now: float) -> None:
        """Idle hosts, then those that wait or rest for long; others only when there are more than allowed, newest
        first.
        """
        idle, resting, others = [], self._schedule.surplus(_SOON), []
        for host in self.hosts.values():
            if host.leased or host.place is Place.HELD:
                continue
            if host.place is Place.IDLE:
                idle.append(host)
            elif host.due > now + _SOON:
                resting.append(host)
            else:
                others.append(host)
        excess = len(self.hosts) - int(self._limit * _KEPT)
        victims = (idle + resting)[:excess]
        excess = len(self.hosts) - self._limit - len(victims)
        if excess > 0:
            others.reverse()
            victims += sorted(others, key=_urgency)[:excess]  # the least urgent first
        for host in victims:
            if host.place is not Place.IDLE:
                self._somebody_waits()
            self._forget(host)

    def forget_partition(self, partition: int) -> None:
        """Its hosts are no more known here. Nothing of it is in hand, and all is committed."""
        prefix = keys.partition_prefix(partition)
        for host in [host for host in self.hosts.values() if host.prefix.startswith(prefix)]:
            assert not host.leased, f"{host.name} has visits in hand"
            assert not host.dirty, f"{host.name} is not committed"
            self._forget(host)
        for text in [text for text, origin in self.origins.items() if origin.host_prefix.startswith(prefix)]:
            del self.origins[text]
        for late in [late for late in self._late if late.startswith(prefix)]:
            del self._late[late]
        self._met.clear()

    def look_again(self) -> None:
        """Somebody may wait on disk of whom nothing was known."""
        self._somebody_waits()

    def _somebody_waits(self) -> None:
        self.on_disk = self.busy = self._again = True
        self._look_again = 0.0

    def _forget(self, host: HostQueue) -> None:
        self._schedule.drop(host)
        host.place = Place.GONE
        del self.hosts[host.name]
        for origin in host.origins:
            origin.host = None

    def _forget_origins(self) -> None:
        absent = [text for text, origin in self.origins.items() if origin.host is None]
        for text in absent[: _ORIGINS_AT_HAND // 2]:
            del self.origins[text]


def _urgency(host: HostQueue) -> tuple[bool, int]:
    """The least urgent come first; what was asked for is never among those while there are others."""
    priority, _ = host.first()
    return priority >= keys.ASKED, -priority


def _chunk(key: bytes, value: bytes, below: int, besides: Sequence[int]) -> Chunk:
    chunk = Chunk(keys.number_of(key), keys.read_chunk(value), stored=True)
    if below > chunk.first or besides or not all(chunk.entries):
        chunk.forget(below, besides)
    return chunk
