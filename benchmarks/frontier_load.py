"""The frontier under load, one phase a process: `build` and leave without a word, `crawl` what is there, `compact` it.

Started by frontier_scale.py with a `Load` as JSON; prints its figures as JSON. The time that the frontier goes by is
simulated, so delays cost nothing. What is measured is CPU time of the thread that calls the frontier: other programs
disturb it little. Making URLs is not in it; what RocksDB does in threads of its own, and waiting for the disk at a
commit, are measured apart.
"""

from __future__ import annotations

import dataclasses
import gc
import json
import os
import random
import sys
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time, thread_time
from typing import Any

from synthetic_urls import SyntheticWeb

from gossamer.config import FrontierConfig, PolicyConfig
from gossamer.frontier import Frontier
from gossamer.frontier.database import Database
from gossamer.model import Visit
from gossamer.rules.policy import Policy
from gossamer.rules.robots import robots_from_status
from gossamer.rules.scope import Scope

LINKS = 16  # of a page
RECENT = 0.85  # of the links were met a moment ago
KNOWN = 0.08  # are known, but not from a moment ago
NEW = 1 - RECENT - KNOWN
_A_MOMENT = 50_000  # links back
_AT_ONCE = 8  # visits leased and settled in one turn of the loop
_COMMIT_URLS = 20_000
_COMMIT_PAGES = 5_000
_UNCOMMITTED = 1_000  # URLs that the abrupt end takes with it
_SPEED = 1_000.0  # visits a simulated second
_BEGIN = 1_800_000_000.0
_ROBOTS = b"User-agent: *\nDisallow: /private/\nDisallow: /cgi-bin/\n"
_PRIORITY = 4


@dataclass(frozen=True)
class Load:
    path: str
    urls: int
    hosts: int
    visits: int

    @property
    def web(self) -> SyntheticWeb:
        """With enough URLs for the new ones among the links."""
        return SyntheticWeb(self.urls + int(1.5 * NEW * self.visits * LINKS) + _UNCOMMITTED, self.hosts)


class TimedFrontier(Frontier):
    """Looking links up is part of judging them, whoever asks for it."""

    judging = 0.0

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        resolve = self._intake.resolve

        def timed() -> None:
            began = thread_time()
            resolve()
            self.judging += thread_time() - began

        self._intake.resolve = timed  # type: ignore[method-assign]


def opened(load: Load, now: float) -> TimedFrontier:
    return TimedFrontier(Path(load.path), FrontierConfig(), Policy(PolicyConfig()), Scope("any"), None, now)


def memory() -> dict[str, int]:
    """Resident bytes of this process: now, and at most so far."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return {"rss": int(lines["VmRSS"].split()[0]) * 1024, "peak": int(lines["VmHWM"].split()[0]) * 1024}


class Commits:
    """What commits cost this thread, and how long they waited for the disk."""

    def __init__(self, frontier: TimedFrontier) -> None:
        self._frontier = frontier
        self.cpu = 0.0
        self.waited = 0.0
        self.longest = 0.0

    def commit(self, clean: bool = False) -> None:
        began, began_cpu, judging = perf_counter(), thread_time(), self._frontier.judging
        self._frontier.commit({}, clean)
        cpu, seconds = thread_time() - began_cpu, perf_counter() - began
        self.cpu += cpu - (self._frontier.judging - judging)
        self.waited += seconds - cpu
        self.longest = max(self.longest, seconds)


def _background() -> float:
    """CPU seconds so far of threads other than this one: RocksDB's."""
    return process_time() - thread_time()


# -- build -------------------------------------------------------------------------------------------------------------


