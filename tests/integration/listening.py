"""Listeners on loopback that write down who comes, and places where nobody answers."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import Self

from gossamer.config import FetchConfig
from gossamer.fetch import Fetcher, Resolver
from gossamer.model import Fault, Page, Visit
from gossamer.model.url import host_of

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


def ok(host: str, path: str) -> bytes:
    return NOT_FOUND if path == "/robots.txt" else OK


def redirect(target: str) -> bytes:
    return f"HTTP/1.1 302 Found\r\nLocation: {target}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()


def html(text: str) -> bytes:
    body = text.encode()
    head = (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
    )
    return head % len(body) + body


def has_ipv6_loopback() -> bool:
    with suppress(OSError), socket.socket(socket.AF_INET6) as probe:
        probe.bind(("::1", 0))
        return True
    return False


class Door:
    """A web server on one port of several addresses. `knocks` has the address of each connection that was made."""

    def __init__(
        self, *addresses: str, port: int = 0, answer: Callable[[str, str], bytes] = lambda host, path: OK
    ) -> None:
        """`answer` is asked with the Host header and the path."""
        self.port = port
        self.knocks: list[str] = []
        self.paths: list[str] = []
        self._addresses = addresses
        self._answer = answer
        self._ready: Future[None] = Future()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="door", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.result()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._done.set)
        self._thread.join()

    async def _serve(self) -> None:
        self._loop, self._done = asyncio.get_running_loop(), asyncio.Event()
        try:
            listeners = await self._listen()
        except OSError as error:
            self._ready.set_exception(error)
            return
        self._ready.set_result(None)
        await self._done.wait()
        for listener in listeners:
            listener.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)

    async def _listen(self) -> list[asyncio.Server]:
        wanted = self.port
        for last_try in [wanted != 0] * 20 + [True]:
            listeners: list[asyncio.Server] = []
            try:
                for address in self._addresses:
                    listeners.append(await asyncio.start_server(self._on_connection, address, self.port))
                    self.port = listeners[0].sockets[0].getsockname()[1]
                return listeners
            except OSError:  # the number is taken on one of the addresses
                for listener in listeners:
                    listener.close()
                if last_try:
                    raise
                self.port = wanted
        raise AssertionError

    async def _on_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.knocks.append(writer.get_extra_info("sockname")[0])
        try:
            lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            host = next((line[6:] for line in lines if line.lower().startswith("host: ")), "")
            path = lines[0].split(" ")[1]
            self.paths.append(path)
            writer.write(self._answer(host, path))
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@contextmanager
def black_hole(address: str, port: int) -> Iterator[None]:
    """A place that lets nobody in and sends nobody away: the queue of its listener is full."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen(0)
        crowd = [socket.socket(family) for _ in range(3)]
        for one in crowd:
            one.setblocking(False)
            with suppress(BlockingIOError):
                one.connect((address, port))
        yield
        for one in crowd:
            one.close()


async def fetched(fetcher: Fetcher, *urls: str) -> list[Page | Fault]:
    """The outcomes of these URLs, in their order, all asked for at once."""
    found: dict[str, Page | Fault] = {}
    for url in urls:
        fetcher.start(Visit(url, host_of(url), 0, 0, 1))
    while len(found) < len(set(urls)):
        for visit, outcome in await fetcher.wait(1.0):
            found[visit.url] = outcome
    return [found[url] for url in urls]


def fetcher_of(
    config: FetchConfig,
    networks: Sequence[str] = (),
    clock: Callable[[], float] = time.time,
    resolver: Resolver | None = None,
) -> Fetcher:
    resolver = resolver or Resolver(config.connect, config.dns, clock, ipv6=lambda: True)
    return Fetcher(config, "gossamer/test", ("*/*",), tuple(networks), resolver, clock)


def fetch(config: FetchConfig, *urls: str, networks: Sequence[str] = ()) -> list[Page | Fault]:
    async def run() -> list[Page | Fault]:
        fetcher = fetcher_of(config, networks)
        try:
            return await fetched(fetcher, *urls)
        finally:
            await fetcher.close()

    return asyncio.run(run())
