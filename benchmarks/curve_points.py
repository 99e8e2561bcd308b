"""One point of a curve: a crawl that is prepared, started for one page, and run, each time in a process of its own."""

from __future__ import annotations

import math
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import nginx
from crawlers import Failed, last_json
from grown import known_urls, learn_apart
from machine import cores
from named_web import NamedWeb, Shape
from processes import finish

_SPARE = 4 / 3  # pages of the web for each that is fetched: at its end a crawl waits for its last hosts
_MOST_BYTES = 500_000_000  # of one web, in memory
_LIMIT = 3600.0  # seconds of one crawl

USUAL = Shape(pages=1)
Value = int | str  # what a point stands for


class Case(NamedTuple):
    """One point of a curve."""

    shape: Shape
    pages: int  # to fetch
    connections: int = 64
    known: int = 0  # URLs of other hosts that the frontier has before
    indexed: bool = False
    every_page: bool = False  # is a seed, not only the first of each host


def case(pages: int, shape: Shape = USUAL, **other: Any) -> Case:
    """A crawl of so many pages of a web with enough of them; of fewer, if so many are too large for the memory.

    Of the shape only `pages` is changed: to what is needed, if it is not more than that.
    """
    needed = pages * _SPARE
    if not shape.shared:
        needed = min(needed, _MOST_BYTES / shape.size)
    shape = shape._replace(pages=max(shape.pages, math.ceil(needed / shape.hosts)))
    return Case(shape, min(pages, int(shape.pages * shape.hosts / _SPARE)), **other)


class Spent(NamedTuple):
    """What one process took; `cpu_seconds` without the indexing process, `peak_rss` of the larger of the two."""

    pages: int
    seconds: float
    cpu_seconds: float
    index_cpu_seconds: float
    peak_rss: int

    @property
    def pages_per_s(self) -> float:
        return self.pages / self.seconds if self.seconds else 0.0


class Point(NamedTuple):
    """Invariant: starts and runs are of the same case, and each went on from the same directory."""

    value: Value
    case: Case
    prepared: Spent
    starts: Sequence[Spent] = ()
    runs: Sequence[Spent] = ()

    def and_also(self, start: Spent, run: Spent) -> Point:
        return self._replace(starts=[*self.starts, start], runs=[*self.runs, run])

    def cpu_us(self, run: Spent) -> float:
        """CPU of a page without the start, which had one of the pages."""
        return (run.cpu_seconds - min(start.cpu_seconds for start in self.starts)) / (run.pages - 1) * 1e6

    def index_cpu_us(self, run: Spent) -> float:
        start = min(start.index_cpu_seconds for start in self.starts)
        return (run.index_cpu_seconds - start) / (run.pages - 1) * 1e6

    def figures(self) -> dict[str, float]:
        """The best run; pages a second are by the clock of the crawl, from its start on."""
        return {
            "pages": self.case.pages,
            "pages_per_s": max(run.pages_per_s for run in self.runs),
            "cpu_us": min(map(self.cpu_us, self.runs)),
            "worst_cpu_us": max(map(self.cpu_us, self.runs)),
            "index_cpu_us": min(map(self.index_cpu_us, self.runs)),
            "start_cpu_s": min(start.cpu_seconds for start in self.starts),
            "peak_rss": max(run.peak_rss for run in self.runs),
        }


def crawl(case: Case, web: NamedWeb, seeds: Sequence[str], home: Path, pages: int, core: int | None) -> Spent:
    """Begin the crawl in `home`, or go on with it, until it has so many pages in all."""
    command = [
        sys.executable, "-m", "gossamer", "crawl", *seeds, "--dir", str(home), "--scope", "host", "--delay", "0",
        "--allow-private", "--connect", f"*={web.endpoint}", "--connections", str(case.connections), "--max-pages",
        str(pages), "--index" if case.indexed else "--no-index", "--json",
    ]  # fmt: skip
    done = finish(command, home.parent, core, _LIMIT)
    said = last_json(done.output)
    if done.status or not said:
        raise Failed(f"gossamer ended with status {done.status}: {(done.errors or done.output)[-2000:].strip()}")
    if not said["ok"] == said["pages"] == pages:
        raise Failed(f"of {pages:,} pages that were asked for it has {said['pages']:,}, {said['ok']:,} with status 2xx")
    indexing = said["index_cpu_seconds"]
    return Spent(pages, said["seconds"], done.cpu_seconds - indexing, indexing, done.peak_rss)


class Bench:
    """The points of one curve: their webs in `memory`, the directories from which their crawls begin in `disk`."""

    def __init__(self, cases: Sequence[Case], memory: Path, disk: Path) -> None:
        usable = cores()
        self._server_core = usable[0] if len(usable) > 1 else None
        self._core = usable[1] if len(usable) > 1 else None
        self._memory = memory
        self._disk = disk
        self._webs: dict[Shape, tuple[NamedWeb, Path]] = {}
        fewest = min(case.known for case in cases)
        elsewhere = known_urls(fewest) if fewest else []
        for case in cases:
            if case.shape not in self._webs:
                files = memory / f"web-{len(self._webs)}"
                web = NamedWeb(case.shape, nginx.free_port(), elsewhere)
                web.write(files)
                self._webs[case.shape] = web, files
        self._homes = {case: disk / str(number) for number, case in enumerate(cases)}

    def prepare(self, case: Case) -> Spent:
        """A crawl of one page, which takes the seeds, and then the URLs that are to be known."""
        seeds = self._disk / "seeds.txt"
        with seeds.open("w") as out:
            out.writelines(f"{url}\n" for url in self._webs[case.shape][0].seeds(case.every_page))
        spent = self._crawl(case, [f"@{seeds}"], self._homes[case], 1)
        if case.known:
            learn_apart(self._homes[case], case.known)
        return spent

    def run(self, case: Case, pages: int | None = None) -> Spent:
        """The pages of the case, or so many, in a copy of what was prepared."""
        pages = pages or case.pages
        home = self._disk / "copy"
        try:
            shutil.copytree(self._homes[case], home)
            spent = self._crawl(case, [], home, 1 + pages)
            return spent._replace(pages=pages)
        finally:
            shutil.rmtree(home, ignore_errors=True)

    def _crawl(self, case: Case, seeds: Sequence[str], home: Path, pages: int) -> Spent:
        web, files = self._webs[case.shape]
        with web.serving(files, self._memory, self._server_core):
            if web.shape.scheme == "https":
                os.environ["SSL_CERT_FILE"] = str(web.certificate(self._memory))  # where authorities are looked for
            return crawl(case, web, seeds, home, pages, self._core)