def build(load: Load) -> dict[str, float]:
    """Every URL is new: what adding costs, commits included."""
    web = load.web
    empty = memory()["rss"]
    frontier = opened(load, _BEGIN)
    adding = 0.0
    commits = Commits(frontier)
    for start in range(0, load.urls, _COMMIT_URLS):
        pages = list(_in_pages(web, start, min(start + _COMMIT_URLS, load.urls)))
        began, judging = thread_time(), frontier.judging
        for urls in pages:
            frontier.add(urls, 1, _PRIORITY)
        adding += thread_time() - began - (frontier.judging - judging)
        commits.commit()
    if frontier.counts.urls != load.urls:
        raise AssertionError(f"{load.urls:,} URLs were added, the frontier counts {frontier.counts.urls:,}")
    for urls in _in_pages(web, load.urls, load.urls + _UNCOMMITTED):
        frontier.add(urls, 1, _PRIORITY)
    used = memory()
    return {
        "add_us": (adding + frontier.judging + commits.cpu) / load.urls * 1e6,
        "add_wait_us": commits.waited / load.urls * 1e6,
        "add_background_us": _background() / load.urls * 1e6,
        "hosts": frontier.counts.hosts,
        "empty_rss": empty,
        "build_rss": used["rss"],
        "build_peak": used["peak"],
    }


def _in_pages(web: SyntheticWeb, start: int, end: int) -> Iterator[list[str]]:
    for first in range(start, end, LINKS):
        yield [web.url(number) for number in range(first, min(first + LINKS, end))]


# -- crawl -------------------------------------------------------------------------------------------------------------


class Links:
    """The links of page after page, in the mix that crawls meet.

    Invariant: `new` numbers of the web from `known` on were given out as new, in order.
    """

    def __init__(self, load: Load) -> None:
        self._web = load.web
        self._random = random.Random(1)
        self._known = load.urls
        self._next_known = 0
        self._recent = array("Q", bytes(8 * _A_MOMENT))
        self._place = 0
        self.new = 0

    def first(self) -> Iterator[list[str]]:
        """Pages of known links, so that there is a moment ago to speak of."""
        for _ in range(0, _A_MOMENT, LINKS):
            yield [self._web.url(self._meet(self._old())) for _ in range(LINKS)]

    def page(self) -> list[str]:
        return [self._web.url(self._link()) for _ in range(LINKS)]

    def _link(self) -> int:
        dice = self._random.random()
        if dice < RECENT:
            return self._recent[int(dice / RECENT * _A_MOMENT)]
        if dice < RECENT + KNOWN:
            return self._meet(self._old())
        self.new += 1
        return self._meet(self._known + self.new - 1)

    def _old(self) -> int:
        """One of the URLs of the build, far from the one before; each comes once before any comes again."""
        self._next_known += 1
        return self._next_known * 7_919 % self._known

    def _meet(self, number: int) -> int:
        self._recent[self._place] = number
        self._place = (self._place + 1) % _A_MOMENT
        return number


def crawl(load: Load) -> dict[str, float]:
    """Open what the abrupt end left, then lease, settle and add links as the agent does."""
    now = _BEGIN + 3600
    started = perf_counter()
    frontier = opened(load, now)
    start_up = perf_counter() - started
    if frontier.counts.urls != load.urls:
        raise AssertionError(f"{load.urls:,} URLs were committed, the frontier finds {frontier.counts.urls:,}")
    now += 3600
    robots_us = _learn_robots(frontier, now)
    frontier.commit({}, clean=True)
    frontier.close()
    now += 3600
    frontier = opened(load, now)  # memory is as after any other start
    links = Links(load)
    for urls in links.first():
        frontier.add(urls, 1, _PRIORITY)
    frontier.commit({})
    spent = {"judge": 0.0, "lease": 0.0, "settle": 0.0}
    commits = Commits(frontier)
    background, judging = _background(), frontier.judging
    pairs = pages = committed = 0
    while pages < load.visits:
        now += _AT_ONCE / _SPEED
        began, judged = thread_time(), frontier.judging
        visits = frontier.lease(now, _AT_ONCE)
        spent["lease"] += thread_time() - began - (frontier.judging - judged)
        if not visits:
            now = max(now, frontier.schedule.next_due or now + 1.0)
            continue
        pairs += len(visits)
        pages += _turn(frontier, visits, links, now, spent)
        if pages - committed >= _COMMIT_PAGES:
            committed = pages
            commits.commit()
    commits.commit(clean=True)
    if frontier.counts.urls != load.urls + links.new:
        raise AssertionError(f"{load.urls + links.new:,} URLs were met, the frontier counts {frontier.counts.urls:,}")
    used = memory()
    frontier.close()
    return {
        "start_up_s": start_up,
        "robots_us": robots_us,
        "judge_us": (spent["judge"] + frontier.judging - judging) / (pages * LINKS) * 1e6,
        "lease_us": spent["lease"] / pairs * 1e6,
        "settle_us": spent["settle"] / pairs * 1e6,
        "commit_us": commits.cpu / pairs * 1e6,
        "pair_us": (spent["lease"] + spent["settle"] + commits.cpu) / pairs * 1e6,
        "wait_us": commits.waited / pairs * 1e6,
        "longest_commit_s": commits.longest,
        "background_us": (_background() - background) / pairs * 1e6,
        "urls": frontier.counts.urls,
        "fetched": frontier.counts.fetched,
        "rss": used["rss"],
        "peak": used["peak"],
    }


