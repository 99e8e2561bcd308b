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
from collections.abc import Iterable
from pathlib import Path

import msgspec

from gossamer.config import FreshConfig, FrontierConfig
from gossamer.errors import CrawlDirError
from gossamer.frontier import keys
from gossamer.frontier.counts import FORMAT, Counts
from gossamer.frontier.database import Database
from gossamer.frontier.domain_hosts import DomainHosts
from gossamer.frontier.hosts import Entry, HostQueue, Level, Origin, Place
from gossamer.frontier.intake import Intake
from gossamer.frontier.pattern_pages import PatternPages, Room
from gossamer.frontier.recent import Recent
from gossamer.frontier.repeats import Repeats
from gossamer.frontier.review import Review
from gossamer.frontier.revisits import Revisits
from gossamer.frontier.robots_visits import LEAST_PATIENCE, RobotsVisits
from gossamer.frontier.roster import Roster
from gossamer.frontier.schedule import Schedule
from gossamer.model import Change, Exclusion, Fault, Locator, Reason, State, Visit
from gossamer.rules.policy import BUSY, Policy
from gossamer.rules.revisits import FIRST, Found
from gossamer.rules.robots import Robots
from gossamer.rules.scope import Scope
from gossamer.rules.yields import Standing

HOST_FAULTS = frozenset(
    {Reason.DNS, Reason.CONNECT, Reason.TIMEOUT, Reason.TLS, Reason.PROXY}
)  # others are a page's own
_HOSTS_AT_ONCE = 64  # brought into memory together
_EXCLUDED_AT_ONCE = 2000  # visits of a host, in one turn of the loop
_MOMENT = 0.05  # seconds
_NOT_AGAIN = FreshConfig()


