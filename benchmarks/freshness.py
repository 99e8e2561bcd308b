"""How fresh is a collection kept, and for how many bytes? Weeks of the simulated web, in simulated time.

Pages change at known rates (a power law); a real crawl learns them over real sockets and has a budget of visits a day.
What it kept fresh is judged from the server's log, beside three ways to spend the same visits that know the rates:
all pages alike, in proportion to their changes, and the best there is (Cho and Garcia-Molina, 2003); and, where visits
are few, beside one that has to learn the rates, too, but knows how they are spread.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import sys
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import NormalDist
from time import monotonic
from typing import Any

import numpy as np
from tables import table

from gossamer.agent.progress import Progress
from gossamer.agent.simulated import crawl_until
from gossamer.config import load
from gossamer.testing import FakeClock
from gossamer.testing.web.freshness import Held, Judged, held, judged
from gossamer.testing.web.log import MemoryLog
from gossamer.testing.web.policies import mean_age, mean_freshness, optimal, proportional, uniform
from gossamer.testing.web.profile import PROFILES, Change
from gossamer.testing.web.server import Server
from gossamer.testing.web.site import WorldSite
from gossamer.testing.web.world import World

DAY = 86_400.0
START = 1_790_000_000.0
HOUR = 3_600.0
BUDGETS = 0.05, 0.1, 0.3, 1.0  # visits a day and page
MEDIANS = 5, 20  # days between two changes
FEW = {"pages": 2_000, "hosts": 20}
RATES_TOLD_APART = 64
PLAIN = {"liars": 0.0, "noisy": 0.0, "births": 0.0, "mortal": 0.0, "outages": 0.0}


class Simulation:
    """One web and one crawl of it; time begins when all pages have been fetched."""

    def __init__(self, options: argparse.Namespace, change: Change, **settings: object) -> None:
        self.clock = FakeClock(START)
        profile = replace(PROFILES["changing"], change=change)
        self.world = World(options.seed, options.hosts, options.pages // options.hosts, profile, clock=self.clock)
        self.log = MemoryLog(self.clock)
        self.days: float = options.days
        self._home: Path = options.work / "freshness"
        self._settings = {
            "fetch.allow_private": True,
            "policy.delay": 0,
            "scope.scope": "any",
            "fresh.keep_fresh": True,
            "fresh.max_interval": options.longest,
            "agent.commit_interval": "1h",
            "parse.sitemaps": False,
            **settings,
        }
        self.progress = Progress()

    def run(self, until: float) -> float:
        """Gives the seconds that it took."""
        began = monotonic()
        shutil.rmtree(self._home, ignore_errors=True)
        server = Server(WorldSite(self.world), log=self.log)
        seeds = [self.world.url(host) for host in range(self.world.hosts)]
        with server.in_thread():
            config = load(None, {**self._settings, "fetch.connect": [server.connect]})
            self.progress = asyncio.run(crawl_until(config, self._home, seeds, self.clock, START + until))
        return monotonic() - began

    @property
    def pages(self) -> list[tuple[int, int]]:
        world = self.world
        return [(host, page) for host in range(world.hosts) for page in range(world.host(host).size)]

    def visits(self, *statuses: int) -> dict[tuple[int, int], list[float]]:
        """When each page was visited and answered so. A 304 brings no copy: it may be a lie."""
        found: defaultdict[tuple[int, int], list[float]] = defaultdict(list)
        for arrival in self.log.arrivals:
            host = self.world.find(arrival.host)
            resource = None if host is None else self.world.resource(host, arrival.path.encode())
            if host is not None and resource is not None and arrival.status in statuses:
                found[host.index, resource.number].append(arrival.wall)
        return found

    def judged(self, start: float, end: float) -> Judged:
        visits = self.visits(200)
        return self.judged_by([visits.get(page, []) for page in self.pages], start, end)

    def judged_by(self, visits: Sequence[Sequence[float]], start: float, end: float) -> Judged:
        """What these visits to the pages would have kept fresh."""
        pages = []
        for (index, page), moments in zip(self.pages, visits, strict=True):
            changes = self.world.changes(self.world.host(index), page, min(moments, default=start), end)
            pages.append((held(changes, moments, start, end), 1.0))
        return judged(pages)


def against_policies(options: argparse.Namespace) -> dict[str, object]:
    """A crawl with a budget, beside what others would make of it."""
    budget = options.budget * options.pages
    simulation = Simulation(options, replace(Change(**PLAIN), exponent=options.exponent), **{
        "fresh.revisit_rate": budget / DAY,
        "fresh.min_interval": "1h",
    })  # fmt: skip
    seconds = simulation.run(options.days * DAY)
    world = simulation.world
    pages = simulation.pages
    rates = [world.changes_per_day(world.host(host), page) for host, page in pages]
    steps = [(START + day * DAY, START + (day + options.step) * DAY) for day in range(0, options.days, options.step)]
    by_step = [simulation.judged(start, end) for start, end in steps]
    learned = simulation.judged(START + (options.days - options.window) * DAY, START + options.days * DAY)
    known: dict[str, tuple[float, float]] = {}
    for name, policy in (("optimum", optimal), ("uniform", uniform), ("proportional", proportional)):
        frequencies = policy(rates, budget)
        least = [max(frequency, 1 / options.days) for frequency in frequencies]  # age within the time simulated
        known[name] = mean_freshness(rates, frequencies), mean_age(rates, least)
    best = known["optimum"][0]
    made = sum(len(moments) - 1 for moments in simulation.visits(200, 304).values())
    rows = [("gossamer, learned", learned.freshness, learned.age / DAY)]
    rows += [(name, fresh, age) for name, (fresh, age) in known.items()]
    print(
        table(
            ["way", "freshness", "of the optimum", "age (days)"],
            [[name, f"{fresh:.4f}", f"{fresh / best:.1%}", f"{age:.2f}"] for name, fresh, age in rows],
        )
    )
    print(
        f"{len(pages):,} pages, {budget:,.0f} visits a day, {options.days} days in {seconds:.0f} s;"
        f" judged over the last {options.window} days. Visits made: {made:,} of {budget * options.days:,.0f}."
        f" Its own estimate at the end: {simulation.progress.freshness:.3f}."
    )
    return {
        "pages": len(pages), "days": options.days, "budget": budget, "rows": rows, "step": options.step,
        "learned": [(one.freshness, one.age / DAY) for one in by_step], "policies": known, "visits": made,
        "estimate": simulation.progress.freshness,
    }  # fmt: skip


def budgets(options: argparse.Namespace) -> dict[str, object]:
    """Few visits and many, where rates are lognormal: freshness as a share of the optimum, in the second and the last
    third of the time; and the share of the visits that were made, in each third.
    """
    options = argparse.Namespace(**{**vars(options), **FEW})
    heads = ["days", "visits a day and page", "uniform", "knows the spread", "gossamer", "visits made"]
    rows, cells = [], []
    for median, budget in product(MEDIANS, BUDGETS):
        row = _with_budget(options, Change(**PLAIN, median=1 / median, kinship=0.0), budget)
        shares = [", ".join(f"{share:.1%}" for share in row[name]) for name in ("watcher", "gossamer", "made")]
        rows.append(row)
        cells.append([f"{median}", f"{budget:g}", f"{row['uniform']:.1%}", *shares])
        print(*cells[-1], sep="  ", file=sys.stderr)  # as each takes a while
    print(table(heads, cells))
    return {"rows": rows}


def _with_budget(options: argparse.Namespace, change: Change, budget: float) -> dict[str, Any]:
    a_day = budget * options.pages
    settings = {"fresh.revisit_rate": a_day / DAY, "fresh.max_interval": "30d"}  # as it is without settings
    simulation = Simulation(options, change, **settings)
    simulation.run(options.days * DAY)
    world, pages = simulation.world, simulation.pages
    rates = [world.changes_per_day(world.host(host), page) for host, page in pages]
    best = mean_freshness(rates, optimal(rates, a_day))
    watched = _watched(simulation, change, a_day)
    third = options.days / 3 * DAY
    thirds = [(START + number * third, START + (number + 1) * third) for number in range(3)]
    visits = sorted(moment for moments in simulation.visits(200, 304).values() for moment in sorted(moments)[1:])
    return {
        "median": 1 / change.median, "budget": budget,
        "uniform": mean_freshness(rates, uniform(rates, a_day)) / best,
        "watcher": [simulation.judged_by(watched, *part).freshness / best for part in thirds[1:]],
        "gossamer": [simulation.judged(*part).freshness / best for part in thirds[1:]],
        "made": [
            (bisect_right(visits, end) - bisect_right(visits, start)) / (end - start) * DAY / a_day
            for start, end in thirds
        ],
    }  # fmt: skip


def _watched(simulation: Simulation, change: Change, a_day: float) -> list[list[float]]:
    """Visits of one who knows how rates are spread, and not which page has which: each hour to the pages where one is
    worth most, by all that was seen of each.
    """
    world, end = simulation.world, START + simulation.days * DAY
    changes = [world.changes(world.host(host), page, START, end) for host, page in simulation.pages]
    levels = [NormalDist().inv_cdf((step + 0.5) / RATES_TOLD_APART) for step in range(RATES_TOLD_APART)]
    rates = change.median / DAY * np.exp(change.sigma * np.array(levels))
    likely = np.full((len(changes), RATES_TOLD_APART), 1 / RATES_TOLD_APART)
    last = np.full(len(changes), START)
    visits = [[START] for _ in changes]
    saved = 0.0
    for hour in range(1, round(simulation.days * DAY / HOUR)):
        now = START + hour * HOUR
        saved += a_day * HOUR / DAY
        passed = rates * (now - last)[:, None]
        same = np.exp(-passed)
        worth = (likely * (1 - same - passed * same) / rates).sum(axis=1)
        for page in np.argsort(-worth)[: int(saved)]:
            has_changed = bisect_right(changes[page], now) > bisect_right(changes[page], last[page])
            likely[page] *= 1 - same[page] if has_changed else same[page]
            likely[page] /= likely[page].sum()
            last[page] = now
            visits[page].append(now)
        saved -= int(saved)
    return visits


def bandwidth(options: argparse.Namespace) -> dict[str, object]:
    """Bytes sent when a twentieth of the pages changes each day, beside what plain requests would have taken."""
    change = Change(**{**PLAIN, "slowest": 0.05, "fastest": 0.0501})
    simulation = Simulation(options, change, **{"fresh.min_interval": "1d", "fresh.max_interval": "1d"})
    simulation.run(options.bandwidth_days * DAY)
    sizes: dict[str, list[int]] = defaultdict(list)
    for arrival in simulation.log.arrivals:
        if arrival.status == 200 and arrival.path != "/robots.txt":
            sizes[arrival.url].append(arrival.bytes)
    revisits = [
        arrival for arrival in simulation.log.arrivals
        if arrival.path != "/robots.txt" and arrival.wall > START + 0.5 * DAY
    ]  # fmt: skip
    sent = sum(arrival.bytes for arrival in revisits)
    plain = sum(sum(sizes[arrival.url]) / len(sizes[arrival.url]) for arrival in revisits)
    unmodified = sum(arrival.status == 304 for arrival in revisits)
    print(
        table(
            ["", "requests", "bytes"],
            [
                ["as it was", f"{len(revisits):,}", f"{sent:,}"],
                ["always the whole page", f"{len(revisits):,}", f"{plain:,.0f}"],
                ["share", f"{unmodified / len(revisits):.1%} unmodified", f"{sent / plain:.1%}"],
            ],
        )
    )
    return {"requests": len(revisits), "sent": sent, "plain": plain, "share": sent / plain}


def lying(options: argparse.Namespace) -> dict[str, object]:
    """How fresh hosts are kept by what they say of themselves: liars no less than others."""
    change = replace(Change(**PLAIN), liars=0.6, noisy=0.25, slowest=0.02, fastest=2.0)
    budget = options.budget * options.pages
    simulation = Simulation(options, change, **{"fresh.revisit_rate": 2 * budget / DAY})
    simulation.run(options.days * DAY)
    world, visits, brought = simulation.world, simulation.visits(200, 304), simulation.visits(200)
    asked: defaultdict[str, list[bool]] = defaultdict(list)
    for arrival in simulation.log.arrivals:
        host = world.find(arrival.host)
        if host is not None and arrival.wall > START + DAY:
            asked[host.honesty].append(arrival.conditional)
    groups: defaultdict[str, list[tuple[Held, float]]] = defaultdict(list)
    rates: defaultdict[str, list[float]] = defaultdict(list)
    made: defaultdict[str, int] = defaultdict(int)
    start, end = START + (options.days - options.window) * DAY, START + options.days * DAY
    for index, page in simulation.pages:
        host = world.host(index)
        copies = brought.get((index, page), [])
        changes = world.changes(host, page, min(copies, default=start), end)
        groups[host.honesty].append((held(changes, copies, start, end), 1.0))
        rates[host.honesty].append(world.changes_per_day(host, page))
        made[host.honesty] += sum(moment > start for moment in visits.get((index, page), []))
    rows = []
    for honesty in sorted(groups):
        found = judged(groups[honesty])
        share = sum(asked[honesty]) / max(len(asked[honesty]), 1)
        a_day = made[honesty] / options.window
        best = mean_freshness(rates[honesty], optimal(rates[honesty], a_day))
        cells = f"{found.pages:,}", f"{a_day:,.0f}", f"{found.freshness:.3f}", f"{found.freshness / best:.1%}"
        rows.append([honesty, *cells, f"{found.age / DAY:.2f}", f"{share:.1%}"])
    heads = [
        "hosts",
        "pages",
        "visits a day",
        "freshness",
        "of the optimum for these",
        "age (days)",
        "asked with validators",
    ]
    print(table(heads, rows))
    return {"rows": rows}


def news(options: argparse.Namespace) -> dict[str, object]:
    """How soon new pages are found that hubs announce: in days from their birth to their first visit."""
    budget = options.budget * options.pages
    change = replace(Change(**PLAIN), births=Change().births)
    simulation = Simulation(options, change, **{"fresh.revisit_rate": budget / DAY})
    simulation.run(options.days * DAY)
    world, visits = simulation.world, simulation.visits(200)
    last = START + options.days * DAY
    born = [
        (moment, (host, page))
        for host in range(world.hosts)
        for moment, page in world.births(world.host(host), START + DAY, last - 10 * DAY)
    ]
    waits = sorted(min(visits[page]) - moment for moment, page in born if page in visits)
    middle, most = (waits[int(len(waits) * share)] / DAY for share in (0.5, 0.9))
    even = 1 / options.budget
    print(
        table(
            ["", "found", "half within (days)", "nine of ten within"],
            [
                ["gossamer", f"{len(waits) / len(born):.1%} of {len(born):,}", f"{middle:.1f}", f"{most:.1f}"],
                ["all pages visited alike", "", f"{even / 2:.1f}", f"{even * 0.9:.1f}"],
            ],
        )
    )
    return {"born": len(born), "found": len(waits), "median": middle, "nine": most}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=100)
    parser.add_argument("--pages", type=int, default=10_000, help="of all hosts")
    parser.add_argument("--days", type=int, default=60)
    parser.add_argument("--window", type=int, default=20, help="days at the end that are judged")
    parser.add_argument("--step", type=int, default=5, help="days between two points of the curve")
    parser.add_argument("--budget", type=float, default=0.1, help="visits a day and page")
    parser.add_argument("--exponent", type=float, default=0.3, help="of the power law of rates")
    parser.add_argument("--longest", default="180d", help="fresh.max_interval")
    parser.add_argument("--bandwidth-days", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=("policies", "budgets", "bandwidth", "lying", "news"))
    parser.add_argument("--work", type=Path, default=Path("bench-work"))
    parser.add_argument("--json", type=Path, help="write the figures there")
    options = parser.parse_args(arguments)
    parts = {"policies": against_policies, "budgets": budgets, "bandwidth": bandwidth, "lying": lying, "news": news}
    figures = {}
    for name, part in parts.items():
        if options.only in (None, name):
            print(f"\n{(part.__doc__ or '').splitlines()[0]}")
            figures[name] = part(options)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
