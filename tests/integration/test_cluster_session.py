"""Agents that come, live, freeze and go, over a real broker and on clocks of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator

import pytest
from brokers import brokers, caught_up, emptied

from gossamer.cluster.coordinator import Entry
from gossamer.cluster.lease import Terms
from gossamer.cluster.members import Gone, Members
from gossamer.cluster.nats_coordinator import NatsCoordinator
from gossamer.cluster.server import Server
from gossamer.cluster.session import Over, Session, Told, read_beat, session_key
from gossamer.errors import ConfigError, NameTakenError, SessionLostError, UnavailableError

TERMS = Terms()


class Time:
    """Passes when somebody rests, and by hand."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.meanwhile: Callable[[], Awaitable[None]] | None = None

    def __call__(self) -> float:
        return self.now

    async def rest(self, seconds: float) -> None:
        self.now += seconds
        if self.meanwhile is not None:
            await self.meanwhile()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with brokers(tmp_path_factory.mktemp("broker"), 1) as (started,):
        yield started


def run(server: Server, work: Callable[[NatsCoordinator, Time], Awaitable[None]]) -> None:
    async def main() -> None:
        async with emptied([server]) as link:
            await work(await NatsCoordinator.open(link, "crawl"), Time())

    asyncio.run(main())


def test_a_session_lives_as_long_as_it_beats(server: Server) -> None:
    async def work(keys: NatsCoordinator, time: Time) -> None:
        session = await Session.open(keys, "a", TERMS, clock=time)
        assert session.may_fetch()
        assert session.deadline == pytest.approx(time.now + TERMS.own)
        for _ in range(10):
            time.now += TERMS.renewal
            await session.renew()
            assert session.may_fetch()
        time.now += TERMS.own
        assert not session.may_fetch()
        await session.renew()  # nobody has missed it
        assert session.may_fetch()

    run(server, work)


def test_who_is_not_heard_of_is_revoked_and_knows_it(server: Server) -> None:
    async def work(keys: NatsCoordinator, time: Time) -> None:
        session = await Session.open(keys, "a", TERMS, clock=time)
        other = await Session.open(keys, "b", TERMS, clock=time, weight=2.0)
        members = await Members.open(keys, TERMS, time)
        await caught_up(members, keys)
        assert {name: beat.weight for name, beat in members.living().items()} == {"a": 1.0, "b": 2.0}
        assert not await members.is_over("a", session.nonce)
        time.now += 3
        await other.renew()
        await caught_up(members, keys)
        time.now += 3.005
        assert await members.revoke_expired() == []
        time.now += 0.001
        assert not session.may_fetch()
        assert await members.revoke_expired() == ["a"]
        assert list(members.living()) == ["b"]
        assert await members.is_over("a", session.nonce)
        assert not await members.is_over("b", other.nonce)
        with pytest.raises(SessionLostError, match="given a up"):
            await session.renew()
        with pytest.raises(SessionLostError):
            await session.renew()
        assert not session.may_fetch()
        again = await Session.open(keys, "a", TERMS, clock=time)  # at once: the old one is over
        assert again.may_fetch()
        assert again.nonce != session.nonce
        assert await members.is_over("a", session.nonce)
        assert not await members.is_over("a", again.nonce)
        await members.close()

    run(server, work)


