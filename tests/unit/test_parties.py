"""Shares of the speed: exact while each party has work, and nobody's loss while one has none."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from gossamer.config import FrontierConfig, PolicyConfig
from gossamer.frontier import Frontier
from gossamer.frontier.parties import LINKS, RECRAWL, SharedSchedule, Shares, level_of, owner_of
from gossamer.frontier.reader import FrontierReader
from gossamer.model import Visit
from gossamer.rules.policy import Manners, Policy
from gossamer.rules.robots import ALLOW_ALL
from gossamer.rules.scope import Scope

NOW = 1_000_000.0
A, B = 1, 2
NAMES = {LINKS: "l", A: "a", B: "b"}


def opened(home: Path, shares: dict[int, float] | None = None, delay: float = 0.0, hosts: int = 1000) -> Frontier:
    policy = Policy(PolicyConfig(delay=delay))
    given = Shares()
    given.change(shares or {})
    config = FrontierConfig(partitions=4, hosts=hosts)
    return Frontier(
        home / "frontier", config, policy, Scope("any"), None, NOW, shares=None if shares is None else given
    )


def fill(frontier: Frontier, urls: dict[int, list[str]]) -> None:
    for party, given in urls.items():
        if party == LINKS:
            frontier.add(given, 1, 4)
        else:
            assert frontier.request(given, party, 4) == len(given)
    frontier.commit({})


def visited(frontier: Frontier, turns: int, room: int = 4) -> list[Visit]:
    """`room` visits are in hand at a time, each for a turn."""
    found: list[Visit] = []
    for turn in range(turns):
        now = NOW + turn
        visits = frontier.lease(now, room)
        for visit in visits:
            if visit.robots:
                frontier.settle_robots(visit, ALLOW_ALL, now, 0.0, now + 1e6)
            else:
                found.append(visit)
                frontier.settle_page(visit, 200, now, 0.0, (0, 1, 2))
    return found


def counted(visits: list[Visit]) -> Counter[int]:
    return Counter(map(owner_of, visits))


@pytest.mark.parametrize("together", [True, False], ids=["on the same hosts", "each on hosts of its own"])
@pytest.mark.parametrize("delay", [0.0, 3.0])
def test_shares_are_exact_while_each_has_work(tmp_path: Path, together: bool, delay: float) -> None:
    frontier = opened(tmp_path, {A: 2.0, B: 1.0, LINKS: 1.0}, delay)
    urls = {
        party: [f"http://h{page % 20}{'' if together else name}.test/{name}/{page}" for page in range(2000)]
        for party, name in NAMES.items()
    }
    fill(frontier, urls)
    visits = visited(frontier, 500)[100:900]
    assert len(visits) == 800
    found = counted(visits)
    assert found[A] == pytest.approx(400, rel=0.05)
    assert found[B] == pytest.approx(200, rel=0.05)
    assert found[LINKS] == pytest.approx(200, rel=0.05)
    assert all(f"/{NAMES[owner_of(visit)]}/" in visit.url for visit in visits)
    frontier.close()


def test_a_share_that_is_not_used_goes_to_the_others(tmp_path: Path) -> None:
    frontier = opened(tmp_path, {A: 8.0, B: 1.0})
    fill(frontier, {A: ["http://a.test/only"], LINKS: [f"http://l{page % 9}.test/{page}" for page in range(300)]})
    found = counted(visited(frontier, 120))
    assert found[A] == 1
    assert found[LINKS] == 300
    # Who was idle does not catch up: from here on it has its share, and no more.
    fill(frontier, {A: [f"http://x{page % 9}.test/{page}" for page in range(900)]})
    fill(frontier, {B: [f"http://y{page % 9}.test/{page}" for page in range(900)]})
    found = counted(visited(frontier, 60)[20:])
    assert found[A] / found[B] == pytest.approx(8, rel=0.3)
    frontier.close()


def test_own_priorities_order_what_a_party_asks_for(tmp_path: Path) -> None:
    frontier = opened(tmp_path, {A: 1.0})
    frontier.request([f"http://a.test/last/{page}" for page in range(5)], A, 9)
    frontier.request([f"http://a.test/first/{page}" for page in range(5)], A, 0)
    paths = [visit.url.split("/")[3] for visit in visited(frontier, 11, 1)]
    assert paths == ["first"] * 5 + ["last"] * 5
    frontier.close()


def test_the_owner_survives_a_restart_and_hosts_on_disk_are_called(tmp_path: Path) -> None:
    """More hosts than memory holds, with links that come before them in the index."""
    frontier = opened(tmp_path, {A: 1.0}, hosts=10)
    fill(
        frontier,
        {
            LINKS: [f"http://l{host}.test/{page}" for host in range(200) for page in range(5)],
            A: [f"http://a{host}.test/{page}" for host in range(20) for page in range(5)],
        },
    )
    frontier.commit({}, clean=True)
    frontier.close()
    again = opened(tmp_path, {A: 1.0}, hosts=30)
    found = counted(visited(again, 100)[20:120])
    assert found[A] == pytest.approx(50, abs=12)
    again.close()


def test_without_applications_what_they_asked_for_is_visited_all_the_same(tmp_path: Path) -> None:
    frontier = opened(tmp_path, {A: 1.0})
    fill(frontier, {A: ["http://a.test/1", "http://a.test/2"], LINKS: ["http://a.test/3"]})
    frontier.close()
    plain = opened(tmp_path)
    assert not isinstance(plain.schedule, SharedSchedule)
    assert len(visited(plain, 10, 1)) == 3
    assert plain.exhausted
    plain.close()


def test_what_is_asked_for_is_not_taken_for_put_aside(tmp_path: Path) -> None:
    frontier = opened(tmp_path, {A: 1.0})
    fill(frontier, {A: ["http://a.test/1"]})
    frontier.close()
    reader = FrontierReader(tmp_path / "frontier", tmp_path / "scratch")
    host, _, waiting = reader.host_with("a.test", Manners(0.0, 0.0, 30.0, 1, 1, 0, -1), "http://a.test/1")
    assert host is not None
    assert waiting is not None
    assert (host.queued, host.aside, waiting.aside) == (1, 0, False)
    reader.close()


def test_a_known_url_stays_whose_it_was(tmp_path: Path) -> None:
    frontier = opened(tmp_path, {A: 1.0, B: 1.0})
    assert frontier.request(["http://a.test/1"], A, 4) == 1
    assert frontier.request(["http://a.test/1"], B, 0) == 0
    assert [owner_of(visit) for visit in visited(frontier, 3)] == [A]
    frontier.close()


def test_levels_of_parties_do_not_meet() -> None:
    levels = [level_of(party, priority) for party in range(RECRAWL + 1) for priority in range(10)]
    assert len(set(levels)) == len(levels)
    assert max(levels) < 256  # a byte of a key
