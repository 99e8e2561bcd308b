"""Serves a site over real sockets: in the running event loop, or in a thread of its own for tests."""

from __future__ import annotations

import asyncio
import errno
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from random import Random
from typing import Protocol, Self

import uvloop

from gossamer.errors import ConfigError
from gossamer.testing.web.connection import Connection
from gossamer.testing.web.log import ArrivalLog, MemoryLog
from gossamer.testing.web.message import Reply, Request
from gossamer.testing.web.site import WorldSite
from gossamer.testing.web.world import World

_BACKLOG = 4_096
_FLUSH_SECONDS = 0.5


class Site(Protocol):
    """Decides what to answer. Knows no socket; whole responses are bytes, anything odd is a `Reply`."""

    def answer(self, request: Request) -> bytes | Reply: ...


class Server:
    """A listening socket and its connections.

    `latency` seconds pass before each response without holding up others, in the median: with a `spread` some take much
    longer, as servers do (it is the sigma of a log-normal distribution). `time_scale` shortens the waits that a `Reply`
    asks for, so that tests of slow servers need not be slow.
    """

    loop: asyncio.AbstractEventLoop

    def __init__(
        self,
        site: Site,
        host: str = "127.0.0.1",
        port: int = 0,
        log: ArrivalLog | None = None,
        latency: float = 0.0,
        time_scale: float = 1.0,
        spread: float = 0.0,
    ) -> None:
        self.site = site
        self.log: ArrivalLog = log or MemoryLog()
        self.host = host
        self.port = port
        self.latency = latency
        self.spread = spread
        self._chance = Random(1)  # noqa: S311 - the same waits each time
        self.time_scale = time_scale
        self.connections: set[Connection] = set()
        self._accepted = 0
        self._listener: asyncio.Server | None = None
        self._flusher: asyncio.TimerHandle | None = None

    @property
    def connect(self) -> str:
        """For `gossamer crawl --connect`: every host is here."""
        return f"*={self.host}:{self.port}"

    def wait(self) -> float:
        """Seconds before the next response."""
        return self.latency * self._chance.lognormvariate(0.0, self.spread) if self.spread else self.latency

    async def start(self) -> None:
        self.loop = asyncio.get_running_loop()
        try:
            self._listener = await self.loop.create_server(
                self._accept, self.host, self.port, backlog=_BACKLOG, reuse_address=True
            )
        except (OSError, OverflowError) as error:
            raise ConfigError(_cannot_listen(self.host, self.port, error)) from error
        self.port = self._listener.sockets[0].getsockname()[1]
        self._flush()

    async def stop(self) -> None:
        if self._flusher is not None:
            self._flusher.cancel()
        if self._listener is not None:
            self._listener.close()
            for connection in list(self.connections):
                connection.abort()
            await self._listener.wait_closed()
        self.log.close()

    @contextmanager
    def in_thread(self) -> Iterator[None]:
        """Runs the server in a thread with an event loop of its own until the block ends."""
        ready: Future[asyncio.Event] = Future()

        async def main() -> None:
            done = asyncio.Event()
            try:
                await self.start()
            except ConfigError as error:
                ready.set_exception(error)
                return
            ready.set_result(done)
            await done.wait()
            await self.stop()

        def run() -> None:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(main())

        thread = threading.Thread(target=run, name="simulated-web", daemon=True)
        thread.start()
        try:
            done = ready.result()
            try:
                yield
            finally:
                self.loop.call_soon_threadsafe(done.set)
        finally:
            thread.join()

    def _accept(self) -> Connection:
        self._accepted += 1
        return Connection(self, self._accepted)

    def _flush(self) -> None:
        self.log.flush()
        self._flusher = self.loop.call_later(_FLUSH_SECONDS, self._flush)


class SimServer(Server):
    """The simulated web on a port. `with SimServer.running(world) as server:` is all a test needs."""

    def __init__(
        self,
        world: World,
        host: str = "127.0.0.1",
        port: int = 0,
        log: ArrivalLog | None = None,
        latency: float = 0.0,
        time_scale: float = 1.0,
        spread: float = 0.0,
    ) -> None:
        super().__init__(WorldSite(world), host, port, log or MemoryLog(world.clock), latency, time_scale, spread)
        self.world = world

    @classmethod
    @contextmanager
    def running(
        cls, world: World, *, log: ArrivalLog | None = None, latency: float = 0.0, time_scale: float = 1.0
    ) -> Iterator[Self]:
        server = cls(world, log=log, latency=latency, time_scale=time_scale)
        with server.in_thread():
            yield server


def _cannot_listen(host: str, port: int, error: Exception) -> str:
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.EADDRINUSE:
        return f"Port {port} on {host} is in use: choose another with --port, or --port 0 for any free one."
    if number == errno.EACCES:
        return f"Port {port} on {host} needs more rights: choose one above 1023 with --port."
    return f"The simulated web cannot listen on {host} port {port}: {error}. Choose another with --port."
