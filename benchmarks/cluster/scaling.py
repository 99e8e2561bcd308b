"""What several agents cost and bring: the same web crawled without a cluster, by one agent and by two, in turn."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import msgspec
from tables import figure, table

from cluster.crew import GOSSAMER, cpu_seconds
from cluster.network import open_network
from cluster.scene import Scene, Size, TrialFailed, pages_of

_SIZE = Size(hosts=800, pages=50, delay=0.0, latency=0.0, limit=300.0)
_ONE = "GOSSAMER_TRIAL"
_WAYS = ("crawl", "1", "2")
_WINDOW = (0.15, 0.85)  # of the pages: between these moments is measured


class Cost(msgspec.Struct):
    """Of a crawl between two moments, with so many pages asked for between them: starts and ends are left out. CPU is
    in seconds, of all its processes; what was exchanged is in bytes, of the whole crawl.
    """

    agents: str
    pages: int
    seconds: float
    cpu: float
    all_pages: int = 0
    all_cpu: float = 0.0  # of the whole crawl, its start included
    broker_cpu: float = 0.0
    sent: int = 0  # to the broker
    received: int = 0  # from it
    broken: str = ""


class _Moment(NamedTuple):
    at: float
    pages: int
    cpu: float
    broker_cpu: float


def measure(way: str, seed: int, size: Size, home: Path) -> Cost:
    scene = Scene(size, seed, home, open_network())
    with scene.staged():
        if way == "crawl":
            scene.crew.start_alone("plain", _plain(scene.web.connect, scene.seeds, home / "plain"))
        else:
            scene.start_agents(int(way))
        before = scene.brokers.traffic()
        broken = ""
        try:
            scene.wait_for_progress(_WINDOW[0])
            first = _moment(scene)
            scene.wait_for_progress(_WINDOW[1])
            last = _moment(scene)
            scene.wait_for_end()
        except TrialFailed as failure:
            return Cost(way, 1, 1.0, 0.0, broken=str(failure))
        requests = scene.requests()
        if missing := len(scene.truth - {request.url for request in requests}):
            broken = f"{missing} pages missing"
        after = scene.brokers.traffic()
        return Cost(
            way,
            last.pages - first.pages,
            last.at - first.at,
            last.cpu - first.cpu,
            pages_of(requests),
            sum(agent.cpu_seconds for agent in scene.crew.agents.values()),
            last.broker_cpu - first.broker_cpu,
            after.received - before.received,
            after.sent - before.sent,
            broken,
        )


def _moment(scene: Scene) -> _Moment:
    crew = sum(agent.cpu_now() for agent in scene.crew.agents.values())
    broker = sum(cpu_seconds(server.pid) for server in scene.brokers.servers if server.pid)
    return _Moment(time.monotonic(), round(scene.progress() * len(scene.truth)), crew, broker)


def _plain(connect: str, seeds: list[str], directory: Path) -> list[str]:
    return [
        *GOSSAMER, "crawl", *seeds, "--dir", str(directory), "--connect", connect, "--scope", "any", "--allow-private",
        "--no-index", "--delay", "0",
    ]  # fmt: skip


def child(options: argparse.Namespace, way: str, seed: int) -> None:
    size = Size(options.hosts or _SIZE.hosts, options.pages or _SIZE.pages, 0.0, 0.0, limit=_SIZE.limit)
    with tempfile.TemporaryDirectory(prefix="scaling-", dir=options.work.resolve()) as home:
        print(msgspec.json.encode(measure(way, seed, size, Path(home))).decode())


def main(options: argparse.Namespace) -> int:
    found: dict[str, list[Cost]] = {way: [] for way in _WAYS}
    for turn in range(options.repeat):
        for way in _WAYS:
            done = subprocess.run(
                [sys.executable, *sys.argv],
                env={**os.environ, _ONE: f"scaling-{way} {options.seed + turn}"},
                stdout=subprocess.PIPE,
                check=True,
            )
            cost = msgspec.json.decode(done.stdout.splitlines()[-1], type=Cost)
            found[way].append(cost)
            print(cost, flush=True)
            if options.json:
                row: dict[str, Any] = {"kind": "scaling", **msgspec.to_builtins(cost)}
                with open(options.json, "a") as file:
                    file.write(json.dumps(row) + "\n")
            time.sleep(1.0)  # the disk's turn
    print(table(["", *_NAMES.values()], _table(found)))
    return int(any(cost.broken for costs in found.values() for cost in costs))


_NAMES = {"crawl": "no cluster", "1": "one agent", "2": "two agents"}


def _table(found: dict[str, list[Cost]]) -> list[list[str]]:
    def of(name: str, value: Any) -> list[str]:
        return [name, *(figure(median(map(value, found[way]))) for way in _WAYS)]

    base = median(cost.cpu / cost.pages for cost in found["crawl"])
    return [
        of("pages", lambda cost: cost.all_pages),
        of("pages a second", lambda cost: cost.pages / cost.seconds),
        of("CPU a page, ms", lambda cost: 1e3 * cost.cpu / cost.pages),
        of("the same, % of no cluster", lambda cost: 100 * cost.cpu / cost.pages / base),
        of("CPU of the broker a page, ms", lambda cost: 1e3 * cost.broker_cpu / cost.pages),
        of("CPU of the whole crawl a page, ms", lambda cost: 1e3 * cost.all_cpu / cost.all_pages),
        of("bytes to the broker a page", lambda cost: cost.sent / cost.all_pages),
        of("bytes from the broker a page", lambda cost: cost.received / cost.all_pages),
    ]
