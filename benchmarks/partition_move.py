"""A partition that moves: what do export, taking in and dropping cost, and how long is a step?

A frontier with one partition is filled, a third of it visited, and moved to another one. What is measured is CPU time
of the thread that calls it.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterator
from pathlib import Path
from time import thread_time
from typing import TypeVar

from machine import description
from synthetic_urls import SyntheticWeb
from tables import figure, table

from gossamer.config import FreshConfig, FrontierConfig, PolicyConfig
from gossamer.frontier import Frontier
from gossamer.rules.policy import Policy
from gossamer.rules.robots import ALLOW_ALL
from gossamer.rules.scope import Scope

START = 1_790_000_000.0
_AT_ONCE = 5000
_FAR = START + 1e8
T = TypeVar("T")


def opened(path: Path) -> Frontier:
    policy = Policy(PolicyConfig(delay=0.0))
    config = FrontierConfig(partitions=1)
    return Frontier(path, config, policy, Scope("any"), None, START, FreshConfig(keep_fresh=True), rate=1000.0)


def crawled(frontier: Frontier, urls: int, hosts: int) -> None:
    web = SyntheticWeb(urls, hosts)
    for start in range(0, urls, _AT_ONCE):
        frontier.add([web.url(number) for number in range(start, min(start + _AT_ONCE, urls))], 1, 4)
        frontier.commit({})
    now, done, committed = START, 0, 0
    while done < urls // 3:
        now += 0.1
        for visit in frontier.lease(now, 256):
            if visit.robots:
                frontier.settle_robots(visit, ALLOW_ALL, now, 0.0, _FAR)
            else:
                frontier.settle_page(visit, 200, now, 0.0, (0, done, 1000), "", b"12345678", (b'"a12345"', b""))
                done += 1
        if done >= committed + _AT_ONCE:
            committed = done
            frontier.commit({})
    frontier.commit({})


def timed(name: str, steps: Iterator[T]) -> tuple[list[T], list[str]]:
    """What came, and a row of figures."""
    found: list[T] = []
    total = longest = 0.0
    began = thread_time()
    for step in steps:
        spent = thread_time() - began
        total, longest = total + spent, max(longest, spent)
        found.append(step)
        began = thread_time()
    total += thread_time() - began
    return found, [name, figure(total), f"{len(found):,}", figure(longest * 1e3)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("urls", type=float, nargs="?", default=1e5)
    parser.add_argument("--hosts", type=int, default=2000)
    parser.add_argument("--work", type=Path, default=Path("partition-move"))
    options = parser.parse_args()
    shutil.rmtree(options.work, ignore_errors=True)
    options.work.mkdir(parents=True)
    one, other = opened(options.work / "one"), opened(options.work / "other")
    crawled(one, int(options.urls), options.hosts)
    pieces, exported = timed("export", one.moving(lambda name: None).export(0))
    moving = other.moving(lambda name: None)
    rows = [exported, timed("take_in", moving.take_in(0, pieces))[1], timed("finish", moving.finish(0))[1]]
    other.commit({})
    assert other.counts.urls == one.counts.urls
    rows.append(timed("drop", moving.drop(0))[1])
    other.commit({})
    assert other.counts.urls == 0
    print(
        f"{description()}\n{one.counts.urls:,} URLs, {one.counts.fetched:,} fetched, {one.counts.hosts:,} hosts; ",
        end="",
    )
    print(f"{sum(map(len, pieces)) / 1e6:.1f} MB in pieces\n")
    print(table(["step", "CPU s", "steps", "longest, ms"], rows))
    one.close()
    other.close()
    shutil.rmtree(options.work)


if __name__ == "__main__":
    main()
