"""Agent, index and service of a supervised crawl, killed in turn while it crawls: when is each back at work, do the
others go on meanwhile, is anything lost?

Judged from outside. The agent is at work when the servers hear from it (their log), the index when it has taken
captures under its new number, the service when it answers; and the others must do so between the kill and the return.
The crawl then goes on to its end. What was fetched must be what the simulated web says is there: each page once in the
WARC files, readable and with the right digest. No more requests may be repeated than were in flight, or came since the
last commit, at a kill. And as many pages must be found as in an index that is made again.

Exit status 1 if one is not back within --within seconds, or if one of these does not hold.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from fastwarc.warc import ArchiveIterator, WarcRecordType
from machine import description
from processes import tidy_when_terminated
from simulated_web import GOSSAMER, SimulatedWeb
from tables import table

_MARKS = {"agent": b"crawl", "index": b"index", "service": b"serve"}  # a word among the arguments of each
_CONNECTIONS = 64
_INDEX_PACE = 4.0  # seconds: it commits every two seconds of work, and a merge may come between
_COMMIT = 1.0  # seconds between two commits, and what a loaded machine adds to it is seen below


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2, help="how often each is killed (2)")
    parser.add_argument("--rate", type=int, default=300, help="pages a second (300)")
    parser.add_argument("--hosts", type=int, default=100, help="hosts of the simulated web (100)")
    parser.add_argument("--pages", type=int, default=100, help="pages of a host (100)")
    parser.add_argument("--within", type=float, default=5.0, help="seconds in which each must be back (5)")
    return parser.parse_args(given)


def processes(home: Path, supervisor: int) -> dict[str, int]:
    """Those of the crawl in `home` that run now."""
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


class Service:
    """Asks the service all the time, and remembers when it was answered."""

    def __init__(self, port: int) -> None:
        self.answers: list[float] = []
        self.refused = 0
        self._url = f"http://127.0.0.1:{port}/healthz"
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._ask, daemon=True)
        self._thread.start()

    def _ask(self) -> None:
        while not self._ended.wait(0.02):
            try:
                with urllib.request.urlopen(self._url, timeout=10) as answer:
                    answer.read()
                self.answers.append(time.monotonic())
            except (OSError, http.client.HTTPException):
                self.refused += bool(self.answers)  # being answered when it was killed; before the first there is none

    def end(self) -> None:
        self._ended.set()
        self._thread.join(15)


class Crawl:
    """What the processes of a crawl have done, as seen from outside. Times are of the clock that does not jump."""

    def __init__(self, home: Path, supervisor: int, log: Path, service: Service | None = None) -> None:
        self.home = home
        self.supervisor = supervisor
        self.service = service
        self._log = log
        self._read = 0
        self._requests: list[float] = []

    def requests(self) -> list[float]:
        """When each reached a server, as far as the log has been written."""
        with open(self._log, "rb") as file:
            file.seek(self._read)
            whole, _, _ = file.read().rpartition(b"\n")
        if whole:
            self._read += len(whole) + 1
            self._requests += (json.loads(line)["time"] for line in whole.splitlines())
        return self._requests

    def indexer(self) -> tuple[int, int]:
        """The number of the process that writes the index, and how far it has come."""
        try:
            found = json.loads((self.home / "index" / "indexer.json").read_bytes())
            return found["pid"], found["done"]
        except (OSError, ValueError, KeyError):
            return 0, 0

    def did(self, name: str, pid: int, since: float, done: int) -> bool:
        """Whether it has worked since then; `done` is how far the index was."""
        if name == "agent":
            try:
                owner = (self.home / "lock").read_text()
            except OSError:
                return False
            return owner == str(pid) and any(at > since for at in self.requests()[-1000:])
        if name == "index":
            number, now = self.indexer()
            return number == pid and now > done
        return self.service is not None and bool(self.service.answers) and self.service.answers[-1] > since

    def wait(
        self, since: float, done: int, without: int = 0, limit: float = 90.0
    ) -> tuple[dict[str, int], dict[str, float]]:
        """Until all are there and have worked since; their numbers, none of them `without`, and when each first had."""
        until = time.monotonic() + limit
        worked: dict[str, float] = {}
        while time.monotonic() < until:
            found = processes(self.home, self.supervisor)
            for name, pid in found.items():
                if name not in worked and pid != without and self.did(name, pid, since, done):
                    worked[name] = time.monotonic()
            if found.keys() == _MARKS.keys() == worked.keys():
                return found, worked
            time.sleep(0.02)
        raise SystemExit(
            f"only {sorted(worked)} work after {limit:g} s; if the crawl has ended by then, give it more --pages"
        )


def stored(home: Path) -> tuple[Counter[str], int]:
    """URLs of the responses in the WARC files, robots.txt not counted, and how many have the wrong digest."""
    found: Counter[str] = Counter()
    wrong = 0
    for file in sorted((home / "warc").glob("*.warc.gz")):
        with open(file, "rb") as stream:
            for record in ArchiveIterator(stream, record_types=WarcRecordType.response | WarcRecordType.revisit):
                url = record.headers["WARC-Target-URI"]
                if not url.endswith("/robots.txt"):
                    found[url] += 1
                if record.record_type == WarcRecordType.response and not record.verify_payload_digest():
                    wrong += 1
    return found, wrong


def searchable(home: Path, *more: str) -> int:
    done = subprocess.run([*GOSSAMER, "index", "--dir", str(home), *more], capture_output=True, text=True, check=True)
    return int(done.stdout.split()[0].replace(",", ""))


def kill_in_turn(crawl: Crawl, rounds: int, within: float) -> tuple[list[tuple[str, ...]], list[str], list[float]]:
    """A row for each kill, what was not as it should be, and when the agent was killed."""
    rows, broken, kills = [], [], []
    now, _ = crawl.wait(time.monotonic(), -1)
    for number in range(rounds):
        for name in _MARKS:
            done, since = crawl.indexer()[1], time.monotonic()
            os.kill(now[name], signal.SIGKILL)
            if name == "agent":
                kills.append(since)
            later, worked = crawl.wait(since, done, without=now[name])
            back = worked[name] - since
            others = [other for other in _MARKS if other != name]
            went_on = all(later[other] == now[other] for other in others)
            # With the agent dead the index has soon taken all there is, and has nothing to do until it is back; and it
            # shows its work only when it commits.
            until = max(worked[name], since + _INDEX_PACE)
            before = [other for other in others if worked[other] <= until or (name, other) == ("agent", "index")]
            said = ", ".join(f"{other} after {worked[other] - since:.2f} s" for other in others)
            rows.append((f"{name}, round {number + 1}", f"{back:.2f} s", said if went_on else "one was started again"))
            if back > within or not went_on or before != others:
                broken.append(f"{name}: back after {back:.2f} s; others: {said}; same processes: {went_on}")
            now = later
    return rows, broken, kills


def main(given: Sequence[str] | None = None) -> int:
    options = arguments(given)
    tidy_when_terminated()
    folder = Path(tempfile.mkdtemp(prefix="kill-each-"))
    home, log = folder / "crawl", folder / "log.jsonl"
    web = SimulatedWeb(options.hosts, options.pages, log)
    port = free_port()
    try:
        with web.served():
            command = [
                *GOSSAMER, "crawl", web.seed, "--dir", str(home), "--connect", f"*={web.address}", "--allow-private",
                "--delay", "0", "--scope", "any", "--rate", str(options.rate), "--connections", str(_CONNECTIONS),
                "--serve", str(port), "--json",
            ]  # fmt: skip
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            try:
                crawl = Crawl(home, process.pid, log, Service(port))
                rows, broken, kills = kill_in_turn(crawl, options.rounds, options.within)
                assert crawl.service is not None
                crawl.service.end()
                out, _ = process.communicate(timeout=1800)
            finally:
                process.kill()
        summary = json.loads(out.splitlines()[-1])
        broken += judge(web, home, summary, len(kills), options.rate)
        print(description())
        print(table(("killed", "back at work after", "the others worked, in the same process"), rows))
        answers = crawl.service.answers
        print(
            f"the service: {len(answers):,} answers, {crawl.service.refused} broken off,"
            f" the longest pause {max(later - earlier for earlier, later in pairwise(answers)):.2f} s"
        )
        for each in broken:
            print("BROKEN:", each)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if broken else 0


def judge(web: SimulatedWeb, home: Path, summary: dict[str, object], kills: int, rate: int) -> list[str]:
    """What is lost, or there twice."""
    broken = []
    found, wrong = stored(home)
    truth = {url for url in web.truth() if not url.endswith("/robots.txt")}
    asked = Counter(arrival.url for arrival in web.arrivals() if not arrival.path.endswith("/robots.txt"))
    again = sum(count - 1 for count in asked.values())
    # What was in flight, and what came since the last commit, which a loaded machine may put off for a second.
    allowed = kills * (_CONNECTIONS + int(2 * _COMMIT * rate))
    pages, rebuilt = searchable(home), searchable(home, "--rebuild")
    print(
        f"{summary['pages']:,} pages counted, {found.total():,} stored, {len(truth):,} there are; {again:,} requests "
        f"were made again, {allowed:,} may be; {pages:,} found, {rebuilt:,} in an index made again; {summary['reason']}"
    )
    if summary["reason"] != "complete":
        broken.append(f"the crawl ended for another reason: {summary['reason']}")
    if found.keys() != truth:
        broken.append(f"{len(truth - found.keys())} pages lost, {len(found.keys() - truth)} that are not there")
    if twice := [url for url, count in found.items() if count > 1]:
        broken.append(f"{len(twice)} pages stored twice, such as {twice[0]}")
    if summary["pages"] != found.total() or wrong:
        broken.append(f"{summary['pages']} pages counted, {found.total()} stored, {wrong} with a wrong digest")
    if again > allowed:
        broken.append(f"{again} requests were made again")
    if pages != rebuilt:
        broken.append(f"{pages} pages are found, {rebuilt} in an index made again")
    return broken


def free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    sys.exit(main())
