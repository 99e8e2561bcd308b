"""What the agent counts. Kept in the commit, so that the numbers survive whatever the pages do."""

from __future__ import annotations

import os
import time

import msgspec

from gossamer.agent.progress import Progress


class Statistics(msgspec.Struct):
    """Totals over all runs of a crawl."""

    pages: int = 0
    ok: int = 0
    faults: int = 0  # visits that ended without a page
    failures: int = 0  # failed tries, those tried again included
    bytes: int = 0
    robots: int = 0  # robots.txt requests
    sources: int = 0  # sitemaps and feeds that were read for links, and are no pages
    links: int = 0
    full_parses: int = 0  # pages that the fast link scanner left to the parser
    duplicates: int = 0  # pages that say what another one has said, word for word
    findings: dict[str, int] = {}  # what was found to repeat itself, by kind
    statuses: dict[int, int] = {}
    reasons: dict[str, int] = {}  # failed tries by reason

    def count_page(self, status: int) -> None:
        self.pages += 1
        if 200 <= status < 300:
            self.ok += 1
        self.statuses[status] = self.statuses.get(status, 0) + 1

    def count_failure(self, reason: str) -> None:
        self.failures += 1
        self.reasons[reason] = self.reasons.get(reason, 0) + 1

    def count_finding(self, kind: str) -> None:
        self.findings[kind] = self.findings.get(kind, 0) + 1

    def status_classes(self) -> dict[str, int]:
        classes: dict[str, int] = {}
        for status, count in sorted(self.statuses.items()):
            name = f"{status // 100}xx" if 100 <= status < 600 else "other"
            classes[name] = classes.get(name, 0) + count
        return classes


class Meter:
    """Speeds of this run: now (over the last seconds), mean, peak; and time spent by stage."""

    _WINDOW = 5.0

    def __init__(self, statistics: Statistics, now: float) -> None:
        self._statistics = statistics
        self._began = now
        self._pages_before = statistics.pages
        self._samples: list[tuple[float, int, int]] = [(now, statistics.pages, statistics.bytes)]
        self._peak = 0.0
        self.stages: dict[str, float] = {"fetch": 0.0, "parse": 0.0, "store": 0.0, "frontier": 0.0, "commit": 0.0}

    def sample(self, now: float) -> None:
        samples = self._samples
        samples.append((now, self._statistics.pages, self._statistics.bytes))
        while len(samples) > 2 and samples[1][0] <= now - self._WINDOW:
            del samples[0]
        self._peak = max(self._peak, self._speeds()[0])

    def _speeds(self) -> tuple[float, float]:
        (then, pages, size), (now, pages_now, size_now) = self._samples[0], self._samples[-1]
        seconds = max(now - then, 0.001)
        return (pages_now - pages) / seconds, (size_now - size) / seconds

    def fill(self, progress: Progress, now: float) -> None:
        statistics = self._statistics
        run_pages = statistics.pages - self._pages_before
        progress.run_pages = run_pages
        progress.seconds = now - self._began
        progress.cpu_seconds = time.process_time()
        progress.pages_per_s, progress.bytes_per_s = self._speeds()
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
