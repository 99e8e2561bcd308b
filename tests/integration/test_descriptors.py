"""Too few file descriptors: told at the start, met in the middle, and no page lost either way."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from crawling import urls

from gossamer.model import State
from gossamer.testing import SimServer, World, reachable

LOWERED = """
import os, resource, sys
limit = int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
"""

CRAWL = LOWERED + "from gossamer.cli import run\nsys.exit(run(sys.argv[1:]))"

# As above, but the check at the start is told that there is plenty: descriptors run out in the middle.
UNAWARE = (
    LOWERED
    + """
import gossamer.agent.crawl as crawl
from gossamer.agent.limits import Facts
crawl.facts_of = lambda home: Facts()
from gossamer.cli import run
sys.exit(run(sys.argv[1:]))
"""
)

FETCH = (
    LOWERED
    + """
import asyncio, json, time
from gossamer.config import FetchConfig
from gossamer.fetch import Fetcher, Resolver
from gossamer.model import Fault, Visit
port, number = sys.argv[1:]
notices, found = [], {}

async def main():
    config = FetchConfig(allow_private=True, connections=int(number), connect=(f"*=127.0.0.1:{port}",))
    resolver = Resolver(config.connect, (), time.time)
    fetcher = Fetcher(config, "x", ("*/*",), (), resolver, time.time, (), notices.append)
    connections = fetcher.connections
    for host in range(int(number)):
        fetcher.start(Visit(f"http://h{host}.test/", f"h{host}.test", 0, 0, host))
    while fetcher.in_flight:
        for visit, outcome in await fetcher.wait(0.2):
            found[visit.url] = str(outcome.reason) if isinstance(outcome, Fault) else "page"
    numbers = [connections, fetcher.connections]
    for _ in range(9):
        fetcher._recover()
    numbers.append(fetcher.connections)
    await fetcher.close()
    return numbers

numbers = asyncio.run(main())
print(json.dumps([numbers, list(found.values()), notices]))
"""
)

RESOLVE = (
    LOWERED
    + """
import asyncio, json, time
from gossamer.fetch import Resolver
from gossamer.fetch.resolver import ShortageError

async def main():
    resolver = Resolver((), ("127.0.0.1:1",), time.time)
    await resolver.resolve("warm-up.example.org")
    taken = []
    try:
        while True:
            taken.append(os.dup(2))
    except OSError:
        pass
    try:
        answer = await resolver.resolve("www.example.org")
    except ShortageError:
        answer = "shortage"
    for number in taken:
        os.close(number)
    known = resolver.known("www.example.org")
    later = await resolver.resolve("www.example.org")
    await resolver.close()
    return [answer, known, later.why]

print(json.dumps(asyncio.run(main())))
"""
)


def python(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=120
    )


def crawled(code: str, limit: int, home: Path, connections: int) -> str:
    """What a crawl of sixty hosts says on stderr, when it has found all their pages."""
    world = World(3, 60, 3, "plain")
    with SimServer.running(world, latency=0.05) as server:
        seeds = [world.url(number) for number in range(60)]
        done = python(
            code, limit, "crawl", *seeds, "--dir", home, "--connect", server.connect, "--allow-private",
            "--delay", "0", "--scope", "any", "--no-index", "--connections", connections,
        )  # fmt: skip
        requests = server.log.requests_per_url()
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    expected = {url for url, outcome in reachable(world, seeds).items() if outcome.fetched}
    assert urls(home, State.FETCHED) == expected
    assert set(requests.values()) == {1}
    return done.stderr


def test_a_low_limit_is_told_at_the_start_and_the_crawl_is_complete(tmp_path: Path) -> None:
    said = crawled(CRAWL, 120, tmp_path / "c", 256)
    assert "this process may open 120 files, too few for 256 connections" in said
    assert "`ulimit -n 1768`" in said
    assert "The crawl goes on with 13 connections" in said
    assert "no more file descriptors" not in said
    assert "connections = 256" in (tmp_path / "c" / "gossamer.toml").read_text()


def test_a_crawl_that_runs_out_of_descriptors_is_complete(tmp_path: Path) -> None:
    assert "there are no more file descriptors" in crawled(UNAWARE, 90, tmp_path / "c", 60)


def test_every_visit_has_its_page_when_there_are_few_descriptors() -> None:
    with SimServer.running(World(3, 4, 2, "plain"), latency=0.05) as server:
        done = python(FETCH, 60, server.port, 300)
    assert done.stderr == ""
    (first, lowered, later), outcomes, notices = json.loads(done.stdout)
    assert first == later == 300
    assert 0 < lowered < 60
    assert outcomes == ["page"] * 300
    assert len(notices) == 1
    assert "of 300 connections; raise the limit (`ulimit -n`)" in notices[0]


def test_a_name_that_could_not_be_asked_for_is_not_taken_for_unknown() -> None:
    done = python(RESOLVE, 60)
    assert done.stderr == ""
    assert json.loads(done.stdout) == ["shortage", None, "cannot be resolved now: no DNS server has an answer"]
