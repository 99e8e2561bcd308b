"""Speed of a crawl by agents and connections, and how evenly agents share the web.

For each number of agents and connections the same simulated web, whose servers take `--latency` milliseconds, is
crawled without delay. Speed is judged by the log of that web, between 15 and 85 % of its pages, so that the start of
broker and agents does not count. Balance is counted twice: what each agent of these crawls had at its end, and what 2
to 10 agents would have of a large uneven web. Everything is written as a table, to `--json`, and as a picture.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from html import escape
from pathlib import Path
from typing import Any, Final

from crawlers import last_json
from curve_plot import Line, panel
from machine import description
from processes import finish, tidy_when_terminated
from simulated_web import Arrival, SimulatedWeb
from tables import figure, table

from gossamer.agent import read_visits
from gossamer.cluster.plan import make_plan
from gossamer.model import State
from gossamer.model.url import host_of
from gossamer.rules.territory import Territory
from gossamer.testing import World

_WINDOW: Final = (0.15, 0.85)
_PARTITIONS: Final = 256
_COLOURS: Final = ("#1d4ed8", "#b45309", "#2e7d32", "#6b7280")
_SHARED: Final = range(2, 11)  # agents among which the large web is divided


def speed(arrivals: list[Arrival]) -> float:
    """Return the pages a second between the two moments of the window."""
    times = sorted(arrival.time for arrival in arrivals if arrival.path != "/robots.txt")
    first, last = (int(len(times) * share) for share in _WINDOW)
    return (last - first) / (times[last] - times[first])


def shares(home: Path, agents: int) -> dict[str, list[int]]:
    """Return what each agent had in the end: URLs, hosts and stored pages."""
    found: dict[str, list[int]] = {"urls": [], "hosts": [], "pages": []}
    for number in range(1, agents + 1):
        visits = list(read_visits(home / "agents" / f"a{number}" if agents > 1 else home))
        found["urls"].append(len(visits))
        found["hosts"].append(len({host_of(visit.url) for visit in visits}))
        found["pages"].append(sum(visit.state is State.FETCHED for visit in visits))
    return found


def run(agents: int, connections: int, options: argparse.Namespace, work: Path) -> dict[str, Any]:
    web = SimulatedWeb(options.hosts, options.pages, work / "arrivals.jsonl", "--latency", str(options.latency))
    home = work / "crawl"
    with web.served():
        words = web.crawl(home, "--delay", "0", "--connections", str(connections), "--agents", str(agents))
        done = finish(words, work)
    said = last_json(done.output)
    if said.get("pages") != options.hosts * options.pages:
        raise SystemExit(f"{agents} agents fetched {said.get('pages')} pages: {done.errors[-2000:]}")
    return {
        "agents": agents,
        "connections": connections,
        "speed": speed(web.arrivals()),
        "cpu_us": 1e6 * said["cpu_seconds"] / said["pages"],
        "peak_rss": done.peak_rss,
        "shares": shares(home, agents),
    }


def balance(hosts: int) -> list[dict[str, Any]]:
    """Return the largest and the smallest share of 2 to 10 agents of an uneven web, where 1 is a fair one."""
    world = World(hosts=hosts, pages=50, profile="realistic")
    territory = Territory(_PARTITIONS)
    urls: Counter[int] = Counter()
    names: Counter[int] = Counter()
    for index in range(hosts):
        host = world.host(index)
        partition = territory.partition(host.name)
        urls[partition] += host.size
        names[partition] += 1
    rows = []
    for number in _SHARED:
        plan = make_plan(territory.partitions, {f"a{agent}": 1.0 for agent in range(number)})
        row: dict[str, Any] = {"agents": number}
        for kind, weights in (("urls", urls), ("hosts", names)):
            has = [sum(weights[partition] for partition in plan.partitions(agent)) for agent in plan.agents]
            fair = sum(has) / number
            row[kind] = {"largest": max(has) / fair, "smallest": min(has) / fair}
        rows.append(row)
    return rows


def tables(figures: dict[str, Any]) -> str:
    speeds = [
        [
            f"{row['agents']} x {row['connections']}",
            figure(row["speed"]),
            figure(row["cpu_us"]),
            figure(row["peak_rss"] / 1e6),
            *(
                figure(max(row["shares"][kind]) * row["agents"] / sum(row["shares"][kind]))
                for kind in ("urls", "hosts")
            ),
        ]
        for row in figures["runs"]
    ]
    balanced = [
        [str(row["agents"]), *(figure(row[kind][end]) for kind in ("urls", "hosts") for end in ("largest", "smallest"))]
        for row in figures["balance"]
    ]
    first = table(
        ["agents x connections", "pages/s", "CPU of a page, µs", "largest process, MB", "most URLs", "most hosts"],
        speeds,
    )
    second = table(["agents", "most URLs", "fewest URLs", "most hosts", "fewest hosts"], balanced)
    return f"{first}\n\nShares, where 1 is a fair one:\n\n{second}"


def plotted(figures: dict[str, Any]) -> str:
    """Return the picture: speed, CPU and memory by agents, a line for each number of connections, and the balance."""
    runs = figures["runs"]
    agents = sorted({row["agents"] for row in runs})
    connections = sorted({row["connections"] for row in runs})

    def lines(field: str, scale: float = 1.0) -> list[Line]:
        found = {(row["agents"], row["connections"]): row[field] * scale for row in runs}
        return [
            Line(f"{number} connections", _COLOURS[place % len(_COLOURS)], [found[each, number] for each in agents])
            for place, number in enumerate(connections)
        ]

    shared = [row["agents"] for row in figures["balance"]]
    balanced = [
        Line(f"{end} share of URLs", colour, [100 * row["urls"][end] for row in figures["balance"]])
        for end, colour in zip(("largest", "smallest"), _COLOURS, strict=False)
    ]
    title = "Speed, CPU and memory of a crawl by its agents and connections, and how evenly agents share the web"
    return "\n".join(
        [
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 820 680" font-family="system-ui, sans-serif"'
            ' font-size="13" role="img">',
            f"<title>{escape(title)}</title>",
            '<rect width="820" height="680" fill="#ffffff"/>',
            *panel(62, "pages a second", "agents", agents, lines("speed")),
            *panel(468, "CPU of a page, µs", "agents", agents, lines("cpu_us")),
            '<g transform="translate(0 340)">',
            *panel(62, "largest process, MB", "agents", agents, lines("peak_rss", 1e-6)),
            *panel(468, "share, % of a fair one", "agents", shared, balanced),
            "</g>",
            "</svg>",
            "",
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", type=int, nargs="+", default=[1, 2, 3, 4], help="numbers of agents (1 2 3 4)")
    parser.add_argument("--connections", type=int, nargs="+", default=[50, 300], help="of the whole crawl (50 300)")
    parser.add_argument("--hosts", type=int, default=600, help="of the simulated web (600)")
    parser.add_argument("--pages", type=int, default=40, help="of a host (40)")
    parser.add_argument("--latency", type=float, default=100.0, help="milliseconds before each response (100)")
    parser.add_argument("--large", type=int, default=20_000, help="hosts of the web that is only divided (20,000)")
    parser.add_argument("--work", type=Path, default=Path("bench-work"), help="everything is written here (bench-work)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="the figures")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="an SVG")
    options = parser.parse_args()
    tidy_when_terminated()
    options.work.mkdir(parents=True, exist_ok=True)
    figures: dict[str, Any] = {"machine": description(), "runs": [], "balance": balance(options.large)}
    for agents in options.agents:
        for connections in options.connections:
            with tempfile.TemporaryDirectory(prefix="agents-", dir=options.work.resolve()) as work:
                figures["runs"].append(run(agents, connections, options, Path(work)))
            print(
                f"{agents} agents, {connections} connections: {figures['runs'][-1]['speed']:,.0f} pages/s", flush=True
            )
    print(f"\n{tables(figures)}")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    if options.picture:
        options.picture.write_text(plotted(figures), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