class Frontier:
    """Invariants: a URL is one visit, for ever; a host has no more visits leased than its manners allow and none
    before its time; nothing leaves a queue but by being settled.
    """

    def __init__(
        self,
        path: Path,
        config: FrontierConfig,
        policy: Policy,
        scope: Scope,
        max_depth: int | None,
        now: float,
        fresh: FreshConfig = _NOT_AGAIN,
        rate: float = 0.0,
    ) -> None:
        self.policy = policy
        self.scope = scope
        self.schedule = Schedule(policy.domain_connections, policy.address_connections)
        self.leased = 0
        self._now = now  # of the last lease: a host with new links is offered as of then
        self._random = random.Random(now)  # noqa: S311 - jitter
        self._database = Database(path, config.memory)
        self._changes = self._database.visits
        self.counts = self._open(config.partitions)
        # Whoever was stopped abruptly may have visited a host after the last commit: no delay is broken if every host
        # rests once more.
        rested = 0.0 if self.counts.clean else now
        self._roster = Roster(
            self._database, self.schedule, policy, self.counts, config.hosts, config.queue_head, now, rested
        )
        self._robots = RobotsVisits(self._database, self._roster, self._back_off, self._reoffer)
        self.repeats = Repeats(self._database, self._roster, self.schedule)
        self.review = Review(self._database, self._roster, self.counts, self._enqueue)
        self.revisits = Revisits(self._database, self._roster, self.counts, fresh, policy, rate, self._enqueue_again)
        limit = scope.domain_hosts
        self._domain_hosts = DomainHosts(limit, self._database, self._roster) if limit else None
        self._intake = Intake(
            Recent(config.recent_urls),
            self._database,
            self._roster,
            self.counts,
            scope,
            policy,
            max_depth,
            self._domain_hosts,
            self._enqueue,
        )
        self._pattern_pages: PatternPages | None = None
        self._limit_patterns(policy)
        self._save_counts(clean=False)  # before anybody is visited
        self._database.commit()

    def _open(self, partitions: int) -> Counts:
        stored = self._database.visit(keys.META + b"counts")
        if stored is None:
            return Counts(partitions=partitions)  # and they stay as many: keys depend on them
        counts = msgspec.msgpack.decode(stored, type=Counts)
        if counts.format != FORMAT:
            self._database.close()
            newer = counts.format > FORMAT
            other, remedy = ("a newer", "Upgrade gossamer") if newer else ("an older", "Go on with that one")
            raise CrawlDirError(
                f"{self._database.path} was made by {other} version of gossamer (format {counts.format}, "
                f"this version reads {FORMAT}). {remedy}, or choose another --dir."
            )
        return counts

    # -- add ---------------------------------------------------------------------------------------------------------

    def add(self, urls: list[str], depth: int, priority: int, hops: int = 0, suspect: bool = False) -> None:
        """Links found at one moment, normalised. They are looked up, judged and queued a little later, many at once."""
        self._intake.add(urls, depth, priority, hops, suspect)

    def add_source(self, url: str, depth: int, hops: int = 0, listed: bool = False, again: bool = False) -> None:
        """A sitemap, to be read for links that count as those of a page of this depth."""
        self._intake.add_source(url, depth, hops, listed, again)

    def unknown(self, urls: list[str], depth: int) -> int:
        """How many of these, normalised and that far from a seed, belong to the crawl and are new to it."""
        return self._intake.unknown(urls, depth)

    def stored(self, url: str) -> Locator | None:
        """Where the last response of a URL is."""
        value = self._database.visit(self._roster.key_of(url))
        return None if value is None else keys.read_stored(value)

    def hint(self, url: str, changed_at: float, now: float) -> bool:
        """Somebody says that this page changed then; whether it is due earlier for that."""
        return self.revisits.hint(url, changed_at, now)

    def _enqueue(self, origin: Origin, entry: str, priority: int) -> None:
        self.counts.queued += 1
        self._put(origin, entry, priority)

    def _enqueue_again(self, origin: Origin, entry: str, priority: int) -> None:
        self.counts.revisits += 1
        self._put(origin, entry, priority)

    def _put(self, origin: Origin, entry: str, priority: int) -> None:
        roster = self._roster
        host = origin.host or roster.enter(origin, priority)
        if host is None:
            roster.put_late(origin, entry, priority)
            return
        host.level(priority).put(entry, self.counts)
        roster.touch(host)
        self._offer(host, self._now)

    # -- lease -------------------------------------------------------------------------------------------------------

    def lease(self, now: float, most: int) -> list[Visit]:
        """Up to `most` visits that may be made now; where a host's robots rules are not known, those first."""
        self._now = self._roster.now = now
        if self.revisits.on:
            self.revisits.release(now, self.schedule.ready > 0)
        visits: list[Visit] = []
        while len(visits) < most:
            host = self.schedule.take(now)
            if host is None:
                if self._activate(now, most - len(visits)):
                    continue
                if self._intake.waiting:  # while others are ready they can wait: to look up many at once is cheaper
                    self._intake.resolve()
                    continue
                break
            visit = self._next_visit(host, now)
            if visit is not None:
                visits.append(visit)
                self.leased += 1
                self.schedule.begin(host)
                host.due = now if host.burst + 1 < host.manners.burst else now + host.delay
            else:
                self.schedule.pass_on(host, now)
            self._offer(host, now)
        if self.revisits.on:
            self.revisits.leased(sum([visit.before is None and not visit.robots for visit in visits]))
        return visits

    def _activate(self, now: float, most: int) -> bool:
        """Bring hosts into the schedule when those there are not enough for the speed; true when one is ready."""
        hosts = self._roster.call(now, max(most, _HOSTS_AT_ONCE))
        for host in hosts:
            self._offer(host, now)
        return any(host.place is Place.READY for host in hosts)

    def _next_visit(self, host: HostQueue, now: float) -> Visit | None:
        manners = host.manners
        excluded = 0
        while host.waiting:
            if excluded >= _EXCLUDED_AT_ONCE:
                host.due = now + _MOMENT  # others are next
                break
            level = host.next_level(self.revisits.share)
            entry = level.peek()
            if entry is None:
                self._roster.refill(host, level)
                entry = level.peek()
                assert entry is not None, f"{host.name} has more on disk at priority {level.priority}, and has not"
            revisit = entry.hops & keys.REVISIT
            if manners.skips and not revisit and host.may_repeat and self._put_off(host, level, entry):
                continue
            blocked = manners.blocked_paths and any(path.match(entry.path) for path in manners.blocked_paths)
            rules = host.robots.get(entry.scheme)
            if not blocked and (rules is None or rules[1] <= now):
                return self._robots.visit(host, entry, now, self.policy)
            level.take(entry)
            if blocked or rules is None:  # a host of which all is blocked is not even asked for its rules
                reason: Exclusion | Reason = Exclusion.BLOCKLIST
            elif not rules[0].allows(entry.path):
                reason = Reason.ROBOTS
            elif revisit:
                visit = self._revisit(host, entry)
                if visit is not None:
                    return visit
                continue
            elif manners.max_pages and host.pages + len(host.leased) >= manners.max_pages:
                reason = Exclusion.HOST_PAGES
            else:
                url = f"{keys.SCHEME_NAMES[entry.scheme]}://{host.name}{entry.path}"
                room = self._pattern_pages.take(url) if self._pattern_pages is not None else Room.YES
                if room is Room.YES:
                    host.leased[entry.number] = entry
                    visit = Visit(url, host.name, entry.depth, entry.priority, entry.number, entry.tries)
                    if entry.hops:
                        keys.read_marks(visit, entry.hops)
                    return visit
                if room is Room.PERHAPS:
                    level.put_back(entry)
                    host.due = max(host.due, now + LEAST_PATIENCE)
                    return None
                reason = Exclusion.PATTERN_PAGES
            excluded += 1
            if revisit:  # what was fetched stays; it may be allowed again
                self.revisits.put_off(host, self._key(host, entry), now)
                self._unqueue(host, entry)
                continue
            self._settle(host, entry, keys.excluded_visit(entry.depth, reason))
            self.counts.excluded += 1
        return None

    def _revisit(self, host: HostQueue, entry: Entry) -> Visit | None:
        """A visit to what was visited before; None when that was purged since."""
        before = self.revisits.before(self._key(host, entry))
        url = f"{keys.SCHEME_NAMES[entry.scheme]}://{host.name}{entry.path}"
        if before is None or (before.state is State.DEAD and not self._has_room(host, url)):
            self.revisits.put_off(host, self._key(host, entry), self._now)
            self._unqueue(host, entry)
            return None
        host.leased[entry.number] = entry
        visit = Visit(url, host.name, entry.depth, entry.priority, entry.number, entry.tries, before=before)
        keys.read_marks(visit, entry.hops)
        visit.validators = self.revisits.ask_with(host, before)
        return visit

    def _has_room(self, host: HostQueue, url: str) -> bool:
        """Whether its caps allow one more page, which what was dead may be."""
        most = host.manners.max_pages
        if most and host.pages + len(host.leased) >= most:
            return False
        return self._pattern_pages is None or self._pattern_pages.take(url) is Room.YES

    def _put_off(self, host: HostQueue, level: Level, entry: Entry) -> bool:
        """Whether an entry is not visited now, because nothing new is to be expected: others come first."""
        standing = self.repeats.standing(host, entry.path, bool(entry.hops & keys.SUSPECT))
        if standing is Standing.GOOD or not entry.depth or entry.hops & keys.SOURCE:
            return False  # a seed is visited because somebody says so, a sitemap because its host does
        priority = keys.LAST if standing is Standing.LAST else keys.ASIDE
        if entry.priority >= priority:
            return False
        level.take(entry)
        self._queue_again(host, entry, entry.tries, priority)
        self.counts.aside += standing is Standing.ASIDE
        return True

    def _queue_again(self, host: HostQueue, entry: Entry, tries: int, priority: int) -> None:
        """An entry in hand goes behind the others of a level."""
        packed = keys.pack_entry(entry.depth, tries, entry.hops, entry.scheme, entry.path)
        host.level(priority).put(packed, self.counts)
        host.levels[entry.priority].settle(entry)
        self._roster.touch(host)

    # -- settle ------------------------------------------------------------------------------------------------------

    def settle_page(
        self,
        visit: Visit,
        status: int,
        now: float,
        seconds: float,
        stored: tuple[int, int, int] | Locator | None,
        address: str = "",
        digest: bytes = b"",
        validators: tuple[bytes, bytes] = (b"", b""),
        wait: float = 0.0,
        found: Found = FIRST,
    ) -> None:
        """The visit brought a response, which is in the store at (file, offset, length), or what that had brought which
        is there. A host that is BUSY asks for so many seconds.
        """
        host = self._roster.hosts[visit.host]
        entry = host.leased.pop(visit.number)
        if self._is_void(host, entry, visit, now, seconds):
            return
        before, again, changes = visit.before, b"", 0
        if self.revisits.on or before is not None:
            again = self._again(host, entry, visit, found, now, validators)
        if before is not None:
            changes = before.changes + (found.change is Change.CHANGED)
        value = keys.pack_history(
            State.FETCHED, visit.depth, status, now, visit.tries + 1, stored, digest, changes, "", validators, again
        )
        self._settle(host, entry, value)
        if self._pattern_pages is not None:
            self._pattern_pages.end(visit.url, stored=True)
        if before is None or before.state is not State.FETCHED:
            self.counts.fetched += 1
            host.pages += 1
            if before is not None:
                self._count_less(before.state)
        host.failures = 0
        if host.added_delay and status not in BUSY:
            host.recover()
        host.rest(now, seconds)
        if status in BUSY:
            host.slow_down(now, wait)
        self._release(host, now, address)

    def settle_missing(self, visit: Visit, found: Found, now: float, seconds: float, wait: float = 0.0) -> None:
        """A page that was there before is not there now, which may pass: what is known of it stays, and it is looked
        for again soon.
        """
        host = self._roster.hosts[visit.host]
        entry = host.leased.pop(visit.number)
        if self._is_void(host, entry, visit, now, seconds):
            return
        before = visit.before
        assert before is not None
        value = keys.pack_history(
            before.state, visit.depth, before.status, before.fetched_at, visit.tries + 1, before.stored, before.digest,
            before.changes, before.reason, before.validators, self._again(host, entry, visit, found, now),
        )  # fmt: skip
        self._settle(host, entry, value)
        host.failures = 0
        host.rest(now, seconds)
        if wait:
            host.slow_down(now, wait)
        self._release(host, now)

    def _again(
        self,
        host: HostQueue,
        entry: Entry,
        visit: Visit,
        found: Found,
        now: float,
        validators: tuple[bytes, bytes] = (b"", b""),
    ) -> bytes:
        """What its record keeps of a visit that is to be made again."""
        return self.revisits.settled(host, self._key(host, entry), visit, found, now, validators)

    def _is_void(self, host: HostQueue, entry: Entry, visit: Visit, now: float, seconds: float) -> bool:
        """Whether a visit was made again to what was purged meanwhile, or is queued as new: it changes nothing."""
        if visit.before is None or not self.revisits.is_void(self._key(host, entry)):
            return False
        self._unqueue(host, entry)
        host.failures = 0
        host.rest(now, seconds)
        self._release(host, now, visit=visit)
        return True

    def _count_less(self, state: State) -> None:
        self.counts.dead -= state is State.DEAD
        self.counts.excluded -= state is State.EXCLUDED

    def settle_excluded(self, visit: Visit, fault: Fault, now: float) -> None:
        """Not wanted after all, for instance because of its type."""
        host = self._roster.hosts[visit.host]
        entry = host.leased.pop(visit.number)
        tries = visit.tries + 1
        if visit.before is not None:
            self.revisits.put_off(host, self._key(host, entry), now)
            self._unqueue(host, entry)
        else:
            history = keys.pack_history(State.EXCLUDED, visit.depth, fault.status, now, tries, reason=fault.reason)
            self._settle(host, entry, history)
            self.counts.excluded += 1
        host.failures = 0
        host.rest(now, 0.0)
        self._release(host, now, visit=visit)

    def settle_source(
        self,
        visit: Visit,
        reason: Exclusion,
        status: int,
        now: float,
        seconds: float,
        stored: tuple[int, int, int] | Locator | None,
        digest: bytes = b"",
        validators: tuple[bytes, bytes] = (b"", b""),
        found: Found = FIRST,
    ) -> None:
        """The visit brought a response that is in the store, but is no page: it was read for links (the reason says as
        what).
        """
        host = self._roster.hosts[visit.host]
        entry = host.leased.pop(visit.number)
        if self._is_void(host, entry, visit, now, seconds):
            return
        before, again = visit.before, b""
        if self.revisits.on or before is not None:
            again = self._again(host, entry, visit, found, now, validators)
        value = keys.pack_history(
            State.EXCLUDED, visit.depth, status, now, visit.tries + 1, stored, digest,
            reason=reason, validators=validators if again else (b"", b""), again=again,
        )  # fmt: skip
        self._settle(host, entry, value)
        if before is None or before.state is not State.EXCLUDED:
            self.counts.excluded += 1
            if before is not None:
                self._count_less(before.state)
                if before.state is State.FETCHED:
                    self.counts.fetched -= 1
                    host.pages -= host.pages > 0
        host.failures = 0
        host.rest(now, seconds)
        if status in BUSY:
            host.slow_down(now, 0.0)
        self._release(host, now, visit=visit)

    def may_try_again(self, visit: Visit) -> bool:
        return visit.tries + 1 < self.policy.max_tries

    def settle_fault(self, visit: Visit, fault: Fault, now: float, wait: float = 0.0) -> None:
        """No page. The visit is tried again until its tries are used up; its host rests, longer each time, and for
        `wait` seconds at least if it is busy.
        """
        host = self._roster.hosts[visit.host]
        entry = host.leased.pop(visit.number)
        asked = fault.reason is not Reason.PROXY  # else nobody but our own proxy was
        tries = visit.tries + asked
        host.fails(fault.reason)
        if fault.reason in HOST_FAULTS:
            host.failures += 1
            self._back_off(host, host.failures, now)
        elif fault.reason is Reason.BUSY:
            host.slow_down(now, wait)
        elif host.waiting:  # this page is at fault: others are next
            host.rest(now, 0.0)
        else:
            self._back_off(host, tries, now)
        if fault.retry and (self.may_try_again(visit) or not asked):
            # Behind the others: a page that always fails must not keep them from being tried, nor take the host down.
            self._queue_again(host, entry, tries, entry.priority)
        elif visit.before is not None:
            self.revisits.put_off(host, self._key(host, entry), now, failed=True)
            self._unqueue(host, entry)
        else:
            again = self.revisits.unreachable(host, self._key(host, entry), now) if self.revisits.on else b""
            history = keys.pack_history(State.DEAD, visit.depth, 0, now, tries, reason=fault.reason, again=again)
            self._settle(host, entry, history)
            self.counts.dead += 1
        self._release(host, now, visit=visit)

    def settle_robots(
        self,
        visit: Visit,
        robots: Robots | None,
        now: float,
        seconds: float,
        expires: float,
        address: str = "",
        wait: float = 0.0,
    ) -> None:
        """The rules of a host are known now; None: they could not be had. A busy host asks for `wait` seconds."""
        host = self._roster.hosts[visit.host]
        self._robots.settle(host, robots, now, seconds, expires)
        if wait:
            host.slow_down(now, wait)
        self._release(host, now, address)

    def redirect_robots(self, visit: Visit, target: str, now: float, seconds: float) -> None:
        """The rules are somewhere else; they are asked for there after the host's usual pause."""
        host = self._roster.hosts[visit.host]
        self._robots.redirect(host, target, visit.tries + 1)
        host.rest(now, seconds)
        self._release(host, now)

    def give_back(self, visit: Visit, now: float) -> None:
        """A leased visit that was broken off; it waits as before. The server may have seen it, so its host rests."""
        host = self._roster.hosts[visit.host]
        host.due = max(host.due, now + host.delay)
        entry = host.leased.pop(visit.number)
        if not visit.robots:
            host.level(entry.priority).put_back(entry)
        self._release(host, now, visit=visit)

    def _settle(self, host: HostQueue, entry: Entry, value: bytes) -> None:
        """Write what became of a visit and take it off its queue."""
        self._changes[self._key(host, entry)] = value
        self._unqueue(host, entry)

    @staticmethod
    def _key(host: HostQueue, entry: Entry) -> bytes:
        return host.visits + (entry.scheme + entry.path).encode()

    def _unqueue(self, host: HostQueue, entry: Entry) -> None:
        host.levels[entry.priority].settle(entry)
        if entry.hops & keys.REVISIT:
            self.counts.revisits -= 1
        else:
            self.counts.queued -= 1
        self.counts.aside -= entry.priority == keys.ASIDE
        self._roster.touch(host)

    def _back_off(self, host: HostQueue, failures: int, now: float) -> None:
        host.burst = 0
        host.failed_at = now
        host.due = now + self.policy.back_off(failures, host.delay, self._random.random())

    def _release(self, host: HostQueue, now: float, address: str = "", visit: Visit | None = None) -> None:
        """`visit`: one that brought no page."""
        self.leased -= 1
        if visit is not None and self._pattern_pages is not None:
            self._pattern_pages.end(visit.url, stored=False)
        self.schedule.end(host, now)
        if address and address != host.address and not host.leased:
            host.address = address
            self.schedule.group(host)
        self._roster.touch(host)
        self._offer(host, now)

    def _offer(self, host: HostQueue, now: float) -> None:
        if host.place is Place.IDLE and host.open:
            self.schedule.offer(host, now, self.policy.is_down(host.failures))

    def _reoffer(self, host: HostQueue, now: float) -> None:
        """Its turn was put off."""
        if host.place is Place.READY:
            self.schedule.drop(host)
            self._offer(host, now)

    def change_policy(self, policy: Policy, now: float, fresh: FreshConfig = _NOT_AGAIN, rate: float = 0.0) -> None:
        """Other delays, limits and blocks hold from now on, also for hosts whose turn was already set."""
        self.policy = self._intake.policy = policy
        self.revisits.change(fresh, policy, rate)
        self._limit_patterns(policy)
        self.schedule.limit(policy.domain_connections, policy.address_connections)
        for host in self._roster.change_policy(policy):
            if host.manners.blocked or host.mirrors or host.place is Place.HELD:
                self.schedule.drop(host)
            if not host.leased:
                self.schedule.group(host)
            self._reoffer(host, now)  # it may have another priority
            self._offer(host, now)

    def call(self, names: Iterable[str], now: float, at_once: bool = False) -> None:
        """Bring these hosts into memory: their turn is to be decided now, wherever in the index they are. `at_once` is
        for those of which nothing will be visited.
        """
        for name in names:
            host = self._roster.enter_named(name)
            if at_once:
                host.due, host.failures = min(host.due, now), 0
            if host.place is not Place.HELD:
                self.schedule.drop(host)
                self._offer(host, now)

    def retry_hosts(self, now: float, names: Iterable[str] | None = None) -> int:
        """Hosts that are down, these or all, get one more chance after their usual delay. Gives how many that are, of
        those in memory; the others get theirs when they are called.
        """
        revived = self._roster.revive(now, names)
        for host in revived:
            self.schedule.drop(host)
            self._offer(host, now)
        return len(revived)

    def _limit_patterns(self, policy: Policy) -> None:
        if self._pattern_pages is None and policy.urls is not None and policy.urls.capped:
            self._pattern_pages = PatternPages(self.counts.pattern_pages)
        if self._pattern_pages is not None:
            self._pattern_pages.change(policy.urls)

    # -- commit ------------------------------------------------------------------------------------------------------

    @property
    def exhausted(self) -> bool:
        """Nothing in hand, and nothing left but the queues of hosts that are down."""
        if self.leased or self._intake.waiting or not self.schedule.empty:
            return False
        self._activate(self._now, 1)
        return self.schedule.empty and not self._roster.busy

    @property
    def unsaved(self) -> bool:
        """Something is known that the last commit does not have."""
        return self._database.changed

    def meta(self, name: str) -> bytes | None:
        """What `commit` was given under this name."""
        return self._database.visit(keys.META + name.encode())

    def meta_names(self, prefix: str) -> list[str]:
        """The names under which something was committed that begin so, without that beginning."""
        start = keys.META + prefix.encode()
        return [key[len(start) :].decode() for key, _ in self._database.scan_visits(start)]

    def commit(self, meta: dict[str, bytes], clean: bool = False) -> None:
        """Everything since the last commit becomes durable, in one synced batch."""
        self._intake.resolve()
        self._roster.save()
        self.revisits.save()
        self._save_counts(clean)
        for name, value in meta.items():
            self._changes[keys.META + name.encode()] = value
        self._database.commit()
        self._roster.committed(self._now)
        if self._domain_hosts is not None:
            self._domain_hosts.committed()

    def _save_counts(self, clean: bool) -> None:
        self.counts.clean = clean
        self._changes[keys.META + b"counts"] = msgspec.msgpack.encode(self.counts)

    def close(self) -> None:
        self._database.close()
