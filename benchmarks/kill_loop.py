"""Crawls of a simulated web that are killed, copied and gone on with, and what came of them.

The trials: killed again and again at a limited rate, and then left to finish; the same at full speed with a delay,
judged by the server's log; once more with a delay that is longer than a start; and "power loss": copies taken while the
crawl writes, each gone on with to its end. Exit status 1 if a rule is broken.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import snapshots
from judge import ROBOTS, Verdict, judge_pages, most_in, repeated, smallest_gap
from machine import description
from processes import tidy_when_terminated
from simulated_web import Arrival, SimulatedWeb
from tables import table

CONNECTIONS = 64
_COMMIT_INTERVAL = 1.0  # seconds: gossamer's default
_LIFE = (0.5, 3.0)  # seconds between a start and its kill
_KEPT = 1.0  # of these, seconds of work that a life leaves behind, at most: it starts, and loses the last interval
_BETWEEN_COPIES = (0.1, 1.5)  # seconds
_LONG_DELAY = 2.0  # seconds: longer than a start takes, so that a start that forgot the delay would break it
_FEW_PAGES = 6  # of a host, for the long delay
_CLOCKS = 0.001  # seconds that two clocks of one machine may differ by


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=25, help="SIGKILLs in each of the first two trials (25)")
    parser.add_argument("--copies", type=int, default=10, help="copies in the last trial (10)")
    parser.add_argument("--hosts", type=int, default=200, help="hosts of the simulated web (200)")
    parser.add_argument("--pages", type=int, default=100, help="pages of a host (100)")
    parser.add_argument("--delay", type=float, default=0.2, help="seconds between visits in the second trial (0.2)")
    parser.add_argument("--seed", type=int, default=1, help="of the moments at which it is killed (1)")
    parser.add_argument("--work", type=Path, default=Path("bench-work"), help="crawls are written here (bench-work)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the verdicts to this file")
    return parser.parse_args(given)


class CrawlFailed(Exception):
    """A crawl that did not come to its end; its last words are the message."""


class Trials:
    """Trials on the same web. Invariant: nothing runs any more when a trial has returned."""

    def __init__(self, options: argparse.Namespace, home: Path) -> None:
        self._options = options
        self._home = home
        self._random = random.Random(options.seed)

    def killed_at_a_rate(self) -> list[Verdict]:
        options = self._options
        rate = max(options.hosts * options.pages / (options.kills * _KEPT), 10.0)
        web = SimulatedWeb(options.hosts, options.pages, self._home / "rate.log")
        directory = self._home / "rate"
        with web.served():
            kills = self._kill(web.crawl(directory, *_speed("0"), "--rate", f"{rate:g}"), options.kills)
            finish(web.crawl(directory, *_speed("0"), "--rate", "0"))
        enough = Verdict("killed while it ran", f"{kills} times", f"{options.kills}", kills >= options.kills)
        # The bucket of the rate saves up a tenth of a second.
        bound = kills * (rate * (_COMMIT_INTERVAL + 0.1) + CONNECTIONS)
        return [enough, *judge_pages(directory, web.truth()), judge_repeats(web.arrivals(), bound)]

    def killed_with_a_delay(self, delay: float, pages: int, most: int) -> list[Verdict]:
        """Killed `most` times, on a web with so many pages a host."""
        web = SimulatedWeb(self._options.hosts, pages, self._home / f"delay-{delay:g}.log")
        directory = self._home / f"delay-{delay:g}"
        with web.served():
            crawl = web.crawl(directory, *_speed(f"{delay:g}"))
            kills = self._kill(crawl, most)
            finish(crawl)
        arrivals = web.arrivals()
        gap, host = smallest_gap(arrivals)
        enough = Verdict("killed while it ran", f"{kills} times", "1 or more", kills > 0)
        polite = Verdict(
            "smallest gap of a host, kills included",
            f"{gap:.4f} s ({host})",
            f">= {delay:g} s",
            gap >= delay - _CLOCKS,
        )
        peak = most_in([arrival.time for arrival in arrivals if arrival.path != ROBOTS], _COMMIT_INTERVAL)
        bound = kills * (peak + CONNECTIONS)
        return [enough, *judge_pages(directory, web.truth()), judge_repeats(arrivals, bound), polite]

    def power_loss(self) -> list[Verdict]:
        options = self._options
        web = SimulatedWeb(options.hosts, options.pages, self._home / "power.log")
        source = self._home / "power"
        truth = web.truth()
        # Slow enough that all copies fall into the crawl.
        rate = max(len(truth) / (options.copies * _BETWEEN_COPIES[1]), 10.0)
        with web.served():
            process = start(web.crawl(source, *_speed("0"), "--rate", f"{rate:g}"))
            try:
                copies = self._copy(process, source)
            finally:
                process.kill()
                process.wait()
            verdicts = [_judge_copy(kind, copy, web, truth) for kind, copy in copies]
        enough = len(copies) == options.copies
        return [Verdict("copies of a running crawl", f"{len(copies)}", f"{options.copies}", enough), *verdicts]

    def _kill(self, crawl: list[str], most: int) -> int:
        """Start and kill; gives how often it was killed, which is less often if it came to its end before."""
        kills = 0
        while kills < most:
            process = start(crawl)
            try:
                process.wait(self._random.uniform(*_LIFE))
            except subprocess.TimeoutExpired:
                kills += 1
                continue
            finally:
                process.kill()  # nothing where it has ended
                process.wait()
            if process.returncode:
                finish(crawl)  # the same again, and this time its words are heard
                raise CrawlFailed(f"status {process.returncode} after {kills} kills, and not again after that")
            break
        return kills

    def _copy(self, process: subprocess.Popen[bytes], source: Path) -> list[tuple[str, Path]]:
        taken: list[tuple[str, Path]] = []
        while not (source / "warc").is_dir() and process.poll() is None:
            time.sleep(0.01)
        for number in range(self._options.copies):
            time.sleep(self._random.uniform(*_BETWEEN_COPIES))
            if process.poll() is not None:
                break
            kind = snapshots.KINDS[number % len(snapshots.KINDS)]
            copy = self._home / f"copy {number + 1}"
            snapshots.take(kind, process, source, copy, self._random)
            taken.append((kind, copy))
        return taken


def _judge_copy(kind: str, copy: Path, web: SimulatedWeb, truth: set[str]) -> Verdict:
    """Go on with a copy to its end; one verdict about all that it holds then."""
    rule = f"{copy.name}, {kind}, {snapshots.committed(copy / 'frontier').warc / 1e6:.1f} MB committed"
    allowed = f"the {len(truth):,} pages, once each"
    try:
        finish(web.crawl(copy, *_speed("0"), "--rate", "0"))
    except CrawlFailed as failure:
        return Verdict(rule, str(failure), allowed, False)
    verdicts = judge_pages(copy, truth)
    shutil.rmtree(copy)
    broken = [f"{verdict.rule}: {verdict.found}" for verdict in verdicts if not verdict.holds]
    return Verdict(rule, "; ".join(broken) or "the same", allowed, not broken)


def judge_repeats(arrivals: Sequence[Arrival], bound: float) -> Verdict:
    again = repeated(arrivals)
    return Verdict("requests beyond one a URL", f"{again:,}", f"<= {bound:,.0f}", again <= bound)


def start(crawl: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(crawl, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def finish(crawl: list[str]) -> None:
    """Let it come to its end."""
    done = subprocess.run(crawl, capture_output=True, text=True, check=False)
    if done.returncode:
        words = done.stderr.strip().splitlines()
        raise CrawlFailed(f"status {done.returncode}: {words[-1] if words else 'no word'}")
    summary: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    if summary["reason"] != "complete":
        raise CrawlFailed(f"it ended with the reason {summary['reason']}")


def _speed(delay: str) -> list[str]:
    return ["--delay", delay, "--connections", str(CONNECTIONS)]


def main() -> int:
    options = arguments()
    tidy_when_terminated()
    print(description(), flush=True)
    options.work.mkdir(parents=True, exist_ok=True)
    home = Path(tempfile.mkdtemp(prefix="kills-", dir=options.work.resolve()))
    trials = Trials(options, home)
    found: dict[str, list[Verdict]] = {}
    try:
        for name, trial in (
            ("killed again and again, limited rate", trials.killed_at_a_rate),
            (
                f"killed again and again, --delay {options.delay:g}",
                lambda: trials.killed_with_a_delay(options.delay, options.pages, options.kills),
            ),
            (
                f"the same with few pages, --delay {_LONG_DELAY:g}",
                lambda: trials.killed_with_a_delay(_LONG_DELAY, min(options.pages, _FEW_PAGES), min(options.kills, 5)),
            ),
            ("power loss", trials.power_loss),
        ):
            started = time.monotonic()
            try:
                found[name] = trial()
            except CrawlFailed as failure:
                found[name] = [Verdict("the crawl comes to its end", str(failure), "complete", False)]
            print(f"\n{name} ({time.monotonic() - started:.0f} s)\n")
            print(table(["rule", "found", "allowed", ""], [verdict.row() for verdict in found[name]]), flush=True)
    finally:
        shutil.rmtree(home)
    if options.json:
        plain = {name: [verdict._asdict() for verdict in verdicts] for name, verdicts in found.items()}
        options.json.write_text(json.dumps(plain, indent=1) + "\n")
    broken = sum(not verdict.holds for verdicts in found.values() for verdict in verdicts)
    print(f"\n{broken} rules are broken" if broken else "\nevery rule holds")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
