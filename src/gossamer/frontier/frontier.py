"""The frontier: every URL ever met, what became of it, and which one is next.

    add      links become visits, each URL once
    lease    visits whose hosts may be visited now
    settle   what became of a leased visit
    commit   all of the above becomes durable, together with what the caller hands over

The life of a visit: queued -> leased (in memory only) -> settled as fetched, dead or excluded, or queued again.
A crash forgets leases, so those visits are simply still queued.
"""

from __future__ import annotations

import random
from pathlib import Path

import msgspec

from gossamer.config import FrontierConfig
from gossamer.errors import CrawlDirError
from gossamer.frontier import keys
from gossamer.frontier.database import Database
from gossamer.frontier.hosts import ROBOTS, Entry, HostQueue, Place
from gossamer.frontier.recent import Recent
from gossamer.frontier.schedule import Schedule
from gossamer.model import Fault, Reason, State, Visit
from gossamer.model.domain import partition_of, registered_domain, unreversed_host
from gossamer.model.url import host_of
from gossamer.rules.policy import Policy
from gossamer.rules.robots import Robots
from gossamer.rules.scope import Scope

FORMAT = 1
HOST_FAULTS = frozenset({Reason.DNS, Reason.CONNECT, Reason.TIMEOUT, Reason.TLS})  # others are a page's own
_NEW_LINKS_AT_ONCE = 4096  # resolved against the database together
_HEADS_IN_MEMORY = 500_000  # entries over all hosts; past it a host keeps one


class Counts(msgspec.Struct):
    """How many visits are in which state, and what the next request number is."""

    number: int = 0
    urls: int = 0
    queued: int = 0
    fetched: int = 0
    dead: int = 0
    excluded: int = 0
    hosts: int = 0
    clean: bool = True
    format: int = FORMAT
    partitions: int = 0


