"""Partitions that change hands, over a real broker."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator

import pytest
from brokers import brokers, caught_up, emptied

from gossamer.cluster.lease import Terms
from gossamer.cluster.log import Kind, Record
from gossamer.cluster.members import Members
from gossamer.cluster.nats_coordinator import NatsCoordinator
from gossamer.cluster.nats_log import NatsLog
from gossamer.cluster.ownership import Holding, Ownership, read_claim
from gossamer.cluster.server import Server
from gossamer.cluster.session import Session
from gossamer.errors import TokenLostError

TERMS = Terms()


class Agent:
    """What an agent has of the cluster, with a clock that is set by hand."""

    def __init__(self, name: str, keys: NatsCoordinator, log: NatsLog) -> None:
        self.name, self.keys, self.log = name, keys, log
        self.now = 1000.0

    async def begin(self, home: str = "") -> None:
        self.session = await Session.open(self.keys, self.name, TERMS, clock=lambda: self.now, home=home)
        self.members = await Members.open(self.keys, TERMS, lambda: self.now)
        self.ownership = Ownership(self.log, self.members, self.session)

    async def look(self) -> None:
        await caught_up(self.members, self.keys)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with brokers(tmp_path_factory.mktemp("broker"), 1) as (started,):
        yield started


def run(server: Server, work: Callable[[Agent, Agent, NatsLog], Awaitable[None]]) -> None:
    async def main() -> None:
        async with emptied([server]) as link:
            keys, log = await NatsCoordinator.open(link, "crawl"), await NatsLog.open(link, 4)
            agents = [Agent(name, keys, NatsLog(link, 4, 1)) for name in "ab"]
            for agent in agents:
                await agent.begin(home=agent.name)
            await work(agents[0], agents[1], log)
            for agent in agents:
                await agent.members.close()

    asyncio.run(main())


def test_what_has_no_owner_is_taken_by_one(server: Server) -> None:
    async def work(a: Agent, b: Agent, log: NatsLog) -> None:
        taken = await asyncio.gather(a.ownership.take(0), b.ownership.take(0))
        assert sum(holding is not None for holding in taken) == 1
        assert [holding for holding in taken if holding] == [Holding(0, 1, False, new=True)]

    run(server, work)


def test_what_another_has_is_not_taken(server: Server) -> None:
    async def work(a: Agent, b: Agent, log: NatsLog) -> None:
        mine = await a.ownership.take(0)
        assert mine is not None
        b.now += 100  # it has not looked at the others since
        assert await b.ownership.take(0) is None
        again = await a.ownership.take(0)
        assert again == Holding(0, mine.token, True)
        await log.append(0, mine.token, b"x")

    run(server, work)


def test_what_was_given_up_is_taken_at_once(server: Server) -> None:
    async def work(a: Agent, b: Agent, log: NatsLog) -> None:
        mine = await a.ownership.take(0)
        assert mine is not None
        await a.ownership.give_up(mine)
        with pytest.raises(TokenLostError):
            await log.append(0, mine.token, b"too late")
        yours = await b.ownership.take(0)
        assert yours is not None
        assert not yours.resumed
        with pytest.raises(TokenLostError):
            await a.ownership.give_up(mine)

    run(server, work)


def test_what_was_given_up_and_taken_again_is_as_it_was(server: Server) -> None:
    async def work(a: Agent, b: Agent, log: NatsLog) -> None:
        mine = await a.ownership.take(0)
        assert mine is not None
        await a.ownership.give_up(mine)
        again = await a.ownership.take(0)
        assert again is not None
        assert again.resumed
        assert again.token > mine.token

    run(server, work)


def test_the_partitions_of_who_was_revoked_are_taken(server: Server) -> None:
    async def work(a: Agent, b: Agent, log: NatsLog) -> None:
        mine = await a.ownership.take(0)
        assert mine is not None
        await b.look()
        b.now += TERMS.others
        await b.session.renew()
        assert await b.members.revoke_expired() == ["a"]
        yours = await b.ownership.take(0)
        assert yours is not None
        assert not yours.resumed
        with pytest.raises(TokenLostError):
            await log.append(0, mine.token, b"it wakes up")

    run(server, work)


def test_who_comes_back_before_others_took_it_resumes(server: Server) -> None:
    """A new session in the same directory: the old process is dead, what it has left on disk is there."""

    async def work(a: Agent, b: Agent, log: NatsLog) -> None:
        mine = await a.ownership.take(0)
        assert mine is not None
        await a.members.close()
        await a.begin(home="a")
        again = await a.ownership.take(0)
        assert again is not None
        assert again.resumed
        assert again.token > mine.token  # what the dead process has sent, and nobody has seen yet, is refused

    run(server, work)


def test_who_comes_back_without_its_disk_does_not(server: Server) -> None:
    async def work(a: Agent, b: Agent, log: NatsLog) -> None:
        assert await a.ownership.take(0) is not None
        await a.session.end()
        await a.members.close()
        await a.begin(home="another")
        again = await a.ownership.take(0)
        assert again is not None
        assert not again.resumed

    run(server, work)


def test_what_nobody_understands_is_not_taken(server: Server) -> None:
    async def work(a: Agent, b: Agent, log: NatsLog) -> None:
        await log.claim(0, b"a claim of a later version", 0)
        assert await a.ownership.take(0) is None

    run(server, work)


@pytest.mark.parametrize("data", [b"", b"{}", b"[" * 5000, b"\xff", b'{"agent":1,"session":""}', b'"' + b"x" * 2000])
def test_no_bytes_raise(data: bytes) -> None:
    assert read_claim(Record(1, Kind.OWN, data)) is None
