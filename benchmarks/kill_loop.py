"""Crawls of a simulated web that are killed, copied and gone on with, and what came of them.

The trials of a plain crawl: killed again and again at a limited rate, and then left to finish; the same at full speed
with a delay, judged by the server's log; once more with a delay that is longer than a start; and "power loss": copies
taken while the crawl writes, each gone on with to its end. The others (apps, strategies, watch, forms) are of what runs
on a crawl: `kill_parts.py` has them. Exit status 1 if a rule is broken.
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
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import snapshots
from judge import ROBOTS, Verdict, judge_pages, most_in, repeated, smallest_gap
from kill_parts import PartTrials
from killing import CrawlFailed, Killer, finish, start
from machine import description
from processes import tidy_when_terminated
from simulated_web import Arrival, SimulatedWeb
from tables import table

KINDS = ("plain", "apps", "strategies", "watch", "forms")
CONNECTIONS = 64
_COMMIT_INTERVAL = 1.0  # seconds: gossamer's default
_LIFE = (0.5, 3.0)  # seconds between a start and its kill
_LONG_LIFE = (0.5, 4.0)  # the same where processes run beside the crawl, which take their time to start
_PLAIN, _PARTS = (200, 100, 25), (40, 50, 30)  # hosts, pages of a host, kills
_KEPT = 1.5  # of these, seconds of work that a life leaves behind: it starts, and loses the last interval
_BETWEEN_COPIES = (0.1, 1.5)  # seconds
_LONG_DELAY = 2.0  # seconds: longer than a start takes, so that a start that forgot the delay would break it
_FEW_PAGES = 6  # of a host, for the long delay
_CLOCKS = 0.001  # seconds that two clocks of one machine may differ by


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "kinds", nargs="*", metavar="KIND", help=f"of trials, the plain ones if none: {', '.join(KINDS)}"
    )
    parser.add_argument(
        "--kills", type=int, help="SIGKILLs in each of the first two plain trials (25), or of another (30)"
    )
    parser.add_argument("--copies", type=int, default=10, help="copies in the last trial (10)")
    parser.add_argument("--hosts", type=int, help="hosts of the simulated web (200; 40 where it is not a plain crawl)")
    parser.add_argument("--pages", type=int, help="pages of a host (100; 50)")
    parser.add_argument("--delay", type=float, default=0.2, help="seconds between visits in the second trial (0.2)")
    parser.add_argument("--seed", type=int, default=1, help="of the moments at which it is killed (1)")
    parser.add_argument("--work", type=Path, default=Path("bench-work"), help="crawls are written here (bench-work)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the verdicts to this file")
    parser.add_argument("--keep", action="store_true", help="leave the crawls for a look")
    options = parser.parse_args(given)
    if unknown := [kind for kind in options.kinds if kind not in KINDS]:
        parser.error(f"{unknown[0]}: there are {', '.join(KINDS)}")
    options.kinds = options.kinds or ["plain"]
    return options


class Trials:
    """Trials on the same web. Invariant: nothing runs any more when a trial has returned."""

    def __init__(self, options: argparse.Namespace, home: Path, hosts: int, pages: int, kills: int) -> None:
        self._home = home
        self._hosts, self._pages, self._kills = hosts, pages, kills
        self._copies: int = options.copies
        self._delay: float = options.delay
        self._random = random.Random(options.seed)
        self._killer = Killer(self._random, _LIFE)

    def named(self) -> Iterator[tuple[str, Trial]]:
        delay = self._delay
        yield "killed again and again, limited rate", self.killed_at_a_rate
        yield (
            f"killed again and again, --delay {delay:g}",
            lambda: self.killed_with_a_delay(delay, self._pages, self._kills),
        )
        yield (
            f"the same with few pages, --delay {_LONG_DELAY:g}",
            lambda: self.killed_with_a_delay(_LONG_DELAY, min(self._pages, _FEW_PAGES), min(self._kills, 5)),
        )
        yield "power loss", self.power_loss

    def killed_at_a_rate(self) -> list[Verdict]:
        rate = max(self._hosts * self._pages / (self._kills * _KEPT), 10.0)
        web = SimulatedWeb(self._hosts, self._pages, self._home / "rate.log")
        directory = self._home / "rate"
        with web.served():
            kills = self._killer.kill(web.crawl(directory, *_speed("0"), "--rate", f"{rate:g}"), self._kills)
            finish(web.crawl(directory, *_speed("0"), "--rate", "0"))
        enough = Verdict("killed while it ran", f"{kills} times", f"{self._kills}", kills >= self._kills)
        # The bucket of the rate saves up a tenth of a second.
        bound = kills * (rate * (_COMMIT_INTERVAL + 0.1) + CONNECTIONS)
        return [enough, *judge_pages(directory, web.truth()), judge_repeats(web.arrivals(), bound)]

    def killed_with_a_delay(self, delay: float, pages: int, most: int) -> list[Verdict]:
        """Killed `most` times, on a web with so many pages a host."""
        web = SimulatedWeb(self._hosts, pages, self._home / f"delay-{delay:g}.log")
        directory = self._home / f"delay-{delay:g}"
        with web.served():
            crawl = web.crawl(directory, *_speed(f"{delay:g}"))
            kills = self._killer.kill(crawl, most)
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
        web = SimulatedWeb(self._hosts, self._pages, self._home / "power.log")
        source = self._home / "power"
        truth = web.truth()
        # Slow enough that all copies fall into the crawl.
        rate = max(len(truth) / (self._copies * _BETWEEN_COPIES[1]), 10.0)
        with web.served():
            process = start(web.crawl(source, *_speed("0"), "--rate", f"{rate:g}"))
            try:
                copies = self._copy(process, source)
            finally:
                process.kill()
                process.wait()
            verdicts = [_judge_copy(kind, copy, web, truth) for kind, copy in copies]
        enough = len(copies) == self._copies
        return [Verdict("copies of a running crawl", f"{len(copies)}", f"{self._copies}", enough), *verdicts]

    def _copy(self, process: subprocess.Popen[bytes], source: Path) -> list[tuple[str, Path]]:
        taken: list[tuple[str, Path]] = []
        while not (source / "warc").is_dir() and process.poll() is None:
            time.sleep(0.01)
        for number in range(self._copies):
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


def _speed(delay: str) -> list[str]:
    return ["--delay", delay, "--connections", str(CONNECTIONS)]


Trial = Callable[[], list[Verdict]]


def chosen(options: argparse.Namespace, home: Path) -> Iterator[tuple[str, Trial]]:
    """The trials that were asked for, by the names of their tables."""

    def size(hosts: int, pages: int, kills: int) -> tuple[int, int, int]:
        return options.hosts or hosts, options.pages or pages, options.kills or kills

    for kind in options.kinds:
        if kind == "plain":
            yield from Trials(options, home, *size(*_PLAIN)).named()
        else:
            killer = Killer(random.Random(f"{options.seed} {kind}"), _LONG_LIFE)
            yield from PartTrials(home, *size(*_PARTS), killer).named(kind)


def main() -> int:
    options = arguments()
    tidy_when_terminated()
    print(description(), flush=True)
    options.work.mkdir(parents=True, exist_ok=True)
    home = Path(tempfile.mkdtemp(prefix="kills-", dir=options.work.resolve()))
    found: dict[str, list[Verdict]] = {}
    try:
        for name, trial in chosen(options, home):
            started = time.monotonic()
            try:
                found[name] = trial()
            except CrawlFailed as failure:
                found[name] = [Verdict("the crawl comes to its end", str(failure), "complete", False)]
            print(f"\n{name} ({time.monotonic() - started:.0f} s)\n")
            print(table(["rule", "found", "allowed", ""], [verdict.row() for verdict in found[name]]), flush=True)
    finally:
        if options.keep:
            print(f"\nthe crawls are in {home}")
        else:
            shutil.rmtree(home)
    if options.json:
        plain = {name: [verdict._asdict() for verdict in verdicts] for name, verdicts in found.items()}
        options.json.write_text(json.dumps(plain, indent=1) + "\n")
    broken = sum(not verdict.holds for verdicts in found.values() for verdict in verdicts)
    print(f"\n{broken} rules are broken" if broken else "\nevery rule holds")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
