"""nats-server for tests, started once a file: one alone, or three that keep streams together."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

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
