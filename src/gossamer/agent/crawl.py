"""Running a crawl from its seeds to its summary."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import uvloop

from gossamer.agent.agent import Agent
from gossamer.agent.audit import record
from gossamer.agent.commands import Commands
from gossamer.agent.companion import Companion
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.ending import ending
from gossamer.agent.limits import apply, facts_of, judge
from gossamer.agent.log import CrawlLog
from gossamer.agent.memory import prepare
from gossamer.agent.progress import Progress, Summary
from gossamer.agent.running_app import RunningApp, app_figures, is_behind
from gossamer.agent.settings import LiveSettings
from gossamer.agent.spool import Spool
from gossamer.agent.supervisor import read_beside, supervised
from gossamer.config import Config, adopted, live_changes, load
from gossamer.errors import ConfigError, GossamerError, SeedError
from gossamer.fetch import Accesses, Answer, Guard, Ports, Resolver, ShortageError, port_of, split_host
from gossamer.model import Reason
from gossamer.model.url import host_of, usable_seed

if TYPE_CHECKING:
    from gossamer.agent.membership import Membership
    from gossamer.rules.strategy import Strategy

_SEEDS_AT_ONCE = 1000
_MOST_NOTICES = 20
_LOOK_EVERY = 0.05  # seconds, at applications that are behind


def clock() -> Callable[[], float]:
    """Wall-clock time that never jumps while the program runs."""
    offset = time.time() - time.monotonic()
    monotonic = time.monotonic
    return lambda: monotonic() + offset


def run(
    config: Config,
    home: Path,
    seeds: Iterable[str],
    *,
    watch: Callable[[Progress], None] | None = None,
    every: float = 0.5,
    notice: Callable[[str], None] | None = None,
    index: Companion | None = None,
    service: Companion | None = None,
    kept: Config | None = None,
    apps: Sequence[RunningApp] = (),
) -> Summary:
    """Crawl into `home` until there is a reason to end. SIGINT and SIGTERM end it cleanly.

    `index`, `service` and `apps` run beside it; to wait for them, or to stop them, is left to the caller. `kept` is
    what gossamer.toml said when `config` was made of it.
    """
    prepare()
    beside = [each for each in (index, service) if each]
    crawl = Crawl(config, home, seeds, notice or (lambda _: None), beside, kept, apps=apps)
    return uvloop.run(crawl.run(watch, every))


class Crawl:
    """One run of a crawl: checks, seeds, the agent, the last commit."""

    def __init__(
        self,
        config: Config,
        home: Path,
        seeds: Iterable[str],
        notice: Callable[[str], None],
        beside: Sequence[Companion] = (),
        kept: Config | None = None,
        membership: Membership | None = None,
        strategy: Strategy | None = None,
        apps: Sequence[RunningApp] = (),
    ) -> None:
        """`membership`: its place among the agents of a crawl that has several. `strategy`: instead of the one that
        `config` names. `apps`: what runs on it.
        """
        self._config = config
        self._membership = membership
        self._strategy = strategy
        self._beside = beside
        self._apps = apps
        self._directory = CrawlDir(home)
        self._share: Callable[[], float] = getattr(seeds, "share", lambda: 1.0)
        self._seeds = iter(seeds)
        self._say = notice
        self._clock = clock()
        self._log = CrawlLog(self._directory.logs / "crawl.log", config.agent.log_format, self._clock)
        self._ports = Ports(config.fetch.ports)
        self._refused = 0
        self._names_checked = False
        self._old: Sequence[str] = ()  # commands that were there before this run had the directory
        self._kept = kept or self._read_kept()
        self.agent: Agent | None = None

    async def run(
        self,
        watch: Callable[[Progress], None] | None = None,
        every: float = 0.5,
        ready: Callable[[Agent], None] | None = None,
        signals: bool = True,
    ) -> Summary:
        self._directory.check()
        is_new = not self._directory.settings.exists()
        resolver = Resolver(self._config.fetch.connect, self._config.fetch.dns, self._clock)
        try:
            first = await self._next_usable(resolver)
            if is_new and not first and self._membership is None:
                raise SeedError("No seed can be crawled: see the reasons above, and give at least one usable URL.")
            self._old = Spool(self._directory.home).ids()
            self._directory.take()
        except BaseException:
            await resolver.close()  # an answer that is still on its way would meet no loop
            raise
        self._log.open()
        try:
            settings = self._save()
            config = self._within_limits(self._config)
            membership = self._membership
            share = membership.share if membership is not None else None
            agent = self.agent = Agent(
                config, self._directory, resolver, self._clock, self._notice, share, self._strategy, alone=signals
            )
            agent.on_commit = self._log.commit
            agent.beside = self._states
            agent.apps = lambda: app_figures(agent.asked.parties, self._apps)
            self._log.event("start", pid=os.getpid(), pages=agent.statistics.pages)
            try:
                if ready is not None:
                    ready(agent)
                with _signals(agent) if signals else nullcontext():
                    if membership is not None:
                        membership.limit(config)
                        await membership.enter(agent, self._clock)
                    return await self._crawl(agent, settings, first, resolver, watch, every)
            finally:
                await agent.close()
        except GossamerError as error:
            self._log.event("failed", text=str(error))
            raise
        finally:
            self._log.close()
            self._directory.release()

    def _save(self) -> LiveSettings:
        """Keep what this run uses, and follow the file from there. What somebody has changed in it since our settings
        were read holds: whoever changes the settings of a crawl that does not run is told that they will.
        """
        with Spool(self._directory.home).alone():
            now = self._read_kept()
            if self._kept is not None and now is not None:
                self._config = adopted(self._config, now, live_changes(self._kept, now)[1])
            self._directory.save(self._config)
            return LiveSettings(self._directory.settings, self._config, self._notice, self._edited)

    def _read_kept(self) -> Config | None:
        try:
            return load(self._directory.settings) if self._directory.settings.is_file() else None
        except ConfigError:  # it is written anew
            return None

    def _states(self) -> dict[str, str]:
        """Of the processes beside this one, whoever started them."""
        own = {each.name: each.state for each in self._beside}
        others = read_beside(self._directory) if not own and supervised() else own
        return {**others, **{each.name: each.state for each in self._apps}}

    def _notice(self, text: str) -> None:
        self._log.notice(text)
        self._say(text)

    def _within_limits(self, config: Config) -> Config:
        """The settings with as many connections as this machine can carry. What is kept is what was asked for."""
        verdict = judge(config, facts_of(self._directory.home))
        for text in verdict.notices:
            self._notice(text)
        return apply(config, verdict)

    async def _crawl(
        self,
        agent: Agent,
        settings: LiveSettings,
        first: list[str],
        resolver: Resolver,
        watch: Callable[[Progress], None] | None,
        every: float,
    ) -> Summary:
        membership = self._membership

        def change(config: Config) -> None:
            agent.change(self._within_limits(config))
            if membership is not None:
                membership.limit(config)

        commands = Commands(
            self._directory, agent, settings, change, lambda line: self._judged(line, resolver), self._clock, self._log
        )
        commands.forget_old(self._old)
        if self._config.agent.paused:
            self._notice("note: this crawl is paused; gossamer control resume goes on with it")
        beside = [asyncio.create_task(settings.follow(change)), asyncio.create_task(commands.follow())]
        beside += [asyncio.create_task(each.keep_running()) for each in self._beside]
        beside += [asyncio.create_task(each.keep_running()) for each in self._apps]
        if watch:
            beside.append(asyncio.create_task(_tell(agent, watch, every)))
        if membership is not None:
            membership.at_rest = lambda: self._apps_rest(agent, commands)
            beside += map(asyncio.create_task, membership.work())
            if self._apps:
                beside.append(asyncio.create_task(self._serve_apps(agent, commands)))
        try:
            agent.add_seeds(first)
            while chunk := await self._next_usable(resolver):
                agent.add_seeds(chunk, self._share())
                agent.commit_if_due()
                if agent.stopping:
                    break
                await asyncio.sleep(0)
            if self._refused > _MOST_NOTICES:
                self._notice(f"{self._refused - _MOST_NOTICES:,} more seeds cannot be crawled")
            agent.add_seeds([])
            agent.commit()
            if membership is not None:
                membership.seeds_read()
            while (reason := await agent.run()) == "complete" and membership is None:
                if not await commands.look() and not await self._wait_for_apps(agent, commands):
                    break  # nobody has anything to add
            agent.commit(reason)
        except asyncio.CancelledError:
            agent.commit("stopped")
            raise
        finally:
            for task in beside:
                task.cancel()
        if membership is not None:
            from gossamer.cluster.ending import ended

            await ended(beside)
            await membership.leave()
        last = agent.progress(reason)
        if watch:
            watch(last)
        if reason == "complete" and (last.hosts_left or last.given_up or last.lost):
            if not watch:  # who watches has a summary
                self._notice(ending(last))
            if failures := last.reasons.get(Reason.PROXY):
                self._notice(f"the proxy failed {failures:,} times: see that it runs, and that it lets this crawl in")
        summary = Summary(**{name: getattr(last, name) for name in Summary.__struct_fields__})
        self._log.end(summary)
        return summary

    async def _wait_for_apps(self, agent: Agent, commands: Commands) -> bool:
        """Until no application has anything to see any more; whether one has asked for something."""
        agent.commit()
        position = agent.position
        while not agent.stopping:
            waiting = any(is_behind(app, position) for app in self._apps)  # asked first: what it led to is in the spool
            if await commands.look() or not agent.frontier.exhausted:  # or somebody else has taken it up from there
                return True
            if not waiting:
                break
            await asyncio.sleep(_LOOK_EVERY)
        return False

    def _apps_rest(self, agent: Agent, commands: Commands) -> bool:
        """Among several agents: whether no application beside this one has anything to see, and nobody has asked for
        anything that was not taken up.
        """
        if self._apps and agent.frontier.unsaved:
            return False  # it has not been seen yet what is not committed
        behind = any(
            is_behind(app, agent.position) for app in self._apps
        )  # asked first: what it led to is in the spool
        return not behind and commands.done

    async def _serve_apps(self, agent: Agent, commands: Commands) -> None:
        """While there is nothing else to do, applications need not wait for the next commit, nor what they ask for."""
        while True:
            await asyncio.sleep(_LOOK_EVERY)
            if agent.frontier.exhausted:
                if agent.frontier.unsaved:
                    agent.commit()
                await commands.look()

    # -- seeds -------------------------------------------------------------------------------------------------------

    async def _next_usable(self, resolver: Resolver) -> list[str]:
        """The next usable seeds, none when there are no more; the first are asked for before anything is written."""
        while (lines := list(itertools.islice(self._seeds, _SEEDS_AT_ONCE))) and not (
            usable := await self._usable(lines, resolver)
        ):
            pass
        return usable if lines else []

    async def _usable(self, lines: list[str], resolver: Resolver) -> list[str]:
        urls = []
        for line in lines:
            url, why = self._judged(line, resolver)
            if url is None:
                self._refuse(line, why)
            else:
                urls.append(url)
        names = {host_of(url) for url in urls}
        if not self._names_checked:  # of a long list the first show whether names resolve at all; faults tell the rest
            self._names_checked = True
            accesses = Accesses(self._config.fetch, self._config.hosts, "", resolver.redirect)
            asked = sorted(
                name for name in names if resolver.redirect(name) is None and not accesses.resolved_elsewhere(name)
            )
            answers = await asyncio.gather(*(_answer(resolver, split_host(name)[0]) for name in asked))
            self._warn(dict(zip(asked, answers, strict=True)))
        return urls

    def _warn(self, answers: dict[str, Answer]) -> None:
        """Say which seeds cannot be visited for where they are, or because nobody knows where that is. Both are judged
        when they are connected to: a name that is not known now may be known to the next run.
        """
        for name, why in [(name, answer.why) for name, answer in answers.items() if answer.why][:_MOST_NOTICES]:
            self._notice(f"note: {name} cannot be visited now: it {why}")
        fetch, networks = self._config.fetch, self._config.scope.networks
        guard = Guard(fetch.allow_private, networks, self._config.scope.domains)
        remedy = "give --allow-private if that is meant"
        if fetch.allow_private or networks:
            remedy = "name its network with --networks if that is meant"
        refused = [
            (name, answer.addresses[0])
            for name, answer in answers.items()
            if answer.addresses and not any(guard.allows(address, name) for address in answer.addresses)
        ]
        for name, address in refused[:_MOST_NOTICES]:
            self._notice(f"note: {name} will not be visited: the address {address} may not be connected to; {remedy}")

    def _judged(self, line: str, resolver: Resolver) -> tuple[str | None, str]:
        """The URL of a seed, or None and why it cannot be crawled."""
        url, why = usable_seed(line)
        if url is None:
            return None, why
        why = self._ports.refusal(port_of(url))
        return (None, why) if why and resolver.redirect(host_of(url)) is None else (url, "")

    def _edited(self, before: dict[str, str], after: dict[str, str]) -> None:
        record(self._directory.logs, "an editor", "settings", before, after)

    def _refuse(self, seed: str, why: str) -> None:
        self._refused += 1
        if self._refused <= _MOST_NOTICES:
            self._notice(f"seed {seed[:200]!r} is left out: {why}")


@contextmanager
def _signals(agent: Agent) -> Iterator[None]:
    """SIGINT and SIGTERM stop the agent cleanly."""
    loop = asyncio.get_running_loop()
    numbers = (signal.SIGINT, signal.SIGTERM)
    for number in numbers:
        loop.add_signal_handler(number, agent.stop)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


async def _answer(resolver: Resolver, name: str) -> Answer:
    try:
        return await resolver.resolve(name)
    except ShortageError:
        return Answer((), 0.0)  # no reason to leave a seed out


async def _tell(agent: Agent, watch: Callable[[Progress], None], every: float) -> None:
    while True:
        watch(agent.progress())
        await asyncio.sleep(every)
