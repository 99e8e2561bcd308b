"""The frontier as its callers see it; test_frontier_machine.py has the invariants under any order of calls."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from gossamer.config import FrontierConfig, Pause, PolicyConfig
from gossamer.errors import CrawlDirError
from gossamer.frontier import Frontier, keys
from gossamer.frontier.counts import FORMAT, Counts
from gossamer.frontier.database import Database
from gossamer.frontier.notes import Notes, read_notes
from gossamer.frontier.reader import FrontierReader
from gossamer.model import Fault, Reason, State, Visit
from gossamer.rules.policy import Manners, Policy
from gossamer.rules.robots import ALLOW_ALL, robots_from_status
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


def test_a_clean_end_soon_after_a_crash_breaks_no_delay(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    frontier.add(["http://a.test/"], 0, 4)
    assert frontier.lease(NOW, 1)
    frontier.close()  # no commit: this is a crash
    between = opened(tmp_path, NOW + 0.1)
    between.commit({}, clean=True)
    between.close()
    again = opened(tmp_path, NOW + 0.2)
    again.add(["http://a.test/"], 0, 4)
    assert again.lease(NOW + 0.2, 1) == []
    assert again.lease(NOW + 0.1 + DELAY, 1)
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


def busy(visit: Visit, now: float) -> Fault:
    return Fault(Reason.BUSY, True, "", now, 503)


def only_page(frontier: Frontier, now: float) -> Visit | None:
    pages = lease_pages(frontier, now, 1)
    return pages[0] if pages else None


def test_a_busy_host_gets_the_time_it_asks_for(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    frontier.add([f"http://a.test/{page}" for page in range(9)], 1, 4)
    lease_pages(frontier, NOW)
    visit = only_page(frontier, NOW + 10)
    assert visit is not None
    frontier.settle_fault(visit, busy(visit, NOW + 10), NOW + 10, 120.0)
    frontier.commit({}, clean=True)
    frontier.close()
    again = opened(tmp_path, NOW + 11)
    assert only_page(again, NOW + 129.9) is None
    assert only_page(again, NOW + 130) is not None
    assert again.counts.queued == 9
    again.close()


def test_a_host_that_was_busy_recovers_slowly(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    frontier.add([f"http://a.test/{page}" for page in range(200)], 1, 4)
    lease_pages(frontier, NOW)
    now = NOW
    pauses = []
    for turn in range(150):
        started = now
        while (visit := only_page(frontier, now)) is None:
            now += 0.25
        pauses.append(now - started)
        if turn in (3, 4):
            frontier.settle_fault(visit, busy(visit, now), now)
        else:
            frontier.settle_page(visit, 200, now, 0.0, (0, 1, 2))
    assert pauses[1:4] == [DELAY] * 3
    assert pauses[4] == 2 * DELAY
    assert pauses[5] == 3 * DELAY  # busy again: what is added doubles
    assert pauses[6:] == sorted(pauses[6:], reverse=True)
    assert DELAY < pauses[20] < 2 * DELAY
    assert pauses[-1] == DELAY
    frontier.close()


def test_a_page_that_is_always_busy_is_settled_in_the_end(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    frontier.add(["http://a.test/"], 0, 4)
    now, tries = NOW, 0
    lease_pages(frontier, now)
    while not frontier.exhausted:
        now += 100
        visit = only_page(frontier, now)
        if visit is not None:
            tries += 1
            if frontier.may_try_again(visit):
                frontier.settle_fault(visit, busy(visit, now), now)
            else:
                frontier.settle_page(visit, 503, now, 0.0, (0, 1, 2))
    assert tries == POLICY.max_tries
    assert frontier.counts.fetched == 1
    frontier.close()


def robots_visit(frontier: Frontier, now: float) -> Visit | None:
    visits = frontier.lease(now, 1)
    assert all(visit.robots for visit in visits)
    return visits[0] if visits else None


def test_robots_that_cannot_be_had_for_30_days_are_given_up(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    frontier.add(["http://a.test/"], 0, 4)
    now = NOW
    while now < NOW + 29.9 * 86_400:
        visit = robots_visit(frontier, now)
        if visit is not None:
            frontier.settle_robots(visit, Reason.TIMEOUT, now, 0.0, now + 86_400)
        now += 3 * 3600
    frontier.commit({}, clean=True)
    frontier.close()
    now = NOW + 30 * 86_400 + 100
    again = opened(tmp_path, now)
    visit = robots_visit(again, now + 100)
    assert visit is not None
    again.settle_robots(visit, Reason.TIMEOUT, now + 100, 0.0, now + 86_400)
    assert only_page(again, now + 200) is not None
    again.close()


def test_old_robots_rules_hold_while_new_ones_cannot_be_had(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    frontier.add(["http://a.test/private/x", "http://a.test/1", "http://a.test/2"], 1, 4)
    rules = robots_from_status(200, b"User-agent: *\nDisallow: /private/\n", "gossamer")
    visit = robots_visit(frontier, NOW)
    assert visit is not None
    frontier.settle_robots(visit, rules, NOW, 0.0, NOW + 60)
    page = only_page(frontier, NOW + 10)
    assert page is not None
    frontier.settle_page(page, 200, NOW + 10, 0.0, (0, 1, 2))
    visit = robots_visit(frontier, NOW + 100)  # they are old by now
    assert visit is not None
    frontier.settle_robots(visit, Reason.TIMEOUT, NOW + 100, 0.0, NOW + 86_400)
    page = only_page(frontier, NOW + 110)
    assert page is not None
    assert page.url == "http://a.test/2"
    frontier.settle_page(page, 200, NOW + 110, 0.0, (0, 1, 2))
    frontier.add(["http://a.test/3"], 1, 4)
    assert robots_visit(frontier, NOW + 110 + 3600) is not None  # asked for again, long before its usual time
    assert frontier.counts.excluded == 1
    frontier.close()


def test_redirects_one_after_the_other_have_an_end(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    frontier.add(["http://a.test/10"], 1, 4, hops=10)
    frontier.add(["http://a.test/11"], 1, 4, hops=11)
    frontier.commit({})
    assert (frontier.counts.queued, frontier.counts.excluded) == (1, 1)
    lease_pages(frontier, NOW)
    visit = only_page(frontier, NOW + 10)
    assert visit is not None
    assert visit.hops == 10
    frontier.close()


# -- settings changed while it runs ------------------------------------------------------------------------------------


def policy(**options: object) -> Policy:
    return Policy(PolicyConfig(**{"delay": DELAY, "max_tries": 3, **options}))  # type: ignore[arg-type]


def test_a_blocked_host_is_left_alone_and_keeps_its_queue(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    frontier.add([f"http://{host}.test/{page}" for page in range(3) for host in "ab"], 0, 4)
    assert sorted(crawl(frontier, NOW, 4)) == ["http://a.test/0", "http://b.test/0"]
    frontier.change_policy(policy(blocklist=("a.test",)), NOW + 4)
    assert crawl(frontier, NOW + 4, 10) == ["http://b.test/1", "http://b.test/2"]
    assert frontier.exhausted
    assert frontier.counts.queued == 2
    frontier.change_policy(policy(), NOW + 20)
    assert not frontier.exhausted
    assert crawl(frontier, NOW + 20, 6) == ["http://a.test/1", "http://a.test/2"]
    frontier.close()


def test_blocked_hosts_on_disk_are_left_alone_too(tmp_path: Path) -> None:
    frontier = opened(tmp_path, hosts=2)
    names = [f"h{number}.test" for number in range(12)]
    frontier.add([f"http://{name}/" for name in names], 0, 4)
    frontier.commit({})
    frontier.change_policy(policy(blocklist=("h1*.test",)), NOW)
    found = crawl(frontier, NOW, 40)
    assert sorted(found) == sorted(f"http://{name}/" for name in names if not name.startswith("h1"))
    assert frontier.exhausted
    assert frontier.counts.queued == 3
    frontier.change_policy(policy(), NOW + 50)
    assert sorted(crawl(frontier, NOW + 50, 20)) == ["http://h1.test/", "http://h10.test/", "http://h11.test/"]
    frontier.close()


def test_a_leased_visit_of_a_blocked_host_can_be_given_back(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    frontier.add(["http://a.test/"], 0, 4)
    lease_pages(frontier, NOW)
    (visit,) = lease_pages(frontier, NOW + DELAY)
    frontier.give_back(visit, NOW + DELAY)
    frontier.change_policy(policy(blocklist=("a.test",)), NOW + DELAY)
    assert frontier.exhausted
    assert crawl(frontier, NOW + 10, 5) == []
    frontier.close()


def test_blocked_pages_are_excluded(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    frontier.add(["http://a.test/forum/1", "http://a.test/", "http://a.test/forum/2"], 0, 4)
    frontier.change_policy(policy(blocklist=("a.test/forum/",)), NOW)
    assert crawl(frontier, NOW, 8) == ["http://a.test/"]
    assert frontier.counts.excluded == 2
    assert frontier.exhausted
    frontier.close()
    reader = FrontierReader(tmp_path / "frontier", tmp_path / "scratch")
    found = {visit.url: visit.reason for visit in reader.visits()}
    reader.close()
    assert found["http://a.test/forum/1"] == "blocklist"


def test_another_delay_holds_from_the_next_visit_on(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    frontier.add([f"http://a.test/{page}" for page in range(9)], 0, 4)
    assert len(crawl(frontier, NOW, 6)) == 2  # robots.txt has the first turn
    frontier.change_policy(policy(delay=1.0), NOW + 6)
    assert len(crawl(frontier, NOW + 6, 4)) == 4
    frontier.close()


@pytest.mark.parametrize("restarted", [False, True])
def test_a_pause_that_no_longer_holds_is_not_waited_for(tmp_path: Path, restarted: bool) -> None:
    day = 86_400.0
    frontier = Frontier(tmp_path / "frontier", FrontierConfig(), policy(delay=day), Scope("any"), None, NOW)
    frontier.add([f"http://a.test/{page}" for page in range(9)], 0, 4)
    assert lease_pages(frontier, NOW) == []  # robots.txt has the first turn
    assert crawl(frontier, NOW + 1, 50) == []
    frontier.commit({}, clean=True)
    if restarted:
        frontier.close()
        frontier = Frontier(tmp_path / "frontier", FrontierConfig(), policy(delay=2.0), Scope("any"), None, NOW + 60)
    else:
        frontier.change_policy(policy(delay=2.0), NOW + 60)
    assert len(crawl(frontier, NOW + 60, 10)) == 4 + (not restarted), "but the pause that holds now is kept"
    frontier.close()


def test_what_a_busy_server_asks_for_is_waited_for_whatever_the_pause_is(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    frontier.add([f"http://a.test/{page}" for page in range(9)], 0, 4)
    lease_pages(frontier, NOW)
    visit = lease_pages(frontier, NOW + DELAY)[0]
    frontier.settle_page(visit, 503, NOW + DELAY, 0.0, (0, 1, 2), wait=5000.0)
    frontier.change_policy(policy(delay=0.1), NOW + 10)
    assert frontier.lease(NOW + DELAY + 4999, 1) == []
    assert frontier.lease(NOW + DELAY + 5000, 1)
    frontier.close()


@pytest.mark.parametrize("limit", [0, 3])
def test_hosts_held_by_a_limit_come_when_it_is_raised(tmp_path: Path, limit: int) -> None:
    one, more = (policy(domain_connections=number, domain_delay=Pause()) for number in (1, limit))
    frontier = Frontier(tmp_path / "frontier", FrontierConfig(), one, Scope("any"), None, NOW)
    frontier.add([f"http://{name}.a.test/" for name in "xyz"], 0, 4)
    assert len(frontier.lease(NOW, 9)) == 1
    frontier.change_policy(more, NOW)
    assert len(frontier.lease(NOW, 9)) == 2
    frontier.close()


def test_robots_txt_at_another_host_keeps_that_hosts_delay(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    frontier.add(["http://www.a.test/1", "http://www.a.test/2", "http://www.a.test/3"], 0, 4)
    assert lease_pages(frontier, NOW) == []  # robots.txt of www
    frontier.add(["http://a.test/"], 0, 4)
    (robots,) = frontier.lease(NOW + 1, 9)
    frontier.redirect_robots(robots, "http://www.a.test/robots.txt", NOW + 1, 0.0)
    visits = []
    for tenth in range(10, 140):
        now = NOW + tenth / 10
        for visit in frontier.lease(now, 9):
            visits.append((now, visit.url))
            if visit.robots:
                frontier.settle_robots(visit, ALLOW_ALL, now, 0.0, now + 1e6)
            else:
                frontier.settle_page(visit, 200, now, 0.0, (0, 1, 2))
    at_www = [now for now, url in visits if "//www.a.test" in url]
    assert len(at_www) == 4, "three pages, and the robots.txt of the other host"
    assert min(later - earlier for earlier, later in zip([NOW, *at_www], at_www, strict=False)) >= DELAY - 1e-6
    assert [url for _, url in visits if "//a.test" in url] == ["http://a.test/"]
    frontier.close()


def test_robots_txt_at_a_blocked_host_is_not_asked_for(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    frontier.add(["http://www.a.test/1", "http://a.test/"], 0, 4)
    for visit in [*frontier.lease(NOW, 9), *frontier.lease(NOW + DELAY / 8, 9)]:
        if "//a.test" in visit.url:
            frontier.redirect_robots(visit, "http://www.a.test/robots.txt", NOW, 0.0)
        else:
            frontier.settle_robots(visit, ALLOW_ALL, NOW, 0.0, NOW + 1e6)
    frontier.change_policy(policy(blocklist=("www.a.test",)), NOW)
    assert [visit for second in range(300) for visit in frontier.lease(NOW + second, 9)] == []
    assert frontier.exhausted, "it is taken for down, and its page stays queued"
    assert frontier.counts.queued == 2
    frontier.close()


def test_robots_txt_at_another_host_waits_for_one_turn_only(tmp_path: Path) -> None:
    """However many pages that host has, and though it is ready at the same moment."""
    frontier = opened(tmp_path)
    frontier.add([f"http://www.a.test/{page}" for page in range(50)], 0, 4)
    assert lease_pages(frontier, NOW) == []  # robots.txt of www
    frontier.add(["http://a.test/"], 0, 4)
    (robots,) = frontier.lease(NOW + 1, 9)
    frontier.redirect_robots(robots, "http://www.a.test/robots.txt", NOW + 1, 0.0)
    seen = []
    for second in range(2, 12):
        for visit in frontier.lease(NOW + second, 9):
            seen.append(visit.url)
            if visit.robots:
                frontier.settle_robots(visit, ALLOW_ALL, NOW + second, 0.0, NOW + 1e6)
            else:
                frontier.settle_page(visit, 200, NOW + second, 0.0, (0, 1, 2))
    assert "http://a.test/" in seen
    assert seen.count("http://www.a.test/robots.txt") == 1
    frontier.close()


def test_robots_txt_at_a_host_that_is_down_cannot_be_had(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    frontier.add(["http://www.a.test/1", "http://a.test/"], 0, 4)
    asked = 0
    for second in range(400):
        for visit in frontier.lease(NOW + second, 9):
            asked += visit.host == "a.test"
            if visit.host == "a.test" and not visit.tries:
                frontier.redirect_robots(visit, "http://www.a.test/robots.txt", NOW + second, 0.0)
            else:
                frontier.settle_robots(visit, Reason.TIMEOUT, NOW + second, 0.0, NOW + 1e6)
    assert asked
    assert frontier.exhausted, "both are taken for down"
    frontier.close()


def test_a_host_that_does_not_use_its_turn_passes_it_on(tmp_path: Path) -> None:
    """All of its URLs turn out to be forbidden; others of its domain wait for it."""
    policy_of_one = Policy(PolicyConfig(delay=0.0, domain_connections=1))
    frontier = Frontier(tmp_path / "frontier", FrontierConfig(), policy_of_one, Scope("any"), None, NOW)
    names = [f"h{number}.a.test" for number in range(4)]
    frontier.add([f"http://{name}/private" for name in names], 0, 4)
    closed = robots_from_status(200, b"User-agent: *\nDisallow: /private", "gossamer")
    for _ in names:
        (robots,) = frontier.lease(NOW, 9)
        frontier.settle_robots(robots, closed, NOW, 0.0, NOW + 1e6)
    assert frontier.lease(NOW, 9) == []
    assert frontier.counts.excluded == len(names)
    assert frontier.exhausted
    frontier.close()


def test_what_is_known_against_a_place_outlives_the_process(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    frontier.add([f"http://a.test/d/{page}" for page in range(9)], 1, 4)
    for second in range(0, 40, 2):
        for visit in lease_pages(frontier, NOW + second):
            frontier.repeats.repeated(visit, 1000, b"", "http://a.test/")
            frontier.settle_page(visit, 200, NOW + second, 0.0, (0, 1, 2))
    frontier.commit({}, clean=True)
    frontier.close()
    again = opened(tmp_path, NOW + 100)
    again.add(["http://a.test/d/new", "http://a.test/e/new"], 1, 4, suspect=True)
    found = [visit.url for second in range(0, 40, 2) for visit in again.lease(NOW + 100 + second, 9)]
    assert found == ["http://a.test/e/new"]
    assert again.counts.aside == 1
    again.close()


def test_notes_of_a_host_that_an_earlier_version_wrote_are_read() -> None:
    kept = {"mirror_of": "b.test", "agree": 24, "barren": {}, "front": "c.test", "trouble": ""}
    assert read_notes(msgspec.msgpack.encode(kept)) == Notes(mirror_of="b.test", front="c.test")
