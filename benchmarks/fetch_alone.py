"""What a request costs: the Fetcher without parser, frontier and store, beside libcurl alone.

nginx answers every name with one page of 13.8 KB, on a core of its own; the fetcher has another. The floor is a bare
loop of libcurl with the same options in the same run: what the machine and the library cost, whatever we do. CPU is
user and system time of the process after a warm-up, without what it takes when idle; the median of the rounds counts.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import nginx
from crawlers import last_json, memory_folder
from fetch_load import Cost, Fetches
from fetch_server import FetchServer
from machine import cores, description, load
from processes import finish, tidy_when_terminated
from tables import figure, table

TARGET = 70.0  # µs a request, over HTTP on open connections
HERE = Path(__file__).resolve().parent
_PACKAGES = ("pycurl", "uvloop")
_PROGRAMS = ("fetcher", "bare")


class Case(NamedTuple):
    """`kind` is the server's; with more hosts than libcurl keeps connections, every request opens one."""

    name: str
    kind: str
    connections: int
    hosts: int
    target: float | None = None

    @property
    def scheme(self) -> str:
        return self.kind.partition("-")[0]


CASES = (
    Case("HTTP, open connections", "http", 64, 64, TARGET),
    Case("HTTP, open connections", "http", 1_000, 1_000, TARGET),
    Case("HTTP, more hosts than are kept open", "http", 64, 1_000),
    Case("HTTPS, open connections", "https", 64, 64),
    Case("HTTPS, open connections", "https", 1_000, 1_000),
    Case("HTTPS, new ones, no session offered", "https-close-no-sessions", 64, 1_000),
    Case("HTTPS, new ones, sessions offered", "https-close", 64, 1_000),
    Case("the same, few hosts", "https-close", 16, 16),
)


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each case; they take turns (5)")
    parser.add_argument("--requests", type=int, default=10_000, help="requests of a measurement (10000)")
    parser.add_argument("--only", default="", metavar="KIND", help="cases of this kind of server: http, https, ...")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every measurement to this file")
    return parser.parse_args(given)


def measure(program: str, case: Case, server: FetchServer, requests: int, folder: Path, core: int | None) -> Cost:
    warm_up = max(2 * case.hosts, 1_000)
    what = Fetches(
        case.scheme, server.address(case.kind), case.connections, case.hosts, requests, warm_up, len(server.page)
    )
    os.environ["SSL_CERT_FILE"] = str(server.certificate)  # where the Fetcher looks for authorities
    command = [sys.executable, str(HERE / "fetch_load.py"), program, json.dumps(what._asdict())]
    done = finish(command, folder, core)
    if done.status:
        raise RuntimeError(f"{case.name}: status {done.status}: {done.errors[-2000:]}")
    return Cost(**last_json(done.output))


def rows_of(results: Mapping[tuple[Case, str], Sequence[Cost]], resumed: Mapping[Case, float]) -> list[list[str]]:
    rows = []
    for case in dict.fromkeys(case for case, _ in results):
        ours = [cost.us for cost in results[case, "fetcher"]]
        floor = statistics.median(cost.us for cost in results[case, "bare"])
        middle = statistics.median(ours)
        mark = " !" if case.target is not None and middle > case.target else ""
        speed = statistics.median(cost.requests / cost.seconds for cost in results[case, "fetcher"])
        rows.append(
            [
                case.name, f"{case.connections:,}", f"{case.hosts:,}", figure(case.target), figure(middle) + mark,
                f"{figure(min(ours))}-{figure(max(ours))}", figure(floor), figure(middle - floor), figure(speed),
                f"{resumed[case]:.0%}" if case in resumed else "-",
            ]
        )  # fmt: skip
    return rows


def main() -> int:
    options = arguments()
    tidy_when_terminated()
    if nginx.program() is None:
        print(nginx.INSTALL, file=sys.stderr)
        return 2
    usable = cores()
    server_core, own_core = (usable[0], usable[1]) if len(usable) > 1 else (None, None)
    print(description(_PACKAGES), flush=True)
    if own_core is None:
        print("one core only: nothing is pinned, and the server's work is in the fetcher's way")
    cases = [case for case in CASES if options.only in ("", case.kind)]
    results: dict[tuple[Case, str], list[Cost]] = {(case, program): [] for case in cases for program in _PROGRAMS}
    resumed: dict[Case, float] = {}
    with memory_folder() as folder:
        folder.chmod(0o755)  # nginx started by root reads as another user
        server = FetchServer(folder)
        with server.serving(server_core):
            for number in range(1, options.rounds + 1):
                for case in cases:
                    for program in _PROGRAMS:
                        before = len(server.resumed(case.kind))
                        cost = measure(program, case, server, options.requests, folder, own_core)
                        results[case, program].append(cost)
                        sessions = server.resumed(case.kind)[before:]
                        if sessions and program == "fetcher":
                            resumed[case] = sessions.count("r") / len(sessions)
                print(f"round {number} of {options.rounds} (load average {load():.2f})", flush=True)
    headings = [
        "requests", "connections", "hosts", "target", "CPU µs", "range", "libcurl alone", "ours", "requests/s",
        "resumed",
    ]  # fmt: skip
    print("\n" + table(headings, rows_of(results, resumed)))
    print(f"\nmedian of {options.rounds} rounds of {options.requests:,} requests; ! is above its target")
    if options.json:
        plain = [
            {"case": case._asdict(), "program": program, "us": [round(cost.us, 2) for cost in costs]}
            for (case, program), costs in results.items()
        ]
        options.json.write_text(json.dumps(plain, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
