"""nats-server for tests, started once a file: one alone, or three that keep streams together."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from gossamer.cluster.coordinator import Coordinator
from gossamer.cluster.members import Members
from gossamer.cluster.nats_link import PATIENCE, Link
from gossamer.cluster.server import Server, cluster_on_loopback

ENGINE = Path(os.environ["GOSSAMER_NATS_SERVER"]) if "GOSSAMER_NATS_SERVER" in os.environ else None
"""Another version than the newest that is found, to see which is the oldest that will do."""


@contextmanager
def brokers(home: Path, number: int) -> Iterator[list[Server]]:
    servers = [Server(home / "n", engine=ENGINE)] if number == 1 else cluster_on_loopback(home, number, ENGINE)
    try:
        for server in servers:
            server.start()
        for server in servers:
            asyncio.run(server.ready())
        yield servers
    finally:
        for server in servers:
            server.stop()


@asynccontextmanager
async def linked(servers: list[Server], patience: float = PATIENCE) -> AsyncIterator[Link]:
    link = await Link.open([server.address for server in servers], servers[0].credentials, patience=patience)
    try:
        yield link
    finally:
        await link.close()


@asynccontextmanager
async def emptied(servers: list[Server], patience: float = PATIENCE) -> AsyncIterator[Link]:
    """The same, with servers that know of nothing."""
    async with linked(servers, patience) as link:
        for info in await link.js.streams_info():
            await link.js.delete_stream(info.config.name or "")
        # Files go a moment later, and until then a stream of the same name may not be made.
        folders = [server.home / "streams" / "jetstream" / "CRAWL" / "streams" for server in servers]
        while any(map(_has_files, folders)):  # noqa: ASYNC110 - nobody tells us
            await asyncio.sleep(0.01)
        yield link


def _has_files(folder: Path) -> bool:
    try:
        return bool(os.listdir(folder))
    except FileNotFoundError:  # it goes with the last of them
        return False


async def caught_up(members: Members, keys: Coordinator) -> None:
    """Until it has seen all sessions as they are now: what was acknowledged to others is handed out a moment later."""
    await members.look(0.0)
    for name in ("a", "b", "c", "x", "y"):
        entry = await keys.get(f"sess.{name}")
        while entry is not None and members.revision(name) < entry.revision:
            await members.look(1.0)


class SlowAnswers:
    """Between an agent and its broker: what the broker says may be held back, while it hears everything."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.heard = asyncio.Event()
        self.heard.set()

    @asynccontextmanager
    async def linked(self, patience: float) -> AsyncIterator[Link]:
        listener = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        address = f"nats://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
        link = await Link.open([address], self._server.credentials, patience=patience)
        try:
            yield link
        finally:
            await link.close()
            listener.close()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        back, forth = await asyncio.open_connection("127.0.0.1", self._server.port)
        said = asyncio.create_task(self._pass(back, writer, self.heard))
        always = asyncio.Event()
        always.set()
        await self._pass(reader, forth, always)
        await said

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, open_: asyncio.Event) -> None:
        try:
            while data := await reader.read(65536):
                await open_.wait()
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()