def _learn_robots(frontier: Frontier, now: float) -> float:
    """Each host's robots.txt comes first; microseconds each. Hosts then rest, so at this moment each comes once."""
    rules = robots_from_status(200, _ROBOTS, "gossamer")
    known = 0
    started = thread_time()
    while visits := frontier.lease(now, 64):
        for visit in visits:
            if not visit.robots:
                raise AssertionError(f"{visit.url} was leased before its host's robots.txt")
            frontier.settle_robots(visit, rules, now, 0.05, now + 1e7)
            known += 1
        if known % 6_400 == 0:
            frontier.commit({})
    frontier.commit({})
    return (thread_time() - started) / max(known, 1) * 1e6


def _turn(frontier: TimedFrontier, visits: list[Visit], links: Links, now: float, spent: dict[str, float]) -> int:
    """Settle what was leased, each page with its links; gives the pages.

    The clock is read once for all of them: reading it takes about as long as settling a page.
    """
    pages = [(visit, links.page()) for visit in visits if not visit.robots]
    robots = [visit for visit in visits if visit.robots]
    rules = robots_from_status(200, _ROBOTS, "gossamer") if robots else None
    began, judging = thread_time(), frontier.judging
    for visit, urls in pages:
        frontier.add(urls, visit.depth + 1, _PRIORITY)
    added = thread_time()
    for visit, _ in pages:
        frontier.settle_page(visit, 200, now, 0.05, (0, 4_096 * visit.number % 10**9, 4_096))
    for visit in robots:
        frontier.settle_robots(visit, rules, now, 0.05, now + 1e7)
    spent["judge"] += added - began - (frontier.judging - judging)
    spent["settle"] += thread_time() - added
    return len(pages)


# -- compact -----------------------------------------------------------------------------------------------------------


def compact(load: Load) -> dict[str, float]:
    """What the disk holds once RocksDB has tidied up; it does so by itself in time."""
    started = perf_counter()
    database = Database(Path(load.path), FrontierConfig().memory)
    database.compact()
    database.close()
    return {"compact_s": perf_counter() - started}


def main() -> None:
    phase = sys.argv[1]
    load = Load(**json.loads(sys.argv[2]))
    gc.freeze()  # as gossamer.agent.crawl does
    gc.set_threshold(50_000, 50, 100)
    figures = {"build": build, "crawl": crawl, "compact": compact}[phase](load)
    print(json.dumps(figures), flush=True)
    if phase == "build":
        os._exit(0)  # no close, no flush, no last commit


def command(phase: str, load: Load) -> list[str]:
    return [sys.executable, str(Path(__file__).resolve()), phase, json.dumps(dataclasses.asdict(load))]


if __name__ == "__main__":
    main()
