"""The broker freezes, dies, comes back: what was acknowledged is there, and callers know what they do not know."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pytest
from brokers import SlowAnswers, brokers, linked

from gossamer.cluster.coordinator import Entry
from gossamer.cluster.log import Record
from gossamer.cluster.nats_coordinator import NatsCoordinator
from gossamer.cluster.nats_link import Link
from gossamer.cluster.nats_log import NatsLog
from gossamer.cluster.server import Server
from gossamer.errors import UnavailableError

T = TypeVar("T")


@contextmanager
def frozen(server: Server) -> Iterator[None]:
    assert server.pid is not None
    os.kill(server.pid, signal.SIGSTOP)
    os.waitid(os.P_PID, server.pid, os.WSTOPPED)  # all its threads have stopped
    try:
        yield
    finally:
        os.kill(server.pid, signal.SIGCONT)


async def until(work: Callable[[], Awaitable[T]]) -> T:
    """Tried until the broker does it, as an agent would: a new leader is elected within 9 seconds."""
    for _ in range(1000):
        try:
            return await work()
        except UnavailableError:
            await asyncio.sleep(0.02)
    return await work()


def test_a_change_whose_answer_did_not_come_is_found_again(tmp_path: Path) -> None:
    async def work() -> None:
        async with linked([server], 0.5) as link:
            keys = await NatsCoordinator.open(link, "crawl")
            revision = await keys.create("sess.a", b"beat 1")
            assert revision is not None
            with frozen(server), pytest.raises(UnavailableError):
                await keys.compare_and_set("sess.a", b"beat 2", revision)
            # It was done when the server woke up. Who asks again is told so, and of the very change that was made.
            again = await until(lambda: keys.compare_and_set("sess.a", b"beat 2", revision))
            assert again is not None
            assert await keys.get("sess.a") == Entry("sess.a", b"beat 2", again)
            assert again == revision + 1
            assert keys.troubles

    with brokers(tmp_path, 1) as (server,):
        asyncio.run(work())


def test_a_change_is_known_to_be_done_though_its_answer_came_too_late(tmp_path: Path) -> None:
    async def work() -> None:
        slow = SlowAnswers(server)
        async with slow.linked(0.5) as link:
            keys = await NatsCoordinator.open(link, "crawl")
            slow.heard.clear()
            asked = asyncio.create_task(keys.create("sess.a", b"beat 1"))
            # Until it was not answered, and what is there is read.
            while not link.troubles:  # noqa: ASYNC110 - nobody tells us
                await asyncio.sleep(0.01)
            slow.heard.set()
            assert await asked == 1

    with brokers(tmp_path, 1) as (server,):
        asyncio.run(work())


def test_what_is_refused_for_want_of_a_connection_is_not_sent_later(tmp_path: Path) -> None:
    async def work() -> None:
        async with linked([server], 0.5) as link:
            log = await NatsLog.open(link, 4)
            server.kill()
            while link.client.is_connected:  # noqa: ASYNC110 - nobody tells us
                await asyncio.sleep(0.01)
            with pytest.raises(UnavailableError, match="not connected"):
                await log.send(0, b"too late")
            server.start()
            await server.ready()
            assert await until(lambda: log.send(0, b"in time")) == 1

    with brokers(tmp_path, 1) as (server,):
        asyncio.run(work())


def test_a_claim_whose_answer_did_not_come_is_found_again(tmp_path: Path) -> None:
    async def work() -> None:
        async with linked([server], 0.5) as link:
            log = await NatsLog.open(link, 4)
            token = await log.claim(0, b"a", 0)
            with frozen(server), pytest.raises(UnavailableError):
                await log.claim(0, b"b", token)
            new = await until(lambda: log.claim(0, b"b", token))
            assert await log.append(0, new, b"x") > new

    with brokers(tmp_path, 1) as (server,):
        asyncio.run(work())


def test_reading_goes_on_where_it_was_when_the_server_comes_back(tmp_path: Path) -> None:
    """The consumer was in its memory, and is gone."""

    async def work() -> None:
        async with linked([server], 0.5) as link:
            keys = await NatsCoordinator.open(link, "crawl")
            revision = await keys.create("sess.a", b"1")
            log = await NatsLog.open(link, 4)
            sent = [await log.send(0, b"%d" % each) for each in range(3)]
            reader, watch = await log.read(0, 0), await keys.watch("sess")
            read: list[Record] = []
            while len(read) < len(sent):
                read += await reader.next(0.1)
            assert [record.sequence for record in read] == sent
            assert [entry.value for entry in await watch.next(0.1)] == [b"1"]
            server.kill()
            for broken in (reader, watch):
                with pytest.raises(UnavailableError):
                    await broken.next(0.1)
            server.start()
            await server.ready()
            sent = [await until(lambda: log.send(0, b"more")), await until(lambda: log.send(0, b"and more"))]
            found: list[Record] = []
            while len(found) < len(sent):
                found += await until(lambda: reader.next(1.0))
            assert [record.sequence for record in found] == sent
            changed = await until(lambda: keys.compare_and_set("sess.a", b"2", revision or 0))
            assert await until(lambda: watch.next(1.0)) == [Entry("sess.a", b"2", changed or 0)]
            await reader.close()
            await watch.close()

    with brokers(tmp_path, 1) as (server,):
        asyncio.run(work())


def test_no_server_at_all_is_said_in_time(tmp_path: Path) -> None:
    async def work(server: Server) -> None:
        async with linked([server], 0.5) as link:
            log = await NatsLog.open(link, 4)
            token = await log.claim(0, b"a", 0)
            server.kill()
            for asked in (log.owner(0), log.send(0, b"x"), log.append(0, token, b"x"), log.extent(0), log.trim(0, 9)):
                with pytest.raises(UnavailableError):
                    await asked

    with brokers(tmp_path, 1) as (server,):
        asyncio.run(work(server))
        with pytest.raises(UnavailableError, match="no broker answers"):
            asyncio.run(work(server))


def test_the_leader_of_three_dies_and_nothing_that_was_acknowledged_is_lost(tmp_path: Path) -> None:
    async def leader(link: Link) -> Server:
        info = await link.js.stream_info("U00")
        assert info.cluster is not None
        return next(server for server in servers if server.name == info.cluster.leader)

    async def work() -> None:
        async with linked(servers, 1.0) as link:
            # Three that have just met may need a moment to agree on who leads.
            log = await until(lambda: NatsLog.open(link, 4, replicas=3))
            keys = await until(lambda: NatsCoordinator.open(link, "crawl", 3))
            revision = await until(lambda: keys.create("sess.a", b"1"))
            assert revision is not None
            token = await until(lambda: log.claim(0, b"a", 0))
            reader = await log.read(0, 0)
            done = []
            for each in range(50):
                done.append(await until(lambda each=each: log.append(0, token, b"%d" % each)))  # type: ignore[misc]
            found: list[Record] = []
            while not found:
                found += await reader.next(1.0)
            victim = await leader(link)
            victim.kill()
            for each in range(50, 100):

                async def append(each: int = each) -> int:
                    return await log.append(0, token, b"%d" % each)

                done.append(await until(append))
            assert await leader(link) is not victim
            revision = await until(lambda: keys.compare_and_set("sess.a", b"2", revision or 0))
            assert revision is not None
            while found[-1].sequence < done[-1]:
                found += await until(lambda: reader.next(1.0))
            sequences = [record.sequence for record in found]
            assert sequences == sorted(set(sequences))
            assert set(done) <= set(sequences)
            new = await until(lambda: log.claim(0, b"b", token))
            assert new > done[-1]
            victim.start()
            await victim.ready()
            await reader.close()

    with brokers(tmp_path, 3) as servers:
        asyncio.run(work())
