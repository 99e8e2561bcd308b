"""The frontier as its callers see it; test_frontier_machine.py has the invariants under any order of calls."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from gossamer.config import FrontierConfig, PolicyConfig
from gossamer.errors import CrawlDirError
from gossamer.frontier import Frontier, keys
from gossamer.frontier.counts import FORMAT, Counts
from gossamer.frontier.database import Database
from gossamer.frontier.reader import FrontierReader
from gossamer.model import Fault, Reason, State, Visit
from gossamer.rules.policy import Manners, Policy
from gossamer.rules.robots import ALLOW_ALL
from gossamer.rules.scope import Scope

DELAY = 2.0
NOW = 1_000_000.0
POLICY = Policy(PolicyConfig(delay=DELAY, max_tries=3, retry_wait=5.0, max_retry_wait=40.0))


def opened(home: Path, now: float = NOW, **options: int) -> Frontier:
    config = FrontierConfig(partitions=4, **options)
    return Frontier(home / "frontier", config, POLICY, Scope("any"), None, now)


def lease_pages(frontier: Frontier, now: float, most: int = 10) -> list[Visit]:
    """Robots rules are learned on the way, and cost no time."""
    pages = []
    for visit in frontier.lease(now, most):
        if visit.robots:
            frontier.settle_robots(visit, ALLOW_ALL, now, 0.0, now + 1e6)
        else:
            pages.append(visit)
    return pages


def crawl(frontier: Frontier, now: float, seconds: int) -> list[str]:
    """All pages that `seconds` bring, a commit after each."""
    found = []
    for moment in range(seconds):
        for visit in lease_pages(frontier, now + moment):
            frontier.settle_page(visit, 200, now + moment, 0.0, (0, 1, 2))
            found.append(visit.url)
        frontier.commit({})
    return found


def test_settings_hold_after_the_first_start_too(tmp_path: Path) -> None:
    """rocksdict would go by what the database noted down, without cache and filters."""
    memory = 32 << 20
    for _ in range(2):
        database = Database(tmp_path / "db", memory)
        for family in (database._rocks, database._stored_hosts):
            assert family.property_int_value("rocksdb.block-cache-capacity") == memory
        database.close()


def test_a_crash_before_the_first_commit_breaks_no_delay(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    frontier.add(["http://a.test/"], 0, 4)
    assert [visit.url for visit in frontier.lease(NOW, 1)] == ["http://a.test/robots.txt"]
    frontier.close()  # no commit: this is a crash
    again = opened(tmp_path, NOW + 0.5)
    again.add(["http://a.test/"], 0, 4)
    assert again.lease(NOW + 0.5, 1) == []
    assert again.lease(NOW + 0.5 + DELAY, 1)
    again.close()


def test_a_clock_set_back_does_not_stop_a_host_for_ever(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    frontier.add(["http://a.test/"], 0, 4)
    lease_pages(frontier, NOW)
    frontier.commit({}, clean=True)
    frontier.close()
    a_day_before = NOW - 86_400
    again = opened(tmp_path, a_day_before)
    assert again.lease(a_day_before, 1) == []
    assert again.lease(a_day_before + POLICY.longest_wait, 1)
    again.close()


def test_many_hosts_share_little_memory(tmp_path: Path) -> None:
    """More hosts than memory holds: all are visited, and the disk has what memory has not."""
    frontier = opened(tmp_path, hosts=5)
    urls = [f"http://h{host}.test/{page}" for page in range(3) for host in range(40)]
    frontier.add(urls, 1, 4)
    frontier.commit({})
    assert frontier.counts.hosts == 40
    assert sorted(crawl(frontier, NOW, 400)) == sorted(urls)
    assert frontier.exhausted
    frontier.close()


def test_an_urgent_link_gets_its_host_into_full_memory(tmp_path: Path) -> None:
    frontier = opened(tmp_path, hosts=2)
    frontier.add([f"http://h{host}.test/{page}" for host in range(10) for page in range(50)], 1, 4)
    frontier.commit({})
    frontier.add(["http://urgent.test/"], 1, 0)
    assert "http://urgent.test/" in crawl(frontier, NOW, 5)
    frontier.close()


def test_what_waits_is_counted_for_people(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    frontier.add([f"http://a.test/{page}" for page in range(40)], 1, 4)
    assert len(crawl(frontier, NOW, 20)) == 9  # the first turn was for robots.txt
    reader = FrontierReader(tmp_path / "frontier", tmp_path / "scratch")
    manners = Manners(DELAY, 0.0, 30.0, 1, 1, 0, -1)
    host = reader.host("a.test", manners, "http://a.test")
    assert host is not None
    assert (host.pages, host.queued, host.robots_known) == (9, 31, True)
    assert reader.host("b.test", manners, "http://b.test") is None
    states = [visit.state for visit in reader.visits()]
    assert (states.count(State.FETCHED), states.count(State.QUEUED)) == (9, 31)
    reader.close()
    frontier.close()


def test_a_page_that_fails_comes_after_the_others(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    frontier.add([f"http://a.test/{page}" for page in range(3)], 1, 4)
    lease_pages(frontier, NOW)
    (first,) = lease_pages(frontier, NOW + 10)
    frontier.settle_fault(first, Fault(Reason.CLOSED, True), NOW + 10)
    frontier.commit({})
    order = crawl(frontier, NOW + 20, 10)
    assert order == ["http://a.test/1", "http://a.test/2", "http://a.test/0"]
    frontier.close()


@pytest.mark.parametrize(("other", "word"), [(FORMAT + 1, "newer"), (FORMAT - 1, "older")])
def test_another_format_is_refused_and_not_touched(tmp_path: Path, other: int, word: str) -> None:
    database = Database(tmp_path / "frontier", 1 << 20)
    database.visits[keys.META + b"counts"] = msgspec.msgpack.encode(Counts(format=other, partitions=4))
    database.commit()
    database.close()
    with pytest.raises(CrawlDirError, match=word):
        opened(tmp_path)
    database = Database(tmp_path / "frontier", 1 << 20)
    stored = database.visit(keys.META + b"counts")
    database.close()
    assert stored is not None
    assert msgspec.msgpack.decode(stored, type=Counts).format == other
