"""One agent and a million pages of the simulated web: what a page costs at the end, beside what it cost at first.

The crawl runs on one core, the simulated web on another. The lines in which the crawl tells its progress say how many
pages there are; CPU (user and system) and resident memory of its process are read as each line comes. Between two
lines both are taken to grow evenly. What it says at its end has the last page, and what ending costs.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from cluster.crew import cpu_seconds
from crawlers import last_json
from machine import cores, description, load
from processes import pinned, resident, tidy_when_terminated
from simulated_web import SimulatedWeb
from tables import figure, table

_MOST_MEMORY = 400e6  # bytes
_MOST_GROWTH = 1.10  # times the CPU a page of the first part
_PAGES = re.compile(r"([\d,]+)(?: / [\d,]+)? pages · ")
_SECONDS = re.compile(r"(?:(\d+) h )?(?:(\d+) min )?([\d.]+) s · ")


class Moment(NamedTuple):
    """Of a crawl, by its own clock."""

    seconds: float
    pages: int
    cpu: float
    memory: int
    merging: float = 0.0  # of `cpu`, in threads of the database


class Part(NamedTuple):
    """So many pages of it, up to the last one."""

    last: int
    cpu_us: float
    pages_per_s: float
    memory: int  # at most
    merging_us: float


def read_line(line: str) -> tuple[float, int] | None:
    """Seconds and pages of a line of progress; None for any other."""
    pages, clock = _PAGES.search(line), _SECONDS.match(line)
    if pages is None or clock is None:
        return None
    hours, minutes, seconds = (float(part or 0) for part in clock.groups())
    return 3600 * hours + 60 * minutes + seconds, int(pages[1].replace(",", ""))


def at(moments: Sequence[Moment], pages: int) -> Moment:
    """When there were so many pages; the first and the last moment bound it."""
    before = moments[0]
    for after in moments:
        if after.pages >= pages:
            span = after.pages - before.pages
            share = (pages - before.pages) / span if span else 1.0
            return Moment(
                before.seconds + share * (after.seconds - before.seconds),
                pages,
                before.cpu + share * (after.cpu - before.cpu),
                max(before.memory, after.memory),
                before.merging + share * (after.merging - before.merging),
            )
        before = after
    return moments[-1]


def parts_of(moments: Sequence[Moment], size: int) -> list[Part]:
    """Whole parts of `size` pages each."""
    found = []
    for last in range(size, moments[-1].pages + 1, size):
        begin, end = at(moments, last - size), at(moments, last)
        memory = max([end.memory, *(each.memory for each in moments if last - size <= each.pages <= last)])
        seconds, cpu = end.seconds - begin.seconds, end.cpu - begin.cpu
        merging_us = (end.merging - begin.merging) / size * 1e6
        found.append(Part(last, cpu / size * 1e6, size / seconds if seconds else 0.0, memory, merging_us))
    return found


def watched(lines: Iterable[str], pid: int) -> list[Moment]:
    moments = [Moment(0.0, 0, 0.0, 0)]
    for line in lines:
        if (found := read_line(line)) is not None and found[1] > moments[-1].pages:
            moments.append(Moment(*found, cpu_seconds(pid), resident(pid), merging_seconds(pid)))
            print(f"\r{found[1]:,} pages", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return moments


def merging_seconds(pid: int) -> float:
    """CPU that the threads of a process's database have used so far."""
    used = 0
    for task in Path(f"/proc/{pid}/task").glob("*/stat"):
        try:
            name, _, fields = task.read_text().partition("(")[2].rpartition(")")
        except OSError:  # it has ended
            continue
        if name.startswith("rocksdb:"):
            used += sum(map(int, fields.split()[11:13]))
    return used / os.sysconf("SC_CLK_TCK")


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=float, default=1e6, help="to fetch (1e6)")
    parser.add_argument("--runs", type=int, default=1, help="one after the other; the median counts (1)")
    parser.add_argument("--part", type=float, default=1e5, help="pages of a row of the table (1e5)")
    parser.add_argument("--hosts", type=int, default=5_000, help="of the web, which has a tenth more pages (5000)")
    parser.add_argument("--work", type=Path, default=Path("bench-work"), help="the crawl is written here: 4 GB")
    return parser.parse_args(given)


def crawled(options: argparse.Namespace) -> list[Moment]:
    """One crawl; of one that fails nothing."""
    pages = int(options.pages)
    web_core, crawl_core = (cores()[0], cores()[1]) if len(cores()) > 1 else (None, None)
    web = SimulatedWeb(options.hosts, pages * 11 // 10 // options.hosts + 1, Path("/dev/null"))
    with (
        tempfile.TemporaryDirectory(prefix="million-", dir=options.work) as home,
        tempfile.TemporaryFile("w+") as said,
        web.served(web_core),
    ):
        command = web.crawl(Path(home) / "crawl", "--delay", "0", "--connections", "64", "--max-pages", str(pages))
        crawl = subprocess.Popen(pinned(command, crawl_core), stdout=said, stderr=subprocess.PIPE, text=True)
        try:
            assert crawl.stderr is not None
            moments = watched(crawl.stderr, crawl.pid)
        finally:
            crawl.terminate()
            status = crawl.wait()
        said.seek(0)
        end = last_json(said.read())
    if status or end["pages"] != pages:
        print(f"the crawl ended with status {status} after {moments[-1].pages:,} pages", file=sys.stderr)
        return []
    # What its database's threads did since the last line is not known any more.
    last = moments[-1]
    return [*moments, Moment(end["seconds"], pages, end["cpu_seconds"], last.memory, last.merging)]


def main() -> int:
    options = arguments()
    tidy_when_terminated()
    print(description(["rocksdict", "isal", "pycurl"]), flush=True)
    options.work.mkdir(parents=True, exist_ok=True)
    growths, memory = [], 0
    for _ in range(options.runs):
        parts = parts_of(crawled(options) or [Moment(0.0, 0, 0.0, 0)], int(options.part))
        if not parts:
            return 1
        rows = [
            [f"{part.last:,}", *map(figure, (part.cpu_us, part.merging_us, part.pages_per_s)), _megabytes(part.memory)]
            for part in parts
        ]
        print(table(["pages", "CPU µs/page", "of it merging", "pages/s", "RSS"], rows), end="\n\n", flush=True)
        growths.append(parts[-1].cpu_us / parts[0].cpu_us)
        memory = max(memory, *(part.memory for part in parts))
    growth = statistics.median(growths)
    each = " ".join(f"{growth:.2f}" for growth in growths)
    print(f"CPU a page, last part / first: {each} ({_MOST_GROWTH} allowed){' !' * (growth > _MOST_GROWTH)}")
    print(f"most memory: {_megabytes(memory)} ({_MOST_MEMORY / 1e6:.0f} allowed){' !' * (memory > _MOST_MEMORY)}")
    print(f"load average {load():.1f}")
    return 0


def _megabytes(memory: int) -> str:
    return f"{memory / 1e6:,.0f} MB"


if __name__ == "__main__":
    sys.exit(main())
