"""All agents of a crawl told to stop: by the key that they look at, not one by one."""

from __future__ import annotations

import asyncio
from pathlib import Path

from gossamer.agent.audit import record
from gossamer.agent.broker_file import read_broker
from gossamer.cluster.broker import open_keys
from gossamer.cluster.shared import end_crawl


def stop_all(home: Path, who: str) -> None:
    """Of the crawl whose broker is known to the directory. UnavailableError if that is not reached."""
    broker = read_broker(home)

    async def end() -> None:
        link = await broker.connect("control")
        try:
            await end_crawl(await open_keys(link), "stopped", who)
        finally:
            await link.close()

    record(home / "logs", who, "stop")
    asyncio.run(end())
