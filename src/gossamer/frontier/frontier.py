"""The frontier: every URL ever met, what became of it, and which one is next.

    add      links become visits, each URL once
    lease    visits whose hosts may be visited now
    settle   what became of a leased visit
    commit   all of the above becomes durable, together with what the caller hands over

The life of a visit: queued -> leased (in memory only) -> settled as fetched, dead or excluded, or queued again.
A crash forgets leases, so those visits are simply still queued.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from gossamer.config import FreshConfig, FrontierConfig
from gossamer.errors import CrawlDirError
from gossamer.frontier import keys
from gossamer.frontier.counts import FORMAT, Counts, territory_of
from gossamer.frontier.database import Database
from gossamer.frontier.domain_hosts import DomainHosts
from gossamer.frontier.foreign import ASKED, again_after
from gossamer.frontier.hosts import FIRST, Entry, HostQueue, Level, Origin, Place
from gossamer.frontier.intake import Intake
from gossamer.frontier.parties import SharedSchedule, Shares, level_of
from gossamer.frontier.pattern_pages import PatternPages, Room
from gossamer.frontier.recent import Recent
from gossamer.frontier.repeats import Repeats
from gossamer.frontier.review import Review
from gossamer.frontier.revisits import Revisits
from gossamer.frontier.robots_visits import LEAST_PATIENCE, RobotsVisits
from gossamer.frontier.roster import Roster
from gossamer.frontier.schedule import Schedule
from gossamer.frontier.settling import Settling, key_of
from gossamer.frontier.share import Share
from gossamer.model import Exclusion, Locator, Reason, State, Visit
from gossamer.model.post import plain
from gossamer.model.url import split
from gossamer.rules.change_rate import Seen
from gossamer.rules.policy import Policy
from gossamer.rules.robots import Robots
from gossamer.rules.scope import Scope
from gossamer.rules.yields import Standing

if TYPE_CHECKING:
    from gossamer.frontier.moving import Moving

_HOSTS_AT_ONCE = 64  # brought into memory together
_EXCLUDED_AT_ONCE = 2000  # visits of a host, in one turn of the loop
_MOMENT = 0.05  # seconds
_ASK_AGAIN = 1.0
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
        share: Share | None = None,
        shares: Shares | None = None,
    ) -> None:
        """`share`: the part of the web that is this frontier's, if not all of it. `shares`: of the speed, where several
        parties have one.
        """
        self.policy = policy
        self.scope = scope
        limits = policy.domain_connections, policy.address_connections
        self.schedule = Schedule(*limits) if shares is None else SharedSchedule(*limits, shares)
        self._shared = shares is not None
        self._asked_again = 0.0  # when hosts on disk that applications asked for are looked for
        self._next_level = self.schedule.next_level
        self._now = now  # of the last lease: a host with new links is offered as of then
        self._database = Database(path, config.memory)
        self._changes = self._database.visits
        self.counts = self._open(config.partitions)
        if share is not None:
            self.counts.partitions, self.counts.pins = share.territory.partitions, share.territory.pins
        # Whoever was stopped abruptly may have visited a host after the last commit: no delay is broken if every host
        # rests once more, also where the run that came next has ended before that.
        rested = self.counts.rested = min(self.counts.rested, now) if self.counts.clean else now
        self.schedule.since = min(self.counts.ended, now) if self.counts.clean else now
        share = share or Share(territory_of(self.counts))
        self._roster = Roster(
            self._database, self.schedule, policy, self.counts, config.hosts, config.queue_head, now, rested, share
        )
        self.repeats = Repeats(self._database, self._roster, self.schedule)
        self.revisits = Revisits(self._database, self._roster, self.counts, fresh, policy, rate, self._enqueue_again)
        self._settling = Settling(self._database, self._roster, self.schedule, self.counts, self.revisits, policy, now)
        # Names of this class, without a second call for every page.
        self.settle_page, self.settle_missing = self._settling.settle_page, self._settling.settle_missing
        self.settle_source, self.settle_excluded = self._settling.settle_source, self._settling.settle_excluded
        self.settle_fault, self.may_try_again = self._settling.settle_fault, self._settling.may_try_again
        self.give_back = self._settling.give_back
        self._robots = RobotsVisits(
            self._database, self._roster, self.schedule, self._settling.back_off, self._settling.reoffer
        )
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
            self._put,
            self.revisits.request,
        )
        self.review = Review(self._database, self._roster, self.counts, share, self._intake.judge_again, self._enqueue)
        self.add = self._intake.add  # as those above
        self.ask = self._intake.ask
        self.visit_again = self._intake.visit_again
        self.foreign = self._intake.foreign
        self.in_order = False  # what is found now may have to come first: links are looked up at once
        self.raises = False  # priorities of what is queued may rise
        self.before_commit: Callable[[Database], None] | None = None  # may add to what is committed
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

    def add_source(self, url: str, depth: int, hops: int = 0, listed: bool = False, again: bool = False) -> None:
        """A sitemap, to be read for links that count as those of a page of this depth."""
        self._intake.add_source(url, depth, hops, listed, again)

    def request(self, urls: list[str], party: int, priority: int, post: bool = False, handed: bool = False) -> int:
        """Queue what a party asks for, normalised, or forms to be sent; gives how many of these were not known.
        `handed`: over, by another agent.
        """
        self._intake.resolve()
        known = self.counts.urls
        self.add(urls, 0, level_of(party, priority), keys.POST if post else 0, handed=handed)
        self._intake.resolve()
        return self.counts.urls - known

    def are_known(self, urls: list[str]) -> list[bool]:
        """Return of each of these, normalised, whether it is known."""
        self._intake.resolve()
        return self._database.known([self._roster.key_of(url) for url in urls])

    def refuse(self, url: str, reason: Exclusion | Reason) -> bool:
        """What was asked for, and is not to be visited. Whether it was not known."""
        return self._intake.exclude(url, reason)

    def hand_over_requests(
        self, urls: Iterable[str], party: int, priority: int, post: bool, max_age: float | None = None
    ) -> None:
        """What a party asks for, to the owners; with a `max_age` known URLs are to be visited again."""
        marks = ASKED | keys.POST if post else ASKED
        if max_age is not None:
            marks |= again_after(max_age)
        self._intake.hand_over(urls, 0, level_of(party, priority), marks)

    def is_ours(self, url: str) -> bool:
        """Whether it is this agent's and no other's."""
        return self._roster.is_ours(url)

    def hand_over(self, urls: Iterable[str], depth: int, priority: int) -> None:
        """To their owners."""
        self._intake.hand_over(urls, depth, priority)

    def send_source(self, url: str, depth: int, hops: int, listed: bool, hosts: set[str]) -> None:
        """The same, of another agent's host; it speaks for these hosts."""
        self._intake.send_source(url, depth, hops, listed, hosts)

    def unknown(self, urls: list[str], depth: int) -> int:
        """How many of these, normalised and that far from a seed, belong to the crawl and are new to it."""
        return self._intake.unknown(urls, depth)

    def is_settled(self, url: str) -> bool:
        """Whether a URL is known, and does not wait to be visited the first time."""
        value = self._database.visit(self._roster.key_of(url))
        return value is not None and not keys.is_queued(value)

    def is_away(self, url: str) -> bool:
        """Whether it is for another agent."""
        return self._intake.is_away(url)

    def stored(self, url: str) -> Locator | None:
        """Where the last response of a URL is."""
        value = self._database.visit(self._roster.key_of(url))
        return None if value is None else keys.read_stored(value)

    def hint(self, url: str, changed_at: float, now: float) -> bool:
        """Somebody says that this page changed then; whether it is due earlier for that."""
        return self.revisits.hint(url, changed_at, now)

    def _enqueue(self, origin: Origin, entries: list[str], priority: int) -> None:
        self.counts.queued += len(entries)
        self._put(origin, entries, priority)

    def _enqueue_again(self, origin: Origin, entries: list[str], priority: int) -> None:
        self.counts.revisits += len(entries)
        self._put(origin, entries, priority)

    def _put(self, origin: Origin, entries: list[str], priority: int) -> None:
        roster = self._roster
        host = origin.host or roster.enter(origin, priority)
        if host is None:
            roster.put_late(origin, entries, priority)
            return
        host.level(priority).put(entries, self.counts)
        roster.touch(host)
        self._settling.offer(host, self._now)

    def go_on_with(self, names: Iterable[str]) -> None:
        """Of hosts that an earlier run has begun those that may be visited come before others are begun."""
        for name in names:
            if self._roster.knows(self._roster.origin(f"http://{name}")):
                host = self._roster.enter_named(name)
                self._settling.offer(host, self._now)
                if host.place is not Place.IDLE:
                    self.schedule.go_on_with(host)

    # -- partitions that come and go ---------------------------------------------------------------------------------

    def partition(self, host: str) -> bytes:
        return self._roster.prefix(host)[:2]

    def opened(self, partition: bytes) -> None:
        """It is ours, and all of it is in the database. What was met of it before was handed over."""
        self._intake.forget()
        self.review.opened(partition)
        for host in self._roster.opened(partition):
            self._settling.offer(host, self._now)

    def closed(self, partition: bytes) -> None:
        """None of its hosts is visited any more."""
        self.review.closed(partition)
        self._roster.closed(partition)

    def in_hand(self, partition: bytes) -> int:
        """Visits of its hosts."""
        return self._roster.in_hand(partition)

    def outbox(self) -> Iterator[tuple[bytes, bytes]]:
        """What commits have left for others, as of the last one."""
        return self._database.scan_outbox()

    # -- lease -------------------------------------------------------------------------------------------------------

    def lease(self, now: float, most: int) -> list[Visit]:
        """Up to `most` visits that may be made now; where a host's robots rules are not known, those first."""
        self._now = self._roster.now = now
        if self.revisits.on:
            self.revisits.release(now, self.schedule.ready > 0)
        if self.in_order and self._intake.waiting:
            self._intake.resolve()
        if self._shared:
            self._call_parties(now)
        visits: list[Visit] = []
        turns = None if self.raises or self._pattern_pages is not None or self.schedule.sites else self._settling.turns
        while True:
            host = None if turns is None else turns.lease(now, most, visits)
            if len(visits) >= most:
                break
            host = host or self.schedule.take(now)
            if host is None:
                if self._activate(now, most - len(visits)):
                    continue
                if self._intake.waiting:  # while others are ready they can wait: to look up many at once is cheaper
                    self._intake.resolve()
                    continue
                if self.schedule.sites and self.schedule.next_site(now):
                    continue
                break
            visit = self._next_visit(host, now)
            if visit is not None:
                visits.append(visit)
                self.schedule.begin(host, now)
                host.due = now if host.burst + 1 < host.manners.burst else now + host.delay
                if len(host.leased) >= host.manners.connections:
                    continue  # as most often: it may have one visit at a time
            else:
                self.schedule.pass_on(host, now)
            self._settling.offer(host, now)
        if self.revisits.on:
            self.revisits.leased(sum([visit.before is None and not visit.robots for visit in visits]))
        return visits

    def recall(self, url: str, now: float) -> Visit | None:
        """A visit that was made, as what is stored of it shows, in hand as if it had just been leased; None where the
        URL is not ours. What nothing has led to was asked for, as seeds are. What waits in a queue is dropped when its
        turn comes. Only for a frontier that leases nothing: its first level is free then.
        """
        self._now = self._roster.now = now
        self._intake.resolve()
        start, path = split(url)
        origin = self._roster.origin(start)
        if origin.malformed or origin.away:
            return None
        key = origin.prefix + path.encode()
        value, depth, marks = self._database.visit(key), 0, keys.POST if "#" in path else 0
        before = None
        if value is None:
            self.counts.urls += 1
            self.counts.queued += 1
        elif keys.is_queued(value):
            depth = value[1]
            self.counts.surplus += 1
        else:
            if not keys.has_again(value):
                value = keys.with_again(value, keys.pack_again(0, Seen().pack(), 0, 0, 0, 0))
            elif due := keys.due_of(value):
                self._database.due[keys.due_key(due, key)] = None
            value = self._changes[key] = keys.with_due(value, 0)
            depth, marks, before = value[1], marks | keys.REVISIT, keys.read_before(value)
            self.counts.revisits += 1
        host = self._roster.enter_named(origin.name)
        level = host.level(FIRST)
        level.put([keys.pack_entry(depth, 0, marks, origin.scheme, path)], self.counts)
        chunk = level.chunks[-1]
        entry = Entry(FIRST, chunk.first + len(chunk.entries) - 1, depth, 0, marks, origin.scheme, path, chunk)
        host.leased[entry.number] = entry
        self.schedule.begin(host, now)
        visit = Visit(url, host.name, depth, FIRST, entry.number, 0, before=before)
        keys.read_marks(visit, marks)
        return visit

    def _activate(self, now: float, most: int) -> bool:
        """Bring hosts into the schedule when those there are not enough for the speed; true when one is ready."""
        hosts = self._roster.call(now, max(most, _HOSTS_AT_ONCE))
        for host in hosts:
            self._settling.offer(host, now)
        return any(host.place is Place.READY for host in hosts)

    def _call_parties(self, now: float) -> None:
        """No party has to wait with what it has on disk until the others have nothing left."""
        if now >= self._asked_again:
            self._asked_again = now + _ASK_AGAIN
            for host in self._roster.call_asked(_HOSTS_AT_ONCE):
                self._settling.offer(host, now)
        if not self.schedule.has_links:
            self._activate(now, _HOSTS_AT_ONCE)

    def _next_visit(self, host: HostQueue, now: float) -> Visit | None:
        manners = host.manners
        excluded = 0
        while host.waiting:
            if excluded >= _EXCLUDED_AT_ONCE:
                host.due = now + _MOMENT  # others are next
                break
            level = self._next_level(host, self.revisits.share)
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
            if (self.raises or self.counts.surplus) and not revisit and self._settling.is_surplus(host, entry):
                excluded += 1
                continue
            if blocked or rules is None:  # a host of which all is blocked is not even asked for its rules
                reason: Exclusion | Reason = Exclusion.BLOCKLIST
            elif not (rules[0].allows(entry.path) or entry.hops & keys.POST):  # a form is judged without its body
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
                        if entry.hops & keys.POST and not rules[0].allows(plain(entry.path)):
                            self._settling.exclude(visit, Reason.ROBOTS)
                            excluded += 1
                            continue
                    return visit
                if room is Room.PERHAPS:
                    level.put_back(entry)
                    host.due = max(host.due, now + LEAST_PATIENCE)
                    return None
                reason = Exclusion.PATTERN_PAGES
            excluded += 1
            if revisit:  # what was fetched stays; it may be allowed again
                self.revisits.put_off(host, key_of(host, entry), now)
                self._settling.unqueue(host, entry)
                continue
            self._settling.settle(host, entry, keys.excluded_visit(entry.depth, reason))
            self.counts.excluded += 1
        return None

    def _revisit(self, host: HostQueue, entry: Entry) -> Visit | None:
        """A visit to what was visited before; None when that was purged since."""
        before = self.revisits.before(key_of(host, entry))
        url = f"{keys.SCHEME_NAMES[entry.scheme]}://{host.name}{entry.path}"
        if before is None or (before.state is State.DEAD and not self._has_room(host, url)):
            self.revisits.put_off(host, key_of(host, entry), self._now)
            self._settling.unqueue(host, entry)
            return None
        host.leased[entry.number] = entry
        visit = Visit(url, host.name, entry.depth, entry.priority, entry.number, entry.tries, before=before)
        keys.read_marks(visit, entry.hops)
        visit.validators = self.revisits.ask_with(host, before, bool(entry.hops & keys.REQUESTED))
        return visit

    def _has_room(self, host: HostQueue, url: str) -> bool:
        """Whether its caps allow one more page, which what was dead may be."""
        most = host.manners.max_pages
        if most and host.pages + len(host.leased) >= most:
            return False
        pattern_pages = self._settling.pattern_pages
        return pattern_pages is None or pattern_pages.take(url) is Room.YES

    def _put_off(self, host: HostQueue, level: Level, entry: Entry) -> bool:
        """Whether an entry is not visited now, because nothing new is to be expected: others come first."""
        standing = self.repeats.standing(host, entry.path, bool(entry.hops & keys.SUSPECT))
        if standing is Standing.GOOD or not entry.depth or entry.hops & keys.SOURCE:
            return False  # a seed is visited because somebody says so, a sitemap because its host does
        priority = keys.LAST if standing is Standing.LAST else keys.ASIDE
        if entry.priority >= priority:
            return False
        level.take(entry)
        self._settling.queue_again(host, entry, entry.tries, priority)
        self.counts.aside += standing is Standing.ASIDE
        return True

    # -- addresses ---------------------------------------------------------------------------------------------------

    def address_of(self, address_of: Callable[[str], str]) -> None:
        """Ask this where a host is that comes into memory; it says nothing where that is not known."""
        self._roster.address_of = address_of

    def may_visit(self, visit: Visit, address: str, now: float) -> bool:
        """Take notice of where the host of a visit in hand is. Return whether the visit may be made now: there may be
        enough visits at that address.
        """
        host = self._roster.hosts[visit.host]
        return address == host.address or self.schedule.relocate(host, address, now)

    def put_off(self, visit: Visit, now: float) -> None:
        """Take back a visit in hand of which no server knows; it waits as before, and its host need not rest."""
        host = self._roster.hosts[visit.host]
        host.due = now
        self._settling.take_back(host, visit, now)

    # -- forms -------------------------------------------------------------------------------------------------------

    def note_sent(self, visit: Visit, now: float) -> None:
        """A form is about to be sent: after the next commit it is known that it may have been."""
        self._changes[self._roster.key_of(visit.url)] = keys.sent_visit(visit.depth, visit.tries, now)

    def note_unsent(self, visit: Visit) -> None:
        """It was not sent after all, nor will be now."""
        self._changes[self._roster.key_of(visit.url)] = keys.queued_visit(visit.depth)

    def was_sent(self, visit: Visit) -> bool:
        """Whether a form was sent before and nobody knows what came of it."""
        value = self._database.visit(self._roster.key_of(visit.url))
        return value is not None and keys.is_sent(value)

    # -- settle: robots.txt here, everything else in `Settling` ------------------------------------------------------

    def settle_robots(
        self,
        visit: Visit,
        robots: Robots | Reason,
        now: float,
        seconds: float,
        expires: float,
        address: str = "",
        wait: float = 0.0,
        lasting: bool = False,
    ) -> None:
        """Take in the rules of a host, or why they could not be had. A busy host asks for `wait` seconds; one that
        failed in a way that is `lasting` is down at once.
        """
        host = self._roster.hosts[visit.host]
        self._robots.settle(host, robots, now, seconds, expires, self.policy.max_tries if lasting else 1)
        self.schedule.pace(host)  # it may ask for another pause
        if wait:
            host.slow_down(now, wait)
        self._settling.release(host, now, address)

    def redirect_robots(self, visit: Visit, target: str, now: float, seconds: float) -> None:
        """The rules are somewhere else; they are asked for there after the host's usual pause."""
        host = self._roster.hosts[visit.host]
        self._robots.redirect(host, target, visit.tries + 1)
        host.rest(now, seconds)
        self._settling.release(host, now)

    # -- what operators change ---------------------------------------------------------------------------------------

    def change_policy(self, policy: Policy, now: float, fresh: FreshConfig = _NOT_AGAIN, rate: float = 0.0) -> None:
        """Other delays, limits and blocks hold from now on, also for hosts whose turn was already set."""
        self.policy = self._intake.policy = self._settling.policy = policy
        self.revisits.change(fresh, policy, rate)
        self._limit_patterns(policy)
        self.schedule.limit(policy.domain_connections, policy.address_connections)
        hosts = self._roster.change_policy(policy)
        self.schedule.repace(hosts)
        for host in hosts:
            if host.manners.blocked or host.mirrors or host.place in (Place.HELD, Place.WAITING):
                self.schedule.drop(host)
            self._settling.reoffer(host, now)  # it may have another priority
            self._settling.offer(host, now)

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
                self._settling.offer(host, now)

    def retry_hosts(self, now: float, names: Iterable[str] | None = None) -> int:
        """Hosts that are down, these or all, get one more chance after their usual delay. Gives how many that are, of
        those in memory; the others get theirs when they are called.
        """
        revived = self._roster.revive(now, names)
        for host in revived:
            self.schedule.drop(host)
            self._settling.offer(host, now)
        return len(revived)

    def _limit_patterns(self, policy: Policy) -> None:
        if self._pattern_pages is None and policy.urls is not None and policy.urls.capped:
            self._pattern_pages = self._settling.pattern_pages = PatternPages(self.counts.pattern_pages)
        if self._pattern_pages is not None:
            self._pattern_pages.change(policy.urls)

    # -- partitions that move ----------------------------------------------------------------------------------------

    def moving(self, about: Callable[[str], str | None]) -> Moving:
        """`about`: the host that a note of this name is about, if it is about one."""
        from gossamer.frontier.moving import Moving  # one agent alone moves nothing

        return Moving(self._database, self._roster, self.counts, self.revisits, about, lambda: self.policy.urls)

    def forget_partition(self, partition: int) -> None:
        """Nothing of it is in memory any more; none of its visits are in hand, and all is committed."""
        self._roster.forget_partition(partition)
        self._intake.forget()
        if self._domain_hosts is not None:
            self._domain_hosts.forget()

    def left(self) -> dict[str, int]:
        """Count the hosts that have URLs waiting when nothing can be visited any more, by why."""
        return self._roster.left()

    # -- commit ------------------------------------------------------------------------------------------------------

    @property
    def leased(self) -> int:
        """Visits in hand, those of robots.txt included."""
        return self.schedule.leased

    @property
    def exhausted(self) -> bool:
        """Nothing in hand, nothing to judge again, and nothing left but the queues of hosts that are down."""
        if self.schedule.leased or self._intake.waiting or self.review.due or not self.schedule.empty:
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

    def resolve(self) -> None:
        """Links that wait to be looked up are, so that the counts have them."""
        self._intake.resolve()

    def commit(self, meta: dict[str, bytes], clean: bool = False) -> None:
        """Everything since the last commit becomes durable, in one synced batch."""
        self.resolve()
        self._roster.save()
        self.revisits.save()
        self._save_counts(clean)
        for name, value in meta.items():
            self._changes[keys.META + name.encode()] = value
        if self.before_commit is not None:
            self.before_commit(self._database)
        self._database.commit()
        self._roster.committed(self._now)
        self.repeats.committed()
        if self._domain_hosts is not None:
            self._domain_hosts.committed()

    def _save_counts(self, clean: bool) -> None:
        self.counts.clean, self.counts.ended = clean, self._now
        self._changes[keys.META + b"counts"] = msgspec.msgpack.encode(self.counts)

    def close(self) -> None:
        self._database.close()
