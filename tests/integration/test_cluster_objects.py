"""Places for checkpoints: a directory, and a bucket of a real server."""

from __future__ import annotations

import asyncio
import hashlib
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest
from buckets import BUCKET, ObjectsContract, broken, got, pieces_of, s3_server, use_s3

from gossamer.cluster.objects import LocalObjects, Objects, open_objects
from gossamer.cluster.remote_objects import RemoteObjects
from gossamer.errors import ConfigError, ObjectsError

_KILLED = """
import asyncio, sys
from gossamer.cluster.objects import open_objects

async def pieces():
    for _ in range(3):
        yield bytes(1 << 20)
    print("in the middle", flush=True)
    await asyncio.Event().wait()

asyncio.run(open_objects(sys.argv[1]).put("ckpt/1/2/3-x", pieces()))
"""
_LOADED = "import sys; from gossamer.cluster.objects import *; open_objects('x'); sys.exit('obstore' in sys.modules)"
NOBODY = 65534


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    with s3_server() as address:
        yield address


class TestLocal(ObjectsContract):
    @pytest.fixture
    def objects(self, tmp_path: Path) -> Objects:
        return open_objects(str(tmp_path / "made" / "when needed"))


class TestS3(ObjectsContract):
    @pytest.fixture
    def objects(self, s3: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Objects:
        use_s3(monkeypatch, s3)
        return open_objects(f"s3://{BUCKET}/{abs(hash(request.node.name))}")


def test_who_is_killed_leaves_nothing_half(tmp_path: Path) -> None:
    killed = subprocess.Popen([sys.executable, "-c", _KILLED, str(tmp_path)], stdout=subprocess.PIPE)
    assert killed.stdout is not None
    assert killed.stdout.readline() == b"in the middle\n"
    killed.kill()
    killed.communicate()
    objects = open_objects(str(tmp_path))

    async def work() -> None:
        assert await objects.names("ckpt") == ["ckpt/1/2/3-x.part"]
        for name in ("ckpt/1/2/3-x", "ckpt/1/2/3-x.part"):
            with pytest.raises(ObjectsError):
                await got(objects, name)
        await objects.delete("ckpt/1/2/3-x.part")
        assert os.listdir(tmp_path) == []

    asyncio.run(work())


def test_who_is_cancelled_leaves_nothing(tmp_path: Path) -> None:
    objects = LocalObjects(tmp_path)

    async def work() -> None:
        reached = asyncio.Event()

        async def pieces() -> AsyncIterator[bytes]:
            yield bytes(2 << 20)
            reached.set()
            await asyncio.Event().wait()

        task = asyncio.create_task(objects.put("a/b", pieces()))
        await reached.wait()
        assert await objects.names("a") == ["a/b.part"]
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await objects.names("a") == []

    asyncio.run(work())


def test_a_file_is_synced_before_it_has_its_name_and_every_folder_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[str, bool]] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        path = Path(os.readlink(f"/proc/self/fd/{descriptor}")).relative_to(tmp_path).as_posix()
        synced.append((path, (tmp_path / "p/a/b").exists()))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    asyncio.run(LocalObjects(tmp_path / "p").put("a/b", pieces_of(b"x")))
    assert synced == [(".", False), ("p", False), ("p/a/b.part", False), ("p/a", True)]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", tmp_path], capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"NOT TESTED: a disk that fills up, because no small file system can be mounted: {made.stderr}")
    yield tmp_path
    subprocess.run(["umount", "--lazy", tmp_path], check=True)


def test_a_full_disk_is_named_and_what_was_there_stays(small_disk: Path) -> None:
    objects = LocalObjects(small_disk)

    async def work() -> None:
        await objects.put("a/1", pieces_of(b"x"))
        with pytest.raises(ObjectsError, match=r"is full\. Free some room"):
            await objects.put("a/2", pieces_of(*[bytes(1 << 20)] * 4))
        assert await objects.names("a") == ["a/1"]
        assert await got(objects, "a/1") == b"x"
        await objects.put("a/2", pieces_of(bytes(1 << 20)))  # what was half written does not take up room

    asyncio.run(work())


