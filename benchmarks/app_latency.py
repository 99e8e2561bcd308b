"""How long from a page's arrival to the visit that an application asks for because of it.

python benchmarks/app_latency.py: a row of pages of which each is asked for by an application that has seen the one
before. The server notes when requests arrive; a row's step is the latency of the whole way: once while the crawl has
nothing else to do, and once while it visits other pages, and commits once a second.
"""

from __future__ import annotations

import itertools
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from gossamer import Application, AppPage, Request
from gossamer.agent.application import Yielded
from gossamer.testing import TinyWeb

STEPS = 30
OTHERS = 3000


class Row(Application):
    """Asks for the next page of the row."""

    def pages(self, pages: Sequence[AppPage]) -> Iterator[Yielded]:
        for page in pages:
            number = int(page.url.rpartition("/")[2])
            if page.url.startswith("http://a.test/") and number < STEPS:
                yield Request(f"http://a.test/{number + 1}")


def main() -> None:
    measure("nothing else to do", [])
    measure("other pages, 50 a second", ["http://b.test/0", "--rate", "50", "--max-pages", "2000"])


def measure(what: str, more: list[str]) -> None:
    with TinyWeb() as web, tempfile.TemporaryDirectory() as scratch:
        web.add_page("http://b.test/0", [f"/{page}" for page in range(1, OTHERS)])
        for page in range(1, OTHERS):
            web.add_page(f"http://b.test/{page}")
        for page in range(STEPS + 1):
            web.add_page(f"http://a.test/{page}")
        command = [
            sys.executable, "-m", "gossamer", "crawl", "http://a.test/0", "--dir", f"{scratch}/crawl", "--delay", "0",
            "--connect", web.connect, "--allow-private", "--no-index", "--app", "row=app_latency:Row", *more,
        ]  # fmt: skip
        subprocess.run(command, check=True, cwd=Path(__file__).parent, capture_output=True)
        times = [arrival.time for arrival in web.log.arrivals if arrival.host == "a.test"][1:]  # robots.txt
    steps = [after - before for before, after in itertools.pairwise(times[1:])]  # without the start of it
    print(f"{what}: {len(steps)} steps, median {statistics.median(steps):.2f} s, longest {max(steps):.2f} s")


if __name__ == "__main__":
    main()
