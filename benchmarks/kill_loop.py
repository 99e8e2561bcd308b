"""Crawls of a simulated web that are killed, copied and gone on with, and what came of them.

Three trials: killed again and again at a limited rate, and then left to finish; the same at full speed with a delay,
judged by the server's log; and "power loss": copies taken while the crawl writes, each gone on with to its end. Exit
status 1 if a rule is broken.
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
from simulated_web import Arrival, SimulatedWeb
from tables import table

CONNECTIONS = 64
_COMMIT_INTERVAL = 1.0  # seconds: gossamer's default
_LIFE = (0.5, 3.0)  # seconds between a start and its kill
_KEPT = 1.0  # of these, seconds of work that a life leaves behind, at most: it starts, and loses the last interval
_CLOCKS = 0.001  # seconds that two clocks of one machine may differ by


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=25, help="SIGKILLs in each of the first two trials (25)")
    parser.add_argument("--copies", type=int, default=10, help="copies in the third (10)")
    parser.add_argument("--hosts", type=int, default=200, help="hosts of the simulated web (200)")
    parser.add_argument("--pages", type=int, default=100, help="pages of a host (100)")
    parser.add_argument("--delay", type=float, default=0.2, help="seconds between visits in the second trial (0.2)")
    parser.add_argument("--seed", type=int, default=1, help="of the moments at which it is killed (1)")
    parser.add_argument("--work", type=Path, default=Path("bench-work"), help="crawls are written here (bench-work)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the verdicts to this file")
    return parser.parse_args(given)


class Trials:
    """The three trials on the same web. Invariant: nothing runs any more when a trial has returned."""

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
            kills = self._kill(web.crawl(directory, *_speed("0"), "--rate", f"{rate:g}"))
            finish(web.crawl(directory, *_speed("0"), "--rate", "0"))
        enough = Verdict("killed while it ran", f"{kills} times", f"{options.kills}", kills >= options.kills)
        # The bucket of the rate saves up a tenth of a second.
        bound = kills * (rate * (_COMMIT_INTERVAL + 0.1) + CONNECTIONS)
        return [enough, *judge_pages(directory, web.truth()), judge_repeats(web.arrivals(), bound)]

    def killed_with_a_delay(self) -> list[Verdict]:
        options = self._options
        web = SimulatedWeb(options.hosts, options.pages, self._home / "delay.log")
        directory = self._home / "delay"
        crawl = web.crawl(directory, *_speed(f"{options.delay:g}"))
        with web.served():
            kills = self._kill(crawl)
            finish(crawl)
        arrivals = web.arrivals()
        gap, host = smallest_gap(arrivals)
        enough = Verdict("killed while it ran", f"{kills} times", "1 or more", kills > 0)
        polite = Verdict(
            "smallest gap of a host, kills included",
            f"{gap:.4f} s ({host})",
            f">= {options.delay:g} s",
            gap >= options.delay - _CLOCKS,
        )
        peak = most_in([arrival.time for arrival in arrivals if arrival.path != ROBOTS], _COMMIT_INTERVAL)
        bound = kills * (peak + CONNECTIONS)
        return [enough, *judge_pages(directory, web.truth()), judge_repeats(arrivals, bound), polite]

    def power_loss(self) -> list[Verdict]:
        options = self._options
        web = SimulatedWeb(options.hosts, options.pages, self._home / "power.log")
        source = self._home / "power"
        truth = web.truth()
        verdicts: list[Verdict] = []
        with web.served():
            # Slow enough that the copies fall into the crawl, and in more than one commit each.
            rate = max(len(truth) / (options.copies * 1.5), 10.0)
            process = start(web.crawl(source, *_speed("0"), "--rate", f"{rate:g}"))
            copies = self._copy(process, source)
            process.kill()
            process.wait()
            for kind, copy in copies:
                name = f"{copy.name}, {kind}, {snapshots.committed(copy / 'frontier').warc / 1e6:.1f} MB committed"
                finish(web.crawl(copy, *_speed("0"), "--rate", "0"))
                verdicts += [verdict._replace(rule=f"{name}: {verdict.rule}") for verdict in judge_pages(copy, truth)]
                shutil.rmtree(copy)
        enough = len(copies) == options.copies
        return [Verdict("copies of a running crawl", f"{len(copies)}", f"{options.copies}", enough), *verdicts]

    def _kill(self, crawl: list[str]) -> int:
        """Start and kill; gives how often it was killed, which is less often if it came to its end before."""
        kills = 0
        while kills < self._options.kills:
            process = start(crawl)
            try:
                process.wait(self._random.uniform(*_LIFE))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                kills += 1
            else:
                if process.returncode:
                    raise RuntimeError(f"the crawl ended with status {process.returncode} after {kills} kills")
                break
        return kills

    def _copy(self, process: subprocess.Popen[bytes], source: Path) -> list[tuple[str, Path]]:
        taken: list[tuple[str, Path]] = []
        while not (source / "warc").is_dir() and process.poll() is None:
            time.sleep(0.01)
        for number in range(self._options.copies):
            time.sleep(self._random.uniform(0.1, 1.5))
            if process.poll() is not None:
                break
            kind = snapshots.KINDS[number % len(snapshots.KINDS)]
            copy = self._home / f"copy {number + 1}"
            snapshots.take(kind, process, source, copy, self._random)
            taken.append((kind, copy))
        return taken


def judge_repeats(arrivals: Sequence[Arrival], bound: float) -> Verdict:
    again = repeated(arrivals)
    return Verdict("requests beyond one a URL", f"{again:,}", f"<= {bound:,.0f}", again <= bound)


def start(crawl: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(crawl, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def finish(crawl: list[str]) -> None:
    """Let it come to its end."""
    done = subprocess.run(crawl, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the crawl ended with status {done.returncode}:\n{done.stderr[-3000:]}")
    summary: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    if summary["reason"] != "complete":
        raise RuntimeError(f"the crawl ended before its end: {summary['reason']}")


def _speed(delay: str) -> list[str]:
    return ["--delay", delay, "--connections", str(CONNECTIONS)]


def main() -> int:
    options = arguments()
    print(description(), flush=True)
    options.work.mkdir(parents=True, exist_ok=True)
    home = Path(tempfile.mkdtemp(prefix="kills-", dir=options.work.resolve()))
    trials = Trials(options, home)
    found: dict[str, list[Verdict]] = {}
    try:
        for name, trial in (
            ("killed again and again, limited rate", trials.killed_at_a_rate),
            (f"killed again and again, --delay {options.delay:g}", trials.killed_with_a_delay),
            ("power loss", trials.power_loss),
        ):
            started = time.monotonic()
            found[name] = trial()
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
