"""A crawl of a web that means harm: does it stay up, stay small, stay polite, and get the pages of those who do none?

The hostile profile of the simulated web: responses that hang, drip, never end, lie about their length or encoding, are
cut off or are no HTTP; traps; robots.txt that hang, are endless or go round in circles. Beside it hosts that refuse
connections or speak no TLS. One host in four does no harm: its pages must all be there at the end. Judged by `gossamer
urls`, by `gossamer status`, by the server's log, and by the memory that the process takes. Exit status 1 if a rule is
broken.
"""

from __future__ import annotations

import argparse
import json
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from crawlers import last_json
from judge import Verdict, closest
from machine import cores, description
from processes import pinned, resident, tidy_when_terminated
from simulated_web import GOSSAMER, Arrival, Outcome, SimulatedWeb
from tables import table

from gossamer.testing.web import World
from gossamer.testing.web.robots import SHARED_PATH

_CLOCKS = 0.001  # seconds that two clocks of one machine may differ by
_NO_TLS = 5  # seeds over HTTPS to servers that do not speak it
_REFUSED = 5  # seeds to where nobody listens
_WARM_UP = 0.3  # of the time: memory is compared from here on
_GROWTH = 1.2  # of the memory, from the warm-up to the end
_GROWTH_LEAST = 30e6  # bytes that are no growth in any case
_FINISHABLE = 0.5  # of the time: a host that needs more need not be finished
_SHOWN = 5
_GOOD = frozenset({"ok", "redirect", "missing"})
_REASONS = ("timeout", "closed", "protocol", "too_large", "busy", "robots_unreachable")  # that must have been met


class Sample(NamedTuple):
    seconds: float
    rss: int


class Judged(NamedTuple):
    """A verdict, and what broke the rule, a line for each."""

    verdict: Verdict
    wrong: Sequence[str] = ()

    def details(self) -> str:
        more = [f"and {len(self.wrong) - _SHOWN:,} more"] if len(self.wrong) > _SHOWN else []
        return "\n".join([f"{self.verdict.rule}:", *(f"  {line}" for line in [*self.wrong[:_SHOWN], *more])])


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=2_000, help="hosts of the web (2000)")
    parser.add_argument("--pages", type=int, default=10, help="pages of a host, on average (10)")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long it crawls (10)")
    parser.add_argument("--delay", type=float, default=0.2, help="seconds between visits to a host (0.2)")
    parser.add_argument("--connections", type=int, default=1_000, help="of the crawl (1000)")
    parser.add_argument("--seed", type=int, default=1, help="of the web (1)")
    parser.add_argument("--work", type=Path, default=Path("bench-work"), help="the crawl is written here (bench-work)")
    parser.add_argument("--keep", action="store_true", help="leave the crawl and the log there")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write verdicts, reasons and memory to this file")
    return parser.parse_args(given)


