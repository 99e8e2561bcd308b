"""One of the agents writes the plan; when it is no more, another one does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator

import pytest
from brokers import brokers, caught_up, emptied

from gossamer.cluster.leader import LEADER, PLAN, Leader, read_plan
from gossamer.cluster.lease import Terms
from gossamer.cluster.members import Members
from gossamer.cluster.nats_coordinator import NatsCoordinator
from gossamer.cluster.plan import Plan, make_plan
from gossamer.cluster.server import Server
from gossamer.cluster.session import Session

TERMS = Terms()
PARTITIONS = 32
PINNED = {31: "b"}


class Agent:
    def __init__(self, name: str, keys: NatsCoordinator) -> None:
        self.name, self.keys = name, keys
        self.now = 1000.0

    async def begin(self) -> None:
        self.session = await Session.open(self.keys, self.name, TERMS, clock=lambda: self.now)
        self.members = await Members.open(self.keys, TERMS, lambda: self.now)
        self.leader = Leader(self.keys, self.members, self.session, PARTITIONS, PINNED)

    async def look(self) -> None:
        await caught_up(self.members, self.keys)

    async def plan(self) -> Plan | None:
        return read_plan(await self.keys.get(PLAN), PARTITIONS)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with brokers(tmp_path_factory.mktemp("broker"), 1) as (started,):
        yield started


def run(server: Server, work: Callable[[list[Agent]], Awaitable[None]]) -> None:
    async def main() -> None:
        async with emptied([server]) as link:
            keys = await NatsCoordinator.open(link, "crawl")
            agents = [Agent(name, keys) for name in "abc"]
            for agent in agents:
                await agent.begin()
            await work(agents)
            for agent in agents:
                await agent.members.close()

    asyncio.run(main())


def test_one_leads_until_it_is_no_more(server: Server) -> None:
    async def work(agents: list[Agent]) -> None:
        assert sum(await asyncio.gather(*[agent.leader.leads() for agent in agents])) == 1
        first = [await agent.leader.leads() for agent in agents]
        assert sum(first) == 1
        (leader,) = [agent for agent, leads in zip(agents, first, strict=True) if leads]
        others = [agent for agent in agents if agent is not leader]
        other = others[0]
        await other.look()
        other.now += TERMS.others
        await others[1].session.renew()
        await other.session.renew()
        await other.look()
        assert await other.leader.leads() is False  # it is not over before somebody has said so
        assert await other.members.revoke_expired() == [leader.name]
        assert await other.leader.leads() is True
        assert await leader.leader.leads() is False

    run(server, work)


def test_the_plan_is_for_those_who_live_and_written_when_it_changes(server: Server) -> None:
    async def work(agents: list[Agent]) -> None:
        leader = agents[0]
        assert await leader.plan() is None
        await leader.look()
        assert await leader.leader.plan()
        plan = await leader.plan()
        assert plan is not None
        wanted = make_plan(PARTITIONS, dict.fromkeys("abc", 1.0), PINNED)
        assert (plan.agents, plan.owners) == (wanted.agents, wanted.owners)
        assert plan.owner(31) == "b"
        assert not await leader.leader.plan()
        await agents[1].session.end()
        await leader.look()
        assert await leader.leader.plan()
        plan = await leader.plan()
        assert plan is not None
        assert plan.agents == ("a", "c")
        assert plan.owner(31) in ("a", "c")

    run(server, work)


def test_garbage_in_their_place_is_replaced(server: Server) -> None:
    async def work(agents: list[Agent]) -> None:
        for key, value in ((LEADER, b"\xff"), (PLAN, b'{"agents":["x"],"owners":[5]}')):
            assert await agents[0].keys.create(key, value)
        assert await agents[0].leader.leads()
        assert not await agents[1].leader.leads()
        await agents[0].look()
        assert await agents[0].leader.plan()
        assert await agents[0].plan() is not None

    run(server, work)
