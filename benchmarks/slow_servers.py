"""A crawl of servers that take two seconds to answer, with a thousand connections: pages a second, and the loop's lag.

The crawl runs in this process, on the same event loop and with the same settings as `gossamer crawl`; a task beside it
sleeps a moment and notes how late it wakes. What waits for the loop waits that long: time-outs, the API, a stop. `lag`
is that of a moment drawn at random: a stall of 200 ms counts for all the time it lasts, not once. `--where` says which
calls held the loop, and costs some 2 % of the speed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import sys
import tempfile
import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import uvloop
from machine import cores, description
from processes import tidy_when_terminated
from simulated_web import SimulatedWeb
from tables import figure, table

from gossamer.agent.agent import Agent
from gossamer.agent.crawl import Crawl
from gossamer.agent.progress import Progress, Summary
from gossamer.config import AgentConfig, Config, FetchConfig, PolicyConfig, ScopeConfig

_BEAT = 0.005  # seconds that the task beside the crawl sleeps
_SPEED_TARGET = 450.0  # pages a second: 1,000 connections and 2 s would give 500
_LAG_TARGET = 0.050  # seconds, of 99 in 100 moments
_CALLS = ("lease", "start", "collect", "settle", "store.sync", "frontier.commit", "commit")


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency", type=float, default=2_000.0, help="milliseconds before each response (2000)")
    parser.add_argument(
        "--spread", type=float, default=0.0, help="how much that differs, as `gossamer simweb` has it (0)"
    )
    parser.add_argument("--connections", type=int, default=1_000, help="of the crawl (1000)")
    parser.add_argument("--hosts", type=int, default=4_000, help="hosts of the web: each has one connection (4000)")
    parser.add_argument("--pages", type=int, default=20, help="pages of a host (20)")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long it crawls (60)")
    parser.add_argument("--warm-up", type=float, default=15.0, help="seconds at the beginning that do not count (15)")
    parser.add_argument("--where", action="store_true", help="time the calls that may hold the loop")
    parser.add_argument("--work", type=Path, default=Path("bench-work"), help="the crawl is written here (bench-work)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to this file")
    return parser.parse_args(given)


class Lag:
    """How late the loop is. Invariant: `moments` and `waits` are in order of time, one pair for each beat."""

    def __init__(self) -> None:
        self.moments: list[float] = []
        self.waits: list[float] = []

    async def listen(self) -> None:
        while True:
            due = time.perf_counter() + _BEAT
            await asyncio.sleep(_BEAT)
            now = time.perf_counter()
            self.moments.append(now)
            self.waits.append(max(now - due, 0.0))

    def after(self, moment: float) -> list[float]:
        return self.waits[bisect_left(self.moments, moment) :]


def spread(waits: Sequence[float], beat: float) -> list[float]:
    """What beats at every `beat` seconds would have waited: during one long wait others would have become due."""
    found: list[float] = []
    for wait in waits:
        found.append(wait)
        while (wait := wait - beat) > 0:
            found.append(wait)
    return found


def percentile(values: Sequence[float], share: float) -> float:
    """The least value that this share of them does not exceed."""
    if not values:
        return 0.0
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


class Stopwatch:
    """How long single calls of a crawl's parts take; wraps them where they are."""

    def __init__(self) -> None:
        self.calls: dict[str, list[tuple[float, float]]] = {name: [] for name in _CALLS}

    def attach(self, agent: Agent) -> None:
        whole: Any = agent
        self._wrap(whole.frontier, "lease", "lease")
        self._wrap(whole._fetcher, "start", "start")
        self._wrap(whole._fetcher, "_collect", "collect")
        self._wrap(whole, "_settle", "settle")
        self._wrap(whole._store, "sync", "store.sync")
        self._wrap(whole.frontier, "commit", "frontier.commit")
        self._wrap(whole, "commit", "commit")

    def _wrap(self, part: Any, method: str, name: str) -> None:
        call: Callable[..., Any] = getattr(part, method)
        calls = self.calls[name]

        def timed(*given: Any, **named: Any) -> Any:
            started = time.perf_counter()
            try:
                return call(*given, **named)
            finally:
                calls.append((started, time.perf_counter() - started))

        setattr(part, method, timed)

    def rows(self, since: float) -> list[list[str]]:
        rows = []
        for name, calls in self.calls.items():
            taken = [seconds for started, seconds in calls if started >= since]
            if taken:
                whole = sum(taken)
                rows.append([name, f"{len(taken):,}", f"{whole:.2f} s", figure(whole / len(taken) * 1e3),
                             figure(percentile(taken, 0.99) * 1e3), figure(max(taken) * 1e3)])  # fmt: skip
        return rows


