"""Serves a site over real sockets: in the running event loop, or in a thread of its own for tests."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
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
_TLS_HANDSHAKE = b"\x16"  # the first byte of a ClientHello; no method of HTTP begins with it


class Site(Protocol):
    """Decides what to answer. Knows no socket; whole responses are bytes, anything odd is a `Reply`."""

    def answer(self, request: Request) -> bytes | Reply: ...


class Server:
    """A listening socket and its connections.

    `latency` seconds pass before each response without holding up others, in the median: with a `spread` some take much
    longer, as servers do (it is the sigma of a log-normal distribution). `time_scale` shortens the waits that a `Reply`
    asks for, so that tests of slow servers need not be slow. With `tls` a client may begin with TLS or without it, on
    the same port.
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
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.site = site
        self.log: ArrivalLog = log or MemoryLog()
        self.host = host
        self.port = port
        self.latency = latency
        self.spread = spread
        self._tls = tls
        self._chance = Random(1)  # noqa: S311 - the same waits each time
        self.time_scale = time_scale
        self.connections: set[Connection] = set()
        self._accepted = 0
        self._listener: asyncio.Server | _EitherListener | None = None
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
            if self._tls is None:
                self._listener = await self.loop.create_server(
                    self._accept, self.host, self.port, backlog=_BACKLOG, reuse_address=True
                )
            else:
                self._listener = _EitherListener(self.loop, self.host, self.port, self._accept, self._tls)
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


class _EitherListener:
    """A listening socket for TLS and for plain HTTP: the first byte of a client says which it is.

    Invariant: a client that has sent nothing yet waits in `_undecided` and nowhere else.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        host: str,
        port: int,
        accept: Callable[[], Connection],
        tls: ssl.SSLContext,
    ) -> None:
        self._loop, self._accept, self._tls = loop, accept, tls
        listening = socket.create_server((host, port), backlog=_BACKLOG)
        listening.setblocking(False)
        self.sockets = (listening,)
        self._undecided: set[socket.socket] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        loop.add_reader(listening, self._arrived)

    def _arrived(self) -> None:
        try:
            client, _ = self.sockets[0].accept()
        except OSError:  # it has gone again, or there are no descriptors left
            return
        client.setblocking(False)
        self._undecided.add(client)
        self._loop.add_reader(client, self._began, client)

    def _began(self, client: socket.socket) -> None:
        try:
            first = client.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return
        except OSError:
            first = b""
        self._loop.remove_reader(client)
        self._undecided.discard(client)
        if not first:
            client.close()
            return
        task = self._loop.create_task(self._serve(client, self._tls if first == _TLS_HANDSHAKE else None))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, client: socket.socket, tls: ssl.SSLContext | None) -> None:
        try:
            await self._loop.connect_accepted_socket(self._accept, client, ssl=tls)
        except OSError:  # an ssl.SSLError too: the client does not believe the certificate, or went away
            client.close()

    def close(self) -> None:
        self._loop.remove_reader(self.sockets[0])
        self.sockets[0].close()
        for client in self._undecided:
            self._loop.remove_reader(client)
            client.close()

    async def wait_closed(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def _cannot_listen(host: str, port: int, error: Exception) -> str:
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.EADDRINUSE:
        return f"Port {port} on {host} is in use: choose another with --port, or --port 0 for any free one."
    if number == errno.EACCES:
        return f"Port {port} on {host} needs more rights: choose one above 1023 with --port."
    return f"The simulated web cannot listen on {host} port {port}: {error}. Choose another with --port."
