"""What the agent counts. Kept in the commit, so that the numbers survive whatever the pages do."""

from __future__ import annotations

import os
import time
from bisect import bisect_left
from collections.abc import Mapping

import msgspec

from gossamer.agent.progress import Progress

_PAGE = os.sysconf("SC_PAGESIZE")

OTHER = "other"
"""Why URLs were given up of which only the number is known: by an earlier version, or another agent."""


class Statistics(msgspec.Struct):
    """Totals over all runs of a crawl."""

    pages: int = 0
    ok: int = 0
    faults: int = 0  # visits that ended without a page
    failures: int = 0  # failed tries, those tried again included
    bytes: int = 0
    left_out: int = 0  # visits that found what is not wanted: its type, size, address, or a reserved string
    robots: int = 0  # robots.txt requests
    sources: int = 0  # sitemaps and feeds that were read for links, and are no pages
    links: int = 0
    full_parses: int = 0  # pages that the fast link scanner left to the parser
    duplicates: int = 0  # pages that say what another one has said, word for word
    revisits: int = 0  # visits to what had been visited before
    revisits_changed: int = 0  # of these found a change
    revisits_unmodified: int = 0  # of these were answered without a body
    gone: int = 0  # pages that a second look found to be there no more
    findings: dict[str, int] = {}  # what was found to repeat itself, by kind
    statuses: dict[int, int] = {}
    reasons: dict[str, int] = {}  # failed tries by reason
    given_up: dict[str, int] = {}  # of the faults: those that were not tried again since, by the reason of the last try

    def count_pages(self, statuses: list[int]) -> None:
        self.pages += len(statuses)
        counts = self.statuses
        for status in set(statuses):
            count = statuses.count(status)
            counts[status] = counts.get(status, 0) + count
            if 200 <= status < 300:
                self.ok += count

    def count_failure(self, reason: str) -> None:
        self.failures += 1
        self.reasons[reason] = self.reasons.get(reason, 0) + 1

    def give_up(self, reason: str, urls: int) -> None:
        """Count so many URLs as dead for this reason."""
        if urls:
            self.faults += urls
            self.given_up[reason] = self.given_up.get(reason, 0) + urls

    def take_back(self, urls: Mapping[str, int]) -> None:
        """Count dead URLs no more, by the reasons that they were dead for: they are queued again, or purged."""
        for reason, number in urls.items():
            self.faults -= number
            self.given_up[reason] = max(0, self.given_up.get(reason, 0) - number)

    def dead_by_reason(self, dead: int) -> dict[str, int]:
        """Say why so many URLs are dead."""
        known = {reason: number for reason, number in self.given_up.items() if number}
        rest = dead - sum(known.values())
        if rest < 0:  # some are another agent's by now, or were found again
            known, rest = {}, dead
        return {**known, OTHER: rest} if rest else known

    def count_finding(self, kind: str) -> None:
        self.findings[kind] = self.findings.get(kind, 0) + 1

    def status_classes(self) -> dict[str, int]:
        classes: dict[str, int] = {}
        for status, count in sorted(self.statuses.items()):
            name = f"{status // 100}xx" if 100 <= status < 600 else "other"
            classes[name] = classes.get(name, 0) + count
        return classes


class _Reading(msgspec.Struct, frozen=True):
    at: float
    pages: int
    bytes: int
    cpu: float
    answers: int
    waited: float
    waits: tuple[int, ...]


class Meter:
    """Speeds of this run: now (over the last seconds), mean, peak; time spent by stage; how long responses take."""

    _WINDOW = 5.0
    _WAITS = 24  # of responses, by the bits of their milliseconds: the last is hours

    def __init__(self, statistics: Statistics, now: float) -> None:
        self._statistics = statistics
        self._began = now
        self._pages_before = statistics.pages
        self._robots_before = statistics.robots
        self.requests = 0
        self.turns = self.short_turns = 0  # of the loop, since the last sample; those with more to visit than allowed
        self.short = False  # most of them were
        self.answers: list[float] = []  # seconds that responses took, since the last sample
        self._answers, self._waited, self._waits = 0, 0.0, [0] * self._WAITS
        self._samples: list[_Reading] = [self._read(now)]
        self._peak = 0.0
        self.stages: dict[str, float] = {"fetch": 0.0, "parse": 0.0, "store": 0.0, "frontier": 0.0, "commit": 0.0}

    def sample(self, now: float) -> None:
        self.short = self.short_turns * 2 > self.turns
        self.turns = self.short_turns = 0
        self._count_answers()
        samples = self._samples
        samples.append(self._read(now))
        while len(samples) > 2 and samples[1].at <= now - self._WINDOW:
            del samples[0]
        self._peak = max(self._peak, self._speed())

    def _count_answers(self) -> None:
        self._answers += len(self.answers)
        self._waited += sum(self.answers)
        self.answers.sort()
        below = 0
        for bits in range(self._WAITS):
            to = bisect_left(self.answers, 2**bits / 1000) if bits < self._WAITS - 1 else len(self.answers)
            self._waits[bits] += to - below
            below = to
        self.answers.clear()

    def _read(self, now: float) -> _Reading:
        counted, waits = self._statistics, tuple(self._waits)
        return _Reading(now, counted.pages, counted.bytes, time.process_time(), self._answers, self._waited, waits)

    def _speed(self) -> float:
        then, now = self._samples[0], self._samples[-1]
        return (now.pages - then.pages) / max(now.at - then.at, 0.001)

    def _fill_now(self, progress: Progress) -> None:
        then, now = self._samples[0], self._samples[-1]
        seconds = max(now.at - then.at, 0.001)
        progress.pages_per_s = self._speed()
        progress.bytes_per_s = (now.bytes - then.bytes) / seconds
        progress.core = (now.cpu - then.cpu) / seconds
        answers = now.answers - then.answers
        if answers:
            progress.latency = (now.waited - then.waited) / answers
            left = answers * 0.95
            for bits, (count, before) in enumerate(zip(now.waits, then.waits, strict=True)):
                left -= count - before
                if left <= 0:
                    progress.latency_95 = 2**bits / 1000
                    break

    def fill(self, progress: Progress, now: float) -> None:
        statistics = self._statistics
        run_pages = statistics.pages - self._pages_before
        progress.run_pages = run_pages
        progress.seconds = now - self._began
        progress.cpu_seconds = time.process_time()
        self._fill_now(progress)
        progress.requests, progress.robots_asked = self.requests, statistics.robots - self._robots_before
        progress.memory = resident()
        progress.mean_pages_per_s = run_pages / max(progress.seconds, 0.001)
        progress.peak_pages_per_s = max(self._peak, progress.mean_pages_per_s)
        progress.stages = {name: seconds / max(run_pages, 1) * 1e6 for name, seconds in self.stages.items()}
        progress.pages, progress.ok, progress.faults = statistics.pages, statistics.ok, statistics.faults
        progress.bytes = statistics.bytes
        progress.duplicates, progress.findings = statistics.duplicates, dict(statistics.findings)
        progress.statuses = statistics.status_classes()
        progress.reasons = dict(statistics.reasons)
        progress.pid = os.getpid()
        progress.updated_at = now


def resident(pid: int | str = "self") -> int:
    """Bytes of memory that a process takes; 0 where that cannot be read."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * _PAGE
    except (OSError, ValueError, IndexError):
        return 0
