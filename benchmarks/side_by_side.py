"""Gossamer and its peers on the same web, one after the other, on the same core.

A static web is written to memory and served by nginx on one core; each crawler runs on another. CPU is user and system
time of the whole process, its start included. Pages a second are over the time the crawler itself gives for its crawl;
wget2 gives none, so its whole run counts. With several runs the crawlers take turns, and the best of each counts: what
else the machine does can only make a run slower.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import nginx
from crawlers import PEERS, Crawler, Failed, Gossamer, PythonPeer, Run, memory_folder
from machine import cores, description, load
from processes import tidy_when_terminated
from static_web import Hosts, StaticWeb
from tables import figure, table

PACKAGES = ("pycurl", "uvloop", "rocksdict", "isal", "resiliparse", "ada-url", "msgspec")


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser, 15_000)
    parser.add_argument("--hosts", type=int, default=100, help="hosts of the web (100)")
    parser.add_argument("--pages", type=int, default=200, help="pages of a host (200)")
    return parser.parse_args(given)


def add_arguments(parser: argparse.ArgumentParser, pages: int) -> None:
    """What every comparison of crawlers can be told; `pages` is how many gossamer fetches by default."""
    parser.add_argument("--runs", type=int, default=1, help="how often each crawler runs; they take turns (1)")
    peers = ",".join(peer.name for peer in PEERS)
    parser.add_argument("--peers", default=peers, help="which, if installed (all); '' for none")
    parser.add_argument("--max-pages", type=int, default=pages, help=f"pages that gossamer fetches ({pages})")
    parser.add_argument(
        "--scrapy-pages", type=int, default=3_000, help="pages that scrapy and crawlee fetch: they are slow (3000)"
    )
    parser.add_argument("--gossamer", default="", metavar="CMD", help="the command to run, if not that of this Python")
    parser.add_argument("--work", type=Path, default=Path("bench-work"), help="crawls are written here (bench-work)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every run to this file")


def crawlers_of(options: argparse.Namespace, web: Hosts, work: Path, core: int | None) -> list[Crawler]:
    """Gossamer and those peers that are asked for and installed; of the others it is said how to get them."""
    wanted = {name.strip() for name in options.peers.split(",") if name.strip()}
    known = {peer.name for peer in PEERS}
    if wanted - known:
        sys.exit(f"--peers: {', '.join(sorted(wanted - known))} is not known; there are {', '.join(sorted(known))}")
    found: list[Crawler] = [Gossamer(web, work, core, options.max_pages, options.gossamer)]
    for kind in PEERS:
        if kind.name not in wanted:
            continue
        peer = kind(web, work, core, options.scrapy_pages if issubclass(kind, PythonPeer) else options.max_pages)
        if why := peer.missing():
            print(f"{peer.name} is left out: {why}")
        else:
            found.append(peer)
    return found


def take_turns(crawlers: Sequence[Crawler], runs: int) -> dict[str, list[Run]]:
    results: dict[str, list[Run]] = {crawler.name: [] for crawler in crawlers}
    for number in range(1, runs + 1):
        for crawler in crawlers:
            busy = load()
            try:
                run = crawler.run()
            except Failed as failure:
                if crawler.name == "gossamer":
                    raise
                print(f"run {number}: {failure}", flush=True)
                continue
            results[crawler.name].append(run)
            print(
                f"run {number}: {crawler.name:10} {run.pages:6,} pages, {run.pages_per_s:8,.0f} pages/s, "
                f"{run.cpu_us_per_page:7,.1f} µs CPU a page (load average before {busy:.2f})",
                flush=True,
            )
    return results


def rows_of(crawlers: Sequence[Crawler], results: Mapping[str, Sequence[Run]]) -> list[list[str]]:
    """One row a crawler: its best runs, and CPU a page as a multiple of gossamer's."""
    rows = []
    ours = min(run.cpu_us_per_page for run in results["gossamer"])
    for crawler in crawlers:
        runs = results[crawler.name]
        if not runs:
            continue
        cpu = sorted(run.cpu_us_per_page for run in runs)
        rows.append(
            [
                crawler.name,
                f"{runs[0].pages:,}",
                figure(max(run.pages_per_s for run in runs)),
                figure(cpu[0]),
                figure(cpu[-1]),
                f"{cpu[0] / ours:.2f}",
                f"{max(run.peak_rss for run in runs) / 1e6:,.0f} MB",
                crawler.keeps,
            ]
        )
    return rows


def stage_rows(runs: Sequence[Run], stages: Sequence[Mapping[str, float]]) -> list[list[str]]:
    """Where the time of gossamer's fastest run went, by the clock; what no stage counts is the last row."""
    run, split = max(zip(runs, stages, strict=True), key=lambda pair: pair[0].pages_per_s)
    whole = 1e6 / run.pages_per_s
    rows = [[name, figure(cost), f"{cost / whole:.0%}"] for name, cost in split.items() if cost]
    rest = whole - sum(split.values())
    uncounted = ", ".join([*(name for name, cost in split.items() if not cost), "loop", "waiting"])
    return [*rows, [uncounted, figure(rest), f"{rest / whole:.0%}"]]


def as_data(crawlers: Sequence[Crawler], results: Mapping[str, Sequence[Run]], stages: Sequence[Any]) -> dict[str, Any]:
    return {
        "machine": description(PACKAGES),
        "crawlers": {
            crawler.name: {
                "version": crawler.version(),
                "runs": [
                    {**run._asdict(), "pages_per_s": run.pages_per_s, "cpu_us_per_page": run.cpu_us_per_page}
                    for run in results[crawler.name]
                ],
            }
            for crawler in crawlers
        },
        "stages": list(stages),
    }


def cores_apart() -> tuple[int | None, int | None]:
    """One for the server and one for the crawlers; none with one core."""
    usable = cores()
    if len(usable) > 1:
        return usable[0], usable[1]
    print("one core only: nothing is pinned, and the server's work is in the crawlers' way")
    return None, None


def tell(options: argparse.Namespace, crawlers: Sequence[Crawler], results: Mapping[str, Sequence[Run]]) -> None:
    """The tables, and the file if one is asked for."""
    ours = crawlers[0]
    assert isinstance(ours, Gossamer)
    headings = ["crawler", "pages", "pages/s", "CPU µs/page", "worst", "x gossamer", "peak RSS", "keeps"]
    print("\n" + table(headings, rows_of(crawlers, results)))
    print(f"\nbest of {options.runs}; versions: " + ", ".join(f"{c.name} {c.version()}" for c in crawlers))
    print(
        "\n"
        + table(["stage of gossamer, by the clock", "µs/page", "share"], stage_rows(results["gossamer"], ours.stages))
    )
    if options.json:
        options.json.write_text(json.dumps(as_data(crawlers, results, ours.stages), indent=1) + "\n")


def main() -> int:
    options = arguments()
    tidy_when_terminated()
    if nginx.program() is None:
        print(nginx.INSTALL, file=sys.stderr)
        return 2
    print(description(PACKAGES))
    server_core, crawler_core = cores_apart()
    work = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    with memory_folder() as folder:
        folder.chmod(0o755)  # nginx started by root reads as another user
        web = StaticWeb(options.hosts, options.pages, nginx.free_port())
        size = web.write(folder / "web")
        print(f"web: {web.hosts} hosts x {web.pages} pages, {size / 1e6:,.0f} MB; nginx {nginx.version()}", flush=True)
        crawlers = crawlers_of(options, web, work, crawler_core)
        with nginx.serving(web, folder / "web", folder, server_core):
            results = take_turns(crawlers, options.runs)
    tell(options, crawlers, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
