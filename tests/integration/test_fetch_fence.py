"""A fetcher whose lease is over sends no further byte, judged by what arrives at real sockets."""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
import trustme

from gossamer.config import FetchConfig
from gossamer.fetch import Answer, Fetcher, Resolver
from gossamer.model import Method, Page, Visit

T = TypeVar("T")

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nok"
URL = "http://a.test/page"


class Lease:
    def __init__(self) -> None:
        self.left: float = float("inf")  # times that it is there when asked

    def __call__(self) -> bool:
        self.left -= 1
        return self.left >= 0


class Raw:
    """A listener that does nothing by itself, and a fenced fetcher that comes to it."""

    def __init__(self, fetcher: Fetcher, listener: socket.socket, lease: Lease) -> None:
        self.fetcher = fetcher
        self.lease = lease
        self.address: tuple[str, int] = listener.getsockname()
        self._listener = listener
        self._loop = asyncio.get_running_loop()

    async def meanwhile(self, what: Coroutine[Any, Any, T]) -> T:
        """The fetcher goes on until this is done."""
        task = asyncio.ensure_future(what)
        task.add_done_callback(lambda _: self.fetcher.wake())
        while not task.done():
            assert await self.fetcher.wait(5.0) == []
        return task.result()

    async def client(self) -> socket.socket:
        client, _ = await self.meanwhile(self._loop.sock_accept(self._listener))
        client.setblocking(False)
        return client

    async def received(self, client: socket.socket) -> bytes:
        return await self.meanwhile(self._loop.sock_recv(client, 65_536))

    async def answered(self, client: socket.socket, *, start: bool = True) -> Page:
        """A visit from its start to its page; the connection is kept."""
        if start:
            self.start()
        await self.received(client)
        client.send(OK)
        return await self.outcome()

    async def outcome(self) -> Page:
        while not (done := await self.fetcher.wait(5.0)):
            assert not self.fetcher.broken_off()
        ((_, page),) = done
        assert isinstance(page, Page), page
        return page

    async def first_page(self) -> socket.socket:
        self.start()
        client = await self.client()
        await self.answered(client, start=False)
        return client

    def start(self, url: str = URL, *, head: bool = False) -> None:
        visit = Visit(url, url.split("/")[2], 0, 0, 1)
        visit.method = Method.HEAD if head else Method.GET
        self.fetcher.start(visit)

    async def no_further_byte(self, client: socket.socket) -> None:
        """Not read by the fetcher's help: it is reset already."""
        with pytest.raises(ConnectionResetError):
            raise AssertionError(await self._loop.sock_recv(client, 65_536))
        client.close()


@asynccontextmanager
async def raw(backlog: int = 100, **options: object) -> AsyncIterator[Raw]:
    lease = Lease()
    with socket.create_server(("127.0.0.1", 0), backlog=backlog) as listener:
        listener.setblocking(False)
        port = listener.getsockname()[1]
        given: dict[str, Any] = {"connect": (f"*=127.0.0.1:{port}",), "allow_private": True, **options}
        if "proxy" in given:
            given |= {"connect": (), "dns": ("127.0.0.1:1",), "proxy": f"{given['proxy']}://127.0.0.1:{port}"}
        config = FetchConfig(**given)
        resolver = Resolver(config.connect, config.dns, time.time)
        fetcher = Fetcher(config, "gossamer/test", ("*/*",), (), resolver, time.time)
        fetcher.fence(lease)
        try:
            yield Raw(fetcher, listener, lease)
        finally:
            await fetcher.close()


async def broken_off(web: Raw) -> list[str]:
    assert await web.fetcher.wait(0) == []
    broken = web.fetcher.broken_off()
    assert web.fetcher.in_flight == 0
    return [visit.url for visit in broken]


WAYS = [
    ("plain", URL, False, {}, b"GET /page "),
    ("HEAD", URL, True, {}, b"HEAD /page "),
    ("TLS", "https://a.test/page", False, {}, b"\x16\x03\x01"),
    ("HTTP proxy", URL, False, {"proxy": "http"}, b"GET http://a.test/page "),
    ("CONNECT", "https://a.test/page", False, {"proxy": "http"}, b"CONNECT a.test:443 "),
    ("TLS to a proxy", URL, False, {"proxy": "https"}, b"\x16\x03\x01"),
    ("SOCKS", URL, False, {"proxy": "socks5h"}, b"\x05"),
]


@pytest.mark.parametrize(("url", "head", "options", "first"), [way[1:] for way in WAYS], ids=[way[0] for way in WAYS])
def test_what_is_in_flight_is_reset(url: str, head: bool, options: dict[str, object], first: bytes) -> None:
    async def run() -> None:
        async with raw(**options) as web:
            web.start(url, head=head)
            client = await web.client()
            assert (await web.received(client)).startswith(first)
            web.lease.left = 0
            assert await broken_off(web) == [url]
            await web.no_further_byte(client)

    asyncio.run(run())


@pytest.mark.parametrize("http2", [False, True])
def test_nobody_takes_leave_within_tls(tmp_path: Path, http2: bool) -> None:
    authority = trustme.CA()
    file = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(str(file))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_alpn_protocols(["h2"] if http2 else ["http/1.1"])
    authority.issue_cert("a.test").configure_cert(context)

    async def run() -> None:
        async with raw(ca_file=str(file), http2=http2) as web:
            web.start("https://a.test/page")
            client = await web.client()
            incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            inner = context.wrap_bio(incoming, outgoing, server_side=True)
            request = b""
            while not request:
                incoming.write(await web.received(client))
                try:
                    inner.do_handshake()
                    request = inner.read(65_536)
                except ssl.SSLWantReadError:
                    pass
                client.send(outgoing.read() or b"")
            assert request.startswith(b"PRI * HTTP/2.0" if http2 else b"GET /page ")
            web.lease.left = 0
            assert await broken_off(web) == ["https://a.test/page"]
            await web.no_further_byte(client)

    asyncio.run(run())


