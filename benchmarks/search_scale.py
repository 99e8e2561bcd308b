"""The index at some size, beside SQLite's FTS5 with the same documents and queries: what a document and a query cost.

Each phase is a process of its own, so memory is that of the phase. FTS5 stems English only, does not find words of
scripts without spaces, and has no facets; it is what comes with Python. Our queries are asked a second time while a
crawl of a simulated web runs at full speed on the same machine, its own index included.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from machine import description
from processes import finish, tidy_when_terminated
from search_documents import KINDS
from search_load import command
from simulated_web import SimulatedWeb
from tables import figure, table

_LIMIT = 3 * 3600.0
_AT_SPEED = 4000  # requests, after which a crawl has warmed up
ENGINES = ("gossamer", "fts5")

# Figure, what it is, unit, target (at most).
FIGURES: tuple[tuple[str, str, str, float | None], ...] = (
    ("index_us", "document indexed and committed, CPU", "µs", 1000.0),
    ("longest_commit_s", "longest commit", "s", None),
    ("bytes", "disk a document", "B", None),
    ("build_own_mb", "memory of the build", "MB", 500.0),
    ("build_peak_mb", "with mapped files, peak RSS", "MB", None),
    ("all_p50_ms", "query, median", "ms", None),
    ("all_p95_ms", "query, 95 of 100", "ms", 50.0),
    ("cpu_p50_ms", "query, CPU, median", "ms", None),
    ("cpu_p95_ms", "query, CPU, 95 of 100", "ms", None),
    ("crawling_p50_ms", "beside a crawl at full speed, median", "ms", None),
    ("crawling_p95_ms", "beside a crawl at full speed, 95 of 100", "ms", 50.0),
    ("crawl_speed", "requests of that crawl, a second", "", None),
    *((f"{kind}_p95_ms", f"of it {kind}, 95 of 100", "ms", None) for kind in KINDS),
    ("found", "documents a query finds", "", None),
    ("ask_own_mb", "memory of asking", "MB", 500.0),
    ("ask_peak_mb", "with mapped files, peak RSS", "MB", None),
)


def size_on_disk(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def measure(engine: str, home: Path, documents: int, queries: int) -> dict[str, float]:
    found: dict[str, float] = {}
    for phase, count in (("build", documents), ("ask", queries)):
        done = finish(command(f"{phase} {engine}", home, count), home, None, _LIMIT)
        if done.status:
            raise RuntimeError(f"{phase} {engine} ended with status {done.status}: {done.errors.strip()[-2000:]}")
        found |= json.loads(done.output)
        found.setdefault("bytes", size_on_disk(home) / documents)
        print(f"{engine}: {phase} took {done.seconds:,.1f} s", flush=True)
    if engine == "gossamer":
        with crawl_beside(home.with_name(home.name + "-crawl")) as arrived:
            before, began = arrived(), time.monotonic()
            done = finish(command("ask gossamer", home, queries), home, None, _LIMIT)
            found["crawl_speed"] = (arrived() - before) / (time.monotonic() - began)
        if done.status:
            raise RuntimeError(f"asking beside a crawl ended with status {done.status}: {done.errors.strip()[-2000:]}")
        beside = json.loads(done.output)
        found |= {"crawling_p50_ms": beside["all_p50_ms"], "crawling_p95_ms": beside["all_p95_ms"]}
    for name in ("build_own", "build_peak", "ask_own", "ask_peak"):
        found[f"{name}_mb"] = found[name] / 1e6
    return found


@contextmanager
def crawl_beside(home: Path) -> Iterator[Callable[[], int]]:
    """A crawl at full speed that does not end by itself; gives how many requests the servers have had."""
    home.mkdir()
    log = home / "arrivals.log"
    web = SimulatedWeb(2000, 200, log)

    def arrived() -> int:
        with suppress(FileNotFoundError), log.open("rb") as lines:
            return sum(1 for _ in lines)
        return 0

    try:
        with web.served():
            crawl = subprocess.Popen(
                web.crawl(home / "crawl", "--delay", "0", "--index"),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            try:
                while arrived() < _AT_SPEED and crawl.poll() is None:
                    time.sleep(0.2)
                yield arrived
                if crawl.poll() is not None:
                    raise RuntimeError(f"the crawl beside ended with status {crawl.returncode}")
            finally:
                crawl.kill()
                crawl.wait()
    finally:
        shutil.rmtree(home)


def rows_of(results: Mapping[str, Mapping[str, float]]) -> list[list[str]]:
    """One row a figure; what misses its target has an exclamation mark."""
    rows = []
    for name, words, unit, target in FIGURES:
        cells = []
        for engine, found in results.items():
            value = found.get(name)
            missed = engine == "gossamer" and target is not None and value is not None and value > target
            cells.append(figure(value) + (" !" if missed else ""))
        rows.append([f"{words}, {unit}" if unit else words, f"<= {target:,g}" if target is not None else "", *cells])
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=lambda text: int(float(text)), default=100_000, help="how many (100000)")
    parser.add_argument("--queries", type=int, default=1000, help="how many are asked (1000)")
    parser.add_argument("--engines", default=",".join(ENGINES), help="which are measured (gossamer,fts5)")
    parser.add_argument("--work", type=Path, default=Path("bench-work"), help="indexes are written here (bench-work)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures to this file")
    options = parser.parse_args()
    tidy_when_terminated()
    machine = description(("tantivy", "msgspec"))
    print(machine, flush=True)
    options.work.mkdir(parents=True, exist_ok=True)
    results = {}
    for engine in options.engines.split(","):
        home = Path(tempfile.mkdtemp(prefix="search-", dir=options.work.resolve()))
        try:
            results[engine] = measure(engine, home, options.documents, options.queries)
        finally:
            shutil.rmtree(home)
    print("\n" + table([f"{options.documents:,} documents", "target", *results], rows_of(results)))
    print("\n! is above the target")
    if options.json:
        options.json.write_text(json.dumps({"machine": machine, "engines": results}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
