"""A domain of many hosts beside a few others: what its waiting hosts cost the frontier, by how many they are.

The time that the frontier goes by is simulated. Measured is CPU time of the thread that leases and settles, over some
seconds of a crawl whose domain is visited eight times a second, and the longest single turn.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import thread_time

from machine import description
from tables import figure, table

from gossamer.config import FrontierConfig, PolicyConfig
from gossamer.frontier import Frontier
from gossamer.rules.policy import Policy
from gossamer.rules.robots import ALLOW_ALL
from gossamer.rules.scope import Scope

_BEGIN = 1_800_000_000.0
_TURN = 0.005  # seconds
_OTHERS = 100  # hosts of domains of their own
_PAGES = 50  # of each of these
_PACKAGES = ("rocksdict", "msgspec")


def measure(home: Path, hosts: int, seconds: float, delay: float) -> dict[str, float]:
    config = FrontierConfig()
    frontier = Frontier(home / "frontier", config, Policy(PolicyConfig(delay=delay)), Scope("any"), None, _BEGIN)
    for start in range(0, hosts, 5_000):
        frontier.add([f"http://h{number}.big.test/" for number in range(start, min(start + 5_000, hosts))], 1, 4)
        frontier.commit({})
    now = _BEGIN + 10
    frontier.lease(now, 0)
    frontier.add([f"http://other{host}.test/{page}" for page in range(_PAGES) for host in range(_OTHERS)], 1, 4)
    frontier.commit({})
    spent = longest = commits = 0.0
    big = others = turns = 0
    until, committed = now + seconds, now
    last_other = now
    while now < until:
        began = thread_time()
        visits = frontier.lease(now, 64)
        for visit in visits:
            if visit.robots:
                frontier.settle_robots(visit, ALLOW_ALL, now, 0.05, now + 1e7)
            else:
                frontier.settle_page(visit, 200, now, 0.05, (0, 1, 2))
            if visit.host.endswith("big.test"):
                big += 1
            else:
                others, last_other = others + 1, now
        took = thread_time() - began
        spent, longest, turns = spent + took, max(longest, took), turns + 1
        if now - committed >= 1:
            began = thread_time()
            frontier.commit({})
            commits += thread_time() - began
            committed = now
        now += _TURN
    frontier.close()
    return {
        "big": big,
        "others": others,
        "done": last_other - _BEGIN - 10,
        "core": 100 * spent / seconds,
        "visit": spent / (big + others) * 1e6,
        "turn": spent / turns * 1e6,
        "longest": longest * 1e3,
        "commit": 1e3 * commits / seconds,
    }


FIGURES = (
    ("big", "visits to the domain"),
    ("others", "visits to the 100 others"),
    ("done", "seconds until the others were done"),
    ("core", "% of a core for leasing and settling"),
    ("visit", "µs a visit"),
    ("turn", "µs a turn"),
    ("longest", "longest turn, ms"),
    ("commit", "ms of commits a second"),
)


def rows_of(results: Sequence[dict[str, float]]) -> list[list[str]]:
    return [[words, *(figure(found[name]) for found in results)] for name, words in FIGURES]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hosts", nargs="*", type=int, default=[80, 8_000, 80_000], help="of the domain (80 8000 80000)")
    parser.add_argument("--seconds", type=float, default=120.0, help="of the crawl (120)")
    parser.add_argument("--delay", type=float, default=1.0, help="between visits to a host (1)")
    options = parser.parse_args()
    print(description(_PACKAGES), flush=True)
    results = []
    for hosts in options.hosts:
        home = Path(tempfile.mkdtemp(prefix="one-domain-"))
        try:
            results.append(measure(home, hosts, options.seconds, options.delay))
        finally:
            shutil.rmtree(home)
    print("\n" + table(["", *(f"{hosts:,} hosts" for hosts in options.hosts)], rows_of(results)))


if __name__ == "__main__":
    main()
