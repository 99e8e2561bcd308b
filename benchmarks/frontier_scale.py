"""The frontier alone, at several sizes: what a URL costs in time, memory and disk.

Each size has its own folder and each phase its own process, so memory is that of the phase. The build ends with
os._exit, so the crawl that follows starts as after a crash.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from frontier_load import Load, command
from machine import cores, description
from processes import finish, tidy_when_terminated
from tables import figure, table

_PACKAGES = ("rocksdict", "msgspec", "xxhash")
_MOST_VISITS = 200_000
_LIMIT = 3 * 3600.0

# Figure, what it is, unit, target (at most).
FIGURES: tuple[tuple[str, str, str, float | None], ...] = (
    ("judge_us", "link judged, crawl mix", "µs", 1.5),
    ("add_us", "URL added and committed", "µs", 6.0),
    ("add_background_us", "besides, in RocksDB's threads", "µs", None),
    ("pair_us", "lease + settle, committed", "µs", 15.0),
    ("lease_us", "of it lease", "µs", None),
    ("settle_us", "of it settle", "µs", None),
    ("commit_us", "of it commit", "µs", None),
    ("wait_us", "besides, waiting for the disk", "µs", None),
    ("background_us", "besides, in RocksDB's threads", "µs", None),
    ("longest_commit_s", "longest commit", "s", None),
    ("robots_us", "robots rules of a host, committed", "µs", None),
    ("disk_built", "disk a URL as the crash left it", "B", None),
    ("disk_closed", "disk a URL at the end of the crawl", "B", None),
    ("disk_compact", "disk a URL compacted", "B", 20.0),
    ("build_peak_mb", "peak RSS of the build", "MB", 500.0),
    ("rss_mb", "RSS at the end of the crawl", "MB", 500.0),
    ("peak_mb", "peak RSS of the crawl", "MB", 500.0),
    ("start_up_s", "start after a crash", "s", 5.0),
)


def size_on_disk(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def measure(load: Load, core: int | None) -> dict[str, float]:
    """All phases at one size."""
    folder = Path(load.path)
    found: dict[str, float] = {}
    for phase, size in (("build", "disk_built"), ("crawl", "disk_closed"), ("compact", "disk_compact")):
        done = finish(command(phase, load), folder.parent, core, _LIMIT)
        if done.status:
            words = done.errors.strip() or "no word"
            raise RuntimeError(f"{phase} at {load.urls:,} URLs ended with status {done.status}: {words}")
        found |= json.loads(done.output)
        found[f"{phase}_s"] = done.seconds
        found[size] = size_on_disk(folder) / found.get("urls", load.urls)
        print(f"{load.urls:,} URLs: {phase} took {done.seconds:,.1f} s", flush=True)
    for name in ("build_peak", "rss", "peak"):
        found[f"{name}_mb"] = found[name] / 1e6
    return found


def rows_of(results: Sequence[dict[str, float]]) -> list[list[str]]:
    """One row a figure; what misses its target has an exclamation mark."""
    rows = []
    for name, words, unit, target in FIGURES:
        cells = [
            figure(found[name]) + (" !" if target is not None and found[name] > target else "") for found in results
        ]
        rows.append([f"{words}, {unit}", f"<= {target:g}" if target is not None else "", *cells])
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=lambda text: int(float(text)), default=[10**5, 10**6], metavar="URLS",
                        help="how many URLs; 1e7 is understood (1e5 1e6)")  # fmt: skip
    parser.add_argument("--hosts", type=int, default=100_000, help="hosts the URLs are on, at most (100000)")
    parser.add_argument(
        "--visits", type=int, help=f"pages to visit at each size (half the URLs, {_MOST_VISITS} at most)"
    )
    parser.add_argument("--work", type=Path, default=Path("bench-work"), help="databases are written here (bench-work)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures to this file")
    options = parser.parse_args()
    tidy_when_terminated()
    core = cores()[1] if len(cores()) > 1 else None
    print(description(_PACKAGES), flush=True)
    options.work.mkdir(parents=True, exist_ok=True)
    results = []
    for urls in options.sizes:
        home = Path(tempfile.mkdtemp(prefix="frontier-", dir=options.work.resolve()))
        try:
            visits = options.visits or min(urls // 2, _MOST_VISITS)
            results.append(measure(Load(str(home / "frontier"), urls, options.hosts, visits), core))
        finally:
            shutil.rmtree(home)
    headings = ["", "target", *(f"{urls:,} URLs" for urls in options.sizes)]
    hosts = ["hosts", "", *(f"{found['hosts']:,.0f}" for found in results)]
    visited = ["pages visited", "", *(f"{found['fetched']:,.0f}" for found in results)]
    print("\n" + table(headings, [hosts, visited, *rows_of(results)]))
    print("\n! is above the target")
    if options.json:
        sizes = dict(zip(map(str, options.sizes), results, strict=True))
        options.json.write_text(json.dumps({"machine": description(_PACKAGES), "sizes": sizes}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
