"""Filters that the frontier keeps count for: pages of a pattern, hosts of a domain, priorities by pattern."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_frontier import DELAY, NOW, crawl, lease_pages

from gossamer.config import FrontierConfig, HostRule, PolicyConfig, UrlRule
from gossamer.frontier import Frontier
from gossamer.frontier.reader import FrontierReader
from gossamer.model import Fault, Reason
from gossamer.rules.policy import Policy
from gossamer.rules.robots import ALLOW_ALL
from gossamer.rules.scope import Scope


def policy(*urls: UrlRule, hosts: tuple[HostRule, ...] = ()) -> Policy:
    return Policy(PolicyConfig(delay=DELAY, max_tries=2, retry_wait=1.0), hosts, urls)


def opened(home: Path, used: Policy, domain_hosts: int = 0, hosts: int = 10_000) -> Frontier:
    config = FrontierConfig(partitions=4, hosts=hosts)
    return Frontier(home / "frontier", config, used, Scope("any", domain_hosts=domain_hosts), None, NOW)


def reasons(home: Path) -> dict[str, str]:
    reader = FrontierReader(home / "frontier", home / "scratch")
    try:
        return {visit.url: visit.reason for visit in reader.visits()}
    finally:
        reader.close()


# -- priorities ------------------------------------------------------------------------------------------------------


def test_the_first_pattern_sets_the_priority_and_wins_over_the_host(tmp_path: Path) -> None:
    rules = (UrlRule("/last/first", priority=1), UrlRule("/last/", priority=9), UrlRule("/none/", max_pages=9))
    frontier = opened(tmp_path, policy(*rules, hosts=(HostRule("a.test", priority=6),)))
    frontier.add([f"http://a.test/{path}" for path in ("last/x", "none/x", "last/first", "x")], 1, 4)
    assert crawl(frontier, NOW, 12) == [
        "http://a.test/last/first",
        "http://a.test/none/x",
        "http://a.test/x",
        "http://a.test/last/x",
    ]
    frontier.close()


# -- pages of a pattern ------------------------------------------------------------------------------------------------


def test_a_cap_holds_over_hosts_and_restarts(tmp_path: Path) -> None:
    capped = policy(UrlRule("/forum/", max_pages=5))
    urls = [f"http://{host}.test/forum/{page}" for page in range(4) for host in "abc"] + ["http://a.test/x"]
    frontier = opened(tmp_path, capped)
    frontier.add(urls, 1, 4)
    first = crawl(frontier, NOW, 3)
    assert 0 < len(first) < 5
    lease_pages(frontier, NOW + 5)  # in hand when it is killed: not counted
    frontier.close()
    frontier = opened(tmp_path, capped)
    rest = crawl(frontier, NOW + 10, 60)
    assert frontier.exhausted
    frontier.close()
    fetched = [url for url in first + rest if "/forum/" in url]
    assert len(fetched) == len(set(fetched)) == 5
    assert "http://a.test/x" in rest
    assert [reasons(tmp_path)[url] for url in urls].count("pattern_pages") == 7


def test_a_page_in_hand_that_fails_leaves_its_room_to_another(tmp_path: Path) -> None:
    frontier = opened(tmp_path, policy(UrlRule("/forum/", max_pages=1)))
    frontier.add(["http://a.test/forum/", "http://b.test/forum/"], 1, 4)
    lease_pages(frontier, NOW)
    (visit,) = lease_pages(frontier, NOW + 3)  # the other one waits for what becomes of it
    assert lease_pages(frontier, NOW + 4) == []
    assert not frontier.exhausted
    frontier.settle_fault(visit, Fault(Reason.PROTOCOL, False), NOW + 4)
    (other,) = lease_pages(frontier, NOW + 5)
    assert {visit.url, other.url} == {"http://a.test/forum/", "http://b.test/forum/"}
    frontier.settle_page(other, 200, NOW + 5, 0.0, (0, 1, 2))
    frontier.close()


@pytest.mark.parametrize("how", ["given back", "excluded"])
def test_room_is_given_back_however_a_visit_ends(tmp_path: Path, how: str) -> None:
    frontier = opened(tmp_path, policy(UrlRule("/forum/", max_pages=1)))
    frontier.add(["http://a.test/forum/1", "http://a.test/forum/2", "http://a.test/forum/3"], 1, 4)
    lease_pages(frontier, NOW)
    (visit,) = lease_pages(frontier, NOW + 3)
    if how == "given back":
        frontier.give_back(visit, NOW + 3)
    else:
        frontier.settle_excluded(visit, Fault(Reason.UNWANTED_TYPE, False, "", NOW, 200), NOW + 3)
    assert len(crawl(frontier, NOW + 6, 10)) == 1
    assert frontier.counts.pattern_pages == {"/forum/": 1}
    assert frontier.counts.excluded == 2
    frontier.close()


def test_both_caps_hold(tmp_path: Path) -> None:
    hosts = (HostRule("a.test", max_pages=2),)
    frontier = opened(tmp_path, policy(UrlRule("/forum/", max_pages=3), hosts=hosts))
    frontier.add([f"http://{host}.test/forum/{page}" for host in "ab" for page in range(9)], 1, 4)
    found = crawl(frontier, NOW, 60)
    frontier.close()
    assert len(found) == 3
    assert sum("a.test" in url for url in found) <= 2
    assert set(reasons(tmp_path).values()) <= {"", "pattern_pages", "host_pages"}


def test_a_cap_can_be_changed_while_it_runs(tmp_path: Path) -> None:
    frontier = opened(tmp_path, policy())
    frontier.add([f"http://a.test/forum/{page}" for page in range(9)], 1, 4)
    assert len(crawl(frontier, NOW, 6)) == 2
    frontier.change_policy(policy(UrlRule("/forum/", max_pages=1)), NOW + 6)
    assert len(crawl(frontier, NOW + 6, 30)) == 1  # counted from when the table is there
    assert frontier.exhausted
    frontier.close()


# -- hosts of a domain -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("in_memory", [3, 10_000])
def test_a_domain_has_no_more_hosts_than_allowed(tmp_path: Path, in_memory: int) -> None:
    frontier = opened(tmp_path, policy(), domain_hosts=5, hosts=in_memory)
    endless = [f"http://u{number}.endless.test/" for number in range(20)]
    others = [f"http://www.other{number}.test/" for number in range(20)]
    frontier.add([*endless[:3], *others, *endless], 1, 4)
    frontier.commit({})
    assert frontier.counts.hosts == 25
    frontier.close()
    frontier = opened(tmp_path, policy(), domain_hosts=5, hosts=in_memory)  # counted again, from the database
    frontier.add(
        [f"http://x{number}.endless.test/" for number in range(5)] + ["http://u1.endless.test/more", endless[0]], 1, 4
    )
    found = crawl(frontier, NOW, 120)
    assert frontier.exhausted
    frontier.close()
    assert sorted(found) == sorted([*endless[:5], *others, "http://u1.endless.test/more"])
    assert list(reasons(tmp_path).values()).count("domain_hosts") == 20


def test_neighbours_ports_and_schemes_are_counted_right(tmp_path: Path) -> None:
    frontier = opened(tmp_path, policy(), domain_hosts=3)
    frontier.add(
        ["http://a.test/", "http://a-b.test/", "http://a.test:8080/", "https://a.test/", "http://x.a.test/"], 1, 4
    )
    frontier.commit({})
    frontier.close()
    frontier = opened(tmp_path, policy(), domain_hosts=3)
    frontier.add(["http://y.a.test/", "https://x.a.test/1", "http://www.a-b.test/"], 1, 4)
    frontier.commit({})
    assert frontier.counts.hosts == 5
    frontier.close()
    assert [url for url, reason in reasons(tmp_path).items() if reason] == ["http://y.a.test/"]


def test_a_seed_is_always_let_in(tmp_path: Path) -> None:
    frontier = opened(tmp_path, policy(), domain_hosts=1)
    frontier.add(["http://a.test/", "http://b.a.test/", "http://c.a.test/"], 1, 4)
    frontier.commit({})
    frontier.add(["http://b.a.test/seed"], 0, 4)
    frontier.commit({})
    frontier.add(["http://b.a.test/more", "http://c.a.test/more"], 1, 4)
    frontier.commit({})
    assert frontier.counts.hosts == 2
    frontier.close()
    refused = {url for url, reason in reasons(tmp_path).items() if reason == "domain_hosts"}
    assert refused == {"http://b.a.test/", "http://c.a.test/", "http://c.a.test/more"}


def test_what_is_remembered_of_domains_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gossamer.frontier.domain_hosts._DOMAINS_AT_HAND", 10)
    frontier = opened(tmp_path, policy(), domain_hosts=2)
    for turn in range(4):
        frontier.add([f"http://h{turn}.d{number}.test/" for number in range(30)], 1, 4)
        frontier.commit({})
    assert frontier.counts.hosts == 60
    assert frontier._domain_hosts is not None
    assert not frontier._domain_hosts._counts
    frontier.close()


def test_robots_are_learned_beside_a_full_pattern(tmp_path: Path) -> None:
    """robots.txt is no page of a pattern, whatever it matches."""
    frontier = opened(tmp_path, policy(UrlRule("", max_pages=1)))
    frontier.add(["http://a.test/"], 1, 4)
    (robots,) = frontier.lease(NOW, 9)
    assert robots.robots
    frontier.settle_robots(robots, ALLOW_ALL, NOW, 0.0, NOW + 1e6)
    assert crawl(frontier, NOW + 3, 3) == ["http://a.test/"]
    frontier.close()
