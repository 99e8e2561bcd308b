"""What strategies are worth, on simulated webs whose truth is known.

`focused`: relevant pages among the first 5,000, beside other orders, on a web with topics. `sample`: how far a random
walk is from the truth, over hosts and in-degrees, with and without its weights. Crawls are those that users start.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

from tables import table

from gossamer.testing.web.log import MemoryLog
from gossamer.testing.web.profile import PROFILES, Topics
from gossamer.testing.web.server import Server
from gossamer.testing.web.site import WorldSite
from gossamer.testing.web.truth import Kind, reachable
from gossamer.testing.web.world import World

Weights = Mapping[str, float]


def crawled(world: World, home: Path, seed: str, pages: int, *options: str) -> tuple[list[str], dict[str, Any]]:
    """URLs in the order in which they were asked for, and the crawl's last words."""
    log = MemoryLog()
    server = Server(WorldSite(world), log=log)
    shutil.rmtree(home, ignore_errors=True)
    with server.in_thread():
        command = [
            sys.executable, "-m", "gossamer", "crawl", seed, "--dir", str(home), "--scope", "any", "--allow-private",
            "--connect", server.connect, "--delay", "0", "--no-index", "--json", "--connections", "16",
            "--max-pages", str(pages), *options,
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    urls = [f"http://{arrival.host}{arrival.path}" for arrival in log.arrivals if arrival.path != "/robots.txt"]
    return urls, json.loads(done.stdout.splitlines()[-1])


# -- focused -----------------------------------------------------------------------------------------------------------


def relevance(world: World, topic: int) -> dict[str, bool]:
    """By the truth, not by what a strategy believes."""
    found = {}
    for index in range(world.hosts):
        host = world.host(index)
        for number in range(host.size):
            found[world.url(index, page_path(number))] = world.topic(host, number) == topic
    return found


def page_path(number: int) -> bytes:
    from gossamer.testing.web.paths import page_path as path

    return path(number)


def locality(world: World) -> float:
    """Share of all links, trees included, that lead to a page of the same topic; of a sample of pages."""
    same = total = 0
    for index in range(0, world.hosts, max(1, world.hosts // 200)):
        host = world.host(index)
        for number in range(host.size):
            inside, across, _ = world.graph.links(index, number, host.size)
            about = world.topic(host, number)
            targets = [*((index, page) for page in inside), *across]
            same += sum(world.topic(world.host(other), page) == about for other, page in targets)
            total += len(targets)
    return same / total


def focused(options: argparse.Namespace) -> dict[str, Any]:
    return {f"{share:g}": focused_at(share, options) for share in options.locality}


def focused_at(share: float, options: argparse.Namespace) -> dict[str, Any]:
    topics = Topics(locality=share)
    world = World(options.seed, options.hosts, options.pages, replace(PROFILES["topical"], topics=topics))
    topic = 7
    truth = relevance(world, topic)
    words = ",".join(world.topic_words(topic)[:6])
    seed = world.url(topic)
    runs = {
        "breadth-first": (),
        "importance": ("--strategy", "importance"),
        "focused, not learning": (
            *("--strategy", "focused", "--strategy-option", f"words={words}"),
            *("--strategy-option", "learn=false"),
        ),
        "focused": ("--strategy", "focused", "--strategy-option", f"words={words}"),
    }
    found: dict[str, Any] = {}
    for name, given in runs.items():
        began = monotonic()
        urls, last = crawled(world, options.work / "strategies", seed, options.first, *given)
        relevant, curve = 0, []
        for number, url in enumerate(urls[: options.first], 1):
            relevant += truth[url]
            if number % (options.first // 50) == 0:
                curve.append(relevant)
        found[name] = {
            "relevant": relevant,
            "curve": curve,
            "harvest": last["strategy_figures"].get("harvest"),
            "cpu_us": last["cpu_seconds"] / last["pages"] * 1e6,
            "seconds": monotonic() - began,
        }
        print(f"{name}: {relevant:,} relevant", file=sys.stderr, flush=True)
    base = found["breadth-first"]["relevant"]
    rows = [
        [name, f"{run['relevant']:,}", f"{run['relevant'] / options.first:.1%}", f"{run['relevant'] / base:.1f}",
         "-" if run["harvest"] is None else f"{run['harvest']:.1%}", f"{run['cpu_us']:,.0f}"]
        for name, run in found.items()
    ]  # fmt: skip
    pages = len(truth)
    print(
        f"\n{pages:,} pages of {world.hosts:,} hosts, {sum(truth.values()) / pages:.1%} of them about the topic;"
        f" locality {share:g} of the links that are no tree, {locality(world):.2f} of all;"
        " 6 of 24 words given\n"
    )
    headings = [
        f"the first {options.first:,} pages",
        "relevant",
        "share",
        "times",
        "its own harvest",
        "CPU of a page, µs",
    ]
    print(table(headings, rows))
    return {"first": options.first, "runs": found}


# -- sample ------------------------------------------------------------------------------------------------------------


def sample(options: argparse.Namespace) -> dict[str, Any]:
    return {profile: sample_of(profile, options) for profile in ("plain", "realistic")}


def sample_of(profile: str, options: argparse.Namespace) -> dict[str, Any]:
    world = World(options.seed, options.sample_hosts, options.sample_pages, profile, faults=0.0)
    seed = world.url(0)
    expected = reachable(world, [seed], sitemaps=False)
    population = {url for url, each in expected.items() if each.kind is Kind.OK and not each.mirrored}
    incoming = in_degrees(world, population)
    met = options.met
    given = [f"pages={met}", "walkers=64"]
    home = options.work / "strategies"
    _, last = crawled(
        world, home, seed, 10 * met, "--strategy", "random-walk", "--config", str(no_sitemaps(options.work)),
        *(word for each in given for word in ("--strategy-option", each)),
    )  # fmt: skip
    results = home / "strategy" / "random-walk-results.jsonl"
    lines = [line for line in map(json.loads, results.read_text().splitlines()) if line["url"] in population]
    raw = {line["url"]: float(line["visits"]) for line in lines}
    weighted = {line["url"]: line["weight"] for line in lines}
    early, _ = crawled(world, home, seed, met, "--config", str(no_sitemaps(options.work)))
    chosen = random.Random(options.seed).sample(sorted(population), min(met, len(population)))
    uniform = dict.fromkeys(population, 1.0)
    rows = []
    for name, weights in {
        "breadth-first, as many pages": dict.fromkeys((url for url in early if url in population), 1.0),
        "random walk, as it went": raw,
        "random walk, weighted": weighted,
        "a uniform sample of as many pages": dict.fromkeys(chosen, 1.0),
    }.items():
        hosts, degrees = variation(weights, uniform, host_of), smirnov(weights, uniform, incoming)
        mean = sum(incoming[url] * weight for url, weight in weights.items()) / sum(weights.values())
        rows.append([name, f"{len(weights):,}", f"{hosts:.3f}", f"{degrees:.3f}", f"{mean:.2f}"])
    truth_mean, figures = sum(incoming.values()) / len(population), last["strategy_figures"]
    hosts_known = len({host_of(url) for url in population})
    print(
        f"\n{profile}: {len(population):,} pages of {hosts_known:,} hosts; {last['pages']:,} fetched,"
        f" {figures['steps']:,} steps; {figures['pages_estimated']:,} pages estimated;"
        f" mean in-degree {truth_mean:.2f}\n"
    )
    print(table(["sample", "pages", "hosts, total variation", "in-degree, KS", "mean in-degree"], rows))
    return {"rows": rows}


def no_sitemaps(work: Path) -> Path:
    """Pages are found by links alone, and none is left because it repeats another."""
    work.mkdir(parents=True, exist_ok=True)
    file = work / "strategies.toml"
    file.write_text('[parse]\nsitemaps = false\n[policy]\nduplicates = "follow"\n')
    return file


def in_degrees(world: World, population: set[str]) -> dict[str, int]:
    """Pages of the population that link to each."""
    found = dict.fromkeys(population, 0)
    for url in population:
        name, _, path = url.removeprefix("http://").partition("/")
        host = world.find(name)
        resource = None if host is None else world.resource(host, f"/{path}".encode())
        if host is None or resource is None:
            continue
        for target in {world.url(other, there) for other, there in world.links(host, resource)}:
            if target in found and target != url:
                found[target] += 1
    return found


def host_of(url: str) -> str:
    return url.split("/")[2]


def shares(weights: Weights, key: Any) -> dict[Any, float]:
    found: dict[Any, float] = {}
    total = sum(weights.values())
    for url, weight in weights.items():
        name = key(url)
        found[name] = found.get(name, 0.0) + weight / total
    return found


def variation(one: Weights, other: Weights, key: Any) -> float:
    """Total variation distance: half of what differs."""
    left, right = shares(one, key), shares(other, key)
    return sum(abs(left.get(name, 0.0) - right.get(name, 0.0)) for name in left.keys() | right.keys()) / 2


def smirnov(one: Weights, other: Weights, value: Mapping[str, int]) -> float:
    """Kolmogorov and Smirnov's: the largest distance between two cumulative distributions."""
    left, right = shares(one, value.__getitem__), shares(other, value.__getitem__)
    largest = below = above = 0.0
    for number in sorted(left.keys() | right.keys()):
        below, above = below + left.get(number, 0.0), above + right.get(number, 0.0)
        largest = max(largest, abs(below - above))
    return largest


def main(arguments: Iterable[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="*", default=["focused", "sample"], help="focused, sample")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--hosts", type=int, default=4_000)
    parser.add_argument("--pages", type=int, default=50)
    parser.add_argument("--first", type=int, default=5_000)
    parser.add_argument("--locality", type=float, nargs="+", default=[0.3, 0.5, 0.7])
    parser.add_argument("--sample-hosts", type=int, default=200)
    parser.add_argument("--sample-pages", type=int, default=100)
    parser.add_argument("--met", type=int, default=4_000, help="pages that the walk meets")
    parser.add_argument("--work", type=Path, default=Path("bench-work"))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(None if arguments is None else list(arguments))
    figures: dict[str, Any] = {}
    programs: Sequence[Any] = [globals()[name] for name in options.what if name in ("focused", "sample")]
    for program in programs:
        figures[program.__name__] = program(options)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
