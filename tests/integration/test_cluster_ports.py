"""Coordinator and log, held to their ports, on one server and on three."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

import pytest
from brokers import brokers, emptied

from gossamer.cluster.coordinator import Entry, Watch
from gossamer.cluster.log import Kind, Reader, Record
from gossamer.cluster.nats_coordinator import NatsCoordinator
from gossamer.cluster.nats_link import Credentials, Link, check_addresses
from gossamer.cluster.nats_log import NatsLog
from gossamer.cluster.server import Server
from gossamer.errors import ConfigError, LogFullError, LogRewoundError, TokenLostError, UnavailableError

T = TypeVar("T")
PARTITIONS = 8


@pytest.fixture(scope="module", params=[1, 3])
def servers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Server]]:
    with brokers(tmp_path_factory.mktemp("brokers"), request.param) as started:
        yield started


def clean(servers: list[Server], work: Callable[[Link], Awaitable[T]], patience: float = 5.0) -> T:
    """With a broker that knows of nothing."""

    async def run() -> T:
        async with emptied(servers, patience) as link:
            return await work(link)

    return asyncio.run(run())


async def read_up_to(reader: Reader, sequence: int) -> list[Record]:
    found: list[Record] = []
    while not found or found[-1].sequence < sequence:
        found += await reader.next(5.0)
    return found


async def seen(watch: Watch, number: int) -> list[Entry]:
    found: list[Entry] = []
    while len(found) < number:
        found += await watch.next(5.0)
    return found


# -- the coordinator ---------------------------------------------------------------------------------------------------


def test_keys_change_from_a_known_revision_only(servers: list[Server]) -> None:
    async def work(link: Link) -> None:
        keys = await NatsCoordinator.open(link, "crawl", len(servers))
        assert await keys.get("plan") is None
        first = await keys.create("plan", b"1")
        assert first is not None
        assert await keys.create("plan", b"2") is None
        assert await keys.get("plan") == Entry("plan", b"1", first)
        assert await keys.compare_and_set("plan", b"3", first + 7) is None
        second = await keys.compare_and_set("plan", b"4", first)
        assert second is not None
        assert second > first
        assert await keys.compare_and_set("plan", b"5", first) is None
        assert await keys.get("plan") == Entry("plan", b"4", second)
        assert await keys.compare_and_set("new", b"6", 0) is not None

    clean(servers, work)


def test_a_removed_key_can_be_made_again_and_its_revisions_rise(servers: list[Server]) -> None:
    async def work(link: Link) -> None:
        keys = await NatsCoordinator.open(link, "crawl", len(servers))
        first = await keys.create("sess.a", b"1")
        assert first is not None
        assert await keys.remove("sess.a", first + 1) is None
        second = await keys.remove("sess.a", first)
        assert second is not None
        assert await keys.get("sess.a") == Entry("sess.a", None, second)
        assert await keys.compare_and_set("sess.a", b"2", first) is None
        third = await keys.create("sess.a", b"3")
        assert third is not None
        assert third > second

    clean(servers, work)


def test_of_many_who_change_at_once_one_succeeds(servers: list[Server]) -> None:
    async def work(link: Link) -> None:
        keys = await NatsCoordinator.open(link, "crawl", len(servers))
        revision = 0
        for turn in range(5):
            asked = [keys.compare_and_set("leader", b"%d.%d" % (turn, each), revision) for each in range(10)]
            results = await asyncio.gather(*asked, return_exceptions=True)
            won = [result for result in results if isinstance(result, int)]
            # Who is told of a race may try again; it is never told that it has won, or lost, when it has not.
            assert all(result is None or isinstance(result, (int, UnavailableError)) for result in results)
            if not won and any(isinstance(result, UnavailableError) for result in results):
                found = await keys.get("leader")  # the broker had no time for anybody, or did it and did not say so
                revision = found.revision if found is not None else 0
                continue
            assert len(won) == 1
            revision = won[0]

    clean(servers, work)


def test_a_watch_begins_with_what_is_there_and_goes_on(servers: list[Server]) -> None:
    async def work(link: Link) -> None:
        keys = await NatsCoordinator.open(link, "crawl", len(servers))
        a = await keys.create("sess.a", b"1")
        b = await keys.create("sess.b", b"1")
        await keys.create("plan", b"not asked for")
        assert a is not None
        assert b is not None
        a = await keys.compare_and_set("sess.a", b"2", a)
        assert a is not None
        watch = await keys.watch("sess")
        known: dict[str, bytes | None] = {}
        for _ in range(100):  # a server that is behind the others says first what was there before
            known |= {each.key: each.value for each in await watch.next(0.1)}
            if known == {"sess.a": b"2", "sess.b": b"1"}:
                break
        assert known == {"sess.a": b"2", "sess.b": b"1"}
        assert await watch.next(0.0) == []
        assert await watch.next(0.05) == []
        a = await keys.compare_and_set("sess.a", b"3", a)
        gone = await keys.remove("sess.b", b)
        assert await seen(watch, 2) == [Entry("sess.a", b"3", a or 0), Entry("sess.b", None, gone or 0)]
        await watch.close()

    clean(servers, work)


def test_several_who_open_it_share_it(servers: list[Server]) -> None:
    async def work(link: Link) -> None:
        made = await asyncio.gather(*[NatsCoordinator.open(link, "crawl", len(servers)) for _ in range(4)])
        revision = await made[0].create("x", b"1")
        assert await made[3].get("x") == Entry("x", b"1", revision or 0)

    clean(servers, work)


# -- the log -----------------------------------------------------------------------------------------------------------


def test_an_owner_appends_until_another_has_claimed(servers: list[Server]) -> None:
    async def work(link: Link) -> None:
        log = await NatsLog.open(link, PARTITIONS, streams=2, replicas=len(servers))
        assert await log.owner(3) is None
        old = await log.claim(3, b"a", 0)
        first = await log.append(3, old, b"done by a")
        assert first > old
        new = await log.claim(3, b"b", old)
        assert await log.owner(3) == Record(new, Kind.OWN, b"b", 3)
        with pytest.raises(TokenLostError):
            await log.append(3, old, b"too late")
        with pytest.raises(TokenLostError):
            await log.claim(3, b"a again", old)
        with pytest.raises(TokenLostError):
            await log.append(4, old, b"of another partition")
        last = await log.append(3, new, b"done by b")
        reader = await log.read(3, 0)
        assert await read_up_to(reader, last) == [
            Record(old, Kind.OWN, b"a", 3),
            Record(first, Kind.DONE, b"done by a", 3),
            Record(new, Kind.OWN, b"b", 3),
            Record(last, Kind.DONE, b"done by b", 3),
        ]
        await reader.close()

    clean(servers, work)


def test_many_appends_at_once_are_done_one_after_the_other(servers: list[Server]) -> None:
    async def work(link: Link) -> None:
        log = await NatsLog.open(link, PARTITIONS, replicas=len(servers))
        token = await log.claim(0, b"a", 0)
        sequences = await asyncio.gather(*[log.append(0, token, b"%d" % each) for each in range(20)])
        assert sequences == sorted(sequences)

    clean(servers, work)


def test_appends_and_a_claim_at_once(servers: list[Server]) -> None:
    """Whatever the order: nothing of the old owner is behind the claim of the new one."""

    async def work(link: Link) -> None:
        log = await NatsLog.open(link, PARTITIONS, replicas=len(servers))
        other = NatsLog(link, PARTITIONS, 1)  # as in another process: it knows nothing of the first one's lock
        token = 0
        for turn in range(10):
            token = await log.claim(0, b"old %d" % turn, token)
            results = await asyncio.gather(
                *[log.append(0, token, b"%d" % each) for each in range(5)],
                other.claim(0, b"new %d" % turn, token),
                return_exceptions=True,
            )
            new = results.pop()
            assert isinstance(new, int), new
            for result in results:
                assert isinstance(result, (TokenLostError, UnavailableError)) or int(str(result)) < new
            token = new

    clean(servers, work)


def test_a_partition_is_read_alone_and_from_any_place(servers: list[Server]) -> None:
    async def work(link: Link) -> None:
        log = await NatsLog.open(link, PARTITIONS, streams=2, replicas=len(servers))
        sent = [await log.send(each % PARTITIONS, b"%d" % each) for each in range(600)]
        reader = await log.read(5, 0)
        records = await read_up_to(reader, sent[-3])
        assert [record.data for record in records] == [b"%d" % each for each in range(5, 600, PARTITIONS)]
        assert await reader.next(0.0) == []
        more = await log.send(5, b"more")
        assert await reader.next(5.0) == [Record(more, Kind.IN, b"more", 5)]
        middle = records[40].sequence
        again = await log.read(5, middle)
        assert [each.sequence for each in await read_up_to(again, more)] == [
            *(each.sequence for each in records[41:]),
            more,
        ]
        await reader.close()
        await again.close()
        for info in await link.js.streams_info():
            assert info.state.consumer_count == 0

    clean(servers, work)


def test_more_than_is_handed_out_at_once_comes_in_several_goes(servers: list[Server]) -> None:
    async def work(link: Link) -> None:
        log = await NatsLog.open(link, PARTITIONS, replicas=len(servers))
        sizes = [100_000] * 100 + [10] * 600 + [900_000] * 12
        sent = []
        for start in range(0, len(sizes), 50):
            sent += await asyncio.gather(*[log.send(0, bytes(size)) for size in sizes[start : start + 50]])
        reader = await log.read(0, 0)
        goes = []
        while sum(map(len, goes)) < len(sizes):
            goes.append(await reader.next(1.0))
        assert sorted(sent) == [record.sequence for go in goes for record in go]
        assert max(sum(len(record.data) for record in go) for go in goes) <= 8 << 20
        assert await reader.next(0.0) == []
        await reader.close()
        assert not link.troubles

    clean(servers, work)


def test_a_trim_takes_what_is_old_but_the_last_claim(servers: list[Server]) -> None:
    async def work(link: Link) -> None:
        log = await NatsLog.open(link, PARTITIONS, replicas=len(servers))
        first = await log.claim(1, b"a", 0)
        token = await log.claim(1, b"b", first)
        other = await log.send(2, b"of another")
        sent = [await log.send(1, b"%d" % each) for each in range(6)]
        done = await log.append(1, token, b"x")
        await log.trim(1, 0)
        await log.trim(1, sent[3])
        reader = await log.read(1, 0)
        kept = [token, *sent[3:], done]
        assert [record.sequence for record in await read_up_to(reader, done)] == kept
        await log.trim(1, done + 1)
        assert await log.append(1, token, b"y") > done  # the token holds
        elsewhere = await log.read(2, 0)
        assert await elsewhere.next(5.0) == [Record(other, Kind.IN, b"of another", 2)]
        await reader.close()
        await elsewhere.close()

    clean(servers, work)


def test_a_full_log_refuses_batches_and_takes_claims(servers: list[Server]) -> None:
    async def work(link: Link) -> None:
        log = await NatsLog.open(link, PARTITIONS, replicas=len(servers), limit=1 << 20)
        token = await log.claim(0, b"a", 0)
        batch = os.urandom(100_000)
        for _ in range(10):
            await log.send(0, batch)
        with pytest.raises(LogFullError):
            await log.send(0, batch)
        with pytest.raises(LogFullError):
            await log.append(0, token, batch)
        for _ in range(100):  # fill the rest, to the last bytes
            try:
                await log.send(0, b"x" * 900)
            except LogFullError:
                break
        before = await log.extent(0)
        assert before.size > before.limit - 2000
        claims = [await log.claim(partition, b"b" * 1000, 0) for partition in range(1, 5)]
        after = await log.extent(0)
        assert after.last == claims[-1]
        assert after.limit <= before.limit + 2 * (1 << 16)
        await log.trim(0, after.last)
        assert await log.append(0, token, batch)

    clean(servers, work)


def test_what_nobody_hears_yet_is_said_again(servers: list[Server], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gossamer.cluster.nats_link._UNHEARD", (0.05,) * 400)

    async def work(link: Link) -> None:
        sending = asyncio.create_task(NatsLog(link, PARTITIONS, 1).send(0, b"x"))
        writing = asyncio.create_task(NatsLog(link, PARTITIONS, 1).write([(0, b"y")], []))
        await asyncio.sleep(0.1)
        assert not sending.done()
        assert not writing.done()
        await NatsLog.open(link, PARTITIONS, replicas=len(servers))
        assert {await sending, await writing} == {1, 2}

    clean(servers, work)


def test_a_log_that_ends_too_early_is_noticed(servers: list[Server]) -> None:
    async def work(link: Link) -> None:
        log = await NatsLog.open(link, PARTITIONS, replicas=len(servers))
        last = await log.send(0, b"x")
        await (await log.read(0, last)).close()
        with pytest.raises(LogRewoundError, match="lost its end"):
            await log.read(0, last + 1)

    clean(servers, work)


def test_streams_that_are_there_stay_as_they_are(servers: list[Server]) -> None:
    async def work(link: Link) -> None:
        log = await NatsLog.open(link, PARTITIONS, replicas=len(servers), limit=1 << 20)
        sequence = await log.send(0, b"x")
        again = await NatsLog.open(link, PARTITIONS, replicas=len(servers), limit=1 << 22)
        extent = await again.extent(0)
        assert (extent.last, extent.limit) == (sequence, 1 << 20)

    clean(servers, work)


# -- who may be one's broker -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["nats://127.0.0.1:4222", "nats://localhost:4222", "tls://[::1]:4222"])
def test_this_machine_needs_no_password(address: str) -> None:
    check_addresses([address], None)


@pytest.mark.parametrize(
    "address", ["nats://10.0.0.1:4222", "tls://broker.example.org:4222", "nats://127.0.0.1.example.org:4222"]
)
def test_another_one_does(address: str) -> None:
    with pytest.raises(ConfigError, match="a user and a password"):
        check_addresses(["nats://127.0.0.1:4222", address], None)
    check_addresses([address], Credentials("a", "b"))


@pytest.mark.parametrize(
    "address", ["", "10.0.0.1:4222", "http://127.0.0.1:4222", "nats://", "nats://h:99999", "nats://["]
)
def test_what_is_no_address_is_said_to_be_none(address: str) -> None:
    with pytest.raises(ConfigError, match="no address"):
        check_addresses([address], Credentials("a", "b"))


def test_no_address_at_all() -> None:
    with pytest.raises(ConfigError, match="at least one"):
        check_addresses([], None)


def test_what_is_written_together_is_there_as_a_whole_or_not_at_all(servers: list[Server]) -> None:
    async def work(link: Link) -> None:
        log = await NatsLog.open(link, PARTITIONS, replicas=len(servers))
        tokens = [await log.claim(partition, b"a", 0) for partition in range(3)]
        done = [(partition, tokens[partition], b"done %d" % partition) for partition in range(3)]
        last = await log.write([(5, b"x"), (6, b"y"), (5, b"z")], done)
        assert last == tokens[-1] + 6
        follow = await log.follow([5, 6, 7], 0)
        first = tokens[-1] + 1
        assert await follow.next(5.0) == [
            Record(first, Kind.IN, b"x", 5),
            Record(first + 1, Kind.IN, b"y", 6),
            Record(first + 2, Kind.IN, b"z", 5),
        ]
        await log.claim(1, b"b", tokens[1])
        with pytest.raises(TokenLostError) as lost:
            await log.write([(5, b"never")], done)
        assert lost.value.partitions == (1,)
        assert await follow.next(0.0) == []
        assert await log.write([(5, b"after")], [done[0], done[2]]) == last + 4
        assert [record.data for record in await follow.next(5.0)] == [b"after"]
        with pytest.raises(LogRewoundError):
            await log.follow([1], last + 100)

    clean(servers, work)