@pytest.mark.parametrize("left", range(3))
def test_a_kept_connection_is_not_asked_once_more(left: int) -> None:
    """The lease ends at the start, before libcurl is called, and while it is at work."""

    async def run() -> None:
        async with raw() as web:
            client = await web.first_page()
            web.lease.left = left
            web.start()
            assert await broken_off(web) == [URL]
            await web.no_further_byte(client)

    asyncio.run(run())


@pytest.mark.parametrize("left", range(8))
def test_whenever_the_lease_ends_every_visit_is_handed_back_and_nothing_is_left(left: int) -> None:
    urls = ["http://a.test/1", "http://b.test/2", "http://c.test/3"]

    async def run() -> None:
        async with raw() as web:
            web.lease.left = left
            for url in urls:
                web.start(url)
            broken: list[str] = []
            while len(broken) < len(urls):
                assert await web.fetcher.wait(5.0) == []
                broken += [visit.url for visit in web.fetcher.broken_off()]
            assert sorted(broken) == urls
            assert (web.fetcher.in_flight, web.fetcher.room) == (0, 0)
            assert await broken_off(web) == []
            web.lease.left = float("inf")
            assert web.fetcher.room > 0

    asyncio.run(run())


def test_idle_connections_are_reset_and_later_visits_have_new_ones() -> None:
    async def run() -> None:
        async with raw() as web:
            client = await web.first_page()
            web.lease.left = 0
            assert await broken_off(web) == []
            await web.no_further_byte(client)
            web.start()
            assert web.fetcher.in_flight == 1
            async with asyncio.timeout(60):
                assert await web.fetcher.wait(3600.0) == []  # there is something to hand back
            assert [visit.url for visit in web.fetcher.broken_off()] == [URL]
            web.lease.left = float("inf")
            client = await web.first_page()
            assert (await web.answered(client)).status == 200
            client.close()

    asyncio.run(run())


def test_idle_connections_are_reset_while_nothing_happens() -> None:
    async def run() -> None:
        async with raw() as web:
            client = await web.first_page()
            for _ in range(3):  # events of the page
                assert await web.fetcher.wait(0.01) == []
            waiting = asyncio.ensure_future(web.fetcher.wait(3600.0))
            await asyncio.sleep(0)
            web.lease.left = 0
            async with asyncio.timeout(60):
                await web.no_further_byte(client)
            web.fetcher.wake()
            assert await waiting == []

    asyncio.run(run())


def test_a_reset_is_for_everything_while_the_lease_goes_on() -> None:
    async def run() -> None:
        async with raw() as web:
            idle = await web.first_page()
            web.start("http://b.test/")
            busy = await web.client()
            await web.received(busy)
            assert [visit.url for visit in web.fetcher.reset()] == ["http://b.test/"]
            assert web.fetcher.in_flight == 0
            await web.no_further_byte(idle)
            await web.no_further_byte(busy)
            (await web.first_page()).close()

    asyncio.run(run())


def test_breaking_off_some_after_the_lease_resets_all() -> None:
    async def run() -> None:
        async with raw() as web:
            web.start("http://a.test/")
            one = await web.client()
            await web.received(one)
            web.start("http://b.test/")
            other = await web.client()
            await web.received(other)
            web.lease.left = 0
            assert [visit.url for visit in web.fetcher.abort(lambda visit: "a.test" in visit.url)] == ["http://a.test/"]
            assert [visit.url for visit in web.fetcher.broken_off()] == ["http://b.test/"]
            for client in (one, other):
                await web.no_further_byte(client)

    asyncio.run(run())


def test_who_was_connecting_does_not_come_any_more() -> None:
    async def run() -> None:
        async with raw(backlog=0) as web:
            with socket.create_connection(web.address) as first, socket.socket() as later:
                web.start()  # the first fills the queue: who comes next must wait
                assert await web.fetcher.wait(0) == []
                later.setblocking(False)
                with pytest.raises(BlockingIOError):
                    later.connect(web.address)
                web.lease.left = 0
                assert await broken_off(web) == [URL]
                web.lease.left = float("inf")
                for expected in (first, later):
                    client = await web.client()
                    assert client.getpeername() == expected.getsockname()
                    client.close()

    asyncio.run(run())


def test_an_answer_of_dns_after_the_lease_begins_nothing() -> None:
    class Slow(Resolver):
        """Answers when it is told to."""

        def __init__(self) -> None:
            super().__init__((), (), time.time)
            self.answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

        async def resolve(self, name: str) -> Answer:
            return await self.answer

    async def run() -> None:
        lease, resolver = Lease(), Slow()
        config = FetchConfig(allow_private=True)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.setblocking(False)
            fetcher = Fetcher(config, "gossamer/test", ("*/*",), (), resolver, time.time)
            fetcher.fence(lease)
            for name in ("a", "b"):
                url = f"http://{name}.test:{listener.getsockname()[1]}/"
                fetcher.start(Visit(url, url.split("/")[2], 0, 0, 1))
            await asyncio.sleep(0)  # both ask
            lease.left = 0
            resolver.answer.set_result(Answer(("127.0.0.1",), float("inf")))
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            await asyncio.gather(*tasks, return_exceptions=True)
            assert [visit.url[:14] for visit in fetcher.broken_off()] == ["http://a.test:", "http://b.test:"]
            lease.left = float("inf")
            assert await fetcher.wait(0) == []
            assert fetcher.in_flight == 0
            with pytest.raises(BlockingIOError):
                listener.accept()
            await fetcher.close()

    asyncio.run(run())
