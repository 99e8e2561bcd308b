"""Checkpoints saved and read back, whole, with the key of a real broker changed for each: what a place takes a second.

The bytes are random, so that no file system makes them fewer. A directory by default; a bucket with
`--place s3://BUCKET/PREFIX`, its address and credentials in the environment.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from resource import RUSAGE_SELF, getrusage

from machine import description
from tables import figure, table

from gossamer.cluster.checkpoints import Checkpoints
from gossamer.cluster.nats_coordinator import NatsCoordinator
from gossamer.cluster.nats_link import Link
from gossamer.cluster.objects import open_objects
from gossamer.cluster.server import Server

_PIECE = 256 << 10
_SIZES = ((1, 100), (64, 8))  # MB, and how many of them


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--place", default="", help="where checkpoints are kept (a directory below --work)")
    parser.add_argument("--work", type=Path, default=Path("bench-work"), help="streams are written here (bench-work)")
    return parser.parse_args(given)


async def pieces(size: int) -> AsyncIterator[bytes]:
    block = os.urandom(_PIECE)
    for _ in range((size << 20) // _PIECE):
        yield block


async def measured(server: Server, place: str) -> list[list[str]]:
    link = await Link.open([server.address], server.credentials)
    checkpoints = Checkpoints(await NatsCoordinator.open(link, "crawl"), open_objects(place))
    rows = []
    for size, number in _SIZES:
        began, cpu = time.perf_counter(), time.process_time()
        made = [await checkpoints.save(size, 1, each, each, pieces(size)) for each in range(number)]
        saved, saving = time.perf_counter() - began, time.process_time() - cpu
        began, cpu = time.perf_counter(), time.process_time()
        for _ in range(number):
            async for _ in checkpoints.open(made[-1]):
                pass
        read, reading = time.perf_counter() - began, time.process_time() - cpu
        total = size * number
        figures = [1000 * saved / number, total / saved, 1000 * saving / total, total / read, 1000 * reading / total]
        rows.append([f"{size} MB", *map(figure, figures), figure(getrusage(RUSAGE_SELF).ru_maxrss / 1024)])
    await link.close()
    return rows


def main() -> None:
    options = arguments()
    options.work.mkdir(parents=True, exist_ok=True)
    home = Path(tempfile.mkdtemp(dir=options.work))
    server = Server(home / "n")
    try:
        server.start()
        asyncio.run(server.ready())
        rows = asyncio.run(measured(server, options.place or str(home / "checkpoints")))
    finally:
        server.stop()
        shutil.rmtree(home)
    print(description(["nats-py", "obstore"]))
    headings = ["a checkpoint of", "ms to save", "saved, MB/s", "CPU ms/MB", "read, MB/s", "CPU ms/MB", "MB of memory"]
    print(table(headings, rows))


if __name__ == "__main__":
    main()
