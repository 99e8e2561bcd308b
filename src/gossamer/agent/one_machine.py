"""A crawl of several agents on one machine: its broker, its agents, and one process that sees to all of them.

DIR is the crawl: settings, logs, lock, keys, links to the pages. Each agent has an ordinary directory of its own
in DIR/agents, and the broker's streams are in DIR/broker.
"""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from time import monotonic
from typing import Final

import msgspec

from gossamer.agent.broker_file import save_broker
from gossamer.agent.companion import Companion
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.fleet import WRONG_USAGE, Fleet, write_seeds
from gossamer.agent.mirrored import MirroredSettings, save_settings
from gossamer.agent.progress import Progress
from gossamer.agent.quota import begin
from gossamer.agent.reading import read_progress
from gossamer.agent.supervisor import forget_beside, signals, write_beside
from gossamer.agent.together import forget_written, left, merge, read_written, write_progress
from gossamer.agent.warc_links import agent_homes, link_files
from gossamer.cluster.broker import Broker, open_keys
from gossamer.cluster.coordinator import Coordinator
from gossamer.cluster.making import check_facts, facts_of
from gossamer.cluster.members import Gone
from gossamer.cluster.server import Server
from gossamer.cluster.shared import end_crawl, go_on, make_crawl, read_end, write_settings
from gossamer.config import Config
from gossamer.errors import ClusterError, CrawlDirError, GossamerError, SeedError
from gossamer.model.url import usable_seed

_LOOK_EVERY: Final = 0.5  # seconds
_LINKS_EVERY: Final = 1.0
_HEARD: Final = 1.5  # seconds in which the broker must take the word that all is to stop
_LEAVE: Final = 3.0  # seconds that agents have before they are told one by one
_LAST: Final = 10.0  # seconds before who has not ended is killed: what is committed is durable
_RELEASED: Final = 15.0  # seconds for agents of a supervisor that was killed to notice it


