"""Caps on pages and bytes a second, held against the server's log, with a change while the crawl runs.

The crawl could go much faster than its cap. In the middle the value in the crawl's `gossamer.toml` is written anew, as
somebody would who edits it; it has two seconds to take effect. Requests (or the bytes of the responses, as the crawl
received them) are then counted in windows of ten seconds; each must be within 5 % of the cap. Exit status 1 if not.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from judge import ROBOTS, Verdict
from machine import cores, description
from processes import pinned, tidy_when_terminated
from simulated_web import Arrival, SimulatedWeb
from tables import table

_WINDOW = 10.0  # seconds
_TOLERANCE = 0.05
_TAKES_EFFECT = 2.0  # seconds after a change
_FIRST = 3.0  # seconds after the first request that do not count: robots.txt of many hosts
_CONNECTIONS = 64


class Cap(NamedTuple):
    """An option of the crawl, its value at first and after the change."""

    option: str
    first: float
    then: float


class Phase(NamedTuple):
    """A time in which one cap holds."""

    name: str
    cap: float
    since: float
    until: float


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=200.0, help="pages a second at first; then half of it (200)")
    parser.add_argument("--bandwidth", type=float, default=2e6, help="bytes a second at first; then half of it (2e6)")
    parser.add_argument("--seconds", type=float, default=70.0, help="how long each crawl takes (70)")
    parser.add_argument("--no-change", action="store_true", help="leave the caps as they are")
    parser.add_argument("--hosts", type=int, default=300, help="hosts of the web (300)")
    parser.add_argument("--pages", type=int, default=200, help="pages of a host (200)")
    parser.add_argument("--work", type=Path, default=Path("bench-work"), help="crawls are written here (bench-work)")
    return parser.parse_args(given)


def spelled(value: float) -> str:
    """Without an exponent, which sizes do not have."""
    return f"{value:f}".rstrip("0").rstrip(".")


def rewritten(text: str, option: str, value: float) -> str:
    """The settings with another value for one option, as an editor would leave them."""
    changed, times = re.subn(rf"(?m)^(#\s*)?({option}\s*=\s*).*$", rf"\g<2>{spelled(value)}", text)
    if times != 1:
        raise ValueError(f"gossamer.toml has {times} lines for {option}, not one")
    return changed


def windows(times: Sequence[tuple[float, float]], phase: Phase) -> list[float]:
    """How much came in each whole window of a phase, a second; `times` are moments and amounts."""
    count = int((phase.until - phase.since) / _WINDOW)
    sums = [0.0] * count
    for moment, amount in times:
        number = int((moment - phase.since) // _WINDOW)
        if 0 <= number < count:
            sums[number] += amount
    return [total / _WINDOW for total in sums]


def judge_phase(times: Sequence[tuple[float, float]], phase: Phase) -> Verdict:
    shares = [speed / phase.cap for speed in windows(times, phase)]
    found = ", ".join(f"{share:.1%}" for share in shares) or "no whole window"
    holds = bool(shares) and all(abs(share - 1) <= _TOLERANCE for share in shares)
    return Verdict(f"{phase.name}, of {phase.cap:,.0f}/s", found, f"{1 - _TOLERANCE:.0%}-{1 + _TOLERANCE:.0%}", holds)


def amounts(option: str, arrivals: Sequence[Arrival], sizes: dict[str, int]) -> list[tuple[float, float]]:
    """Pages asked for, or the bytes of what was answered; each page is asked for once."""
    if option == "rate":
        return [(arrival.time, 1.0) for arrival in arrivals]
    return [(arrival.time, float(sizes.get(arrival.url, 0))) for arrival in arrivals]


def response_sizes(web: SimulatedWeb, hosts: int, pages: int) -> dict[str, int]:
    """Head and body of every page and robots.txt of the web, by URL."""
    from gossamer.testing.web import Request, World
    from gossamer.testing.web.site import WorldSite

    world = World(hosts=hosts, pages=pages)
    site = WorldSite(world)
    sizes = {}
    for url in [*web.truth(), *(world.url(host, ROBOTS) for host in range(hosts))]:
        host, path = url.removeprefix("http://").split("/", 1)
        answer = site.answer(Request(b"GET", host.encode(), f"/{path}".encode(), b"GET / HTTP/1.1\r\n"))
        assert isinstance(answer, bytes)
        sizes[url] = len(answer)
    return sizes


def run(cap: Cap, options: argparse.Namespace, home: Path) -> list[Verdict]:
    usable = cores()
    server_core, own_core = (usable[0], usable[1]) if len(usable) > 1 else (None, None)
    web = SimulatedWeb(options.hosts, options.pages, home / "arrivals.log")
    directory = home / "crawl"
    settings = directory / "gossamer.toml"
    half = options.seconds / 2
    with web.served(server_core):
        command = web.crawl(
            directory, "--delay", "0", "--connections", str(_CONNECTIONS), f"--{cap.option}", spelled(cap.first),
            "--time-limit", f"{options.seconds:g}s",
        )  # fmt: skip
        process = subprocess.Popen(pinned(command, own_core), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        changed = 0.0
        try:
            if not options.no_change:
                time.sleep(half)
                settings.write_text(rewritten(settings.read_text(), cap.option, cap.then))
                changed = time.time()
            _, errors = process.communicate(timeout=options.seconds + 60)
        finally:
            process.kill()  # nothing where it has ended
            process.wait()
    if process.returncode:
        raise RuntimeError(
            f"gossamer ended with status {process.returncode}: {errors.decode(errors='replace')[-2000:]}"
        )
    arrivals = web.arrivals()
    counted = amounts(
        cap.option, arrivals, response_sizes(web, options.hosts, options.pages) if cap.option == "bandwidth" else {}
    )
    began, ended = arrivals[0].time + _FIRST, arrivals[-1].time
    if not changed:
        return [judge_phase(counted, Phase(cap.option, cap.first, began, ended))]
    before = Phase(f"{cap.option}, at first", cap.first, began, changed)
    after = Phase(f"{cap.option}, changed", cap.then, changed + _TAKES_EFFECT, ended)
    return [judge_phase(counted, before), judge_phase(counted, after)]


def main() -> int:
    options = arguments()
    tidy_when_terminated()
    print(description(("pycurl", "uvloop")), flush=True)
    options.work.mkdir(parents=True, exist_ok=True)
    verdicts: list[Verdict] = []
    for cap in (
        Cap("rate", options.rate, options.rate / 2),
        Cap("bandwidth", options.bandwidth, options.bandwidth / 2),
    ):
        home = Path(tempfile.mkdtemp(prefix="caps-", dir=options.work.resolve()))
        try:
            verdicts += run(cap, options, home)
        finally:
            shutil.rmtree(home)
    print("\n" + table(["cap", "share, by windows of 10 s", "allowed", ""], [verdict.row() for verdict in verdicts]))
    broken = sum(not verdict.holds for verdict in verdicts)
    print(f"\n{broken} rules are broken" if broken else "\nevery rule holds")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
