"""Watches across kill -9: whoever is killed at whatever moment, each page is a hit once and is told."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from crashing import CRASHED
from test_command_line import GOSSAMER, crawl_of, gossamer
from watch_crashing import POINTS

from gossamer.agent.index_status import read_status
from gossamer.agent.watching.book import WatchBook
from gossamer.index import Search
from gossamer.testing import Receiver, SimServer, World
from gossamer.testing.receiver import Received

SCRIPT = str(Path(__file__).with_name("watch_crashing.py"))
PATIENCE = 60.0  # seconds for anything that is waited for


def until(so: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not so():
        assert time.monotonic() < end, "it never came to be so"
        time.sleep(0.01)


def kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def indexed(home: Path) -> set[str]:
    search = Search([home / "index"])
    found: set[str] = set()
    cursor = ""
    try:
        for _ in range(100):
            answer = search.answer("domain:test", limit=100, cursor=cursor)
            found |= {hit.url for hit in answer.results}
            cursor = answer.next
            if not cursor:
                break
    finally:
        search.close()
    return found


def check(home: Path, calls: list[Received], expected: set[str]) -> int:
    """That each page was a hit once and was told; gives how many calls came more than once."""
    with WatchBook(home) as book:
        [watch] = book.all()
        hits = Counter(row[0] for row in book.rows("SELECT url FROM hits WHERE watch = ?", (watch.number,)))
        assert book.tally(watch).waiting == book.tally(watch).dead == 0
    assert set(hits) == expected
    assert set(hits.values()) == {1}
    told = defaultdict(set)
    bodies = defaultdict(set)
    for call in calls:
        bodies[call.id].add(call.body)
        for hit in call.hits:
            told[hit["url"]].add((hit["id"], call.id))
    assert set(told) == expected
    assert all(len(ids) == 1 for ids in told.values()), "a page was told as two hits, or in two calls"
    assert all(len(several) == 1 for several in bodies.values()), "a call that was made again said something else"
    return len(calls) - len(bodies)


def test_kill_9_of_the_agent_and_of_who_indexes_at_several_moments(tmp_path: Path) -> None:
    home = tmp_path / "c"
    chance = random.Random(11)
    with SimServer.running(World(9, 6, 40, "plain")) as server, Receiver() as receiver:
        command = crawl_of(server, home, "--index", "--rate", "60")
        gossamer(*command, "--max-pages", "1")
        gossamer("watch", "add", "domain:test", "--notify-earlier", "--webhook", receiver.url, "--dir", str(home))
        for victims in ("agent", "index", "both", "index", "agent", "both"):
            with subprocess.Popen(
                [*GOSSAMER, *command, "--max-pages", "0"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            ) as crawl:
                before, goal = len(receiver.calls), len(server.log.arrivals) + chance.randrange(5, 25)
                until(lambda goal=goal, crawl=crawl: len(server.log.arrivals) >= goal or crawl.poll() is not None)
                if victims != "agent":
                    until(lambda n=before, crawl=crawl: len(receiver.calls) > n or crawl.poll() is not None)
                    status = read_status(home / "index")
                    assert status is not None
                    kill(status.pid)
                if victims != "index":
                    kill(crawl.pid)
                else:
                    goal = len(server.log.arrivals) + 10
                    until(lambda goal=goal, crawl=crawl: len(server.log.arrivals) >= goal or crawl.poll() is not None)
                    kill(crawl.pid)
        gossamer(*command, "--max-pages", "0", "--rate", "0")
        gossamer("index", "--dir", str(home))
        pages = indexed(home)
        assert len(pages) == 240
        repeated = check(home, receiver.calls, pages)
    assert repeated <= 6  # one a kill at most: what was in flight


def test_a_crash_at_every_step_of_matching_and_telling(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with SimServer.running(World(6, 8, 50, "plain")) as server, Receiver() as receiver:
        gossamer(*crawl_of(server, home))
        gossamer("watch", "add", "domain:test", "--webhook", receiver.url, "--dir", str(home))
        reached = 0
        for point in POINTS:
            # The first time that it is reached: a run that gets by would leave nothing to do to those that follow.
            done = subprocess.run(
                [sys.executable, SCRIPT, point, "1", str(home)],
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
            assert done.returncode in (0, CRASHED), done.stderr
            reached += done.returncode == CRASHED
        gossamer("index", "--dir", str(home))
        # What a crash left in flight rests no longer than seconds; the clock of whoever delivers is not ours to move.
        gossamer("watch", "retry", "domain-test", "--dir", str(home))
        gossamer("watch", "deliver", "--dir", str(home))
        pages = indexed(home)
        assert reached == len(POINTS)
        repeated = check(home, receiver.calls, pages)
    assert repeated <= reached


def test_the_commands_from_a_keyword_to_a_crawl(tmp_path: Path) -> None:
    home, other = tmp_path / "c", tmp_path / "d"
    with SimServer.running(World(4, 5, 20, "plain")) as server, Receiver() as receiver:
        gossamer(*crawl_of(server, home, "--index", "--max-pages", "40"))
        _, said = gossamer(*crawl_of(server, home, "--from-search", "zzzzzz"), status=2)
        assert "gossamer watch add zzzzzz" in said
        own = gossamer(*crawl_of(server, home, "--from-search", "domain:test", "--max-pages", "45", "--index"))[0]
        assert json.loads(own.splitlines()[-1])["pages"] == 45
        _, said = gossamer("crawl", "--from-search", "garden", "--dir", str(other), status=2)
        assert "--from-index" in said
        _, said = gossamer("crawl", "--from-index", str(home), "--dir", str(other), status=2)
        assert "--from-search" in said
        found = json.loads(gossamer("search", "domain:test", "-n", "7", "--dir", str(home), "--json")[0])
        expected = {hit["url"] for hit in found["results"]}
        command = [word for word in crawl_of(server, other) if word != server.world.url(0)]
        gossamer(
            *command, "--from-search", "domain:test", "--from-index", str(home), "--from-count", "7", "--max-pages", "7"
        )
        fetched = {json.loads(line)["url"] for line in gossamer("urls", "--dir", str(other))[0].splitlines()}
        assert expected <= fetched

        out, _ = gossamer("watch", "add", "domain:test", "--webhook", receiver.url, "--json", "--dir", str(home))
        made = json.loads(out)
        gossamer("watch", "test", made["name"], "--dir", str(home))
        [call] = receiver.calls
        assert call.is_signed_with(made["secret"])
        _, said = gossamer("watch", "add", "a OR", "--dir", str(home), status=2)
        assert "from character 3 on" in said
        gossamer("index", "--dir", str(home))
        shown = json.loads(gossamer("watch", "show", made["id"], "--json", "--dir", str(home))[0])
        assert (shown["hits"], shown["earlier"], len(shown["newest"])) == (45, 45, 20)
        assert "secret" not in shown
        assert "45 earlier" in gossamer("watch", "list", "--dir", str(home))[0]
        receiver.status = 500
        _, said = gossamer("watch", "test", made["name"], "--dir", str(home), status=1)
        assert "it answers 500" in said
        gossamer("watch", "remove", made["name"], "--dir", str(home))
        assert gossamer("watch", "list", "--dir", str(home))[0] == ""
        _, said = gossamer("watch", "show", "nothing", "--dir", str(home), status=2)
        assert "no watch 'nothing'" in said
        _, said = gossamer("watch", "list", "--dir", str(other))
        assert "has no watches yet" in said