def test_pages_of_who_was_given_up_are_missed_until_it_comes_back(server: Server) -> None:
    async def work(keys: NatsCoordinator, time: Time) -> None:
        members = await Members.open(keys, TERMS, time)

        async def opened(name: str, home: str, pages: int) -> Session:
            session = await Session.open(keys, name, TERMS, clock=time, home=home)
            if pages:
                session.telling = lambda: Told(pages=pages)
                await session.renew()
            await caught_up(members, keys)
            return session

        async def given_up(session: Session) -> None:
            time.now += 7
            await caught_up(members, keys)
            assert await members.revoke_expired() == [session.name]

        await given_up(await opened("a", "disk 1", 30))
        assert members.gone() == Gone({"a": 30})
        assert (members.gone().pages(), members.gone().pages({"a"})) == ({"a": 30}, {})

        back = await opened("a", "disk 1", 0)  # and dies before its first beat
        assert members.gone() == Gone()
        await given_up(back)
        assert members.gone() == Gone({"a": 30})

        second = await opened("a", "disk 2", 5)
        assert members.gone() == Gone({}, {"a": 30})
        assert members.gone().pages({"a"}) == {"a": 30}, "its directory is another one"
        await second.end()
        await opened("a", "disk 3", 0)
        assert members.gone() == Gone({}, {"a": 35})

        await opened("b", "disk 2", 0)  # under another name
        assert members.gone() == Gone({}, {"a": 30})
        await members.close()

    run(server, work)


def test_who_has_beaten_meanwhile_is_not_revoked(server: Server) -> None:
    """The observer has seen nothing of it, as if its broker were behind: then compare-and-set refuses."""

    async def work(keys: NatsCoordinator, time: Time) -> None:
        session = await Session.open(keys, "a", TERMS, clock=time)
        members = await Members.open(keys, TERMS, time)
        await caught_up(members, keys)
        time.now += 7
        await session.renew()
        assert await members.revoke_expired() == []
        assert session.may_fetch()
        await session.renew()
        await members.close()

    run(server, work)


def test_an_observer_that_has_lost_the_broker_gives_everybody_another_window(server: Server) -> None:
    async def work(keys: NatsCoordinator, time: Time) -> None:
        await Session.open(keys, "a", TERMS, clock=time)
        members = await Members.open(keys, TERMS, time)
        await caught_up(members, keys)
        time.now += 5
        server.kill()
        with pytest.raises(UnavailableError):
            await members.look(0.1)
        time.now += 5
        # It would be too long now; but the broker does not answer, or the window begins again.
        assert await members.revoke_expired() == []
        server.start()
        await server.ready()
        for _ in range(100):
            try:
                await members.look(0.1)
                break
            except UnavailableError:
                await asyncio.sleep(0.05)
        assert await members.revoke_expired() == []
        time.now += 6.006
        assert await members.revoke_expired() == ["a"]
        await members.close()

    run(server, work)


def test_nobody_is_revoked_before_the_broker_was_heard_of_again(server: Server) -> None:
    async def main() -> None:
        time = Time()
        async with emptied([server]) as link:
            keys = await NatsCoordinator.open(link, "crawl")
            await Session.open(keys, "a", TERMS, clock=time)
            members = await Members.open(keys, TERMS, time)
            await caught_up(members, keys)
            time.now += 7
            link.troubles += 1  # as by a time-out of something else on the same connection
            assert await members.revoke_expired() == []
            await caught_up(members, keys)
            time.now += 6
            assert await members.revoke_expired() == []
            time.now += 0.007
            assert await members.revoke_expired() == ["a"]
            await members.close()

    asyncio.run(main())


def test_an_end_that_was_said_needs_no_waiting(server: Server) -> None:
    async def work(keys: NatsCoordinator, time: Time) -> None:
        session = await Session.open(keys, "a", TERMS, clock=time)
        members = await Members.open(keys, TERMS, time)
        await session.end()
        assert not session.may_fetch()
        await caught_up(members, keys)
        assert members.living() == {}
        assert await members.is_over("a", session.nonce)
        beat = read_beat(await keys.get(session_key("a")))
        assert beat is not None
        assert beat.over is Over.ENDED
        time.now += 100
        assert await members.revoke_expired() == []
        await members.close()

    run(server, work)


def test_a_second_agent_of_the_same_name_is_refused(server: Server) -> None:
    async def work(keys: NatsCoordinator, time: Time) -> None:
        session = await Session.open(keys, "a", TERMS, clock=time, home="one")
        time.meanwhile = session.renew
        with pytest.raises(NameTakenError, match="another name"):
            await Session.open(keys, "a", TERMS, clock=time, rest=time.rest, home="two")
        assert session.may_fetch()

    run(server, work)


