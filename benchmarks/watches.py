"""How long after its fetch does a page that a watch matches arrive at a webhook? And what do watches cost?

A simulated web is crawled at several speeds; every page matches, and a receiver on loopback notes when it is told. The
delay is from the fetch, which the call names, to the call. The last row is with the process that indexes killed every
few seconds. Then pages are matched against more and more watches in this
process.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import statistics
import subprocess
import time
from datetime import datetime
from pathlib import Path

from machine import description
from simulated_web import GOSSAMER, SimulatedWeb
from tables import table

from gossamer.agent.index_status import read_status
from gossamer.agent.watching.adding import add_watch
from gossamer.index import Entry, Search
from gossamer.index.standing import FreshPages, StandingQuery
from gossamer.index.writer import ready
from gossamer.testing import Receiver

PAGES = 500
KILL_EVERY = 5.0  # seconds
WATCHES = (0, 1, 100, 1000)
SYLLABLES = ("ba", "den", "gar", "hil", "kor", "lin", "mar", "net", "por", "sil", "tor", "wen")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("speeds", nargs="*", type=int, default=[1, 30, 100], help="pages a second")
    options.add_argument("--seconds", type=int, default=25, help="of each crawl")
    options.add_argument("--work", type=Path, default=Path("bench-work/watches"))
    given = options.parse_args()
    print(description(("tantivy", "pycurl")))
    rows = [delays(speed, given.seconds, given.work) for speed in given.speeds]
    rows.append(delays(given.speeds[0], given.seconds, given.work, KILL_EVERY))
    print(table(["pages/s at most", "kills", "pages", "told", "told twice", "calls", "median, s", "worst, s"], rows))
    print()
    print(table(["watches", "pages", "CPU, ms", "CPU, ms, first time", "hits"], [cost(count) for count in WATCHES]))


def delays(speed: int, seconds: int, work: Path, kill_every: float = 0.0) -> list[str]:
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    home = work / "crawl"
    web = SimulatedWeb(40, 200, work / "arrivals.log", "--profile", "plain")
    with web.served(), Receiver() as receiver:
        command = web.crawl(home, "--delay", "0", "--rate", str(speed), "--index")
        # The first page makes the settings, which say that loopback may be called.
        subprocess.run([*command, "--max-pages", "1"], check=True, capture_output=True)
        add_watch(home, "benchmark", "domain:test", receiver.url)
        killed, kills = 0.0, 0
        with subprocess.Popen(
            [*command, "--time-limit", f"{seconds}s", "--max-pages", "0"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        ) as crawl:  # fmt: skip
            began = time.monotonic()
            while crawl.poll() is None:
                time.sleep(0.1)
                if kill_every and time.monotonic() - max(began, killed) > kill_every:
                    killed, kills = time.monotonic(), kills + kill_indexing(home)
        # A kill at the very end leaves something to the next run.
        subprocess.run([*GOSSAMER, "index", "--dir", str(home)], check=True, capture_output=True)
    search = Search([home / "index"])
    matching = search.size().pages - 1  # the first was there before the watch
    search.close()
    found = [(hit["id"], call.at - _seconds(hit["fetched_at"])) for call in receiver.calls for hit in call.hits]
    took = sorted(delay for _, delay in found)
    twice = len(found) - len({id_ for id_, _ in found})
    return [
        str(speed), str(kills), f"{matching:,}", f"{len(found):,}", str(twice), f"{len(receiver.calls):,}",
        f"{statistics.median(took):.2f}", f"{took[-1]:.2f}",
    ]  # fmt: skip


def kill_indexing(home: Path) -> int:
    """How many died: 1, unless it is just being started again."""
    status = read_status(home / "index")
    if status is None:
        return 0
    try:
        os.kill(status.pid, signal.SIGKILL)
    except ProcessLookupError:
        return 0
    return 1


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment.replace("Z", "+00:00")).timestamp()


def cost(watches: int) -> list[str]:
    """CPU of what watches add to a commit of so many pages."""
    chance = random.Random(1)
    words = ["".join(chance.choices(SYLLABLES, k=2)) + ending for ending in ("", "s", "ed", "ing") for _ in range(120)]

    def text(count: int) -> str:
        return " ".join(chance.choices(words, k=count))

    entries = [
        ready(
            Entry(f"http://h{at % 20}.test/{at}", 1.8e9, text(5), body=text(600), language=("en", "de", "fr")[at % 3])
        )
        for at in range(PAGES)
    ]
    queries = [
        StandingQuery(f'"{text(2)}" OR nowhere{at} site:h{at % 20}.test' if at % 2 else f"{text(3)} nowhere{at}")
        for at in range(watches)
    ]
    fresh = FreshPages()
    took, hits = [], 0
    for _ in range(4 if watches else 1):
        began = time.process_time()
        if watches:
            for entry in entries:
                fresh.put(entry)
            hits = sum(len(found) for _, _, found in fresh.matches(queries))
            fresh.clear()
        took.append(1000 * (time.process_time() - began))
    return [f"{watches:,}", str(PAGES), f"{statistics.median(took[1:] or took):.0f}", f"{took[0]:.0f}", str(hits)]


if __name__ == "__main__":
    main()
