"""How long after its fetch can a page be found? A simulated web is crawled at several speeds, and the index is asked.

Several times a second the pages that can be found are counted. They come in the order of their captures, so the first
that is missing is known, and how long ago it was fetched: the longest such time is the lag. CDXJ has whole seconds: a
lag may be up to a second too long.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

from machine import description
from simulated_web import SimulatedWeb
from tables import table

from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.follower import Committed
from gossamer.agent.indexing import Verdict, judge
from gossamer.index import Search
from gossamer.store import Captures

EVERY = 0.25  # seconds


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("speeds", nargs="*", type=int, default=[30, 100, 300, 0], help="pages a second; 0: no cap")
    options.add_argument("--seconds", type=int, default=30, help="of each crawl")
    options.add_argument("--work", type=Path, default=Path("bench-work/found"))
    given = options.parse_args()
    print(description(("tantivy", "resiliparse")))
    rows = [measured(speed, given.seconds, given.work) for speed in given.speeds]
    print(table(["cap, pages/s", "pages", "pages/s", "lag, s", "caught up after, s", "load"], rows))


def measured(speed: int, seconds: int, work: Path) -> list[str]:
    home = work / "crawl"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    web = SimulatedWeb(200, max(100, 10 * speed * seconds // 200), work / "arrivals.log", "--profile", "plain")
    samples: list[tuple[float, int]] = []
    with web.served():
        command = web.crawl(home, "--delay", "0", "--time-limit", f"{seconds}s", "--index")
        began = time.monotonic()
        crawl = subprocess.Popen(
            [*command, *(["--rate", str(speed)] if speed else [])], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        search = Search([home / "index"])
        while crawl.poll() is None:
            samples.append((time.time(), search.size().pages))
            time.sleep(EVERY)
        search.close()
        said, _ = crawl.communicate()
    summary = json.loads(said.decode().splitlines()[-1])
    after = time.monotonic() - began - summary["seconds"]
    directory = CrawlDir(home)
    captures = Captures(directory.warc).after({}, Committed(directory).now())
    fetched = [capture.fetched_at for capture in captures if judge(capture) is Verdict.READ]
    lag = max((when - fetched[found] for when, found in samples if found < len(fetched)), default=0.0)
    speed_found = f"{summary['pages'] / summary['seconds']:,.0f}"
    load = f"{os.getloadavg()[0]:.1f}"
    return [str(speed or "none"), f"{len(fetched):,}", speed_found, f"{lag:.1f}", f"{after:.1f}", load]


if __name__ == "__main__":
    main()
