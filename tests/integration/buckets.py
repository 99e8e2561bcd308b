"""An S3-compatible server in a process of its own, and what every place for objects must do."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection

import pytest

from gossamer.cluster.objects import Objects
from gossamer.errors import ObjectsError

BUCKET = "checkpoints"
_SERVER = """
import logging
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server
logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = make_server("127.0.0.1", 0, DomainDispatcherApplication(create_backend_app), threaded=True)
print(server.port, flush=True)
server.serve_forever()
"""
OUTSIDE = [
    "",
    "/etc/passwd",
    "../x",
    "a/../../x",
    "a/..",
    "a//b",
    "a/",
    "./a",
    ".a",
    "a/.b",
    "a\nb",
    "a\0b",
    "ä",
    "%2e%2e/x",
]
OUTSIDE += ["a" * 200, "/".join("abcdefghijkl"), "a\\b"]


@contextmanager
def s3_server() -> Iterator[str]:
    """Its address."""
    server = subprocess.Popen([sys.executable, "-W", "ignore", "-c", _SERVER], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        connection = HTTPConnection("127.0.0.1", port)
        connection.request("PUT", f"/{BUCKET}")
        assert connection.getresponse().status == 200
        connection.close()
        yield f"http://127.0.0.1:{port}"
    finally:
        server.kill()
        server.communicate()


def use_s3(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    known = {"AWS_ENDPOINT_URL": address, "AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any", "NO_PROXY": "*"}
    for name, value in known.items():
        monkeypatch.setenv(name, value)


async def pieces_of(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


async def broken(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece
    raise OSError(5, "the disk that is read from")


async def got(objects: Objects, name: str) -> bytes:
    return b"".join([piece async for piece in objects.get(name)])


class ObjectsContract:
    @pytest.fixture
    def objects(self) -> Objects:
        raise NotImplementedError(f"{type(self).__name__} has no fixture `objects`: write one that gives a place")

    def test_what_is_put_is_got(self, objects: Objects) -> None:
        async def work() -> None:
            for number, pieces in enumerate([[], [b""], [b"one"], [b"a", b"", b"b" * 3_000_000, b"c"]]):
                await objects.put(f"a/{number}", pieces_of(*pieces))
                assert await got(objects, f"a/{number}") == b"".join(pieces)
            await objects.put("a/1", pieces_of(b"another"))
            assert await got(objects, "a/1") == b"another"

        asyncio.run(work())

    def test_names_are_those_below_a_folder(self, objects: Objects) -> None:
        async def work() -> None:
            assert await objects.names("n") == []
            for name in ("n/2/b", "n/1", "nn/1", "n/2/a"):
                await objects.put(name, pieces_of(b"x"))
            assert await objects.names("n") == ["n/1", "n/2/a", "n/2/b"]
            assert await objects.names("n/2") == ["n/2/a", "n/2/b"]
            await objects.delete("n/2/a")
            await objects.delete("n/2/a")
            assert await objects.names("n") == ["n/1", "n/2/b"]
            await objects.delete("n/2/b")
            await objects.put("n/2/c", pieces_of(b"x"))
            assert await objects.names("n") == ["n/1", "n/2/c"]

        asyncio.run(work())

    @pytest.mark.parametrize("size", [10, 9_000_000])
    def test_what_fails_in_the_middle_is_not_there(self, objects: Objects, size: int) -> None:
        async def work() -> None:
            with pytest.raises(OSError, match="that is read from"):
                await objects.put("broken/1", broken(bytes(size), bytes(10)))
            assert await objects.names("broken") == []

        asyncio.run(work())

    def test_what_is_not_there_is_an_error(self, objects: Objects) -> None:
        with pytest.raises(ObjectsError, match=r"nowhere/1 in .*Is it the"):
            asyncio.run(got(objects, "nowhere/1"))

    @pytest.mark.parametrize("name", OUTSIDE)
    def test_no_name_leads_out_of_the_place(self, objects: Objects, name: str) -> None:
        works: list[Callable[[], object]] = [
            lambda: asyncio.run(objects.put(name, pieces_of(b"x"))),
            lambda: asyncio.run(got(objects, name)),
            lambda: asyncio.run(objects.delete(name)),
            lambda: asyncio.run(objects.names(name)),
        ]
        for work in works:
            with pytest.raises(ObjectsError, match="no name of an object"):
                work()