@contextmanager
def nobody_listens() -> Iterator[str]:
    """An address where connections are refused while the block lasts: taken, and not listened to."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{taken.getsockname()[1]}"


def crawl(command: Sequence[str], errors: Path, limit: float) -> tuple[int, dict[str, Any], list[Sample]]:
    """Status, summary and memory over time; killed when it does not end by itself."""
    samples: list[Sample] = []
    with errors.open("wb") as said, tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output, stderr=said)
        began = time.monotonic()
        try:
            while process.poll() is None and time.monotonic() - began < limit:
                if rss := resident(process.pid):
                    samples.append(Sample(time.monotonic() - began, rss))
                time.sleep(0.5)
        finally:
            process.kill()  # nothing where it has ended
            process.wait()
        output.seek(0)
        return process.returncode, last_json(output.read().decode(errors="replace")), samples


def known_urls(directory: Path) -> dict[str, dict[str, Any]]:
    listed = subprocess.run([*GOSSAMER, "urls", "--dir", str(directory)], capture_output=True, text=True, check=True)
    return {record["url"]: record for record in map(json.loads, listed.stdout.splitlines())}


# -- the rules ---------------------------------------------------------------------------------------------------------


def judge_end(status: int, summary: Mapping[str, Any], errors: str) -> Verdict:
    crashed = "Traceback" in errors
    words = f"status {status}, {summary.get('reason', 'no summary')}{', a traceback' if crashed else ''}"
    return Verdict("it ends as it should", words, "status 0", not status and bool(summary) and not crashed)


def judge_memory(samples: Sequence[Sample]) -> Verdict:
    """Between the warm-up and the end, in fifths of that time: the first against the last."""
    end = samples[-1].seconds if samples else 0.0
    settled = [sample.rss for sample in samples if sample.seconds >= _WARM_UP * end]
    fifth = max(len(settled) // 5, 1)
    if not settled:
        return Verdict("memory stays flat", "not one sample", f"{_GROWTH:.0%}", False)
    first, last = statistics.median(settled[:fifth]), statistics.median(settled[-fifth:])
    allowed = max(first * _GROWTH, first + _GROWTH_LEAST)
    found = f"{first / 1e6:,.0f} MB, at the end {last / 1e6:,.0f} MB, peak {max(s.rss for s in samples) / 1e6:,.0f} MB"
    return Verdict("memory stays flat", found, f"<= {allowed / 1e6:,.0f} MB", last <= allowed)


def finishable_hosts(world: World, outcomes: Mapping[str, Outcome], delay: float, seconds: float) -> set[str]:
    """Hosts that do no harm and have no mirror, whose robots.txt can be had, and that can be finished in the time."""
    visits: Counter[str] = Counter()
    mirrored = {host_of(url) for url, outcome in outcomes.items() if outcome.mirrored}
    for url, outcome in outcomes.items():
        visits[host_of(url)] += outcome.fetched
    found = set()
    for name, pages in visits.items():
        host = world.find(name)
        assert host is not None
        group = host.robots.group_for("gossamer")
        pause = max(delay, (group.delay or 0.0) if group else 0.0)
        if host.well and pages and name not in mirrored and pages * pause <= _FINISHABLE * seconds:
            found.add(name)
    return found


def wrong_pages(outcomes: Mapping[str, Outcome], known: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """What is not as it must be when the crawl has come to all of these URLs."""
    for url, (kind, status, _) in outcomes.items():
        record = known.get(url)
        if record is None:
            yield f"{url} is not known"
        elif kind in _GOOD and (record["state"], record["status"]) != ("fetched", status):
            yield f"{url} is {words(record)}, not fetched with {status}"
        elif kind == "non-html" and record["state"] not in ("fetched", "excluded"):
            yield f"{url} is {words(record)}, not fetched or excluded"
        elif kind == "robots-excluded" and record["state"] != "excluded":
            yield f"{url} is {words(record)}, not excluded"


def impossible(outcomes: Mapping[str, Outcome], known: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """What cannot have come from this web: pages that no response gave, other statuses, good pages given up."""
    for url, (kind, status, _) in outcomes.items():
        record = known.get(url)
        if record is None or record["state"] == "queued":
            continue
        if not status and record["state"] == "fetched":
            yield f"{url} is {words(record)}, but is {kind}"
        elif record["state"] == "fetched" and record["status"] != status:
            yield f"{url} is {words(record)}, but answers with {status}"
        elif kind in _GOOD and record["state"] == "dead":
            yield f"{url} is {words(record)}, but answers well"


def words(record: Mapping[str, Any]) -> str:
    reason = f" ({record['reason']})" if record.get("reason") else ""
    return f"{record['state']} {record['status'] or ''}".strip() + reason


def host_of(url: str) -> str:
    return url.split("/", 3)[2]


def listed(rule: str, wrong: Sequence[str], what: str) -> Judged:
    """A rule that is broken by every line of `wrong`."""
    return Judged(Verdict(rule, f"{len(wrong):,} wrong", f"0 of {what}", not wrong), wrong)


def judge_reasons(reasons: Mapping[str, int]) -> Verdict:
    missing = [reason for reason in _REASONS if not reasons.get(reason)]
    return Verdict(
        "every kind of fault is met", ", ".join(missing) + " missing" if missing else "all", "all", not missing
    )


def judge_politeness(arrivals: Sequence[Arrival], delay: float) -> Judged:
    """The robots.txt that other hosts' redirects ask a host for are left out, as docs/politeness.md says."""
    own = [arrival for arrival in arrivals if arrival.path != SHARED_PATH.decode()]
    worst = sorted(closest(own).items(), key=lambda pair: pair[1][0])
    rude = [f"{host}: {gap:.4f} s, {first} then {then}" for host, (gap, first, then) in worst if gap < delay - _CLOCKS]
    least = f"smallest gap {worst[0][1][0]:.4f} s" if worst else "no gap"
    found = f"{len(rude):,} of {len(worst):,} hosts too soon; {least}"
    return Judged(Verdict("no host is visited before its delay is over", found, f">= {delay:g} s", not rude), rude)