class Frontier:
    """Invariants: a URL is one visit, for ever; a host has at most `policy.host_connections` visits leased and none
    before its time; nothing leaves a queue but by being settled.
    """

    def __init__(
        self, path: Path, config: FrontierConfig, policy: Policy, scope: Scope, max_depth: int | None, now: float
    ) -> None:
        self.policy = policy
        self.scope = scope
        self.schedule = Schedule()
        self.leased = 0
        self._now = now  # of the last lease: a host with new links is offered as of then
        self._max_depth = max_depth
        self._config = config
        self._database = Database(path, config.memory)
        self._changes = self._database.changes
        self._recent = Recent(config.recent_urls)
        self._fresh: list[tuple[str, int, int]] = []
        self._origins: dict[str, tuple[HostQueue, bytes, str]] = {}
        self._hosts: dict[str, HostQueue] = {}
        self._dirty: list[HostQueue] = []
        self._heads = 0
        self._random = random.Random(now)  # noqa: S311 - jitter
        self.counts = self._open(now)

    # -- opening -----------------------------------------------------------------------------------------------------

    def _open(self, now: float) -> Counts:
        stored = self._database.get(keys.META + b"counts")
        if stored is None:
            counts = Counts(partitions=self._config.partitions)
        else:
            counts = msgspec.msgpack.decode(stored, type=Counts)
            if counts.format > FORMAT:
                self._database.close()
                raise CrawlDirError(
                    f"{self._database.path} was made by a newer version of gossamer (format {counts.format}, "
                    f"this version reads {FORMAT}). Upgrade gossamer, or choose another --dir."
                )
            self._load_hosts(counts, now)
        counts.clean = False
        return counts

    def _load_hosts(self, counts: Counts, now: float) -> None:
        for partition in range(counts.partitions):
            prefix = keys.partition_prefix(partition) + b"h"
            for key, value in self._database.scan(prefix, prefix):
                record = keys.HostRecord.unpack(value)
                if not record.queued:
                    continue
                host = self._new_host(unreversed_host(key[3:].decode()))
                host.load(record)
                # Whoever was stopped abruptly may have visited a host after the last commit: no delay is broken
                # if every host rests once more.
                pause = self.policy.delay_of(record.crawl_delay)
                host.due = min(max(host.due, 0.0 if counts.clean else now + pause), now + self.policy.max_retry_wait)
                if self.policy.is_down(host.failures):  # a new run gives it one more chance
                    host.failures = self.policy.max_tries - 1
                    host.due = now + pause
                self.schedule.offer(host, now)

    def _new_host(self, name: str) -> HostQueue:
        domain = registered_domain(name)
        partition = keys.partition_prefix(partition_of(domain, self._config.partitions))
        host = HostQueue(name, domain, partition, keys.host_key(partition, name), keys.queue_prefix(partition, name))
        self._hosts[name] = host
        return host

    def _origin(self, origin: str) -> tuple[HostQueue, bytes, str]:
        """Host, key prefix of its visits, scheme; of an origin such as https://example.org:8080."""
        name = host_of(origin + "/")
        host = self._hosts.get(name)
        if host is None:
            host = self._new_host(name)
            stored = self._database.get(host.key)
            if stored is not None:
                host.load(keys.HostRecord.unpack(stored))
            else:
                self.counts.hosts += 1
                self._touch(host)
        scheme = origin.partition(":")[0]
        known = self._origins[origin] = (host, keys.visit_prefix(host.partition, name, scheme), scheme)
        return known

    # -- add ---------------------------------------------------------------------------------------------------------

    def add(self, urls: list[str], depth: int, priority: int) -> None:
        """Links found at one moment, normalised. They are looked up, judged and queued a little later, many at once."""
        if self._max_depth is not None and depth > self._max_depth:
            return  # not remembered: a shorter way may lead there yet
        for url in self._recent.fresh(urls):
            self._fresh.append((url, depth, priority))
        if len(self._fresh) >= _NEW_LINKS_AT_ONCE:
            self._resolve()

    def _resolve(self) -> None:
        fresh, self._fresh = self._fresh, []
        origins = self._origins
        wanted = []
        for url, depth, priority in fresh:
            cut = url.index("/", 8)
            origin = url[:cut]
            host, prefix, scheme = origins.get(origin) or self._origin(origin)
            path = url[cut:]
            wanted.append((prefix + path.encode(), host, scheme, path, url, depth, priority))
        known = self._database.known([item[0] for item in wanted])
        for (key, host, scheme, path, url, depth, priority), is_known in zip(wanted, known, strict=True):
            if is_known or key in self._changes:
                continue
            reason = self.scope.judge(url) if depth else ""  # a seed belongs because somebody says so
            self.counts.urls += 1
            if reason:
                self.counts.excluded += 1
                self._changes[key] = keys.excluded_visit(depth, reason)
                continue
            self._changes[key] = keys.queued_visit(depth)
            self._enqueue(host, scheme, path, depth, priority)
            self._offer(host, self._now)

    def _enqueue(self, host: HostQueue, scheme: str, path: str, depth: int, priority: int, tries: int = 0) -> None:
        counts = self.counts
        counts.number += 1
        counts.queued += 1
        entry = Entry(priority, counts.number, depth, tries, scheme, path)
        self._write_place(host, entry)
        host.queued += 1
        before = len(host.head)
        host.put(entry, self._config.queue_head if self._heads < _HEADS_IN_MEMORY else 1)
        self._heads += len(host.head) - before
        self._touch(host)

    def _write_place(self, host: HostQueue, entry: Entry) -> None:
        self._changes[host.queue_prefix + keys.place(entry.priority, entry.number)] = (
            bytes((min(entry.depth, 255), min(entry.tries, 255))) + keys.SCHEMES[entry.scheme] + entry.path.encode()
        )

    def _touch(self, host: HostQueue) -> None:
        if not host.dirty:
            host.dirty = True
            self._dirty.append(host)

    # -- lease -------------------------------------------------------------------------------------------------------

    def lease(self, now: float, most: int) -> list[Visit]:
        """Up to `most` visits that may be made now; where a host's robots rules are not known, those first."""
        self._now = now
        if self._fresh:
            self._resolve()
        visits: list[Visit] = []
        while len(visits) < most and (host := self.schedule.take(now)) is not None:
            visit = self._next_visit(host, now)
            if visit is not None:
                visits.append(visit)
                self.leased += 1
                host.due = now + self.policy.delay_of(host.crawl_delay)
                self._offer(host, now)
        return visits

    def _next_visit(self, host: HostQueue, now: float) -> Visit | None:
        while host.waiting:
            if not host.head:
                self._refill(host)
            entry = host.head[0]
            robots = host.robots.get(entry.scheme) or self._load_robots(host, entry.scheme)
            if robots is None or robots[1] <= now:
                return self._robots_visit(host, entry.scheme)
            self._heads -= 1
            host.head.popleft()
            if robots[0].allows(entry.path):
                host.leased[entry.number] = entry
                return Visit(
                    f"{entry.scheme}://{host.name}{entry.path}",
                    host.name, entry.depth, entry.priority, entry.number, entry.tries,
                )  # fmt: skip
            self._settle(host, entry, keys.excluded_visit(entry.depth, Reason.ROBOTS))
            self.counts.excluded += 1
        return None

    def _robots_visit(self, host: HostQueue, scheme: str) -> Visit:
        host.leased[ROBOTS] = Entry(0, ROBOTS, 0, 0, scheme, "/robots.txt")
        url, redirects = host.robots_at.get(scheme) or (f"{scheme}://{host.name}/robots.txt", 0)
        return Visit(url, host.name, 0, 0, ROBOTS, redirects, robots=True)

    def _load_robots(self, host: HostQueue, scheme: str) -> tuple[Robots, float] | None:
        stored = self._database.get(keys.robots_key(host.partition, host.name, scheme))
        if stored is None:
            return None
        expires, packed = keys.read_robots(stored)
        host.robots[scheme] = known = (Robots.from_bytes(packed), expires)
        return known

    def _refill(self, host: HostQueue) -> None:
        stored: list[Entry] = []
        more = False
        room = self._config.queue_head
        if host.on_disk:
            start = host.queue_prefix + keys.place(*host.resume)
            for key, value in self._database.scan(start, host.queue_prefix):
                priority, number = keys.read_place(key[-9:])
                if number in host.leased or self._changes.get(key, b"") is None:
                    continue
                if len(stored) == room:
                    more = True
                    break
                scheme = keys.SCHEME_NAMES[value[2]]
                stored.append(Entry(priority, number, value[0], value[1], scheme, value[3:].decode()))
        host.refill(stored, more, room)
        self._heads += len(host.head)
        assert host.head, f"{host.name} counts {host.queued} queued, finds none"

    # -- settle ------------------------------------------------------------------------------------------------------

    def settle_page(
        self, visit: Visit, status: int, now: float, seconds: float, stored: tuple[int, int, int] | None
    ) -> None:
        """The visit brought a response, which is in the store at (file, offset, length)."""
        host = self._hosts[visit.host]
        entry = host.leased[visit.number]
        value = keys.pack_history(State.FETCHED, visit.depth, status, now, visit.tries + 1, stored, "")
        self._settle(host, entry, value)
        self.counts.fetched += 1
        host.pages += 1
        self._release(host, entry, now, seconds)

    def settle_excluded(self, visit: Visit, fault: Fault, now: float) -> None:
        """Not wanted after all, for instance because of its type."""
        host = self._hosts[visit.host]
        entry = host.leased[visit.number]
        tries = visit.tries + 1
        history = keys.pack_history(State.EXCLUDED, visit.depth, fault.status, now, tries, None, fault.reason)
        self._settle(host, entry, history)
        self.counts.excluded += 1
        self._release(host, entry, now, 0.0)

    def settle_fault(self, visit: Visit, fault: Fault, now: float) -> None:
        """No page. The visit is tried again until its tries are used up; its host rests, longer each time."""
        host = self._hosts[visit.host]
        entry = host.leased.pop(visit.number)
        tries = visit.tries + 1
        if fault.reason in HOST_FAULTS:
            host.failures += 1
            self._rest(host, host.failures, now)
        elif host.queued > 1:  # this page is at fault: others are next
            host.due = now + self.policy.pause(host.crawl_delay, 0.0)
        else:
            self._rest(host, tries, now)
        if fault.retry and tries < self.policy.max_tries:
            # Behind the others: a page that always fails must not keep them from being tried, nor take the host down.
            self._remove_place(host, entry)
            self._enqueue(host, entry.scheme, entry.path, entry.depth, entry.priority, tries)
        else:
            history = keys.pack_history(State.DEAD, visit.depth, 0, now, tries, None, fault.reason)
            self._settle(host, entry, history)
            self.counts.dead += 1
        self._offer_again(host, now)

    def _rest(self, host: HostQueue, failures: int, now: float) -> None:
        host.due = now + self.policy.back_off(failures, host.crawl_delay, self._random.random())

    def settle_robots(self, visit: Visit, robots: Robots | None, now: float, seconds: float, expires: float) -> None:
        """The rules of a host are known now; None: they could not be had, and until then nothing is allowed."""
        host = self._hosts[visit.host]
        entry = host.leased.pop(ROBOTS)
        host.robots_at.pop(entry.scheme, None)
        if robots is None:
            host.failures += 1
            self._rest(host, host.failures, now)
        else:
            host.robots[entry.scheme] = (robots, expires)
            host.crawl_delay = robots.crawl_delay or 0.0
            host.failures = 0
            host.due = now + self.policy.pause(host.crawl_delay, seconds)
            self._changes[keys.robots_key(host.partition, host.name, entry.scheme)] = keys.pack_robots(
                expires, robots.to_bytes()
            )
        self._offer_again(host, now)

    def redirect_robots(self, visit: Visit, target: str, now: float, seconds: float) -> None:
        """The rules are somewhere else; they are asked for there after the host's usual pause."""
        host = self._hosts[visit.host]
        entry = host.leased.pop(ROBOTS)
        host.robots_at[entry.scheme] = (target, visit.tries + 1)
        host.due = now + self.policy.pause(host.crawl_delay, seconds)
        self._offer_again(host, now)

    def give_back(self, visit: Visit, now: float) -> None:
        """A leased visit that was broken off; it waits as before. The server may have seen it, so its host rests."""
        host = self._hosts[visit.host]
        host.due = max(host.due, now + self.policy.delay_of(host.crawl_delay))
        if visit.robots:
            del host.leased[ROBOTS]
        else:
            host.put_back(host.leased[visit.number])
            self._heads += 1
        self._offer_again(host, now)

    def _settle(self, host: HostQueue, entry: Entry, value: bytes) -> None:
        """Write what became of a visit and take it off its queue."""
        self._changes[self._origins_prefix(host, entry.scheme) + entry.path.encode()] = value
        self._remove_place(host, entry)

    def _remove_place(self, host: HostQueue, entry: Entry) -> None:
        place = host.queue_prefix + keys.place(entry.priority, entry.number)
        if place in self._changes:
            del self._changes[place]  # queued and settled between two commits: the queue on disk never sees it
        else:
            self._changes[place] = None
        host.queued -= 1
        self.counts.queued -= 1
        self._touch(host)

    def _origins_prefix(self, host: HostQueue, scheme: str) -> bytes:
        origin = f"{scheme}://{host.name}"
        return (self._origins.get(origin) or self._origin(origin))[1]

    def _release(self, host: HostQueue, entry: Entry, now: float, seconds: float) -> None:
        del host.leased[entry.number]
        host.failures = 0
        host.due = now + self.policy.pause(host.crawl_delay, seconds)
        self._offer_again(host, now)

    def _offer_again(self, host: HostQueue, now: float) -> None:
        self.leased -= 1
        self._touch(host)
        self._offer(host, now)

    def _offer(self, host: HostQueue, now: float) -> None:
        if host.place is Place.IDLE and host.waiting and not host.busy(self.policy.host_connections):
            self.schedule.offer(host, now, self.policy.is_down(host.failures))

    # -- commit ------------------------------------------------------------------------------------------------------

    @property
    def exhausted(self) -> bool:
        """Nothing in hand, and nothing left but the queues of hosts that are down."""
        return not (self.leased or self._fresh or self.schedule.ready or self.schedule.waiting)

    def meta(self, name: str) -> bytes | None:
        """What `commit` was given under this name."""
        return self._database.get(keys.META + name.encode())

    def commit(self, meta: dict[str, bytes], clean: bool = False) -> None:
        """Everything since the last commit becomes durable, in one synced batch."""
        if self._fresh:
            self._resolve()
        for host in self._dirty:
            self._changes[host.key] = host.record().pack()
            host.committed()
            host.dirty = False
        self._dirty.clear()
        self.counts.clean = clean
        self._changes[keys.META + b"counts"] = msgspec.msgpack.encode(self.counts)
        for name, value in meta.items():
            self._changes[keys.META + name.encode()] = value
        self._database.commit()

    def close(self) -> None:
        self._database.close()
