"""The agent: one process, one event loop, and the loop that all of Gossamer is about.

    lease -> fetch -> parse -> store -> links back -> settle, and once a second the commit

Settle comes last, so that a crash anywhere repeats a visit and never loses one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import perf_counter
from typing import TypeVar

import msgspec

from gossamer.agent.crawl_dir import SEED_HOST, CrawlDir
from gossamer.agent.earlier import Earlier
from gossamer.agent.findings import Findings
from gossamer.agent.history import History, sample_of
from gossamer.agent.limiting import what_limits
from gossamer.agent.newness import Newness, into_itself
from gossamer.agent.page_links import PageLinks
from gossamer.agent.progress import Progress
from gossamer.agent.revisiting import Revisiting, is_same
from gossamer.agent.sources import Sources
from gossamer.agent.speed import Speed
from gossamer.agent.statistics import Meter, Statistics
from gossamer.config import Config, user_agent
from gossamer.fetch import Fetcher, Resolver
from gossamer.frontier import Frontier
from gossamer.model import Before, Change, Exclusion, Fault, Locator, Page, Reason, State, Visit
from gossamer.model.url import host_of, normalize
from gossamer.parse.directory import lists_directory
from gossamer.rules.head_first import HeadFirst
from gossamer.rules.policy import BUSY, USUAL_PRIORITY, Policy, retry_after
from gossamer.rules.reserved import Reserved
from gossamer.rules.revisits import FIRST, Found
from gossamer.rules.robots import ALLOW_ALL, product_token, robots_from_status
from gossamer.rules.scope import Scope
from gossamer.store import CommittedNote, Store, StorePosition, payload_digest

T = TypeVar("T")

_LAST_RESPONSES = 2.0  # seconds that a stop waits for what is in flight
_MOST_ROBOTS_REDIRECTS = 5  # RFC 9309, 2.3.1.2
_LONGEST_WAIT = 0.25  # seconds: at least this often the loop looks around
_CAPPED_WAIT = 0.05  # the same under a cap, whose bucket saves up only a tenth of a second
_EXCLUSIONS = frozenset({Reason.UNWANTED_TYPE, Reason.ADDRESS})


class Agent:
    """Invariant: what `frontier.commit` makes durable is consistent with what `store.sync` made durable just before."""

    def __init__(
        self,
        config: Config,
        directory: CrawlDir,
        resolver: Resolver,
        clock: Callable[[], float],
        notice: Callable[[str], None] = lambda _: None,
    ) -> None:
        now = clock()
        self._config = config
        self._clock = clock
        self._resolver = resolver
        self._scope = Scope.of(config.scope, now)
        self._reserved = Reserved(config.scope.reserved)
        self.frontier = Frontier(
            directory.frontier,
            config.frontier,
            Policy(config.policy, config.hosts, config.urls),
            self._scope,
            config.scope.max_depth,
            now,
            config.fresh,
            config.fetch.rate,
        )
        self.statistics = self._stored("statistics", Statistics)
        self._scope.load(self.frontier.meta_names(SEED_HOST))
        self._new_seed_hosts: list[str] = []
        agent_name = user_agent(config.fetch)
        self._user_agent = agent_name
        self._token = product_token(agent_name).lower()
        position = self._stored("store", StorePosition)
        self._store = Store(directory.warc, config.store, position, agent_name)
        self._committed = CommittedNote(directory.warc)
        self._committed.write(position)
        scope = config.scope
        self._fetcher = Fetcher(
            config.fetch,
            agent_name,
            scope.types,
            scope.networks,
            resolver,
            clock,
            config.hosts,
            notice,
            scope.max_length,
            config.parse.sitemaps,
        )
        self._sources = Sources(self.frontier, self._scope, self._token, config.parse.nofollow, self.statistics)
        self._links = PageLinks(config.parse, self._sources, self._token, self.statistics)
        self._findings = Findings(notice)
        self._newness = Newness(self.frontier.repeats, self.statistics, self._findings, scope.max_depth)
        self._earlier = Earlier(self._store.directories, config.fetch.max_body, self.frontier.stored)
        self._revisiting = Revisiting(self.frontier, self._earlier, self.statistics)
        policy = config.fetch.head_first
        self._head_first = None if policy == "never" else HeadFirst(policy)
        self._meter = Meter(self.statistics, now)
        last = self._stored("progress", Progress)
        self._history = History(sample_of(self.statistics, self.frontier.counts, last.updated_at, last))
        self._speed = Speed(config.fetch, now)
        self._began = now
        self._committed_at = now
        self._committed_pages = self.statistics.pages
        self._visits_in_flight = 0  # robots.txt not counted
        self._seeds_read, self._seeds_share = 0, 1.0
        self._stale: set[str] = set()  # given back because of a stale connection, which counts as no try, once
        self._stop = False
        self._held = False
        self.idle: Callable[[float], None] | None = None  # instead of waiting until then, where time is simulated
        self.on_page: Callable[[Visit, Page], None] | None = None
        self.beside: Callable[[], dict[str, str]] = dict  # processes beside this one, and how they are
        self.on_commit: Callable[[Progress, float], None] | None = None  # and the seconds it took

    def _stored(self, name: str, kind: type[T]) -> T:
        stored = self.frontier.meta(name)
        return kind() if stored is None else msgspec.msgpack.decode(stored, type=kind)

    # -- the loop ----------------------------------------------------------------------------------------------------

    async def run(self) -> str:
        """Crawl until there is a reason to end; gives the reason."""
        stages = self._meter.stages
        while not (reason := self._reason_to_end()):
            started = perf_counter()
            visits = self.frontier.lease(self._clock(), room := self._room())
            leased = perf_counter()
            self._meter.requests += len(visits)
            self._meter.turns += 1
            self._meter.short_turns += len(visits) >= room and self.frontier.schedule.ready > 0
            for visit in visits:
                self._visits_in_flight += not visit.robots
                self._speed.started()
                if self._head_first is not None:
                    visit.head = not any(visit.validators) and self._head_first.asks(visit)
                self._fetcher.start(visit)
            stages["frontier"] += leased - started
            stages["fetch"] += perf_counter() - leased
            for visit, outcome in await self._fetcher.wait(self._patience()):
                self._settle(visit, outcome)
            self.commit_if_due()
            await asyncio.sleep(0)
        await self._finish_in_flight()
        return reason

    def _settle(self, visit: Visit, outcome: Page | Fault) -> None:
        received = 0
        if isinstance(outcome, Page):
            received = len(outcome.head) + len(outcome.raw)
            self._meter.answered(outcome.seconds)
        self._speed.ended(received)
        self.statistics.bytes += received
        if isinstance(outcome, Fault) and outcome.stale and visit.url not in self._stale:
            self._stale.add(visit.url)
            self._visits_in_flight -= not visit.robots
            self.statistics.count_failure(outcome.reason)
            self.frontier.give_back(visit, outcome.fetched_at)
            return
        if self._stale:
            self._stale.discard(visit.url)
        if visit.robots:
            self._robots_visited(visit, outcome)
            return
        self._visits_in_flight -= 1
        if self._head_first is not None and self._goes_on(visit, outcome, self._head_first):
            self.frontier.give_back(visit, outcome.fetched_at)
        elif isinstance(outcome, Page):
            if visit.source or not outcome.wanted:
                self._source_visited(visit, outcome)
            else:
                self._visited(visit, outcome)
        else:
            self._failed(visit, outcome)

    def _goes_on(self, visit: Visit, outcome: Page | Fault, head_first: HeadFirst) -> bool:
        """Whether this was a HEAD that a GET must follow, after the host's pause. Servers that know no HEAD answer with
        an error, or not at all: the GET will show what there is.
        """
        if isinstance(outcome, Page):
            known = outcome.content_type is not None and 200 <= outcome.status < 300
            settled = outcome.status in BUSY and self.frontier.may_try_again(visit)
        else:
            known, settled = outcome.reason is Reason.UNWANTED_TYPE, _excludes(outcome)
        if known:
            head_first.shown(visit)
        if visit.head and not settled:
            head_first.answered(visit)
            return True
        head_first.settled(visit)
        return False

    def _visited(self, visit: Visit, page: Page) -> None:
        busy = page.status in BUSY
        wait = retry_after(page.header("retry-after"), page.fetched_at) if busy else 0.0
        if busy and self.frontier.may_try_again(visit):
            self.statistics.count_failure(Reason.BUSY)
            fault = Fault(Reason.BUSY, True, "", page.fetched_at, page.status)
            self.frontier.settle_fault(visit, fault, page.fetched_at, wait)
            return
        if self._reserved and self._reserved.found_in(*_texts(page)):
            fault = Fault(Reason.RESERVED, False, "", page.fetched_at, page.status)
            self.statistics.left_out += 1
            self.frontier.settle_excluded(visit, fault, page.fetched_at)
            return
        if visit.before is not None and self._stays(visit, page, visit.before, wait):
            return
        stages = self._meter.stages
        started = perf_counter()
        digest = payload_digest(page.raw)
        digested = perf_counter()
        content = self._newness.content(visit, page, digest)
        looked_up = perf_counter()
        if visit.before is None:
            links = self._newness.links(visit, page, content, self._links.of)
            found = self._revisiting.first(page) if self._config.fresh.keep_fresh else FIRST
            change, same = "", False
        else:
            same = is_same(visit.before, digest) and not 300 <= page.status < 400  # which says more in its head
            links = [] if same else self._links.of(page)
            found = self._revisiting.found(visit, page, digest, links)
            change = found.change
            self._revisiting.count(found)
        parsed = perf_counter()
        stored: tuple[int, int, int] | Locator = self._store.append(page, digest, content.stored, change)
        if same and visit.before is not None and visit.before.stored is not None:
            stored = visit.before.stored  # where the payload is
        appended = perf_counter()
        barren = self._newness.is_barren(visit, page, content, links)
        if links:
            self._add(visit, page, links, barren)
        address = self._fetcher.own_address(visit.host, page)
        self.frontier.settle_page(
            visit, page.status, page.fetched_at, page.seconds, stored, address, digest, page.validators, wait, found
        )
        stages["frontier"] += perf_counter() - appended + looked_up - digested
        stages["store"] += appended - parsed + digested - started
        stages["parse"] += parsed - looked_up
        self.statistics.count_page(page.status)
        if self.on_page is not None and change != Change.SAME:
            self.on_page(visit, page)

    def _stays(self, visit: Visit, page: Page, before: Before, wait: float) -> bool:
        """Whether what is stored of a page that was visited again stays as it is."""
        revisiting = self._revisiting
        unmodified = page.status == 304 and any(visit.validators)
        if not unmodified and revisiting.is_missing(before, page):
            found = Found(Change.SAME, missing=before.missing + 1)
            self.frontier.settle_missing(visit, found, page.fetched_at, page.seconds, wait)
            revisiting.count(found)
            return True
        if unmodified:
            found, copy = revisiting.unmodified(before)
            if copy is not None:
                self._store.append(page, copy.digest, copy.refers_to, found.change)
                self.statistics.count_page(page.status)
        elif before.is_page or not revisiting.is_as_it_was(visit, page, payload_digest(page.raw), self._links.of):
            return False
        else:  # an error or a redirect as it was
            found = Found(Change.SAME, is_page=False)
        revisiting.count(found)
        etag, modified = page.validators
        validators = etag or before.validators[0], modified or before.validators[1]
        address = self._fetcher.own_address(visit.host, page)
        if before.state is State.EXCLUDED:
            self.frontier.settle_source(
                visit, Exclusion(before.reason), before.status, page.fetched_at, page.seconds, before.stored,
                before.digest, validators, found,
            )  # fmt: skip
        else:
            self.frontier.settle_page(
                visit, before.status, page.fetched_at, page.seconds, before.stored, address, before.digest, validators,
                wait, found,
            )  # fmt: skip
        return True

    def _add(self, visit: Visit, page: Page, links: list[str], barren: bool) -> None:
        hops = visit.hops + 1 if 300 <= page.status < 400 else 0
        # What a server lists of its own directories has an end.
        own = [] if barren or lists_directory(page.body, page.url, links) else into_itself(page.url, links)
        if own:
            self.frontier.add(own, visit.depth + 1, USUAL_PRIORITY, hops, suspect=True)
            known = set(own)
            links = [link for link in links if link not in known]
        self.frontier.add(links, visit.depth + 1, USUAL_PRIORITY, hops, suspect=barren)

    def _source_visited(self, visit: Visit, page: Page) -> None:
        """Not a page of the crawl, but perhaps a sitemap or a feed: stored as robots.txt is, and read for links."""
        if page.status in BUSY and self.frontier.may_try_again(visit):
            self._visited(visit, page)  # that is: tried again
            return
        if visit.before is not None and self._stays(visit, page, visit.before, 0.0):
            return
        kind = self._sources.read(visit, page)
        if not kind and visit.source and page.wanted and not self._scope.judge(visit.url):
            visit.depth += 1  # robots.txt calls a page a sitemap: its host's front page has one more link
            self._visited(visit, page)
            return
        if not kind and not visit.source:
            fault = Fault(Reason.UNWANTED_TYPE, False, page.content_type or "", page.fetched_at, page.status)
            self.statistics.left_out += 1
            self.frontier.settle_excluded(visit, fault, page.fetched_at)
            return
        self.statistics.sources += 1
        digest = payload_digest(page.raw)
        found = Found(is_page=False)
        if visit.before is not None:
            same = is_same(visit.before, digest)
            found = Found(Change.SAME if same else Change.CHANGED, is_page=False)
        stored = self._store.append(page, digest)
        self.frontier.settle_source(
            visit, Exclusion(kind or "sitemap"), page.status, page.fetched_at, page.seconds, stored, digest,
            page.validators, found,
        )  # fmt: skip

    def _failed(self, visit: Visit, fault: Fault) -> None:
        if _excludes(fault):
            self.statistics.left_out += 1
            self.frontier.settle_excluded(visit, fault, fault.fetched_at)
            return
        self.statistics.count_failure(fault.reason)
        dead = self.frontier.counts.dead
        self.frontier.settle_fault(visit, fault, fault.fetched_at)
        self.statistics.faults += self.frontier.counts.dead - dead

    def _robots_visited(self, visit: Visit, outcome: Page | Fault) -> None:
        self.statistics.robots += 1
        now = self._clock()
        expires = now + self._config.policy.robots_ttl
        if isinstance(outcome, Fault):
            if outcome.reason is Reason.ADDRESS:  # its pages meet the same refusal, and are excluded for what it is
                self.frontier.settle_robots(visit, ALLOW_ALL, now, 0.0, expires)
                return
            unreachable = Reason.PROXY if outcome.reason is Reason.PROXY else Reason.ROBOTS_UNREACHABLE
            self.statistics.count_failure(unreachable)
            self.frontier.settle_robots(visit, None, now, 0.0, expires)
            return
        self._store.append(outcome)
        if 300 <= outcome.status < 400 and visit.tries < _MOST_ROBOTS_REDIRECTS:
            target = outcome.header("location")
            target = normalize(target, outcome.url) if target else None
            if target:
                self.frontier.redirect_robots(visit, target, now, outcome.seconds)
                return
        if outcome.truncated in ("time", "disconnect"):  # what is missing may be what is forbidden
            self.statistics.count_failure(Reason.ROBOTS_UNREACHABLE)
            self.frontier.settle_robots(visit, None, now, outcome.seconds, expires)
            return
        if outcome.status >= 500 or outcome.status in BUSY:  # 429 says nothing about rules: it is asked for again
            self.statistics.count_failure(Reason.ROBOTS_UNREACHABLE)
            wait = retry_after(outcome.header("retry-after"), now) or 1.0
            busy = outcome.status in BUSY
            self.frontier.settle_robots(visit, None, now, outcome.seconds, expires, wait=wait if busy else 0.0)
            return
        robots = robots_from_status(outcome.status, outcome.body, self._user_agent)
        address = self._fetcher.own_address(visit.host, outcome)
        self.frontier.settle_robots(visit, robots, now, outcome.seconds, expires, address)
        if robots.sitemaps and self._config.parse.sitemaps:
            self._sources.named(visit, robots.sitemaps)

    def add_seeds(self, urls: list[str], share: float = 1.0, priority: int = USUAL_PRIORITY) -> None:
        """`share`: how much of all seeds has been read with these."""
        self._seeds_read += len(urls)
        self._seeds_share = share
        self._new_seed_hosts += filter(None, map(self._scope.admit_seed, urls))
        self.frontier.add(urls, 0, priority)
        self._fetcher.wake()

    # -- limits ------------------------------------------------------------------------------------------------------

    def _reason_to_end(self) -> str:
        if self._stop:
            return "stopped"
        limits = self._config.agent
        if limits.max_pages and self.statistics.pages >= limits.max_pages:
            return "max_pages"
        if limits.time_limit and self._clock() - self._began >= limits.time_limit:
            return "time_limit"
        return "complete" if not self._config.fresh.keep_fresh and self.frontier.exhausted else ""

    def _room(self) -> int:
        """How many visits may be started now, by connections and by every limit."""
        if self._held or self._config.agent.paused:
            return 0
        room = self._fetcher.room
        limits = self._config.agent
        if limits.max_pages:
            room = min(room, limits.max_pages - self.statistics.pages - self._visits_in_flight)
        return max(self._speed.room(self._clock(), room), 0)

    def _patience(self) -> float:
        """How long to wait for the network at most: until a cap allows more, or the next host is due."""
        now = self._clock()
        if self.idle is not None and not self._fetcher.in_flight:
            self.idle(self._next_moment(now))
            return 0.0
        wait = self._speed.wait(now)
        if self._held or self._config.agent.paused:
            return _LONGEST_WAIT
        due = self.frontier.schedule.next_due
        if not wait and due is not None and self._fetcher.room > 0:
            wait = due - now
        elif not wait:
            wait = _LONGEST_WAIT
        return min(max(wait, 0.001), _CAPPED_WAIT if self._speed.capped else _LONGEST_WAIT)

    def _next_moment(self, now: float) -> float:
        """When there will be something to do, if nothing comes from outside."""
        frontier = self.frontier
        moments = [frontier.schedule.next_due, frontier.revisits.next_moment(now), now + self._speed.wait(now)]
        if frontier.unsaved:
            moments.append(self._committed_at + self._config.agent.commit_interval)
        return min((moment for moment in moments if moment is not None and moment > now), default=now + _LONGEST_WAIT)

    def stop(self) -> None:
        """End as soon as what is in flight has come in, or after a moment."""
        self._stop = True
        self._fetcher.wake()

    @property
    def blocklist(self) -> tuple[str, ...]:
        return self._config.policy.blocklist

    @property
    def stopping(self) -> bool:
        return self._stop

    def hold(self) -> None:
        """Start no visits until `release`, for a moment and for this process; what is in flight is finished."""
        self._held = True

    def release(self) -> None:
        if self._held:
            self._held = False
            self._fetcher.wake()

    async def _finish_in_flight(self) -> None:
        """Take in what is already under way: asking servers again later for the same would be rude."""
        until = self._clock() + _LAST_RESPONSES
        while self._fetcher.in_flight and self._clock() < until:
            for visit, outcome in await self._fetcher.wait(0.1):
                self._settle(visit, outcome)
        self._break_off(lambda visit: True)

    def _break_off(self, which: Callable[[Visit], bool]) -> None:
        """Those in flight are dropped and wait as before."""
        for visit in self._fetcher.abort(which):
            self._speed.ended(0)
            self._visits_in_flight -= not visit.robots
            self.frontier.give_back(visit, self._clock())

    def change(self, config: Config) -> None:
        """Take up settings that were changed while the crawl runs: caps, delays, limits, blocks."""
        now = self._clock()
        self._config = config
        self._reserved = Reserved(config.scope.reserved)
        policy = Policy(config.policy, config.hosts, config.urls)
        self._break_off(lambda visit: policy.blocks(visit.url, host_of(visit.url)))
        self.frontier.change_policy(policy, now, config.fresh, config.fetch.rate)
        self._speed.change(config.fetch, now)
        self._fetcher.change(config.fetch.connections, config.hosts)
        self._fetcher.wake()

    # -- the commit --------------------------------------------------------------------------------------------------

    def commit_if_due(self) -> None:
        limits = self._config.agent
        if (
            self._clock() - self._committed_at >= limits.commit_interval
            or self.statistics.pages - self._committed_pages >= limits.commit_pages
        ):
            self.commit()

    def commit(self, reason: str = "") -> None:
        """Pages first, then everything that says they are there, in one batch. The last one gives the reason to end."""
        started = perf_counter()
        encode = msgspec.msgpack.encode
        position = self._store.sync()
        now = self._clock()
        self._meter.sample(now)
        progress = self.progress(reason)
        sample = sample_of(self.statistics, self.frontier.counts, now, progress)
        self.frontier.commit(
            {
                "store": encode(position),
                "statistics": encode(self.statistics),
                **{SEED_HOST + host: b"" for host in self._new_seed_hosts},
                **self._findings.taken(now),
                **self._sources.unsaved(),
                **self._history.taken(sample, bool(reason)),
                "progress": encode(progress),
            },
            clean=bool(reason),
        )
        self._committed.write(position)
        self._new_seed_hosts.clear()
        self._committed_at = now
        self._committed_pages = self.statistics.pages
        seconds = perf_counter() - started
        self._meter.stages["commit"] += seconds
        if self.on_commit is not None:
            self.on_commit(progress, seconds)

    async def close(self) -> None:
        await self._fetcher.close()
        self._earlier.close()
        self._store.close()
        self._committed.close()
        self.frontier.close()

    # -- telling -----------------------------------------------------------------------------------------------------

    def progress(self, reason: str = "") -> Progress:
        now = self._clock()
        progress = Progress(reason=reason, running=not reason)
        self._meter.stages["fetch"] += self._fetcher.spent()
        self._meter.fill(progress, now)
        counts, schedule = self.frontier.counts, self.frontier.schedule
        progress.urls, progress.queued = counts.urls, counts.queued
        progress.excluded, progress.hosts, progress.aside = counts.excluded, counts.hosts, counts.aside
        progress.in_flight = self._fetcher.in_flight
        progress.hosts_ready, progress.hosts_waiting, progress.hosts_down = (
            schedule.ready,
            schedule.waiting,
            schedule.down,
        )
        progress.connections, progress.dns_asked = self._config.fetch.connections, self._resolver.asked
        progress.partitions = counts.partitions
        self._fill_fresh(progress, now)
        progress.lag = max(0.0, now - self._committed_at - self._config.agent.commit_interval)
        progress.max_pages = self._config.agent.max_pages
        progress.time_limit = self._config.agent.time_limit
        progress.seeds_read, progress.seeds_share = self._seeds_read, self._seeds_share
        progress.paused = self._config.agent.paused
        progress.beside = self.beside()
        progress.limit = what_limits(progress, self._speed.limit(now, self._meter.short), self._meter.short)
        return progress

    def _fill_fresh(self, progress: Progress, now: float) -> None:
        statistics = self.statistics
        progress.keep_fresh = self._config.fresh.keep_fresh
        progress.revisits, progress.revisits_changed = statistics.revisits, statistics.revisits_changed
        progress.revisits_unmodified, progress.gone = statistics.revisits_unmodified, statistics.gone
        progress.due = self.frontier.counts.revisits
        if progress.keep_fresh:
            progress.freshness, progress.age = self.frontier.revisits.freshness(now)


def _texts(page: Page) -> tuple[str, ...]:
    """The source of a page that is text, and the same with what is written as `&amp;` in plain letters."""
    kind = (page.content_type or "text/html").partition(";")[0]
    if not kind.startswith("text/") and not kind.endswith(("xml", "json", "javascript")):
        return ()
    from gossamer.parse.charset import decode  # only who reserves strings needs them
    from gossamer.parse.references import unescape

    source, _ = decode(page.body, page.content_type)
    return source, unescape(source)


def _excludes(fault: Fault) -> bool:
    """Not wanted, rather than failed. Too large with a status: the headers came, and said that the body is."""
    return fault.reason in _EXCLUSIONS or (fault.reason is Reason.TOO_LARGE and fault.status > 0)