# -- running -----------------------------------------------------------------------------------------------------------


def main() -> int:
    options = arguments()
    tidy_when_terminated()
    print(description(("pycurl", "uvloop", "rocksdict")), flush=True)
    options.work.mkdir(parents=True, exist_ok=True)
    home = Path(tempfile.mkdtemp(prefix="hostile-", dir=options.work.resolve()))
    try:
        return run(options, home)
    finally:
        if options.keep:
            print(f"kept in {home}")
        else:
            shutil.rmtree(home)


def run(options: argparse.Namespace, home: Path) -> int:
    usable = cores()
    server_core, own_core = (usable[0], usable[1]) if len(usable) > 1 else (None, None)
    seconds = options.minutes * 60
    web = SimulatedWeb(
        options.hosts, options.pages, home / "arrivals.log", "--profile", "hostile", "--seed", str(options.seed)
    )
    world = World(options.seed, options.hosts, options.pages, "hostile")
    roots = [world.url(number) for number in range(options.hosts)]
    outcomes = web.outcomes(roots)
    seeds = home / "seeds.txt"
    others = [f"https://no-tls-{number}.test/" for number in range(_NO_TLS)]
    others += [f"http://refused-{number}.example/" for number in range(_REFUSED)]
    seeds.write_text("".join(f"{url}\n" for url in [*roots, *others]))
    directory = home / "crawl"
    with web.served(server_core), nobody_listens() as nowhere:
        # The last rule keeps redirects to forbidden addresses on this machine, where they are refused.
        command = [
            *GOSSAMER, "crawl", f"@{seeds}", "--dir", str(directory), "--scope", "any", "--allow-private", "--connect",
            f"*.test={web.address}", "--connect", f"*={nowhere}", "--connections", str(options.connections), "--delay",
            f"{options.delay:g}", "--time-limit", f"{seconds:g}s", "--no-index", "--json",
        ]  # fmt: skip
        status, summary, samples = crawl(pinned(command, own_core), home / "errors.log", seconds + 60)
    known = known_urls(directory)
    progress = last_json(
        subprocess.run(
            [*GOSSAMER, "status", "--dir", str(directory), "--json"], capture_output=True, text=True, check=True
        ).stdout
    )
    reasons: dict[str, int] = progress["reasons"]
    finishable = finishable_hosts(world, outcomes, options.delay, seconds)
    theirs = {url: outcome for url, outcome in outcomes.items() if host_of(url) in finishable}
    failed = [url for url in others if (known.get(url) or {"state": "unknown"})["state"] in ("fetched", "unknown")]
    judged = [
        Judged(judge_end(status, summary, (home / "errors.log").read_text(errors="replace"))),
        Judged(judge_memory(samples)),
        listed(
            "pages of hosts that do no harm are complete",
            list(wrong_pages(theirs, known)),
            f"{len(theirs):,} URLs on {len(finishable):,} hosts",
        ),
        listed("nothing is known that cannot be", list(impossible(outcomes, known)), f"{len(outcomes):,} URLs"),
        listed("who refuses, or speaks no TLS, is not fetched", failed, f"{len(others)} URLs"),
        Judged(judge_reasons(reasons)),
        judge_politeness(web.arrivals(), options.delay),
    ]
    verdicts = [each.verdict for each in judged]
    states = Counter(record["state"] for record in known.values())
    print(f"{summary.get('pages', 0):,} pages in {summary.get('seconds', 0):.0f} s; {dict(states)}")
    print("\n" + table(["failed tries by reason", "tries"], [[name, f"{count:,}"] for name, count in top(reasons)]))
    print("\n" + table(["rule", "found", "allowed", ""], [verdict.row() for verdict in verdicts]))
    for each in judged:
        if each.wrong:
            print("\n" + each.details())
    if options.json:
        plain = {
            "verdicts": [verdict._asdict() for verdict in verdicts],
            "reasons": reasons,
            "rss": [[round(sample.seconds, 1), sample.rss] for sample in samples],
        }
        options.json.write_text(json.dumps(plain, indent=1) + "\n")
    broken = sum(not verdict.holds for verdict in verdicts)
    print(f"\n{broken} rules are broken" if broken else "\nevery rule holds")
    return 1 if broken else 0


def top(reasons: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(reasons.items(), key=lambda pair: -pair[1])


if __name__ == "__main__":
    sys.exit(main())
