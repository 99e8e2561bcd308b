"""What indexing a page costs, step by step, on one core: stored pages into the index, in one go.

The pages are those of the simulated web, crawled first, or of any crawl (--dir). Times are CPU time of the thread that
does the work; the index has threads of its own, whose share is told apart.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from machine import description
from simulated_web import SimulatedWeb
from tables import table

from gossamer.agent import follower, indexer, indexing
from gossamer.index import IndexWriter
from gossamer.index.backlinks import Backlinks
from gossamer.store import RecordFiles

STEPS: tuple[tuple[str, Any, str], ...] = (
    ("read the record", RecordFiles, "read"),
    ("parse", indexing, "parse"),
    ("links, gathered", Backlinks, "add"),
    ("links, written", Backlinks, "flush"),
    ("entries, written", IndexWriter, "upsert"),
    ("pages noted", Backlinks, "stand"),
    ("commit of links", Backlinks, "commit"),
    ("commit of the index", IndexWriter, "commit"),
    ("written again for their links", indexer.Indexer, "freshen"),
)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--dir", type=Path, help="a crawl whose pages are indexed (into index.bench)")
    options.add_argument("--hosts", type=int, default=100)
    options.add_argument("--pages", type=int, default=100, help="of a host")
    options.add_argument("--work", type=Path, default=Path("bench-work/indexing"))
    given = options.parse_args()
    print(description(("tantivy", "resiliparse")))
    home = given.dir or crawled(given.work, given.hosts, given.pages)
    spent: dict[str, float] = defaultdict(float)
    for name, owner, attribute in STEPS:
        measured(spent, name, owner, attribute)
    path = home / "index.bench"
    shutil.rmtree(path, ignore_errors=True)
    clock, thread = time.monotonic(), time.thread_time()
    process = time.process_time()
    one = follower.Follower(home, print, path=path)
    status = one.catch_up()
    own, everything = time.thread_time() - thread, time.process_time() - process
    one.close()
    seconds = time.monotonic() - clock
    # A page that is written again goes through `upsert` too, which is not to be counted twice.
    spent["entries, written"] -= spent.pop("", 0.0)
    rows = [[name, f"{1e6 * spent[name] / status.pages:,.0f}"] for name, _, _ in STEPS]
    rows.append(["everything else", f"{1e6 * (own - sum(spent.values())) / status.pages:,.0f}"])
    rows.append(["threads of the index", f"{1e6 * (everything - own) / status.pages:,.0f}"])
    rows.append(["all", f"{1e6 * everything / status.pages:,.0f}"])
    print(f"\n{status.pages:,} pages in {seconds:.1f} s by the clock, {everything:.1f} s of CPU\n")
    print(table(["step", "µs a page"], rows))
    size = sum(file.stat().st_size for file in path.iterdir())
    links = (path / indexer.BACKLINKS).stat().st_size
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"\n{status.pages / everything:,.0f} pages a second of CPU; {size / status.pages:,.0f} bytes a page on disk, of"
        f" which {links / status.pages:,.0f} for links; {memory:,.0f} MB of memory at most"
    )
    shutil.rmtree(path)


def measured(spent: dict[str, float], name: str, owner: Any, attribute: str) -> None:
    original = getattr(owner, attribute)

    def wrapped(*arguments: Any, **named: Any) -> Any:
        began = time.thread_time()
        try:
            return original(*arguments, **named)
        finally:
            spent[name] += (took := time.thread_time() - began)
            if attribute == "upsert" and sys._getframe(1).f_code.co_name == "freshen":
                spent[""] += took

    setattr(owner, attribute, wrapped)


def crawled(work: Path, hosts: int, pages: int) -> Path:
    home = work / "crawl"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    web = SimulatedWeb(hosts, pages, work / "arrivals.log", "--profile", "plain")
    with web.served():
        subprocess.run(web.crawl(home, "--delay", "0"), check=True, capture_output=True)
    return home


if __name__ == "__main__":
    main()
