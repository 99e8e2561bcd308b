"""Partitions of real frontiers that change hands over a real broker."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from brokers import brokers, emptied

from gossamer.agent.exchange import Exchange
from gossamer.agent.holder import Holder
from gossamer.agent.outbox import Outbox
from gossamer.cluster.batch import Group
from gossamer.cluster.checkpoints import Checkpoints
from gossamer.cluster.ending import ended
from gossamer.cluster.lease import Terms
from gossamer.cluster.members import Members
from gossamer.cluster.nats_coordinator import NatsCoordinator
from gossamer.cluster.nats_log import NatsLog
from gossamer.cluster.objects import open_objects
from gossamer.cluster.ownership import Ownership
from gossamer.cluster.server import Server
from gossamer.cluster.session import Session
from gossamer.config import FrontierConfig, PolicyConfig
from gossamer.errors import UnavailableError
from gossamer.frontier import Frontier
from gossamer.frontier.share import Part
from gossamer.rules.policy import Policy
from gossamer.rules.robots import ALLOW_ALL
from gossamer.rules.scope import Scope
from gossamer.rules.territory import Territory

TERRITORY = Territory(4)
ALL = range(4)
NOW = 1000.0
URLS = [f"http://{name}.test/{number}" for name in ("one", "two", "three", "four", "five") for number in range(4)]


class Agent:
    """All of an agent but its fetcher and its store."""

    def __init__(self, name: str, home: Path, keys: NatsCoordinator, log: NatsLog) -> None:
        self.name, self._keys, self._log = name, keys, log
        self.share = Part(TERRITORY, 1.0)
        policy = Policy(PolicyConfig(delay=0))
        self.frontier = Frontier(
            home / name, FrontierConfig(memory=1 << 20), policy, Scope("any"), None, NOW, share=self.share
        )
        self.said: list[str] = []
        self.checkpoints = Checkpoints(keys, open_objects(str(home / "checkpoints")))

    async def begin(self, session: str = "") -> None:
        self.session = await Session.open(self._keys, self.name, Terms(), home=self.name + session)
        members = await Members.open(self._keys, Terms())
        counts = self.frontier.counts
        self.outbox = Outbox(
            self.frontier.outbox(), self.frontier.foreign, self.share, lambda name: None,
            lambda: self.exchange.taken, lambda: counts.number,
        )  # fmt: skip
        self.exchange = Exchange(self._log, self.outbox, self.receive, self.lose, self.said.append)
        self.frontier.before_commit = self.outbox.fill
        self.holder = Holder(
            self.frontier, self.share, self._log, Ownership(self._log, members, self.session), self.checkpoints,
            self.exchange, self.commit, lambda which: None, self.receive, lambda name: None, lambda names: None,
            lambda: NOW, self.said.append,
        )  # fmt: skip
        await self.holder.resume(self.frontier.meta("cluster"))
        self.sending = asyncio.create_task(self.exchange.send())

    def receive(self, group: Group) -> None:
        self.frontier.add(list(group.urls), group.depth, group.priority)

    def lose(self, partitions: object) -> None:
        self.holder.lose(partitions)  # type: ignore[arg-type]

    def commit(self) -> None:
        self.frontier.commit({"cluster": self.holder.kept()})

    def visit(self, most: int) -> list[str]:
        """Visits are made, as many; those of robots.txt besides."""
        made: list[str] = []
        now = NOW + 100
        while len(made) < most and (visits := self.frontier.lease(now, most - len(made))):
            for visit in visits:
                if visit.robots:
                    self.frontier.settle_robots(visit, ALLOW_ALL, now, 0.0, now + 1e6)
                else:
                    self.frontier.settle_page(visit, 200, now, 0.0, (0, 1, 1), "", b"12345678")
                    made.append(visit.url)
        return made

    def urls(self) -> set[str]:
        """All that it knows of partitions that are its own."""
        return {url for url in URLS if self.frontier.is_ours(url) and not self.frontier.unknown([url], 0)}

    async def end(self) -> None:
        await ended([self.sending])
        await self.session.end()
        self.frontier.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with brokers(tmp_path_factory.mktemp("broker"), 1) as (started,):
        yield started


def run(server: Server, home: Path, work: Callable[[Callable[[str], Agent]], Awaitable[None]]) -> None:
    async def main() -> None:
        async with emptied([server]) as link:
            keys, log = await NatsCoordinator.open(link, "crawl"), await NatsLog.open(link, 4)
            async with asyncio.timeout(60):  # what waits in vain says where
                await work(lambda name: Agent(name, home, keys, log))

    asyncio.run(main())


async def reading(agent: Agent) -> None:
    """Until what others sent is there."""
    polls = agent.exchange.polls
    task = asyncio.create_task(agent.exchange.follow(agent.holder.reads))
    agent.exchange.quick = True
    while agent.exchange.polls < polls + 2:  # noqa: ASYNC110 - the broker says so, not an event
        await asyncio.sleep(0.01)
    await ended([task])
    agent.commit()


def test_all_of_a_partition_goes_with_it(server: Server, tmp_path: Path) -> None:
    async def work(make: Callable[[str], Agent]) -> None:
        a, b = make("a"), make("b")
        await a.begin()
        await b.begin()
        await a.holder.reconcile(ALL)
        a.frontier.add(URLS, 1, 4)
        a.commit()
        visited = a.visit(7)
        a.commit()
        assert a.holder.settled
        await a.holder.reconcile([0, 1])
        await b.holder.reconcile([2, 3])
        assert a.holder.settled
        assert b.holder.settled
        assert a.urls() | b.urls() == set(URLS)
        assert not a.urls() & b.urls()
        assert a.frontier.counts.urls + b.frontier.counts.urls == len(URLS)
        rest = a.visit(100) + b.visit(100)
        assert sorted(visited + rest) == sorted(URLS)  # each once
        await a.end()
        await b.end()

    run(server, tmp_path, work)


def test_what_was_found_while_a_partition_moved_reaches_its_owner(server: Server, tmp_path: Path) -> None:
    async def work(make: Callable[[str], Agent]) -> None:
        a, b = make("a"), make("b")
        await a.begin()
        await b.begin()
        await a.holder.reconcile(ALL)
        b.frontier.add(URLS[:10], 1, 4)  # none is b's
        b.commit()
        await b.exchange.flushed(0)
        await a.holder.reconcile([])
        b.frontier.add(URLS[10:], 1, 4)
        b.commit()
        await b.exchange.flushed(0)
        await b.holder.reconcile(ALL)
        b.commit()
        assert b.urls() == set(URLS)
        assert sorted(b.visit(100)) == sorted(URLS)
        await a.end()
        await b.end()

    run(server, tmp_path, work)


def test_after_a_crash_what_was_committed_is_resumed_or_handed_over(server: Server, tmp_path: Path) -> None:
    async def work(make: Callable[[str], Agent]) -> None:
        a = make("a")
        await a.begin()
        await a.holder.reconcile(ALL)
        await ended([a.sending])  # nothing reaches the log from here on
        a.frontier.add(URLS, 1, 4)
        visited = a.visit(5)
        a.commit()
        assert a.outbox.pending
        a.frontier.close()
        again = make("a")
        await again.begin()  # nobody was there meanwhile
        again.commit()
        assert again.urls() == set(URLS)
        await again.exchange.flushed(0)
        assert not again.outbox.pending
        await ended([again.sending])
        await again.session.end()
        b = make("b")
        await b.begin()
        await b.holder.reconcile(ALL)
        b.commit()
        assert sorted(b.visit(100) + visited) == sorted(URLS)
        # The first comes back once more, and finds that all is another's.
        again.frontier.close()
        back = make("a")
        await back.begin()
        back.commit()
        assert back.holder.held == 0
        assert back.frontier.counts.urls == 0
        await back.end()
        await b.end()

    run(server, tmp_path, work)


def test_who_was_replaced_hands_over_what_it_found_and_nothing_else(server: Server, tmp_path: Path) -> None:
    async def work(make: Callable[[str], Agent]) -> None:
        a, b = make("a"), make("b")
        await a.begin()
        await a.holder.reconcile(ALL)
        a.frontier.add(URLS[:8], 1, 4)
        a.commit()
        await a.exchange.flushed(0)
        await a.session.end()  # as if revoked: a does not know it
        await b.begin()
        await b.holder.reconcile(ALL)
        assert b.holder.settled
        settled = a.visit(3)
        a.frontier.add(URLS[8:], 1, 4)
        a.commit()
        await a.exchange.flushed(0)
        await a.holder.reconcile([])
        assert a.frontier.counts.urls == 0
        await reading(b)
        assert b.urls() == set(URLS)
        assert set(settled) < set(b.visit(100)) == set(URLS)  # fetched again, not lost
        await ended([a.sending])
        a.frontier.close()
        await b.end()

    run(server, tmp_path, work)


def test_who_was_replaced_and_hears_of_the_end_keeps_nothing_of_it(server: Server, tmp_path: Path) -> None:
    async def work(make: Callable[[str], Agent]) -> None:
        a, b = make("a"), make("b")
        await a.begin()
        await a.holder.reconcile(ALL)
        a.frontier.add(URLS, 1, 4)
        a.commit()
        await a.exchange.flushed(0)
        await a.session.end()  # as if revoked
        await b.begin()
        await b.holder.reconcile([0, 1, 2])
        await a.holder.drop_lost()
        assert a.holder.held == 1  # nobody has taken the last one
        assert a.frontier.counts.urls + b.frontier.counts.urls == len(URLS)
        assert not a.urls() & b.urls()
        await ended([a.sending])
        a.frontier.close()
        await b.end()

    run(server, tmp_path, work)


def test_a_claim_that_led_to_nothing_is_given_up_when_others_are_to_have_it(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(make: Callable[[str], Agent]) -> None:
        a, b, c = make("a"), make("b"), make("c")
        for agent in (a, b, c):
            await agent.begin()
        await a.holder.reconcile(ALL)
        a.frontier.add(URLS, 1, 4)
        a.commit()
        await a.holder.reconcile([])

        async def fails(partition: int, token: int) -> list[Group]:
            raise UnavailableError("away")

        with monkeypatch.context() as broken:
            broken.setattr(b.holder, "_restore", fails)
            await b.holder.reconcile(ALL)
        assert b.holder.held == 0
        assert not b.holder.settled
        await c.holder.reconcile(ALL)
        assert c.holder.held == 0  # b has claimed it
        await b.holder.reconcile([])
        assert b.holder.settled
        await c.holder.reconcile(ALL)
        assert c.holder.settled
        assert c.urls() == set(URLS)
        for agent in (a, b, c):
            await agent.end()

    run(server, tmp_path, work)


def test_a_partition_is_taken_from_its_checkpoint_and_what_came_after(server: Server, tmp_path: Path) -> None:
    async def work(make: Callable[[str], Agent]) -> None:
        a, b = make("a"), make("b")
        await a.begin()
        await a.holder.reconcile(ALL)
        a.frontier.add(URLS[:10], 1, 4)
        a.commit()
        visited = a.visit(2)
        for _ in range(2):  # the log is trimmed up to the one before
            for partition in ALL:
                await a.holder.checkpoint(partition)
            visited += a.visit(2)
            a.commit()
        a.frontier.add(URLS[10:], 1, 4)
        a.commit()
        await a.exchange.flushed(0)
        await a.session.end()
        await b.begin()
        await b.holder.reconcile(ALL)
        assert b.said == []
        assert b.urls() == set(URLS)
        assert sorted(visited + b.visit(100)) == sorted(URLS)
        await ended([a.sending])
        a.frontier.close()
        await b.end()

    run(server, tmp_path, work)


def test_a_broker_that_has_lost_everything_loses_nothing(server: Server, tmp_path: Path) -> None:
    """What was sent to others and is in no checkpoint is sent again, and what is here stays."""
    visited: list[str] = []

    async def before(make: Callable[[str], Agent]) -> None:
        a, b = make("a"), make("b")
        await a.begin()
        await b.begin()
        await a.holder.reconcile([0, 1])
        await b.holder.reconcile([2, 3])
        a.frontier.add(URLS, 1, 4)
        a.commit()
        visited.extend(a.visit(3))
        a.commit()
        await a.exchange.flushed(0)
        a.commit()
        await a.end()
        b.commit()
        await b.end()  # without having read what a sent

    async def after(make: Callable[[str], Agent]) -> None:
        a, b = make("a"), make("b")
        await a.begin()
        await b.begin()
        newest = a.outbox.newest_kept()
        assert newest
        assert a.outbox.again(0, a.frontier.outbox())
        a.commit()
        await a.exchange.flushed(0)
        assert a.holder.held + b.holder.held == 4
        await reading(b)
        assert a.urls() | b.urls() == set(URLS)
        assert sorted(visited + a.visit(100) + b.visit(100)) == sorted(URLS)
        assert max(a.exchange.bytes_since.values()) > 1 << 60  # a checkpoint comes first of all
        await a.end()
        await b.end()

    run(server, tmp_path, before)
    run(server, tmp_path, after)