def test_a_directory_of_others_is_named(tmp_path: Path) -> None:
    objects = LocalObjects(tmp_path / "theirs")
    (tmp_path / "theirs").mkdir(mode=0o500)
    was = os.geteuid()
    if was == 0:
        os.seteuid(NOBODY)
    try:
        with pytest.raises(ObjectsError, match=r"Permission denied\. Give the user of this process the right"):
            asyncio.run(objects.put("a/1", pieces_of(b"x")))
    finally:
        os.seteuid(was)


def test_a_place_that_is_no_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    objects = LocalObjects(tmp_path / "file")
    with pytest.raises(ObjectsError, match="choose another place"):
        asyncio.run(objects.put("a/1", pieces_of(b"x")))


@pytest.mark.parametrize("write", ["{}", "file://{}", "file://localhost{}"])
def test_ways_to_write_a_directory(tmp_path: Path, write: str) -> None:
    place = write.format(tmp_path / "a%20b") if "file" in write else str(tmp_path / "a b")
    asyncio.run(open_objects(place).put("x", pieces_of(b"x")))
    assert (tmp_path / "a b" / "x").read_bytes() == b"x"


@pytest.mark.parametrize(
    "place",
    ["", "a\0b", "file://elsewhere/a", "file://", "http://a/b", "ftp://a/b", "s3://", "s3://k:v@b/c", "s3://a?b=c"],
)
def test_places_that_are_none(place: str) -> None:
    with pytest.raises(ConfigError):
        open_objects(place)


def test_a_directory_needs_no_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run([sys.executable, "-c", _LOADED], check=True, cwd=tmp_path)
    monkeypatch.setitem(sys.modules, "obstore", None)
    monkeypatch.delitem(sys.modules, "gossamer.cluster.remote_objects")
    with pytest.raises(ObjectsError, match=r"pip install 'gossamer\[cluster\]'"):
        open_objects("s3://a/b")


def test_large_ones_go_in_parts(s3: str, monkeypatch: pytest.MonkeyPatch) -> None:
    use_s3(monkeypatch, s3)
    objects = open_objects(f"s3://{BUCKET}/large")
    pieces = [os.urandom(700_001) for _ in range(25)]
    wanted = hashlib.sha256(b"".join(pieces)).digest()

    async def work() -> None:
        await objects.put("a/b", pieces_of(*pieces))
        assert hashlib.sha256(await got(objects, "a/b")).digest() == wanted

    asyncio.run(work())
    assert b'-3"' in asked(s3, f"/{BUCKET}?list-type=2&prefix=large").replace(b"&quot;", b'"')  # the tag counts parts


def test_an_upload_that_fails_leaves_no_parts(s3: str, monkeypatch: pytest.MonkeyPatch) -> None:
    use_s3(monkeypatch, s3)
    objects = open_objects(f"s3://{BUCKET}/failed")
    with pytest.raises(OSError, match="that is read from"):
        asyncio.run(objects.put("a/b", broken(*[bytes(9_000_000)] * 2)))
    assert b"<Upload>" not in asked(s3, f"/{BUCKET}?uploads")


def test_a_bucket_that_is_not_there(s3: str, monkeypatch: pytest.MonkeyPatch) -> None:
    use_s3(monkeypatch, s3)
    objects = open_objects("s3://another-bucket")
    with pytest.raises(ObjectsError, match=r"a/b in s3://another-bucket: .*is it there\?"):
        asyncio.run(objects.put("a/b", pieces_of(b"x")))
    with pytest.raises(ObjectsError, match=r"is it there\?"):
        asyncio.run(objects.names("a"))


def test_a_server_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    use_s3(monkeypatch, "http://127.0.0.1:1")
    objects = RemoteObjects(f"s3://{BUCKET}", retries=0)
    with pytest.raises(ObjectsError, match=r"AWS_ENDPOINT_URL") as raised:
        asyncio.run(objects.put("a/b", pieces_of(b"x")))
    assert "Debug" not in str(raised.value)


def test_a_server_that_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    async def work() -> None:
        listener = await asyncio.start_server(refuse, "127.0.0.1", 0)
        use_s3(monkeypatch, f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}")
        with pytest.raises(ObjectsError, match="Give this process credentials"):
            await got(RemoteObjects(f"s3://{BUCKET}", retries=0), "a/b")
        listener.close()

    asyncio.run(work())


def asked(address: str, path: str) -> bytes:
    connection = HTTPConnection(address.removeprefix("http://"))
    connection.request("GET", path)
    answer = connection.getresponse().read()
    connection.close()
    return answer
