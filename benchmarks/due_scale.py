"""Due times of ten million visits: what does it cost to pick what is due, and to look when nothing is?

The frontier is filled with visits that were settled, each with a time at which it is due, spread over thirty days. Then
time goes on; what is due is taken up, leased and settled again, and every step is timed. Nothing is fetched.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

from frontier_scale import size_on_disk
from machine import description
from synthetic_urls import SyntheticWeb
from tables import figure, table

from gossamer.agent.statistics import resident
from gossamer.config import Config, load
from gossamer.frontier import Frontier, keys
from gossamer.frontier.revisits import _DECIDED
from gossamer.model import Change, State
from gossamer.rules.change_rate import DAY, Seen
from gossamer.rules.policy import Policy
from gossamer.rules.revisits import Found
from gossamer.rules.robots import ALLOW_ALL
from gossamer.rules.scope import Scope

START = 1_790_000_000.0
SPREAD = 30 * DAY
_BATCH = 20_000
_FAR = START + 365 * DAY


def settings() -> Config:
    return load(None, {"fresh.keep_fresh": True, "policy.delay": 0, "scope.scope": "any"})


def opened(path: Path, now: float) -> Frontier:
    config = settings()
    scope = Scope.of(config.scope, now)
    return Frontier(path, config.frontier, Policy(config.policy), scope, None, now, config.fresh)


def filled(path: Path, visits: int, hosts: int) -> float:
    """Write the records of visits as a crawl has left them; gives the seconds it took."""
    began = perf_counter()
    frontier = opened(path, START)
    database = frontier._database
    urls = SyntheticWeb(visits, hosts)
    seen = Seen().after(8 * DAY, changed=False).pack()
    for number in range(visits):
        key = frontier._roster.key_of(urls.url(number))
        due = START + 60 + (number * 0x9E3779B97F4A7C15 % 2**64) / 2**64 * SPREAD
        again = keys.pack_again(due, seen, 0, 0, 1, 0)
        value = keys.pack_history(
            State.FETCHED, 3, 200, START - 8 * DAY, 1, (1, number, 4000), number.to_bytes(8, "little"), again=again
        )
        database.visits[key] = value
        database.due[keys.due_key(due, key)] = _DECIDED  # or most would be put off: no crawl has planned these times
        if number % _BATCH == _BATCH - 1:
            frontier.commit({})
    frontier.counts.urls = frontier.counts.fetched = visits
    frontier.counts.enrolled = True
    frontier.commit({}, clean=True)
    frontier.close()
    return perf_counter() - began


def picked(path: Path, most: int, size: int) -> dict[str, float]:
    """Take up, lease and settle up to `most` visits that are due; what that costs. About 64 are due at a time."""
    turns, step = 0, SPREAD * 64 / size
    began = perf_counter()
    now = START
    frontier = opened(path, now)
    opening = perf_counter() - began
    idle = [seconds for seconds, _ in timed(lambda: frontier.revisits.release(now, False), 200)]
    first = next(timed(lambda: frontier.revisits._due(now + DAY, 1), 1))[0]
    done = taken = 0
    take_up = frontier.revisits._take_up

    def counted(*arguments: object) -> None:
        nonlocal taken
        taken += 1
        take_up(*arguments)  # type: ignore[arg-type]

    frontier.revisits._take_up = counted  # type: ignore[assignment]
    spent = {"release": 0.0, "lease": 0.0, "settle": 0.0, "commit": 0.0}
    longest = 0.0
    found = Found(Change.SAME, unmodified=True)
    while done < most:
        now += step
        turns += 1
        a = perf_counter()
        frontier.revisits.release(now, False)
        b = perf_counter()
        longest = max(longest, b - a)
        visits = frontier.lease(now, 64)
        c = perf_counter()
        for visit in visits:
            if visit.robots:
                frontier.settle_robots(visit, ALLOW_ALL, now, 0.0, _FAR)
            else:
                known = visit.before
                assert known is not None
                frontier.settle_page(visit, 200, now, 0.0, known.stored, "", known.digest, (b"", b""), 0.0, found)
                done += 1
        d = perf_counter()
        spent["release"] += b - a
        spent["lease"] += c - b
        spent["settle"] += d - c
        if turns % 5 == 0:
            a = perf_counter()
            frontier.commit({})
            spent["commit"] += perf_counter() - a
    frontier.commit({}, clean=True)
    figures = {f"{name}_us": seconds / done * 1e6 for name, seconds in spent.items()}
    figures["release_us"], figures["taken"] = spent["release"] / taken * 1e6, taken / done
    figures |= {
        "idle_us": median(idle) * 1e6, "first_us": first * 1e6, "longest_ms": longest * 1e3, "opening_s": opening,
        "done": done, "rss_mb": resident() / 1e6, "cpu_s": process_time(),
    }  # fmt: skip
    frontier.close()
    return figures


def timed(call: object, times: int) -> Iterator[tuple[float, object]]:
    assert callable(call)
    for _ in range(times):
        began = perf_counter()
        answer = call()
        yield perf_counter() - began, answer


FIGURES = (
    ("idle_us", "look when nothing is due, µs"),
    ("first_us", "find the first that is due, µs"),
    ("release_us", "what is due taken up, queued or put off, µs"),
    ("taken", "times that is done for each visit made"),
    ("longest_ms", "longest turn of that, ms"),
    ("lease_us", "leased (robots.txt of each host included), µs"),
    ("settle_us", "settled, and due again, µs"),
    ("commit_us", "committed, µs"),
    ("disk", "disk a visit, B"),
    ("rss_mb", "memory at the end, MB"),
    ("opening_s", "opening, s"),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "sizes", nargs="*", type=lambda text: int(float(text)), default=[10**5, 10**6], metavar="VISITS"
    )
    parser.add_argument("--hosts", type=int, default=100_000)
    parser.add_argument("--visits", type=int, default=20_000, help="that are made at each size (20000)")
    parser.add_argument("--phase", choices=("fill", "pick"), help="only write the visits, or pick from those written")
    parser.add_argument("--work", type=Path, default=Path("bench-work"))
    options = parser.parse_args()
    results = []
    for size in options.sizes:
        path = options.work / f"due-{size}"
        if options.phase != "pick":
            shutil.rmtree(path, ignore_errors=True)
            path.parent.mkdir(parents=True, exist_ok=True)
            seconds = filled(path, size, min(options.hosts, size // 10))
            print(f"{size:,} visits written in {seconds:,.0f} s", flush=True)
        if options.phase != "fill":
            disk = size_on_disk(path) / size
            results.append({**picked(path, min(options.visits, size // 4), size), "disk": disk})
            shutil.rmtree(path, ignore_errors=True)
    if options.phase == "fill":
        return 0
    print(description(("rocksdict",)))
    heads = ["visits with a due time", *(f"{size:,}" for size in options.sizes)]
    print(table(heads, [[words, *(figure(found[name]) for found in results)] for name, words in FIGURES]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
