"""Checkpoints of partitions, over a real broker and a directory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from brokers import SlowAnswers, brokers, emptied, linked
from buckets import BUCKET, pieces_of, s3_server, use_s3

from gossamer.cluster.checkpoints import Checkpoint, Checkpoints, Kept, Passed
from gossamer.cluster.nats_coordinator import NatsCoordinator
from gossamer.cluster.objects import LocalObjects, Objects, open_objects
from gossamer.cluster.server import Server
from gossamer.errors import ClusterError, ObjectsError, TokenLostError, UnavailableError

NOW = 1.8e9
DIGEST = "0" * 64
GOOD = Checkpoint(f"ckpt/7/5/20-{'a' * 16}", 7, 5, 20, 10, 1, DIGEST, NOW)


class Shop:
    """A coordinator and a directory; every agent has its own `Checkpoints`."""

    def __init__(self, keys: NatsCoordinator, home: Path) -> None:
        self.keys, self.home = keys, home
        self.objects = LocalObjects(home)

    def agent(self) -> Checkpoints:
        return Checkpoints(self.keys, self.objects, lambda: NOW)

    def files(self) -> list[str]:
        return sorted(file.relative_to(self.home).as_posix() for file in self.home.rglob("*") if file.is_file())

    def leave(self, name: str) -> str:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"left")
        return name


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with brokers(tmp_path_factory.mktemp("broker"), 1) as (started,):
        yield started


@pytest.fixture
def run(server: Server, tmp_path: Path) -> Callable[[Callable[[Shop], Awaitable[None]]], None]:
    def running(work: Callable[[Shop], Awaitable[None]]) -> None:
        async def main() -> None:
            async with asyncio.timeout(60), emptied([server]) as link:
                await work(Shop(await NatsCoordinator.open(link, "crawl"), tmp_path))

        asyncio.run(main())

    return running


Run = Callable[[Callable[[Shop], Awaitable[None]]], None]


async def opened(checkpoints: Checkpoints, checkpoint: Checkpoint | None) -> bytes:
    assert checkpoint is not None
    return b"".join([piece async for piece in checkpoints.open(checkpoint)])


def test_what_was_saved_is_loaded(run: Run) -> None:
    async def work(shop: Shop) -> None:
        agent = shop.agent()
        assert await agent.load(7) is None
        assert await agent.load_before(7) is None
        made = await agent.save(7, 5, 20, 10, pieces_of(b"one", b"", b"two"))
        assert (made.partition, made.token, made.sequence, made.taken, made.size) == (7, 5, 20, 10, 6)
        assert (made.made_at, made.covers) == (NOW, 10)
        other = shop.agent()
        assert await other.load(7) == made
        assert await opened(other, made) == b"onetwo"
        assert await other.load(8) is None

    run(work)


def test_the_last_two_are_kept(run: Run) -> None:
    async def work(shop: Shop) -> None:
        agent = shop.agent()
        theirs = await agent.save(70, 2, 2, 2, pieces_of(b"another partition"))
        made = [await agent.save(7, 5, sequence, 1, pieces_of(b"%d" % sequence)) for sequence in (20, 30, 30, 40)]
        assert await agent.load(7) == made[3]
        assert await agent.load_before(7) == made[2]
        assert shop.files() == sorted([made[2].file, made[3].file, theirs.file])
        assert await opened(agent, made[2]) == b"30"

    run(work)


def test_an_old_owner_replaces_nothing(run: Run) -> None:
    async def work(shop: Shop) -> None:
        first = await shop.agent().save(7, 5, 20, 10, pieces_of(b"first"))
        second = await shop.agent().save(7, 9, 15, 10, pieces_of(b"second"))  # a token is more than a sequence
        for token, sequence in ((5, 100), (9, 14), (8, 15)):
            with pytest.raises(TokenLostError):
                await shop.agent().save(7, token, sequence, 10, pieces_of(b"late"))
        assert await shop.agent().load(7) == second
        assert await shop.agent().load_before(7) == first
        assert shop.files() == sorted([first.file, second.file])

    run(work)


@pytest.mark.parametrize("place", ["directory", "bucket"])
def test_who_loses_its_partition_while_it_uploads(
    run: Run, place: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    async def lose(shop: Shop, objects: Objects) -> None:
        half, taken = asyncio.Event(), asyncio.Event()

        async def slow() -> AsyncIterator[bytes]:
            yield bytes(1 << 20)
            half.set()
            await taken.wait()
            yield bytes(1 << 20)

        old = asyncio.create_task(Checkpoints(shop.keys, objects).save(7, 5, 20, 10, slow()))
        await half.wait()
        made = await Checkpoints(shop.keys, objects).save(7, 9, 30, 10, pieces_of(b"new"))
        taken.set()
        with pytest.raises(TokenLostError):
            await old
        assert await objects.names("ckpt") == [made.file]
        assert await shop.agent().load(7) == made

    if place == "directory":
        run(lambda shop: lose(shop, shop.objects))
        return
    with s3_server() as address:
        use_s3(monkeypatch, address)
        run(lambda shop: lose(shop, open_objects(f"s3://{BUCKET}/crawl")))


def test_of_two_at_once_the_higher_token_stays(run: Run) -> None:
    async def work(shop: Shop) -> None:
        for partition in range(10):
            both = [shop.agent().save(partition, token, 20, 10, pieces_of(b"%d" % token)) for token in (5, 9)]
            old, new = await asyncio.gather(*both, return_exceptions=True)
            assert isinstance(new, Checkpoint)
            assert isinstance(old, Checkpoint | TokenLostError)
            agent = shop.agent()
            assert await agent.load(partition) == new
            assert await opened(agent, new) == b"9"
            before = await agent.load_before(partition)
            assert before == (old if isinstance(old, Checkpoint) else None)
            assert len(await shop.objects.names(f"ckpt/{partition}")) == 1 + (before is not None)

    run(work)


def test_saves_of_one_agent_follow_each_other(run: Run) -> None:
    async def work(shop: Shop) -> None:
        agent = shop.agent()
        made = await asyncio.gather(*(agent.save(7, 5, sequence, 1, pieces_of(b"x")) for sequence in range(6)))
        assert shop.files() == sorted(one.file for one in made[-2:])

    run(work)


def test_what_was_left_behind_is_swept_away(run: Run) -> None:
    async def work(shop: Shop) -> None:
        for name in ("ckpt/7/3/9-old", "ckpt/7/5/19-crashed", "ckpt/7/5/18-crashed.part"):
            shop.leave(name)
        stays = [shop.leave(name) for name in ("ckpt/7/6/30-x.part", "ckpt/7/10/1-x", "ckpt/70/1/1-x", "ckpt/7/notes")]
        made = await shop.agent().save(7, 5, 20, 10, pieces_of(b"x"))
        assert shop.files() == sorted([made.file, *stays])

    run(work)


def test_a_directory_that_cannot_be_swept_does_not_fail_what_is_saved(run: Run) -> None:
    async def work(shop: Shop) -> None:
        (shop.home / "ckpt/7/3/9-old").mkdir(parents=True)
        (shop.home / "ckpt/7/3/9-old/x").mkdir()
        shop.leave("ckpt/7/3/8-old")
        shop.objects.delete = _fails  # type: ignore[method-assign]
        made = await shop.agent().save(7, 5, 20, 10, pieces_of(b"x"))
        assert await shop.agent().load(7) == made

    run(work)


async def _fails(name: str) -> None:
    raise ObjectsError(f"{name} cannot be deleted")


def test_who_fails_in_the_middle_changes_nothing(run: Run) -> None:
    async def half() -> AsyncIterator[bytes]:
        yield b"half"
        raise RuntimeError("the export failed")

    async def work(shop: Shop) -> None:
        agent = shop.agent()
        first = await agent.save(7, 5, 20, 10, pieces_of(b"first"))
        with pytest.raises(RuntimeError, match="export"):
            await agent.save(7, 5, 30, 10, half())
        assert await agent.load(7) == first
        assert shop.files() == [first.file]
        await agent.save(7, 5, 31, 10, pieces_of(b"next"))

    run(work)


@pytest.mark.parametrize("harm", ["flipped", "cut", "longer", "empty", "gone"])
def test_what_was_damaged_is_found_and_the_one_before_is_there(run: Run, harm: str) -> None:
    async def work(shop: Shop) -> None:
        agent = shop.agent()
        await agent.save(7, 5, 20, 10, pieces_of(b"first"))
        made = await agent.save(7, 5, 30, 20, pieces_of(bytes(3_000_000)))
        path = shop.home / made.file
        data = path.read_bytes()
        if harm == "gone":
            path.unlink()
        else:
            harmed = {"flipped": data[:-1] + b"\1", "cut": data[:-1], "longer": data + b"\0", "empty": b""}
            path.write_bytes(harmed[harm])
        with pytest.raises(ObjectsError):
            await opened(agent, await agent.load(7))
        assert await opened(agent, await agent.load_before(7)) == b"first"

    run(work)


def test_an_answer_that_does_not_come_loses_nothing(server: Server, tmp_path: Path) -> None:
    """The key was changed, and the agent does not know it: the object must stay."""

    async def main() -> None:
        slow = SlowAnswers(server)
        async with emptied([server]) as link, slow.linked(0.3) as late:
            shop = Shop(await NatsCoordinator.open(link, "crawl"), tmp_path)
            agent = Checkpoints(await NatsCoordinator.open(late, "crawl"), shop.objects)

            async def pieces() -> AsyncIterator[bytes]:
                yield b"first"
                slow.heard.clear()

            with pytest.raises(UnavailableError):
                await agent.save(7, 5, 20, 10, pieces())
            slow.heard.set()
            assert len(shop.files()) == 1
        async with linked([server]) as link:
            other = Checkpoints(await NatsCoordinator.open(link, "crawl"), shop.objects)
            first = await other.load(7)
            if first is not None:
                assert await opened(other, first) == b"first"
            made = await other.save(7, 6, 30, 20, pieces_of(b"second"))
            assert shop.files() == sorted([made.file] + ([first.file] if first else []))

    asyncio.run(main())


def hostile() -> list[bytes]:
    def with_(**changes: object) -> bytes:
        return msgspec.json.encode({"last": {**msgspec.to_builtins(GOOD), **changes}, "nonce": "x"})

    files = [
        "../../etc/passwd",
        "ckpt/7/5/20-../../../x",
        f"ckpt/8/5/20-{'a' * 16}",
        f"ckpt/7/5/20-{'a' * 15}/",
        "",
        "x" * 101,
    ]
    files += [f"ckpt/7/6/20-{'a' * 16}", f"ckpt/7/5/20-{'a' * 16}\n"]
    values = [b"", b"{}", b"[" * 5000, b"\xff", b"null", b'{"last":' * 900, with_()[:-1], with_() + b" " * 5000]
    values += [with_(file=file) for file in files]
    values += [with_(partition=-1), with_(partition=1 << 40), with_(token=-5), with_(size=1 << 70), with_(digest="x")]
    values += [with_(partition=8, file=f"ckpt/8/5/20-{'a' * 16}"), with_(digest=DIGEST + "\n"), with_(taken=None)]
    values += [with_(made_at=1e300), with_(sequence="20")]
    values.append(msgspec.json.encode({"last": GOOD, "before": {**msgspec.to_builtins(GOOD), "size": -1}}))
    return values


async def changed(shop: Shop, value: bytes, revision: int) -> int:
    made = await shop.keys.compare_and_set("ckpt.7", value, revision)
    assert made is not None
    return made


async def until(passed: Passed, wanted: dict[int, int]) -> None:
    """What was acknowledged is handed out a moment later."""
    while passed.passed() != wanted:
        await passed.look(1.0)


def test_no_value_of_a_key_does_harm(run: Run) -> None:
    async def work(shop: Shop) -> None:
        passed, revision = await Passed.open(shop.keys), 0
        for value in hostile():
            revision = await changed(shop, msgspec.json.encode(Kept(GOOD)), revision)
            await until(passed, {7: 10})
            revision = await changed(shop, value, revision)
            await until(passed, {})
            agent = shop.agent()
            for harmed in (agent.load(7), agent.load_before(7), agent.save(7, 9, 1, 1, pieces_of())):
                with pytest.raises(ClusterError, match="are all agents of one version"):
                    await harmed
        assert shop.files() == []
        await passed.close()

    run(work)


def test_senders_see_what_has_passed(run: Run) -> None:
    async def work(shop: Shop) -> None:
        agent = shop.agent()
        await agent.save(7, 5, 20, 10, pieces_of(b"x"))
        await shop.keys.create("ckpt.strange", b"x")
        await shop.keys.create("ckpt.99999", msgspec.json.encode(Kept(GOOD)))
        passed = await Passed.open(shop.keys)
        assert passed.passed() == {}
        await until(passed, {7: 10})
        await agent.save(7, 5, 30, 25, pieces_of(b"x"))
        await agent.save(0, 6, 3, 2, pieces_of(b"x"))
        await until(passed, {0: 2, 7: 25})
        entry = await shop.keys.get("ckpt.7")
        assert entry is not None
        await shop.keys.remove("ckpt.7", entry.revision)
        await until(passed, {0: 2})
        await passed.close()

    run(work)