def test_the_name_of_a_dead_agent_is_free_after_a_lease(server: Server) -> None:
    async def work(keys: NatsCoordinator, time: Time) -> None:
        old = await Session.open(keys, "a", TERMS, clock=time, home="one")
        began = time.now
        session = await Session.open(keys, "a", TERMS, clock=time, rest=time.rest, home="two")
        assert time.now - began >= TERMS.others
        assert session.may_fetch()
        with pytest.raises(SessionLostError):
            await old.renew()

    run(server, work)


def test_who_has_the_directory_of_a_dead_agent_does_not_wait(server: Server) -> None:
    async def work(keys: NatsCoordinator, time: Time) -> None:
        await Session.open(keys, "a", TERMS, clock=time, home="one")
        began = time.now
        await Session.open(keys, "a", TERMS, clock=time, rest=time.rest, home="one")
        assert time.now == began

    run(server, work)


def test_of_two_who_come_at_once_one_is_let_in(server: Server) -> None:
    async def work(keys: NatsCoordinator, time: Time) -> None:
        results = await asyncio.gather(
            *[Session.open(keys, "a", TERMS, clock=time, rest=time.rest) for _ in range(3)], return_exceptions=True
        )
        sessions = [result for result in results if isinstance(result, Session)]
        # The others were refused; or, as nobody beats in this test, waited a lease and took it.
        alive = 0
        for session in sessions:
            try:
                await session.renew()
                alive += 1
            except SessionLostError:
                pass
        assert alive == 1
        assert all(isinstance(result, (Session, NameTakenError)) for result in results)

    run(server, work)


def test_sessions_that_the_broker_has_lost_are_over_after_a_lease(server: Server) -> None:
    async def work(keys: NatsCoordinator, time: Time) -> None:
        members = await Members.open(keys, TERMS, time)
        assert not await members.is_over("gone", "x")
        time.now += 6.005
        assert not await members.is_over("gone", "x")
        time.now += 0.002
        assert await members.is_over("gone", "x")
        await members.close()

    run(server, work)


def test_what_no_agent_has_written_lives_for_a_lease_and_is_nobody(server: Server) -> None:
    async def work(keys: NatsCoordinator, time: Time) -> None:
        await keys.create("sess.x", b'{"session": 5}')
        await keys.create("sess.y", b"\xff")
        members = await Members.open(keys, TERMS, time)
        await caught_up(members, keys)
        assert members.living() == {}
        time.now += 7
        assert sorted(await members.revoke_expired()) == ["x", "y"]
        assert (await Session.open(keys, "x", TERMS, clock=time)).may_fetch()
        await members.close()

    run(server, work)


def test_it_beats_by_itself_until_it_is_lost(server: Server) -> None:
    async def work(keys: NatsCoordinator, time: Time) -> None:
        session = await Session.open(keys, "a", TERMS, clock=time)
        beats = 0

        async def rest(seconds: float) -> None:
            nonlocal beats
            assert seconds == pytest.approx(TERMS.renewal)
            time.now += seconds
            beats += 1
            if beats == 5:
                entry = await keys.get("sess.a")
                assert entry is not None
                assert read_beat(entry) is not None
                await keys.compare_and_set("sess.a", b'{"session":"other","beat":0}', entry.revision)

        with pytest.raises(SessionLostError):
            await session.keep(rest)
        assert beats == 5

    run(server, work)


@pytest.mark.parametrize("name", ["", "A", "a.b", "a b", "-a", "a" * 64, "*", ">", "ä", "a\n"])
def test_names_that_would_be_something_else_are_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="no name of an agent"):
        session_key(name)


def test_no_bytes_raise() -> None:
    for value in (b"", b"{}", b"[]", b"\x00", b'{"session":"a","beat":0,"over":"?"}', b"[" * 10_000):
        assert read_beat(Entry("sess.a", value, 1)) is None
