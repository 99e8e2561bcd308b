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
from gossamer.frontier.counts import FORMAT, Counts
from gossamer.frontier.database import Database
from gossamer.frontier.hosts import ROBOTS, Entry, HostQueue, Level, Place
from gossamer.frontier.recent import Recent
from gossamer.frontier.roster import Roster
from gossamer.frontier.rulebook import Rulebook
from gossamer.frontier.schedule import Schedule
from gossamer.model import Fault, Reason, State, Visit
from gossamer.rules.policy import Policy
from gossamer.rules.robots import Robots
from gossamer.rules.scope import Scope

HOST_FAULTS = frozenset({Reason.DNS, Reason.CONNECT, Reason.TIMEOUT, Reason.TLS})  # others are a page's own
_NEW_LINKS_AT_ONCE = 4096  # resolved against the database together
_HOSTS_AT_ONCE = 64  # brought into memory together
_HEADS_IN_MEMORY = 100_000  # entries over all hosts; past it a host keeps one


class Frontier:
    """Invariants: a URL is one visit, for ever; a host has no more visits leased than its manners allow and none
    before its time; nothing leaves a queue but by being settled.
    """

    def __init__(
        self, path: Path, config: FrontierConfig, policy: Policy, scope: Scope, max_depth: int | None, now: float
    ) -> None:
        self.policy = policy
        self.scope = scope
        self.schedule = Schedule(policy.domain_connections, policy.address_connections)
        self.leased = 0
        self._max_depth = max_depth
        self._now = now  # of the last lease: a host with new links is offered as of then
        self._room = config.queue_head
        self._heads = 0
        self._random = random.Random(now)  # noqa: S311 - jitter
        self._recent = Recent(config.recent_urls)
        self._fresh: list[tuple[str, int, int]] = []
        self._database = Database(path, config.memory)
        self._changes = self._database.changes
        self.counts = self._open(config.partitions)
        # Whoever was stopped abruptly may have visited a host after the last commit: no delay is broken if every host
        # rests once more.
        rested = 0.0 if self.counts.clean else now
        self._roster = Roster(self._database, self.schedule, policy, self.counts, config.hosts, now, rested)
        self._rulebook = Rulebook(self._database)
        self._origins = self._roster.origins
        self.counts.clean = False

    def _open(self, partitions: int) -> Counts:
        stored = self._database.get(keys.META + b"counts")
        if stored is None:
            return Counts(partitions=partitions)  # and they stay as many: keys depend on them
        counts = msgspec.msgpack.decode(stored, type=Counts)
        if counts.format > FORMAT:
            self._database.close()
            raise CrawlDirError(
                f"{self._database.path} was made by a newer version of gossamer (format {counts.format}, "
                f"this version reads {FORMAT}). Upgrade gossamer, or choose another --dir."
            )
        return counts

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
        origins, find = self._origins, self._roster.origin
        wanted = []
        for url, depth, priority in fresh:
            cut = url.index("/", 8)
            origin = url[:cut]
            host, prefix, scheme = origins.get(origin) or find(origin)
            path = url[cut:]
            wanted.append((prefix + path.encode(), host, scheme, origin, path, url, depth, priority))
        known = self._database.known([item[0] for item in wanted])
        counts, changes = self.counts, self._changes
        for (key, host, scheme, origin, path, url, depth, priority), is_known in zip(wanted, known, strict=True):
            if is_known or key in changes:
                continue
            reason = self.scope.judge(url) if depth else ""  # a seed belongs because somebody says so
            counts.urls += 1
            if reason:
                counts.excluded += 1
                changes[key] = keys.excluded_visit(depth, reason)
                continue
            changes[key] = keys.queued_visit(depth)
            level = priority if host.manners.priority < 0 else host.manners.priority
            self._enqueue(host, scheme, origin, path, depth, level, 0)
            self._offer(host, self._now)

    def _enqueue(
        self, host: HostQueue, scheme: bytes, origin: str, path: str, depth: int, priority: int, tries: int
    ) -> None:
        counts = self.counts
        counts.number += 1
        counts.queued += 1
        entry = Entry(priority, counts.number, depth, tries, origin, path)
        self._changes[host.queue_prefix + keys.place(priority, entry.number)] = keys.queued_entry(
            depth, tries, scheme, path
        )
        if not host.queued:
            self._roster.begins(host)
        host.queued += 1
        level = host.level(priority)
        level.queued += 1
        self._heads += level.put(entry, self._room if self._heads < _HEADS_IN_MEMORY else 1)
        self._roster.touch(host)

    # -- lease -------------------------------------------------------------------------------------------------------

    def lease(self, now: float, most: int) -> list[Visit]:
        """Up to `most` visits that may be made now; where a host's robots rules are not known, those first."""
        self._now = now
        if self._fresh:
            self._resolve()
        visits: list[Visit] = []
        while len(visits) < most:
            host = self.schedule.take(now)
            if host is None:
                if self._activate(now, most - len(visits)):
                    continue
                break
            visit = self._next_visit(host, now)
            if visit is not None:
                visits.append(visit)
                self.leased += 1
                self.schedule.begin(host)
                host.due = now if host.burst + 1 < host.manners.burst else now + host.delay
            self._offer(host, now)
        return visits

    def _activate(self, now: float, most: int) -> bool:
        """Bring hosts into the schedule when those there are not enough for the speed; true when one is ready."""
        hosts = self._roster.activate(now, max(most, _HOSTS_AT_ONCE))
        for host in hosts:
            self.schedule.offer(host, now, self.policy.is_down(host.failures))
        return any(host.place is Place.READY for host in hosts)

    def _next_visit(self, host: HostQueue, now: float) -> Visit | None:
        manners = host.manners
        while host.waiting:
            level = host.next_level()
            if not level.head:
                self._refill(host, level)
            entry = level.head[0]
            rules = self._rulebook.rules(host, entry.origin, now)
            if rules is None:
                return self._robots_visit(host, entry.origin)
            del level.head[0]
            self._heads -= 1
            if not rules.allows(entry.path):
                reason: str = Reason.ROBOTS
            elif manners.max_pages and host.pages + len(host.leased) >= manners.max_pages:
                reason = "host_pages"
            else:
                host.leased[entry.number] = entry
                return Visit(
                    entry.origin + entry.path, host.name, entry.depth, entry.priority, entry.number, entry.tries
                )
            self._settle(host, entry, keys.excluded_visit(entry.depth, reason))
            self.counts.excluded += 1
        return None

    def _robots_visit(self, host: HostQueue, origin: str) -> Visit:
        host.leased[ROBOTS] = Entry(0, ROBOTS, 0, 0, origin, "/robots.txt")
        url, redirects = host.robots_at.get(origin) or (origin + "/robots.txt", 0)
        return Visit(url, host.name, 0, 0, ROBOTS, redirects, robots=True)

    def _refill(self, host: HostQueue, level: Level) -> None:
        stored: list[Entry] = []
        more = False
        room = self._room if self._heads < _HEADS_IN_MEMORY else 1
        if level.on_disk:
            prefix = host.queue_prefix + bytes((level.priority,))
            for key, value in self._database.scan(prefix + level.resume.to_bytes(8, "big"), prefix):
                if len(stored) == room:
                    more = True
                    break
                origin = f"{keys.SCHEME_NAMES[value[2]]}://{host.name}"
                self._roster.origin(origin)  # at hand from now on, as long as the host is
                number = int.from_bytes(key[-8:], "big")
                stored.append(Entry(level.priority, number, value[0], value[1], origin, value[3:].decode()))
        level.refill(stored, more, room)
        self._heads += len(level.head)
        assert level.head, f"{host.name} counts {level.queued} queued at priority {level.priority}, finds none"

    # -- settle ------------------------------------------------------------------------------------------------------

    def settle_page(
        self,
        visit: Visit,
        status: int,
        now: float,
        seconds: float,
        stored: tuple[int, int, int] | None,
        address: str = "",
        digest: bytes = b"",
        validators: tuple[bytes, bytes] = (b"", b""),
    ) -> None:
        """The visit brought a response, which is in the store at (file, offset, length)."""
        host = self._roster.hosts[visit.host]
        entry = host.leased.pop(visit.number)
        value = keys.pack_history(
            State.FETCHED, visit.depth, status, now, visit.tries + 1, stored, digest, validators=validators
        )
        self._settle(host, entry, value)
        self.counts.fetched += 1
        host.pages += 1
        host.failures = 0
        host.rest(now, seconds)
        self._release(host, now, address)

    def settle_excluded(self, visit: Visit, fault: Fault, now: float) -> None:
        """Not wanted after all, for instance because of its type."""
        host = self._roster.hosts[visit.host]
        entry = host.leased.pop(visit.number)
        tries = visit.tries + 1
        history = keys.pack_history(State.EXCLUDED, visit.depth, fault.status, now, tries, reason=fault.reason)
        self._settle(host, entry, history)
        self.counts.excluded += 1
        host.failures = 0
        host.rest(now, 0.0)
        self._release(host, now)

    def settle_fault(self, visit: Visit, fault: Fault, now: float) -> None:
        """No page. The visit is tried again until its tries are used up; its host rests, longer each time."""
        host = self._roster.hosts[visit.host]
        entry = host.leased.pop(visit.number)
        tries = visit.tries + 1
        if fault.reason in HOST_FAULTS:
            host.failures += 1
            self._back_off(host, host.failures, now)
        elif host.queued > 1:  # this page is at fault: others are next
            host.rest(now, 0.0)
        else:
            self._back_off(host, tries, now)
        if fault.retry and tries < self.policy.max_tries:
            # Behind the others: a page that always fails must not keep them from being tried, nor take the host down.
            scheme = self._origins[entry.origin][2]
            self._enqueue(host, scheme, entry.origin, entry.path, entry.depth, entry.priority, tries)
            self._remove_place(host, entry)
        else:
            history = keys.pack_history(State.DEAD, visit.depth, 0, now, tries, reason=fault.reason)
            self._settle(host, entry, history)
            self.counts.dead += 1
        self._release(host, now)

    def settle_robots(
        self, visit: Visit, robots: Robots | None, now: float, seconds: float, expires: float, address: str = ""
    ) -> None:
        """The rules of a host are known now; None: they could not be had, and until then nothing is allowed."""
        host = self._roster.hosts[visit.host]
        entry = host.leased.pop(ROBOTS)
        host.robots_at.pop(entry.origin, None)
        if robots is None:
            host.failures += 1
            self._back_off(host, host.failures, now)
        else:
            self._rulebook.learn(host, entry.origin, robots, expires)
            host.crawl_delay = robots.crawl_delay or 0.0
            host.failures = 0
            host.rest(now, seconds)
        self._release(host, now, address)

    def redirect_robots(self, visit: Visit, target: str, now: float, seconds: float) -> None:
        """The rules are somewhere else; they are asked for there after the host's usual pause."""
        host = self._roster.hosts[visit.host]
        entry = host.leased.pop(ROBOTS)
        host.robots_at[entry.origin] = (target, visit.tries + 1)
        host.rest(now, seconds)
        self._release(host, now)

    def give_back(self, visit: Visit, now: float) -> None:
        """A leased visit that was broken off; it waits as before. The server may have seen it, so its host rests."""
        host = self._roster.hosts[visit.host]
        host.due = max(host.due, now + host.delay)
        entry = host.leased.pop(visit.number)
        if not visit.robots:
            host.level(entry.priority).put_back(entry)
            self._heads += 1
        self._release(host, now)

    def _settle(self, host: HostQueue, entry: Entry, value: bytes) -> None:
        """Write what became of a visit and take it off its queue."""
        prefix = self._origins[entry.origin][1]
        self._changes[prefix + entry.path.encode()] = value
        self._remove_place(host, entry)

    def _remove_place(self, host: HostQueue, entry: Entry) -> None:
        place = host.queue_prefix + keys.place(entry.priority, entry.number)
        if place in self._changes:
            del self._changes[place]  # queued and settled between two commits: the queue on disk never sees it
        else:
            self._changes[place] = None
        host.level(entry.priority).queued -= 1
        host.queued -= 1
        self.counts.queued -= 1
        if not host.queued:
            self._roster.ends(host)
        self._roster.touch(host)

    def _back_off(self, host: HostQueue, failures: int, now: float) -> None:
        host.burst = 0
        host.failed_at = now
        host.due = now + self.policy.back_off(failures, host.delay, self._random.random())

    def _release(self, host: HostQueue, now: float, address: str = "") -> None:
        self.leased -= 1
        self.schedule.end(host, now)
        if address and address != host.address and not host.leased:
            host.address = address
            self.schedule.group(host)
        self._roster.touch(host)
        self._offer(host, now)

    def _offer(self, host: HostQueue, now: float) -> None:
        if host.place is Place.IDLE and host.open:
            if self._roster.crowded and not host.leased:
                self._roster.park(host)
            else:
                self.schedule.offer(host, now, self.policy.is_down(host.failures))

    # -- commit ------------------------------------------------------------------------------------------------------

    @property
    def exhausted(self) -> bool:
        """Nothing in hand, and nothing left but the queues of hosts that are down."""
        if self.leased or self._fresh or not self.schedule.empty:
            return False
        self._activate(self._now, 1)
        return self.schedule.empty and not self._roster.resting

    def meta(self, name: str) -> bytes | None:
        """What `commit` was given under this name."""
        return self._database.get(keys.META + name.encode())

    def commit(self, meta: dict[str, bytes], clean: bool = False) -> None:
        """Everything since the last commit becomes durable, in one synced batch."""
        if self._fresh:
            self._resolve()
        self._roster.save()
        self.counts.clean = clean
        self._changes[keys.META + b"counts"] = msgspec.msgpack.encode(self.counts)
        for name, value in meta.items():
            self._changes[keys.META + name.encode()] = value
        self._database.commit()
        self._heads -= self._roster.committed(self._now)
        if self._roster.has_room:
            self._activate(self._now, self._roster.room)

    def close(self) -> None:
        self._database.close()
