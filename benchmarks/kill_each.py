"""Agent, index and service of a supervised crawl, killed in turn while it crawls: when is each back, do the others go
on, is anything lost?

Exit status 1 if one is not back within --within seconds, if another one went with it, or if a page that was committed
is missing or there twice.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from machine import description
from processes import tidy_when_terminated
from simulated_web import GOSSAMER, SimulatedWeb
from tables import table

_MARKS = {"agent": b"crawl", "index": b"index", "service": b"serve"}  # a word among the arguments of each


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2, help="how often each is killed (2)")
    parser.add_argument("--rate", type=int, default=300, help="pages a second (300)")
    parser.add_argument("--hosts", type=int, default=100, help="hosts of the simulated web (100)")
    parser.add_argument("--pages", type=int, default=100, help="pages of a host (100)")
    parser.add_argument("--within", type=float, default=5.0, help="seconds in which each must be back (5)")
    return parser.parse_args(given)


def processes(home: Path, supervisor: int) -> dict[str, int]:
    """Those of the crawl in `home` that run now; the agent is the one that has the directory."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if str(home).encode() not in words or not entry.name.isdigit() or int(entry.name) == supervisor:
            continue
        for name, mark in _MARKS.items():
            if mark in words[:5]:
                found[name] = int(entry.name)
    return found


def working(name: str, home: Path, pid: int) -> bool:
    """It is not only there, but at work: the agent has the directory and commits, the index and the service say so."""
    if name == "agent":
        try:
            return (home / "lock").read_text() == str(pid)
        except OSError:
            return False
    if name == "index":
        try:
            return bool(json.loads((home / "index" / "indexer.json").read_bytes())["pid"] == pid)
        except (OSError, ValueError, KeyError):
            return False
    return True


def wait_for(home: Path, supervisor: int, before: dict[str, int], limit: float = 60.0) -> dict[str, int]:
    """Until all are there and at work, none of them under a number in `before`."""
    until = time.monotonic() + limit
    while time.monotonic() < until:
        found = processes(home, supervisor)
        if found.keys() == _MARKS.keys() and all(
            pid != before.get(name) and working(name, home, pid) for name, pid in found.items()
        ):
            return found
        time.sleep(0.02)
    raise SystemExit(f"not all processes are at work after {limit:g} s: {processes(home, supervisor)}")


def captures(home: Path) -> Counter[str]:
    return Counter(
        json.loads(line.split(" ", 2)[2])["url"]
        for file in sorted((home / "warc").glob("*.cdxj"))
        for line in file.read_text().splitlines()
    )


def main(given: Sequence[str] | None = None) -> int:
    options = arguments(given)
    tidy_when_terminated()
    folder = Path(tempfile.mkdtemp(prefix="kill-each-"))
    home = folder / "crawl"
    web = SimulatedWeb(options.hosts, options.pages, folder / "log.jsonl")
    rows, broken = [], []
    try:
        with web.served():
            command = [
                *GOSSAMER, "crawl", web.seed, "--dir", str(home), "--connect", f"*={web.address}", "--allow-private",
                "--delay", "0", "--scope", "any", "--rate", str(options.rate), "--serve", "0", "--json",
            ]  # fmt: skip
            crawl = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            try:
                now = wait_for(home, crawl.pid, {})
                for number in range(options.rounds):
                    for name in _MARKS:
                        os.kill(now[name], signal.SIGKILL)
                        killed = time.monotonic()
                        later = wait_for(home, crawl.pid, {name: now[name]})
                        taken = time.monotonic() - killed
                        others = all(later[other] == now[other] for other in _MARKS if other != name)
                        rows.append((f"{name}, round {number + 1}", f"{taken:.2f} s", "went on" if others else "died"))
                        if taken > options.within or not others:
                            broken.append(rows[-1])
                        now = later
                crawl.send_signal(signal.SIGTERM)
                out, _ = crawl.communicate(timeout=60)
            finally:
                crawl.kill()
        summary = json.loads(out.splitlines()[-1])
        stored = captures(home)
        pages = sum(count for url, count in stored.items() if not url.endswith("/robots.txt"))
        twice = [url for url, count in stored.items() if count > 1 and not url.endswith("/robots.txt")]
        if pages != summary["pages"] or twice:
            broken.append((f"{pages} pages stored, {summary['pages']} counted", f"{len(twice)} twice", ""))
        print(description())
        print(table(("killed", "back after", "the others"), rows))
        print(
            f"{summary['pages']:,} pages counted, {pages:,} stored, {len(twice)} twice; exit status {crawl.returncode}"
        )
        for each in broken:
            print("BROKEN:", *each)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
