"""`gossamer rank` on a large graph: time, peak memory and disk; and what it costs to keep a link.

A small simulated web is crawled, so that there is a crawl. Then its link graph is filled with generated pages, frame by
frame, in the format that the index process writes: ten links a page on average, a third of them within the host, the
others to pages drawn by a power law (in-degrees fall with an exponent of about 2.3; the most linked page has a
fiftieth of all links), a hundred pages a host, one page in ten only linked to. Then `gossamer rank` runs as a user runs
it. `--keep` pages are put into frames one by one, as the index process does it, which gives the cost of a link.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from machine import description, load
from processes import Finished, finish, tidy_when_terminated
from tables import figure, table

from gossamer.graph.frame import Rows, moment_of, packed_frame
from gossamer.graph.log import GraphLog
from gossamer.testing import SimServer, World

_PACKAGES = ("numpy", "duckdb", "xxhash", "msgspec")
_MOST_MEMORY = 2e9
_FRAME = 50_000  # pages
_ON_HOST = 100  # pages
_WITHIN = 0.33  # links that stay on their host
_POWER = 4.0
_STORED = 0.9


def crawled(folder: Path) -> Path:
    home = folder / "crawl"
    world = World(5, 2, 20, "plain")
    with SimServer.running(world) as server:
        run([
            "crawl", world.url(0), "--dir", str(home), "--delay", "0", "--scope", "any", "--allow-private",
            "--connect", server.connect, "--no-index",
        ], folder)  # fmt: skip
    run(["rank", "--dir", str(home)], folder)
    return home


def run(arguments: list[str], folder: Path) -> Finished:
    done = finish([sys.executable, "-m", "gossamer", *arguments], folder, None, 7200.0)
    if done.status:
        raise RuntimeError(f"gossamer ended with status {done.status}: {done.errors[-2000:]}")
    return done


def urls_of(numbers: np.ndarray) -> bytes:
    """In the order of their numbers. Four hosts have one domain."""
    return "\n".join(
        [f"http://h{n // _ON_HOST % 4}.d{n // _ON_HOST // 4:06d}.test/page-{n:09d}.html" for n in numbers.tolist()]
    ).encode()


def drawn(draw: np.random.Generator, first: int, last: int, pages: int, per_page: float) -> np.ndarray:
    """Links of these pages, as pairs of numbers in one: each once, none to the page itself."""
    sources = np.repeat(np.arange(first, last), draw.poisson(per_page, last - first))
    anywhere = (pages * draw.random(len(sources)) ** _POWER).astype(np.int64)
    scattered = (anywhere * 7_368_787) % pages  # the most linked ones are not all on the first hosts
    within = sources // _ON_HOST * _ON_HOST + draw.integers(0, _ON_HOST, len(sources))
    targets = np.minimum(np.where(draw.random(len(sources)) < _WITHIN, within, scattered), pages - 1)
    other = targets != sources
    return np.unique(sources[other].astype(np.uint64) << np.uint64(32) | targets[other].astype(np.uint64))


def fill(home: Path, pages: int, links: int) -> tuple[int, int]:
    """Generated frames; how many links and bytes they have."""
    draw = np.random.default_rng(11)
    log = GraphLog(home / "graph")
    assert log.take()
    stored = int(pages * _STORED)
    made, size = 0, 0
    for first in range(0, stored, _FRAME):
        last = min(first + _FRAME, stored)
        pairs = drawn(draw, first, last, pages, links / stored * 1.012)
        sources, targets = (pairs >> np.uint64(32)).astype(np.int64), (pairs & np.uint64(0xFFFFFFFF)).astype(np.int64)
        numbers = np.union1d(targets, np.arange(first, last))
        places = np.searchsorted(numbers, targets)
        counts = np.bincount(sources - first, minlength=last - first).astype(np.uint32)
        steps = np.diff(places, prepend=0)
        begins = (np.cumsum(counts) - counts)[counts > 0]
        steps[begins] = places[begins]
        moments = np.array([moment_of(1.8e9 + n / 1000, 0) for n in range(first, last)], np.uint64)
        columns = (np.searchsorted(numbers, np.arange(first, last)).astype(np.uint32), moments, counts)
        frame = packed_frame(log.position, urls_of(numbers), *columns, steps.astype(np.uint32))
        log.append_frame(frame, log.position)
        made, size = made + len(pairs), size + len(frame)
    log.close()
    return made, size


def keep_cost(pages: int, commit: int = 500) -> str:
    """Pages that come one by one, as the index process has them; a frame for each commit."""
    draw = np.random.default_rng(12)
    pairs = drawn(draw, 0, pages, 10 * pages, 20.0)
    sources, targets = (pairs >> np.uint64(32)).astype(np.int64), (pairs & np.uint64(0xFFFFFFFF)).astype(np.int64)
    cuts = np.searchsorted(sources, np.arange(pages + 1))
    texts = [urls_of(targets[cuts[n] : cuts[n + 1]]).decode().split("\n") for n in range(pages)]
    names = urls_of(np.arange(pages)).decode().split("\n")
    size, began = 0, time.process_time()
    rows = Rows()
    for number, name in enumerate(names, 1):
        rows.add(name, moment_of(1.8e9, number), texts[number - 1])
        if number % commit == 0 or number == pages:
            size += len(rows.pack(b"position"))
            rows = Rows()
    seconds = time.process_time() - began
    links = len(pairs)
    return (
        f"keeping {links:,} links of {pages:,} pages, {commit} in a frame: {seconds / pages * 1e6:.0f} µs of CPU a"
        f" page, {seconds / links * 1e6:.2f} µs a link, {size / links:.1f} bytes a link"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=float, default=1e7)
    parser.add_argument("--links", type=float, default=1e8)
    parser.add_argument("--keep", type=int, default=20_000, help="pages that are kept one by one; 0: none")
    parser.add_argument("--work", type=Path, help="folder for the crawl; a temporary one without it")
    arguments = parser.parse_args()
    tidy_when_terminated()
    print(description(_PACKAGES), flush=True)
    folder = Path(tempfile.mkdtemp(prefix="gossamer-bench-", dir=arguments.work))
    try:
        if arguments.keep:
            print(keep_cost(arguments.keep), flush=True)
        home = crawled(folder)
        began = time.perf_counter()
        links, size = fill(home, int(arguments.pages), int(arguments.links))
        print(
            f"{links:,} links made in {time.perf_counter() - began:,.0f} s, {size / links:.1f} bytes each", flush=True
        )
        done = run(["rank", "--dir", str(home), "--json"], folder)
        found = json.loads(done.output)
        result = sum(path.stat().st_size for path in (home / "rank").iterdir())
        rows = [
            [kind, f"{level['nodes']:,}", f"{level['links']:,}", str(level["rounds"]), f"{level['change']:.1e}"]
            for kind, level in found["levels"].items()
        ]
        print(table(["", "number", "links between them", "rounds", "last change"], rows))
        print(
            f"{done.seconds:,.0f} s, {done.cpu_seconds:,.0f} s of CPU, {figure(done.peak_rss / 1e6)} MB at the peak;"
            f" result {result / 1e6:,.0f} MB; load {load():.1f}"
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0 if done.peak_rss <= _MOST_MEMORY and found["levels"]["pages"]["links"] >= 0.99 * arguments.links else 1


if __name__ == "__main__":
    sys.exit(main())
