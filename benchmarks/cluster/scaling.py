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
from typing import Any

import msgspec
from tables import figure, table

from cluster.crew import GOSSAMER, cpu_seconds
from cluster.network import open_network
from cluster.scene import Scene, Size, TrialFailed, pages_of

_SIZE = Size(hosts=400, pages=50, delay=0.0, latency=0.0, limit=300.0)
_ONE = "GOSSAMER_TRIAL"
_WAYS = ("crawl", "1", "2")


class Cost(msgspec.Struct):
    """Of a crawl; CPU is in seconds, of all its processes, and what was exchanged is in bytes."""

    agents: str
    pages: int
    seconds: float  # from the first page to the last
    cpu: float
    broker_cpu: float = 0.0
    sent: int = 0  # to the broker
    received: int = 0  # from it
    broken: str = ""


def measure(way: str, seed: int, size: Size, home: Path) -> Cost:
    scene = Scene(size, seed, home, open_network())
    with scene.staged():
        broken = ""
        if way == "crawl":
            cpu = _plain(scene.web.connect, scene.seeds, home / "plain")
        else:
            before = scene.brokers.traffic()
            scene.start_agents(int(way))
            try:
                scene.wait_for_end()
            except TrialFailed as failure:
                broken = str(failure)
            cpu = sum(agent.cpu_seconds for agent in scene.crew.agents.values())
        requests = scene.requests()
        pages = pages_of(requests)
        if missing := len(scene.truth - {request.url for request in requests}):
            broken = broken or f"{missing} pages missing"
        seconds = requests[-1].end - requests[0].start if requests else 0.0
        cost = Cost(way, pages, seconds, cpu, broken=broken)
        if way != "crawl":
            after = scene.brokers.traffic()
            cost.sent, cost.received = after.received - before.received, after.sent - before.sent
            cost.broker_cpu = sum(cpu_seconds(server.pid) for server in scene.brokers.servers if server.pid)
        return cost


def _plain(connect: str, seeds: list[str], directory: Path) -> float:
    command = [
        *GOSSAMER, "crawl", *seeds, "--dir", str(directory), "--connect", connect, "--scope", "any", "--allow-private",
        "--no-index", "--delay", "0", "--json",
    ]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime


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
        of("pages", lambda cost: cost.pages),
        of("pages a second", lambda cost: cost.pages / cost.seconds),
        of("CPU a page, ms", lambda cost: 1e3 * cost.cpu / cost.pages),
        of("the same, % of no cluster", lambda cost: 100 * cost.cpu / cost.pages / base),
        of("CPU of the broker a page, ms", lambda cost: 1e3 * cost.broker_cpu / cost.pages),
        of("bytes to the broker a page", lambda cost: cost.sent / cost.pages),
        of("bytes from the broker a page", lambda cost: cost.received / cost.pages),
    ]
