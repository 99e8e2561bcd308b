"""One agent and a million pages of the simulated web: what a page costs at the end, beside what it cost at first.

The crawl runs on one core, the simulated web on another. The lines in which the crawl tells its progress say how many
pages there are; CPU (user and system) and resident memory of its process are read as each line comes. Between two
lines both are taken to grow evenly.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from cluster.crew import cpu_seconds
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


class Part(NamedTuple):
    """So many pages of it, up to the last one."""

    last: int
    cpu_us: float
    pages_per_s: float
    memory: int  # at most


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
            )
        before = after
    return moments[-1]


def parts_of(moments: Sequence[Moment], size: int) -> list[Part]:
    """Whole parts of `size` pages each; and the last so many, up to the last line, which seldom ends a whole one."""
    found = []
    lasts = list(range(size, moments[-1].pages + 1, size))
    if lasts and moments[-1].pages > lasts[-1]:
        lasts.append(moments[-1].pages)
    for last in lasts:
        begin, end = at(moments, last - size), at(moments, last)
        memory = max([end.memory, *(each.memory for each in moments if last - size <= each.pages <= last)])
        seconds, cpu = end.seconds - begin.seconds, end.cpu - begin.cpu
        found.append(Part(last, cpu / size * 1e6, size / seconds if seconds else 0.0, memory))
    return found


def watched(lines: Iterable[str], pid: int) -> list[Moment]:
    moments = [Moment(0.0, 0, 0.0, 0)]
    for line in lines:
        if (found := read_line(line)) is not None and found[1] > moments[-1].pages:
            moments.append(Moment(*found, cpu_seconds(pid), resident(pid)))
            print(f"\r{found[1]:,} pages", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return moments


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=float, default=1e6, help="to fetch (1e6)")
    parser.add_argument("--part", type=float, default=1e5, help="pages of a row of the table (1e5)")
    parser.add_argument("--hosts", type=int, default=5_000, help="of the web, which has a tenth more pages (5000)")
    parser.add_argument("--work", type=Path, default=Path("bench-work"), help="the crawl is written here: 4 GB")
    return parser.parse_args(given)


def main() -> int:
    options = arguments()
    tidy_when_terminated()
    pages = int(options.pages)
    print(description(["rocksdict", "isal", "pycurl"]), flush=True)
    web_core, crawl_core = (cores()[0], cores()[1]) if len(cores()) > 1 else (None, None)
    options.work.mkdir(parents=True, exist_ok=True)
    web = SimulatedWeb(options.hosts, pages * 11 // 10 // options.hosts + 1, Path("/dev/null"))
    with tempfile.TemporaryDirectory(prefix="million-", dir=options.work) as home, web.served(web_core):
        command = web.crawl(Path(home) / "crawl", "--delay", "0", "--connections", "64", "--max-pages", str(pages))
        crawl = subprocess.Popen(
            pinned(command, crawl_core), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        try:
            assert crawl.stderr is not None
            moments = watched(crawl.stderr, crawl.pid)
        finally:
            crawl.terminate()
            status = crawl.wait()
    parts = parts_of(moments, int(options.part))
    if status or not parts:
        print(f"the crawl ended with status {status} after {moments[-1].pages:,} pages", file=sys.stderr)
        return 1
    rows = [
        [f"{part.last:,}", figure(part.cpu_us), figure(part.pages_per_s), f"{part.memory / 1e6:,.0f} MB"]
        for part in parts
    ]
    print(table(["pages", "CPU µs/page", "pages/s", "RSS"], rows))
    growth, memory = parts[-1].cpu_us / parts[0].cpu_us, max(part.memory for part in parts)
    print(f"\nCPU a page, last part / first: {growth:.3f} ({_MOST_GROWTH} allowed){' !' * (growth > _MOST_GROWTH)}")
    print(f"most memory: {memory / 1e6:,.0f} MB ({_MOST_MEMORY / 1e6:.0f} allowed){' !' * (memory > _MOST_MEMORY)}")
    print(f"load average {load():.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
