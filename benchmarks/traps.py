"""What endless places cost a crawl: calendars, session ids, facets, hosts without number, pages that all say the same.

The hostile profile of the simulated web with its nine kinds of traps. Its faults are off unless asked for: a trap is a
good page, only one of too many. Judged by the server's log: every page that is none must have been asked for (mirrors
and copies apart), those that are may take at most 5 % of the pages, and the crawl must end by itself. Exit status 1 if
a rule is broken. Then the same for the endless profile: places without end, each on a host of its own, beside harmless
sites that look like them.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Container, Sequence
from pathlib import Path

from crawlers import last_json
from judge import Verdict
from machine import description
from processes import tidy_when_terminated
from simulated_web import GOSSAMER, SimulatedWeb
from tables import table

from gossamer.testing.web.endless import CHAINS, LISTED, MOST_WASTED, EndlessPlaces, asked_of, missing, seeds, wasted
from gossamer.testing.web.log import MemoryLog
from gossamer.testing.web.server import Server

_COPIES = "/print/"  # other URLs of pages: after a thousand in a row no more of them are asked for
_MOST = 0.05  # of the pages
_MOST_ENDLESS = 20_000  # pages: a trap that is not seen would go on
_SETTINGS = "[policy]\nmax_crawl_delay = 0\nretry_wait = 0.2\nmax_retry_wait = 1\n"  # nothing here is anybody's server


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=10, help="hosts of the web (10)")
    parser.add_argument("--pages", type=int, default=1_000, help="pages of a host, on average (1000)")
    parser.add_argument("--faults", type=float, default=0.0, help="share of the URLs that misbehave (0)")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long it may take (10)")
    parser.add_argument("--seed", type=int, default=1, help="of the web (1)")
    parser.add_argument("--work", type=Path, default=Path("bench-work"), help="the crawl is written here (bench-work)")
    parser.add_argument("--follow", action="store_true", help="with duplicates = follow, to see what it would cost")
    return parser.parse_args(given)


def trap_of(url: str, truth: Container[str]) -> str:
    """The kind of trap that a URL is of, by its path; empty where it is none."""
    return "" if url in truth else url.split("/", 3)[3].partition("?")[0].partition("/")[0] or "/"


def judge(reason: str, pages: int, traps: int, missing: set[str], needed: int) -> list[Verdict]:
    share = traps / max(pages, 1)
    return [
        Verdict("it ends by itself", reason, "complete", reason == "complete"),
        Verdict("pages that are no traps are fetched", f"{len(missing):,} missing", f"0 of {needed:,}", not missing),
        Verdict("traps cost little", f"{traps:,} of {pages:,} pages, {share:.1%}", f"<= {_MOST:.0%}", share <= _MOST),
    ]


def main() -> int:
    options = arguments()
    tidy_when_terminated()
    print(description(("rocksdict", "xxhash")), flush=True)
    options.work.mkdir(parents=True, exist_ok=True)
    home = Path(tempfile.mkdtemp(prefix="traps-", dir=options.work.resolve()))
    try:
        return run(options, home)
    finally:
        shutil.rmtree(home)


def run(options: argparse.Namespace, home: Path) -> int:
    web = SimulatedWeb(
        options.hosts, options.pages, home / "arrivals.log", "--profile", "hostile", "--seed", str(options.seed),
        "--faults", f"{options.faults:g}",
    )  # fmt: skip
    outcomes = web.outcomes()
    settings = home / "settings.toml"
    settings.write_text(_SETTINGS + ('duplicates = "follow"\n' if options.follow else ""))
    with web.served():
        command = web.crawl(
            home / "crawl", "--delay", "0", "--types", "*/*", "--config", str(settings), "--time-limit",
            f"{options.minutes * 60:g}s",
        )  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    summary = last_json(done.stdout)
    asked = {arrival.url for arrival in web.arrivals() if not arrival.path.endswith("/robots.txt")}
    needed = {
        url for url, outcome in outcomes.items() if outcome.kind == "ok" and not outcome.mirrored and _COPIES not in url
    }
    fetched = subprocess.run(
        [*GOSSAMER, "urls", "--dir", str(home / "crawl"), "--state", "fetched"],
        capture_output=True, text=True, check=True,
    ).stdout.count("\n")  # fmt: skip
    traps = Counter(kind for url in asked if (kind := trap_of(url, outcomes)))
    verdicts = judge(
        summary.get("reason", f"status {done.returncode}"), fetched, sum(traps.values()), needed - asked, len(needed)
    )
    print(f"{fetched:,} pages in {summary.get('seconds', 0):.0f} s")
    print("\n" + table(["trap", "pages"], [[name, f"{count:,}"] for name, count in traps.most_common()]))
    print("\n" + table(["rule", "found", "allowed", ""], [verdict.row() for verdict in verdicts]))
    for url in sorted(needed - asked)[:5]:
        print(f"missing: {url}")
    verdicts += run_endless(options, home, settings)
    broken = sum(not verdict.holds for verdict in verdicts)
    print(f"\n{broken} rules are broken" if broken else "\nevery rule holds")
    return 1 if broken else 0


def run_endless(options: argparse.Namespace, home: Path, settings: Path) -> list[Verdict]:
    """Crawl the endless profile, and judge what was asked for in vain and what is missing."""
    server = Server(EndlessPlaces(), log=(log := MemoryLog()))
    with server.in_thread():
        command = [
            *GOSSAMER, "crawl", *seeds(), "--dir", str(home / "endless"), "--scope", "host", "--allow-private",
            "--delay", "0", "--connect", server.connect, "--no-index", "--json", "--config", str(settings),
            "--time-limit", f"{options.minutes * 60:g}s", "--max-pages", str(_MOST_ENDLESS),
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    asked = asked_of(log.arrivals)
    waste, lost = wasted(asked), missing(asked)
    most, all_lost = max(waste.values()), sum(map(len, lost.values()))
    reason = last_json(done.stdout).get("reason", f"status {done.returncode}")
    verdicts = [
        Verdict("endless: it ends by itself", reason, "complete", reason == "complete"),
        Verdict("a place without end costs little", f"{most:,}", f"<= {MOST_WASTED}", most <= MOST_WASTED),
        Verdict("what a patient person wants is fetched", f"{all_lost:,} missing", "0", not all_lost),
    ]
    print("\n" + table(["place without end", "pages wasted"], [[name, f"{count:,}"] for name, count in waste.items()]))
    harmless = [[name, f"{len(lost[name]):,}"] for name in (*CHAINS, *LISTED)]
    print("\n" + table(["harmless site", "pages missing"], harmless))
    print("\n" + table(["rule", "found", "allowed", ""], [verdict.row() for verdict in verdicts]))
    return verdicts


if __name__ == "__main__":
    sys.exit(main())
