"""What indexing a page costs, step by step, and how fast stored pages come into an index with all processes at work.

The pages are those of the simulated web, crawled first, or of any crawl (--dir). The steps are measured in one
process that does everything: CPU time of the thread that does the work; the index has threads of its own, whose share
is told apart. The run with all processes is measured by itself: by the clock, CPU time of all, memory of each.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import time
from collections import defaultdict, deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from machine import description
from simulated_web import SimulatedWeb
from tables import table

from gossamer.agent import follower, indexer, indexing, page_worker, workers
from gossamer.agent.page_work import Result, Task, Work
from gossamer.index import IndexWriter
from gossamer.index.backlinks import Backlinks
from gossamer.store import RecordFiles

STEPS: tuple[tuple[str, Any, str], ...] = (
    ("read the record", RecordFiles, "read"),
    ("parse", indexing, "parse"),
    ("make words, pack", page_worker, "ready"),
    ("links, gathered", Backlinks, "add"),
    ("links, asked for", Backlinks, "linked"),
    ("links, written", Backlinks, "flush"),
    ("entries, written", IndexWriter, "put"),
    ("pages noted", Backlinks, "stand"),
    ("commit of links", Backlinks, "commit"),
    ("commit of the index", IndexWriter, "commit"),
    ("written again for their links", indexer.Indexer, "freshen"),
)


class Here:
    """Reads pages in this process, where the steps can be measured; otherwise as `Workers`."""

    def __init__(self, most: int, token: str, *_: object) -> None:
        self._worker = page_worker.PageWorker()
        self._most, self._token = most, token
        self._done: deque[list[Result]] = deque()

    @property
    def has_room(self) -> bool:
        return not self._done

    def give(self, directories: Sequence[str], tasks: list[Task]) -> None:
        self._worker.prepare(Work(list(directories), self._most, self._token, tasks))
        self._done.append([self._worker.result(task) for task in tasks])

    def done(self, _: float) -> list[Result]:
        return self._done.popleft()

    def close(self) -> None:
        pass


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--dir", type=Path, help="a crawl whose pages are indexed (into index.bench)")
    options.add_argument("--hosts", type=int, default=100)
    options.add_argument("--pages", type=int, default=100, help="of a host")
    options.add_argument("--work", type=Path, default=Path("bench-work/indexing"))
    given = options.parse_args()
    print(description(("tantivy", "resiliparse")))
    home = given.dir or crawled(given.work, given.hosts, given.pages)
    path = home / "index.bench"
    together(home, path)
    step_by_step(home, path)


def together(home: Path, path: Path) -> None:
    """With as many processes as an indexer has."""
    shutil.rmtree(path, ignore_errors=True)
    before = cpu()
    began = time.monotonic()
    one = follower.Follower(home, print, path=path)
    pages = one.catch_up().pages
    seconds = time.monotonic() - began
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    readers = [peak(worker._process.pid) for worker in one._indexer._workers._workers]
    one.close()
    spent = cpu() - before
    print(
        f"\n{pages:,} pages in {seconds:.1f} s: {pages / seconds:,.0f} a second, {1e3 * spent / pages:.2f} ms of CPU"
        f" each; {workers.cores()} cores, load average {os.getloadavg()[0]:.1f}; memory at most {own:,.0f} MB, and of"
        f" processes that read {', '.join(f'{each:,.0f}' for each in readers)} MB\n"
    )
    shutil.rmtree(path)


def cpu() -> float:
    """Seconds, of this process and of those that it has ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def peak(process: int) -> float:
    """Megabytes of memory at most."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def step_by_step(home: Path, path: Path) -> None:
    spent: dict[str, float] = defaultdict(float)
    for name, owner, attribute in STEPS:
        measured(spent, name, owner, attribute)
    indexer.Workers = Here  # type: ignore[assignment,misc]
    thread, process = time.thread_time(), time.process_time()
    one = follower.Follower(home, print, path=path)
    pages = one.catch_up().pages
    own, everything = time.thread_time() - thread, time.process_time() - process
    one.close()
    rows = [[name, f"{1e6 * spent[name] / pages:,.0f}"] for name, _, _ in STEPS]
    rows.append(["everything else", f"{1e6 * (own - sum(spent.values())) / pages:,.0f}"])
    rows.append(["threads of the index", f"{1e6 * (everything - own) / pages:,.0f}"])
    rows.append(["all", f"{1e6 * everything / pages:,.0f}"])
    print(table(["step", "µs a page"], rows))
    size = sum(file.stat().st_size for file in path.iterdir())
    links = (path / indexer.BACKLINKS).stat().st_size
    print(f"\n{size / pages:,.0f} bytes a page on disk, of which {links / pages:,.0f} for links")
    shutil.rmtree(path)


_inside: list[str] = []


def measured(spent: dict[str, float], name: str, owner: Any, attribute: str) -> None:
    """A step inside of another counts as part of that."""
    original = getattr(owner, attribute)

    def wrapped(*arguments: Any, **named: Any) -> Any:
        if _inside:
            return original(*arguments, **named)
        _inside.append(name)
        began = time.thread_time()
        try:
            return original(*arguments, **named)
        finally:
            spent[name] += time.thread_time() - began
            _inside.pop()

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