class Watched:
    """A crawl with a listener beside it."""

    def __init__(self, config: Config, home: Path, seeds: Sequence[str], where: bool) -> None:
        self._crawl = Crawl(config, home, seeds, lambda words: print(words, file=sys.stderr))
        self._listener: asyncio.Task[None] | None = None
        self.lag = Lag()
        self.stopwatch = Stopwatch() if where else None
        self.pages: list[tuple[float, int, float]] = []  # at this moment, so many, for so many seconds of CPU

    async def run(self) -> Summary:
        try:
            return await self._crawl.run(self._watch, 0.5, self._ready)
        finally:
            if self._listener is not None:
                self._listener.cancel()

    def _ready(self, agent: Agent) -> None:
        self._listener = asyncio.ensure_future(self.lag.listen())
        if self.stopwatch is not None:
            self.stopwatch.attach(agent)

    def _watch(self, progress: Progress) -> None:
        self.pages.append((time.perf_counter(), progress.pages, time.process_time()))

    def speed(self, since: float, until: float) -> float:
        """Pages a second between these moments."""
        seconds, pages, _ = self._between(since, until)
        return pages / seconds if pages else 0.0

    def cpu_us(self, since: float, until: float) -> float:
        """Microseconds of CPU a page between these moments, the listener's included."""
        _, pages, cpu = self._between(since, until)
        return cpu / pages * 1e6 if pages else 0.0

    def _between(self, since: float, until: float) -> tuple[float, int, float]:
        """Seconds, pages, and seconds of CPU."""
        within = [sample for sample in self.pages if since <= sample[0] <= until]
        if len(within) < 2:
            return 0.0, 0, 0.0
        (then, before, spent), (now, after, used) = within[0], within[-1]
        return now - then, after - before, used - spent


def settings(options: argparse.Namespace, address: str) -> Config:
    return Config(
        scope=ScopeConfig(scope="any"),
        policy=PolicyConfig(delay=0.0),
        fetch=FetchConfig(connections=options.connections, allow_private=True, connect=(f"*={address}",)),
        agent=AgentConfig(time_limit=options.seconds),
    )


def first_pages(web: SimulatedWeb, hosts: int) -> list[str]:
    """Of every host, so that all connections are in use from the start."""
    from gossamer.testing.web import World

    world = World(hosts=hosts, pages=1)
    assert world.url(0) == web.seed
    return [world.url(number) for number in range(hosts)]


def main() -> int:
    options = arguments()
    tidy_when_terminated()
    usable = cores()
    print(description(("pycurl", "uvloop", "rocksdict")), flush=True)
    options.work.mkdir(parents=True, exist_ok=True)
    home = Path(tempfile.mkdtemp(prefix="slow-", dir=options.work.resolve()))
    slowness = ("--latency", f"{options.latency:g}", "--spread", f"{options.spread:g}")
    web = SimulatedWeb(options.hosts, options.pages, home / "arrivals.log", *slowness)
    try:
        with web.served(usable[0] if len(usable) > 1 else None):
            if len(usable) > 1:
                os.sched_setaffinity(0, usable[1:])
            watched = Watched(
                settings(options, web.address), home / "crawl", first_pages(web, options.hosts), options.where
            )
            began = time.perf_counter()
            summary = uvloop.run(watched.run())
    finally:
        shutil.rmtree(home)
    since, until = began + options.warm_up, began + options.seconds
    waits = watched.lag.after(since)
    lag = spread(waits, _BEAT)
    speed = watched.speed(since, until)
    figures = {
        "pages_per_s": speed,
        "cpu_us_per_page": watched.cpu_us(since, until),
        "lag_p50_ms": percentile(lag, 0.5) * 1e3,
        "lag_p99_ms": percentile(lag, 0.99) * 1e3,
        "lag_longest_ms": max(waits, default=0.0) * 1e3,
        "late_beats_p99_ms": percentile(waits, 0.99) * 1e3,
    }
    targets = {
        "pages_per_s": (f">= {_SPEED_TARGET:g}", speed >= _SPEED_TARGET),
        "lag_p99_ms": (f"<= {_LAG_TARGET * 1e3:g}", percentile(lag, 0.99) <= _LAG_TARGET),
    }
    rows = []
    for name, number in figures.items():
        target, holds = targets.get(name, ("", True))
        rows.append([name.replace("_", " "), figure(number) + ("" if holds else " !"), target])
    print(f"{summary.pages:,} pages, {summary.faults} faults, ended by {summary.reason}\n")
    print(table(["figure", "found", "target"], rows))
    if watched.stopwatch is not None:
        print(
            "\n" + table(["call", "calls", "in all", "mean ms", "p99 ms", "longest ms"], watched.stopwatch.rows(since))
        )
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
