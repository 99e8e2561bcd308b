"""The agent: one process, one event loop, and the loop that all of Gossamer is about.

    lease -> fetch -> parse -> store -> links back -> settle, and once a second the commit

Settle comes last, so that a crash anywhere repeats a visit and never loses one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from gossamer.agent.asked import ASKED, Asked, RequestsGiven
from gossamer.agent.crawl_dir import SEED_HOST, CrawlDir
from gossamer.agent.findings import Findings
from gossamer.agent.forms import Forms
from gossamer.agent.history import History, sample_of
from gossamer.agent.limiting import what_limits
from gossamer.agent.others import Others
from gossamer.agent.progress import AppFigures, Progress
from gossamer.agent.rejudging import Rejudging, rules_of, stricter
from gossamer.agent.responses import Responses
from gossamer.agent.robots_responses import RobotsResponses
from gossamer.agent.sources import Sources
from gossamer.agent.speed import Speed
from gossamer.agent.statistics import Meter, Statistics
from gossamer.agent.strategies import USUAL, strategy_of
from gossamer.config import Config, FreshConfig, user_agent
from gossamer.fetch import Fetcher, Resolver
from gossamer.frontier import Frontier
from gossamer.frontier.parties import Shares
from gossamer.frontier.share import Share
from gossamer.model import Exclusion, Fault, Method, Page, Visit
from gossamer.model.url import host_of
from gossamer.rules.connections import Adjustment
from gossamer.rules.head_first import HeadFirst
from gossamer.rules.policy import USUAL_PRIORITY, Policy
from gossamer.rules.robots import product_token
from gossamer.rules.scope import Scope
from gossamer.store import CommittedNote, Store, StorePosition

if TYPE_CHECKING:
    from gossamer.agent.ordering import Ordering
    from gossamer.cluster.batch import Group
    from gossamer.rules.strategy import Strategy

T = TypeVar("T")


_POST = Method.POST  # asked about for each visit, and a member of an enumeration is slow to look up
_LAST_RESPONSES = 2.0  # seconds that a stop waits for what is in flight
_WAITS_TOLD = 20  # domains and addresses
_LONGEST_WAIT = 0.25  # seconds: at least this often the loop looks around
_CAPPED_WAIT = 0.05  # the same under a cap, whose bucket saves up only a tenth of a second
_MOST_LED_TO = 500  # links of one page that are visited next
_MOST_AGAIN = 0.9  # of a host's visits, where shares of parties decide which of those that wait are made


class Agent:
    """Invariant: what `frontier.commit` makes durable is consistent with what `store.sync` made durable just before."""

    def __init__(
        self,
        config: Config,
        directory: CrawlDir,
        resolver: Resolver,
        clock: Callable[[], float],
        notice: Callable[[str], None] = lambda _: None,
        share: Share | None = None,
        strategy: Strategy | None = None,
        alone: bool = False,
        store: Store | None = None,
    ) -> None:
        """`share`: its part of the web, among several agents. `strategy`: instead of the one that `config` names.
        `alone`: nothing but the crawl is done in this process. `store`: in place of that of the directory, which is
        not written to then.
        """
        now = clock()
        self._config = config
        self._agents = 1  # of the crawl, between whom its caps are divided
        self._clock = clock
        self._resolver = resolver
        self._scope = Scope.of(config.scope, now)
        shares = Shares() if config.apps else None
        self.frontier = Frontier(
            directory.frontier,
            config.frontier,
            Policy(config.policy, config.hosts, config.urls),
            self._scope,
            config.scope.max_depth,
            now,
            _shared(config.fresh) if config.apps else config.fresh,
            config.fetch.rate,
            share,
            shares,
        )
        self.asked = Asked(config.apps, self.frontier.meta(ASKED), self.frontier, self._scope, shares)
        self.statistics = self._stored("statistics", Statistics)
        seed_hosts = self.frontier.meta_names(SEED_HOST)
        self._scope.load(seed_hosts)
        self._new_seed_hosts: list[str] = []
        self._keep_seed_hosts = directory.keep_seed_hosts
        if store is None and not directory.seeds.exists():
            self._keep_seed_hosts(seed_hosts)
        agent_name = user_agent(config.fetch)
        token = product_token(agent_name).lower()
        position = self._stored("store", StorePosition)
        self._committed: CommittedNote | None = None
        if store is None:
            store = self._open_store(directory, position, agent_name, notice)
            self._committed = CommittedNote(directory.warc)
            self._committed.write(position)
        self._store = store
        self.position = position  # of the store, at the last commit
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
            scope.domains,
        )
        self._forms = Forms(self.frontier, self.asked, self.commit, clock, lambda: self.others)
        self._fetcher.may_post = self._forms.may_post
        self._fetcher.may_visit = lambda visit, address: self.frontier.may_visit(visit, address, clock())
        self.frontier.address_of(self._fetcher.address_of)
        self._sources = Sources(self.frontier, self._scope, token, config.parse.nofollow, self.statistics)
        self._findings = Findings(notice)
        policy = config.fetch.head_first
        self._head_first = None if policy == "never" else HeadFirst(policy)
        self.frontier.review.rules_are(rules_of(config))
        self._meter = Meter(self.statistics, now)
        parts = config, self.frontier, self._fetcher, self._store, self._sources
        self.responses = Responses(*parts, self._findings, self.statistics, self._meter, token)
        self.rejudging = Rejudging(self.frontier, self.responses.links_of_stored, notice, clock)
        self._ordering = self._ordered(directory, strategy, notice, alone)
        self._robots = RobotsResponses(*parts, self.statistics, agent_name, clock)
        last = self._stored("progress", Progress)
        self._history = History(sample_of(self.statistics, self.frontier.counts, last.updated_at, last))
        self._speed = Speed(config.fetch, now)
        self._adjustment: Adjustment | None = None  # of connections to a wanted speed
        self._take_up_target(now)
        self._began = now
        self._committed_at = now
        self._committed_pages = self.statistics.pages
        self._visits_in_flight = 0  # robots.txt not counted
        self._seeds_read, self._seeds_share = 0, 1.0
        self._stale: set[str] = set()  # given back because of a stale connection, which counts as no try, once
        self._hosts_left: dict[str, int] = {}
        self._stop = False
        self._held = False
        self.idle: Callable[[float], None] | None = None  # instead of waiting until then, where time is simulated
        self.others: Others | None = None  # the other agents of the crawl, if there are any
        self.apps: Callable[[], dict[str, AppFigures]] = dict  # those that share the speed
        self.beside: Callable[[], dict[str, str]] = dict  # processes beside this one, and how they are
        self.on_commit: Callable[[Progress, float], None] | None = None  # and the seconds it took

    def _open_store(
        self, directory: CrawlDir, position: StorePosition, software: str, notice: Callable[[str], None]
    ) -> Store:
        try:
            directory.check_fits(position)
            return Store(directory.warc, self._config.store, position, software, notice)
        except BaseException:
            self.frontier.close()  # who is told of it may repair the directory in the same process
            raise

    def _ordered(
        self, directory: CrawlDir, strategy: Strategy | None, notice: Callable[[str], None], alone: bool
    ) -> Ordering | None:
        name = self._config.strategy.strategy
        if strategy is not None:  # given as an object
            name = f"{type(strategy).__module__}:{type(strategy).__qualname__}"
        elif name == USUAL:
            return None
        else:
            strategy = strategy_of(self._config.strategy)
            assert strategy is not None
        from gossamer.agent.ordering import Ordering  # breadth-first needs none of it
        from gossamer.agent.patience import Patience

        patience = Patience(name, directory.logs, notice, alone)
        parts = strategy, name, self.frontier, directory.strategy, notice, patience
        ordering = self.responses.ordering = Ordering(*parts)
        return ordering

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
            if self._adjustment is not None:
                self._adjust(self._adjustment, len(visits))
            self._speed.started(len(visits))
            for visit in visits:
                self._visits_in_flight += not visit.robots
                if self._head_first is not None and self._head_first.asks(visit):
                    visit.method = Method.HEAD
                if visit.method is _POST and self._forms.holds(visit):
                    continue
                self._fetcher.start(visit)
            stages["frontier"] += leased - started
            stages["fetch"] += perf_counter() - leased
            self._settle(await self._fetcher.wait(self._patience()))
            for visit in self._fetcher.put_off():
                self._put_off(visit)
            if self.others is not None:
                for visit in self._forms.released():
                    self._fetcher.start(visit)
                for visit in self._fetcher.broken_off():
                    self._broken_off(visit)
            self.commit_if_due()
            if self.frontier.review.due:
                self.rejudging.go_on(self.commit)
            await asyncio.sleep(0)
        await self._finish_in_flight()
        return reason

    def _settle(self, outcomes: list[tuple[Visit, Page | Fault]]) -> None:
        """Parse, store, add links, settle: in this order."""
        pages: list[tuple[Visit, Page]] = []
        responses = [outcome for _, outcome in outcomes if isinstance(outcome, Page)]
        sizes = [len(page.head) + len(page.raw) for page in responses]
        self._meter.answers += [page.seconds for page in responses]
        self._speed.ended(*sizes, *[0] * (len(outcomes) - len(responses)))
        self.statistics.bytes += sum(sizes)
        for visit, outcome in outcomes:
            if visit.method is _POST:
                self._forms.ended(visit)
            if isinstance(outcome, Fault) and outcome.stale and visit.url not in self._stale:
                self._stale.add(visit.url)
                self._visits_in_flight -= not visit.robots
                self.statistics.count_failure(outcome.reason)
                self.frontier.give_back(visit, outcome.fetched_at)
                continue
            if self._stale:
                self._stale.discard(visit.url)
            if visit.robots:
                self._robots.visited(visit, outcome)
                continue
            self._visits_in_flight -= 1
            if self._config.apps:
                self.asked.settled(visit, outcome)
            if self._head_first is not None and self.responses.goes_on(visit, outcome, self._head_first):
                self.frontier.give_back(visit, outcome.fetched_at)
            elif isinstance(outcome, Fault):
                self.responses.failed(visit, outcome)
            elif visit.source or not outcome.wanted:
                self.responses.source_visited(visit, outcome)
            else:
                pages.append((visit, outcome))
        if pages:
            self.responses.visited(pages)

    def admit(self, hosts: Iterable[str]) -> None:
        """These are hosts of seeds."""
        self._scope.load(hosts)
        self._new_seed_hosts += hosts

    def receive(self, group: Group) -> None:
        """URLs that another agent has found for us."""
        if group.asked:
            dead = self.frontier.counts.dead
            self.asked.receive(group.urls, group.priority, group.post, group.max_age, self._clock())
            self.statistics.faults -= dead - self.frontier.counts.dead
        elif group.source:
            for url, hosts in zip(group.urls, group.hosts, strict=True):
                self._sources.sent(url, group.depth, group.hops, group.listed, set(hosts))
        elif group.depth:
            self.frontier.add(list(group.urls), group.depth, group.priority, group.hops, group.suspect)
        else:
            self.add_seeds(list(group.urls), self._seeds_share, group.priority, given=False)
        self._fetcher.wake()

    def request(
        self, given: RequestsGiven, usable: Callable[[str], tuple[str | None, str]], command: str
    ) -> dict[str, Any]:
        """Take up the requests of a command, as `Asked.take` says. What was dead and is queued again did not fail."""
        dead = self.frontier.counts.dead
        facts = self.asked.take(given, usable, self._clock(), command)
        self.statistics.faults -= dead - self.frontier.counts.dead
        self._fetcher.wake()
        return facts

    def add_seeds(self, urls: list[str], share: float = 1.0, priority: int = USUAL_PRIORITY, given: bool = True) -> int:
        """Queue seeds, and give how many of them were known to be excluded or dead and get another chance.

        `share`: how much of all seeds has been read with these. `given`: to this agent, not to another one.
        """
        self._seeds_read += len(urls) * given
        self._seeds_share = share
        own = urls
        if self.others is not None:
            own = [url for url in urls if self.frontier.is_ours(url)]
            self.frontier.hand_over([url for url in urls if not self.frontier.is_ours(url)], 0, priority)
        for host in filter(None, map(self._scope.admit_seed, own)):
            self._new_seed_hosts.append(host)
            if self.frontier.counts.excluded:  # perhaps pages of it, which belong from now on
                self.frontier.review.doubt(host, Exclusion.SCOPE)
        again = self._give_again(own, priority)
        self.frontier.add(own, 0, priority, handed=not given)
        self._fetcher.wake()
        return again

    def _give_again(self, urls: list[str], priority: int) -> int:
        """Queue those seeds that had an end without a page; gives how many that were."""
        counts = self.frontier.counts
        if not (counts.excluded or counts.dead):
            return 0
        excluded, dead = self.frontier.review.given_again(urls, priority)
        self.statistics.take_back(dead)
        return excluded + dead.total()

    def lead_on(self, url: str, priority: int) -> int | None:
        """Visit next what a stored page leads to within the scope; give how many URLs that are, None if it is not
        stored here.
        """
        place = self.frontier.stored(url)
        if place is None:
            return None
        links = [link for link in self.responses.links_of_stored(place) if not self._scope.judge(link)]
        waiting = [link for link in links[:_MOST_LED_TO] if not self.frontier.is_settled(link)]
        for link in waiting:
            self.frontier.ask(link, 1, priority, True)
        self._fetcher.wake()
        return len(waiting)

    # -- limits ------------------------------------------------------------------------------------------------------

    def _reason_to_end(self) -> str:
        if self._stop:
            return "stopped"
        limits = self._config.agent
        if self.others is not None:
            if limits.time_limit and self._clock() - self._began >= limits.time_limit:
                self.others.end_all("time_limit")
            return self.others.reason_to_end()
        if limits.max_pages and self.statistics.pages >= limits.max_pages:
            return "max_pages"
        if limits.time_limit and self._clock() - self._began >= limits.time_limit:
            return "time_limit"
        if self._config.fresh.keep_fresh or not self.frontier.exhausted:
            return ""
        return "" if self._ordering is not None and self._ordering.ask(self._clock(), idle=True) else "complete"

    def _room(self) -> int:
        """How many visits may be started now, by connections and by every limit."""
        if self._held or self._config.agent.paused or self.rejudging.holds:
            return 0
        room = self._fetcher.room - len(self._forms)
        limits = self._config.agent
        if self.others is not None:
            room = self.others.room(room, self.statistics.pages + self._visits_in_flight)
        elif limits.max_pages:
            room = min(room, limits.max_pages - self.statistics.pages - self._visits_in_flight)
        return max(self._speed.room(self._clock(), room), 0)

    def _take_up_target(self, now: float) -> None:
        """Adjust connections from now on, if a speed is wanted."""
        fetch = self._config.fetch
        target = fetch.target_rate / self._agents
        if not target:
            self._adjustment = None
            return
        bounds = fetch.least_connections, fetch.connections
        if self._adjustment is None:
            self._adjustment = Adjustment(target, *bounds, now)
        else:
            self._adjustment.change(target, *bounds, now)
        self._fetcher.adjust(self._adjustment.connections)

    def _adjust(self, adjustment: Adjustment, started: int) -> None:
        """After as many visits were started as there was room for."""
        in_flight = self._fetcher.in_flight + started
        full = in_flight >= self._fetcher.connections and self.frontier.schedule.ready > 0
        adjustment.saw(in_flight, full)
        if adjustment.look(self._clock(), self.statistics.pages, self._fetcher.rested):
            self._fetcher.adjust(adjustment.connections)

    def _patience(self) -> float:
        """How long to wait for the network at most: until a cap allows more, or the next host is due."""
        now = self._clock()
        if self.frontier.review.due:
            return 0.0
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

    def wake(self) -> None:
        """There may be more to do than the loop waits for."""
        self._fetcher.wake()

    def end(self) -> None:
        """The whole crawl stops, with all its agents."""
        if self.others is not None:
            self.others.end_all("stopped")
        else:
            self.stop()

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

    def fence(self, allowed: Callable[[], bool]) -> None:
        """Speak to servers only while this says yes."""
        self._fetcher.fence(allowed)

    @property
    def visits(self) -> int:
        """Begun so far, those of robots.txt included."""
        return self._meter.requests

    @property
    def visits_in_flight(self) -> int:
        return self._visits_in_flight

    def seeds_came(self, hosts: Iterable[str]) -> None:
        """With a partition that other agents had: what is on these hosts belongs."""
        self._scope.load(hosts)

    def cut_off(self) -> None:
        """Say nothing more to any server: connections are reset, and what was in flight waits as before."""
        for visit in self._fetcher.reset():
            self._broken_off(visit)

    def break_off(self, which: Callable[[str], bool]) -> None:
        """Those in flight to hosts that are such are dropped, and wait as before."""
        self._break_off(lambda visit: which(visit.host))

    async def _finish_in_flight(self) -> None:
        """Take in what is already under way: asking servers again later for the same would be rude."""
        until = self._clock() + _LAST_RESPONSES
        while self._fetcher.in_flight and self._clock() < until:
            self._settle(await self._fetcher.wait(0.1))
        self._break_off(lambda visit: True)

    def _break_off(self, which: Callable[[Visit], bool]) -> None:
        """Those in flight are dropped and wait as before."""
        for visit in [*self._fetcher.abort(which), *self._forms.taken_back(which)]:
            self._broken_off(visit)

    def _broken_off(self, visit: Visit) -> None:
        self._speed.ended(0)
        self._forms.ended(visit)
        self._visits_in_flight -= not visit.robots
        self.frontier.give_back(visit, self._clock())

    def _put_off(self, visit: Visit) -> None:
        """Take back a visit that was leased, and begun with no server."""
        self._meter.requests -= 1
        self._speed.ended(0)
        self._forms.ended(visit)
        self._visits_in_flight -= not visit.robots
        self.frontier.put_off(visit, self._clock())

    def divide(self, agents: int) -> None:
        """Caps of the whole crawl are for so many agents from now on."""
        if agents != self._agents:
            self._agents = agents
            self.change(self._config)

    def change(self, config: Config) -> None:
        """Take up settings that were changed while the crawl runs: caps, delays, limits, blocks."""
        now = self._clock()
        before, self._config = self._config, config
        self.responses.change(config)
        self._robots.change(config)
        agents = self._agents
        policy = Policy(config.policy, config.hosts, config.urls, agents)
        self._break_off(lambda visit: policy.blocks(visit.url, host_of(visit.url)))
        fresh = replace(config.fresh, revisit_rate=config.fresh.revisit_rate / agents)
        if config.apps:
            fresh = _shared(fresh)
        self.frontier.change_policy(policy, now, fresh, config.fetch.rate / agents)
        self.frontier.review.rules_are(rules_of(config), stricter(before, config))
        self._speed.change(config.fetch, now, agents)
        self._fetcher.change(config.fetch.connections, config.hosts)
        self._take_up_target(now)
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
        position = self.position = self._store.sync()
        now = self._clock()
        ordering = self._ordering
        if ordering is not None:
            ordering.ask(now)
        kept = ordering.unsaved(bool(reason)) if ordering is not None else {}
        self.frontier.resolve()  # what is told is what this commit has
        self._meter.sample(now)
        self._hosts_left = self.frontier.left() if reason == "complete" else {}
        progress = self.progress(reason)
        sample = sample_of(self.statistics, self.frontier.counts, now, progress)
        if self._new_seed_hosts and self._committed is not None:
            self._keep_seed_hosts(self._new_seed_hosts)
        self.frontier.commit(
            {
                "store": encode(position),
                "statistics": encode(self.statistics),
                **{SEED_HOST + host: b"" for host in self._new_seed_hosts},
                **self._findings.taken(now),
                **(self.others.notes() if self.others is not None else {}),
                **self._sources.unsaved(),
                **self.asked.notes(),
                **self._history.taken(sample, bool(reason)),
                **kept,
                "progress": encode(progress),
            },
            clean=bool(reason),
        )
        if self._committed is not None:
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
        self.responses.close()
        if self._ordering is not None:
            self._ordering.close()
        self._store.close()
        if self._committed is not None:
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
        progress.hosts_ready, progress.hosts_waiting = schedule.ready, schedule.waiting
        progress.hosts_held, progress.hosts_down = schedule.held, schedule.down
        progress.waits = schedule.waits(_WAITS_TOLD) if schedule.held else {}
        progress.connections, progress.dns_asked = self._config.fetch.connections, self._resolver.asked
        if self._adjustment is not None:
            progress.connections, progress.adjusted = self._adjustment.connections, self._adjustment.why
            progress.target_rate = self._config.fetch.target_rate / self._agents
        progress.partitions = counts.partitions
        if self.others is not None:
            progress.partitions, progress.lost = self.others.held, self.others.gone
        self._fill_fresh(progress, now)
        if self._ordering is not None:
            self._ordering.fill(progress)
        progress.hosts_left, progress.given_up = self._hosts_left, self.statistics.dead_by_reason(counts.dead)
        progress.lag = max(0.0, now - self._committed_at - self._config.agent.commit_interval)
        progress.max_pages = self._config.agent.max_pages
        progress.time_limit = self._config.agent.time_limit
        progress.seeds_read, progress.seeds_share = self._seeds_read, self._seeds_share
        progress.paused = self._config.agent.paused
        progress.beside, progress.apps = self.beside(), self.apps()
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


def _shared(fresh: FreshConfig) -> FreshConfig:
    """What is due is queued ahead, as far as hosts have time for it: how much of it is visited, shares decide."""
    return replace(fresh, revisit_share=max(fresh.revisit_share, _MOST_AGAIN))