class OneMachine:
    """Invariants: DIR is this process's while it runs, and agents and broker end with it. It fetches nothing itself."""

    def __init__(
        self,
        config: Config,
        home: Path,
        seeds: Iterable[str],
        notice: Callable[[str], None],
        hear: Callable[[str, str], None],
        *,
        kept: Config | None = None,
        beside: Sequence[Companion] = (),
        watch: Callable[[Progress], None] = lambda progress: None,
        every: float = _LOOK_EVERY,
        command: Sequence[str] = (sys.executable, "-m", "gossamer", "agent"),
    ) -> None:
        self._config = config
        self._directory = CrawlDir(home)
        self._home = home
        self._seeds = seeds
        self._notice = notice
        self._kept = kept
        self._beside = beside
        self._watch = watch
        self._every = every
        self._words = command
        self._names = names_of(config.cluster.agents)
        self._hear = hear
        self._server = Server(home / "broker")
        self._reason = ""
        self._gone = Gone()
        self._began = monotonic()
        self._past: dict[str, Progress] = {}  # what agents had done before this run, also those that take no part
        self._seed_words: list[str] = []  # for the first agent
        self._stops: list[asyncio.Task[None]] = []

    async def run(self) -> tuple[int, Progress]:
        """The exit status and what became of it all, when everything has ended but what runs beside."""
        self._directory.check()
        check_layout(self._home)
        if not self._directory.settings.exists():
            self._seeds = _with_a_usable_one(self._seeds)
        self._directory.take()
        spent = _children()
        try:
            await self._agents_are_free()
            self._config = save_settings(self._directory, self._config, self._kept)
            self._make_homes()
            self._server.start()
            await self._server.ready()
            status = await self._crawl()
        finally:
            # Not in a thread: it must be the one that has started it.
            self._server.stop()
            with suppress(OSError):
                link_files(self._home)
            forget_beside(self._directory)
            self._directory.release()
        whole = self._whole()
        whole.running, whole.reason = False, self._reason or "stopped"
        whole.cpu_seconds = max(whole.cpu_seconds, _children() - spent + _self() - whole.index_cpu_seconds)
        write_progress(self._home, whole)
        return status, whole

    async def _crawl(self) -> int:
        broker = Broker(
            addresses=(self._server.address,),
            user=self._server.credentials.user,
            password=self._server.credentials.password,
        )
        link = await broker.connect("supervisor")
        try:
            keys = await open_keys(link)
            facts = await make_crawl(keys, facts_of(self._config))
            check_facts(facts, self._config)
            settings = await write_settings(keys, self._config.to_toml(), "the command line")
            assert settings is not None
            await begin(keys, {name: past.pages for name, past in self._past.items()})
            await go_on(keys)
            save_broker(broker, self._home)
            for name in self._names:
                save_broker(msgspec.structs.replace(broker, name=name), self._home / "agents" / name)
            homes = {name: self._home / "agents" / name for name in self._names}
            self._fleet = Fleet(homes, self._command, self._notice, self._hear)
            mirror = MirroredSettings(self._directory, self._config, settings, keys, self._notice)
            tasks = [asyncio.create_task(each.keep_running()) for each in self._beside]
            tasks.append(asyncio.create_task(self._look(keys, mirror)))
            try:
                with signals(lambda _: self._stop(keys)):
                    status = await self._fleet.run()
            finally:
                for task in (*tasks, *self._stops):
                    task.cancel()
                await asyncio.gather(*tasks, *self._stops, return_exceptions=True)
            with suppress(ClusterError):
                await self._see_end(keys)
        finally:
            await link.close()
        if status == WRONG_USAGE:
            return status
        return 130 if self._reason in ("", "stopped") else 0

    # -- before it begins ----------------------------------------------------------------------------------------------

    async def _agents_are_free(self) -> None:
        """Agents whose supervisor was killed end by themselves, and may be at it."""
        until = monotonic() + _RELEASED
        while busy := [each for each in agent_homes(self._home) if CrawlDir(each).in_use()]:
            if monotonic() > until:
                raise CrawlDirError(
                    f"{busy[0]} is in use by another process: stop it, then run the same command again."
                )
            await asyncio.sleep(0.05)

    def _make_homes(self) -> None:
        for home in agent_homes(self._home):
            self._past[home.name] = left(_committed(home))
        for name in self._names:
            home = self._home / "agents" / name
            (home / "logs").mkdir(parents=True, exist_ok=True)
            forget_written(home)
        (self._home / "checkpoints").mkdir(exist_ok=True)
        self._seed_words = write_seeds(self._seeds, self._home / "agents" / self._names[0])

    def _command(self, name: str, after: float) -> list[str]:
        fetch, policy = self._config.fetch, self._config.policy
        each = max(fetch.connections // len(self._names), policy.host_connections)
        words = [*self._words, "--dir", str(self._home / "agents" / name), "--connections", str(each)]
        if not self._config.cluster.checkpoints:
            words += ["--checkpoints", str((self._home / "checkpoints").absolute())]
        return words + self._seed_words if name == self._names[0] else words

    # -- while it runs -------------------------------------------------------------------------------------------------

    async def _look(self, keys: Coordinator, mirror: MirroredSettings) -> None:
        told = linked = -self._every
        said: dict[str, str] = {}
        while True:
            now = monotonic()
            if now - told >= self._every:
                told = now
                whole = self._whole()
                write_progress(self._home, whole)
                self._watch(whole)
            if now - linked >= _LINKS_EVERY:
                linked = now
                with suppress(OSError):
                    link_files(self._home)
            if (states := self._states()) != said:
                said = states
                write_beside(self._directory, states)
            if not self._server.running:
                self._notice("supervisor: the broker died and is started again; agents wait for it, nothing is lost")
                self._server.start()
            # What is not heard of is asked again; a file that cannot be written now is written with the next change.
            with suppress(GossamerError, OSError):
                await self._see_end(keys)
            with suppress(GossamerError, OSError):
                await mirror.look()
            await asyncio.sleep(_LOOK_EVERY)

    async def _see_end(self, keys: Coordinator) -> None:
        end = await read_end(keys)
        if end is not None:
            self._reason, self._gone = end.reason, end.gone
            self._fleet.retire()

    def _stop(self, keys: Coordinator) -> None:
        self._stops.append(asyncio.create_task(self._end(keys, at_once=bool(self._reason or self._stops))))

    async def _end(self, keys: Coordinator, at_once: bool) -> None:
        """All agents stop. When the crawl has ended and only indexes are waited for, or at a second Ctrl-C, at once."""
        self._fleet.retire()
        if not at_once:
            try:
                async with asyncio.timeout(_HEARD):
                    self._reason = (await end_crawl(keys, "stopped", "the supervisor")).reason
                await asyncio.sleep(_LEAVE)
            except (ClusterError, TimeoutError):
                pass
        self._fleet.tell(signal.SIGTERM)
        await asyncio.sleep(_LAST - _LEAVE)
        self._fleet.kill()

    def _states(self) -> dict[str, str]:
        broker = "running" if self._server.running else "down, is started again"
        return {**{each.name: each.state for each in self._beside}, **self._fleet.states(), "broker": broker}

    def _whole(self) -> Progress:
        said = self._fleet.progress()
        whole = merge(list({**self._past, **said}.values()))
        # Not while indexes catch up, and before anybody has said anything it does.
        whole.running = whole.running or len(said) < len(self._names)
        whole.reason = ""
        whole.lost = self._gone.pages({home.name for home in agent_homes(self._home)})
        whole.seconds = monotonic() - self._began
        whole.run_pages = max(0, whole.pages - sum(past.pages for past in self._past.values()))
        whole.mean_pages_per_s = whole.run_pages / whole.seconds if whole.seconds > 0 else 0.0
        whole.beside = self._states()
        whole.pid = os.getpid()
        return whole


def names_of(agents: int) -> list[str]:
    return [f"a{number}" for number in range(1, agents + 1)]


def check_layout(home: Path) -> None:
    """That the directory is not one of a single agent."""
    if (home / "frontier").exists():
        raise CrawlDirError(
            f"{home} is a crawl of one agent, whose URLs are not shared out: go on with --agents 1, or begin a"
            " crawl of several in another --dir"
        )


def _with_a_usable_one(seeds: Iterable[str]) -> Iterator[str]:
    """All of them. SeedError if none can be crawled, before anything is written."""
    rest = iter(seeds)
    seen = []
    for seed in rest:
        seen.append(seed)
        if usable_seed(seed)[0] is not None:
            return chain(seen, rest)
    why = f" {seen[0][:200]!r}: {usable_seed(seen[0])[1]}." if seen else ""
    raise SeedError(f"No seed can be crawled.{why} Give at least one usable URL.")


def _committed(home: Path) -> Progress:
    """Of an agent that is not at work: what it said last may be more than what it had committed."""
    try:
        return read_progress(home)
    except (GossamerError, OSError):
        return read_written(home) or Progress()


def _children() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def _self() -> float:
    spent = resource.getrusage(resource.RUSAGE_SELF)
    return spent.ru_utime + spent.ru_stime
