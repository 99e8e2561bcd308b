"""When visits are made again: none is lost, none is made for nothing, and no host keeps the others from theirs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.config import FreshConfig, FrontierConfig, HostRule, PolicyConfig, UrlRule
from gossamer.frontier import Frontier, keys
from gossamer.model import Change, Exclusion, Fault, Reason, State, Visit
from gossamer.rules.policy import Policy
from gossamer.rules.revisits import Found
from gossamer.rules.robots import ALLOW_ALL
from gossamer.rules.scope import Scope

NOW = 1_790_000_000.0
MINUTE, HOUR, DAY, YEAR = 60.0, 3600.0, 86_400.0, 365 * 86_400.0
SAME = Found(Change.SAME)


class Crawl:
    """A frontier on disk, whose visits find what a test says."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.now = NOW
        self.delay = 0.0
        self.fresh = FreshConfig(keep_fresh=True, min_interval=HOUR, max_interval=30 * DAY)
        self.blocklist: tuple[str, ...] = ()
        self.hosts: tuple[HostRule, ...] = ()
        self.urls: tuple[UrlRule, ...] = ()
        self.down: set[str] = set()
        self.log: list[Visit] = []
        self.frontier: Frontier | None = None

    @property
    def policy(self) -> Policy:
        config = PolicyConfig(
            delay=self.delay, max_tries=2, retry_wait=MINUTE, host_connections=5, blocklist=self.blocklist
        )
        return Policy(config, self.hosts, self.urls)

    def open(self) -> Frontier:
        if self.frontier is not None:
            self.frontier.close()
        config = FrontierConfig(partitions=4)
        path = self.home / "frontier"
        self.frontier = Frontier(path, config, self.policy, Scope("any"), None, self.now, self.fresh)
        return self.frontier

    def lease(self, most: int = 1000) -> list[Visit]:
        """Robots rules are seen to."""
        assert self.frontier is not None
        found: list[Visit] = []
        for _ in range(20):
            visits = self.frontier.lease(self.now, most - len(found))
            for visit in visits:
                if visit.robots:
                    self.frontier.settle_robots(visit, ALLOW_ALL, self.now, 0.0, self.now + 50 * YEAR)
                else:
                    found.append(visit)
            if not visits:
                break
        return found

    def work(self, seconds: float = 0.0, step: float = 1.0, most: int = 1000) -> list[Visit]:
        """Visit what can be visited for so long; gives these visits."""
        assert self.frontier is not None
        made: list[Visit] = []
        until = self.now + seconds
        while True:
            for visit in self.lease(most):
                made.append(visit)
                if visit.host in self.down:
                    self.frontier.settle_fault(visit, Fault(Reason.CONNECT, True), self.now)
                else:
                    self.page(visit)
            self.frontier.commit({})
            if self.now >= until:
                return made
            self.now += step

    def page(self, visit: Visit, found: Found | None = None) -> None:
        assert self.frontier is not None
        found = found or (Found() if visit.before is None else SAME)
        self.frontier.settle_page(visit, 200, self.now, 0.0, (0, 1, 2), digest=b"12345678", found=found)

    def record(self, url: str) -> bytes:
        assert self.frontier is not None
        value = self.frontier._database.visit(self.frontier._roster.key_of(url))
        assert value is not None
        return value

    def due(self, url: str) -> int:
        return keys.due_of(self.record(url))


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[Crawl]:
    made = Crawl(tmp_path)
    yield made
    if made.frontier is not None:
        made.frontier.close()


def pages(host: str, count: int) -> list[str]:
    return [f"http://{host}/{number}" for number in range(count)]


# -- none is lost ----------------------------------------------------------------------------------------------------


def test_a_page_that_is_due_before_the_commit_that_knows_of_it_is_visited(crawl: Crawl) -> None:
    frontier = crawl.open()
    frontier.add(pages("a.test", 50), 1, 4)
    crawl.work(30)
    late, *others = sorted(pages("a.test", 50), key=crawl.due, reverse=True)
    crawl.now = crawl.due(others[-1]) - 1.0
    assert frontier.hint(late, crawl.now, crawl.now)
    crawl.now = crawl.due(others[0]) + 1.0
    for visit in crawl.lease():  # what is due later than the hint, which no scan sees yet
        crawl.page(visit)
    frontier.commit({})
    assert late in {visit.url for visit in crawl.work(10)}


def test_what_waits_to_be_made_again_is_made_after_a_restart_where_nothing_new_waits(crawl: Crawl) -> None:
    frontier = crawl.open()
    frontier.add(["http://a.test/"], 0, 4)
    crawl.work(5)
    crawl.now = crawl.due("http://a.test/") + 1.0
    (visit,) = crawl.lease()
    frontier.give_back(visit, crawl.now)
    frontier.commit({}, clean=True)
    assert (frontier.counts.queued, frontier.counts.revisits) == (0, 1)
    crawl.open()
    crawl.now += MINUTE
    assert [visit.url for visit in crawl.lease()] == ["http://a.test/"]


@pytest.mark.parametrize("shift", [-YEAR, -DAY, YEAR])
def test_pages_are_visited_again_after_the_clock_was_set(crawl: Crawl, shift: float) -> None:
    crawl.delay = 1.0
    frontier = crawl.open()
    frontier.add(pages("a.test", 20), 1, 4)
    crawl.work(60)
    crawl.work(2 * DAY, step=HOUR)
    crawl.now += shift
    frontier.add(pages("b.test", 5), 1, 4)
    assert {visit.url for visit in crawl.work(60)} >= set(pages("b.test", 5))
    again = {visit.url for visit in crawl.work(35 * DAY, step=6 * HOUR)}
    assert again >= set(pages("b.test", 5)), "those that were visited since"


def test_a_time_that_no_record_has_room_for_is_the_last_that_it_has(crawl: Crawl) -> None:
    crawl.fresh = FreshConfig(keep_fresh=True, min_interval=1000 * YEAR, max_interval=1000 * YEAR)
    crawl.open().add(["http://a.test/"], 0, 4)
    crawl.work(5)
    assert crawl.due("http://a.test/") == keys.LATEST


def test_sitemaps_of_a_crawl_that_was_not_kept_fresh_are_read_again(crawl: Crawl) -> None:
    fresh, crawl.fresh = crawl.fresh, FreshConfig()
    frontier = crawl.open()
    frontier.add_source("http://a.test/map.xml", 0)
    (visit,) = crawl.lease()
    frontier.settle_source(visit, Exclusion.SITEMAP, 200, crawl.now, 0.0, (0, 1, 2), b"12345678")
    frontier.commit({}, clean=True)
    crawl.fresh = fresh
    crawl.open()
    again = crawl.work(31 * DAY, step=HOUR)
    assert [visit.url for visit in again][:1] == ["http://a.test/map.xml"]
    assert again[0].source


# -- none is made for nothing ----------------------------------------------------------------------------------------


def test_a_page_that_is_purged_while_it_is_visited_again_stays_purged(crawl: Crawl) -> None:
    frontier = crawl.open()
    frontier.add(["http://a.test/"], 0, 4)
    crawl.work(5)
    crawl.now = crawl.due("http://a.test/") + 1.0
    (visit,) = crawl.lease()
    list(frontier.review.purge("a.test"))
    crawl.page(visit, Found(Change.CHANGED, 1))
    assert keys.left_out(crawl.record("http://a.test/")) == Exclusion.PURGED
    counts = frontier.counts
    assert (counts.fetched, counts.excluded, counts.revisits, frontier.leased) == (0, 1, 0, 0)


def test_what_was_dead_and_is_asked_to_be_tried_while_it_is_visited_again_counts_once(crawl: Crawl) -> None:
    frontier = crawl.open()
    crawl.down = {"a.test"}
    frontier.add(["http://a.test/"], 0, 4)
    crawl.work(HOUR, step=MINUTE)
    assert frontier.counts.dead == 1
    crawl.now = crawl.due("http://a.test/") + 1.0
    (visit,) = crawl.lease()
    list(frontier.review.retry())
    crawl.page(visit, Found())
    crawl.down.clear()
    crawl.work(HOUR, step=MINUTE)
    counts = frontier.counts
    assert (counts.urls, counts.fetched, counts.dead, counts.queued, counts.revisits) == (1, 1, 0, 0, 0)


def test_what_never_answered_is_tried_again_at_the_longest_intervals_only(crawl: Crawl) -> None:
    crawl.open().add(["http://a.test/"], 0, 4)
    crawl.down = {"a.test"}
    made = crawl.work(100 * DAY, step=HOUR)
    assert len(made) == 2 * 4  # tries, each 30 days


def test_the_cap_of_a_host_and_of_a_pattern_hold_for_what_was_dead(crawl: Crawl) -> None:
    crawl.hosts = (HostRule("a.test", max_pages=2),)
    crawl.urls = (UrlRule("b.test/*", max_pages=2),)
    frontier = crawl.open()
    for host in ("a.test", "b.test"):
        frontier.add(pages(host, 2), 1, 4)
        dead = crawl.lease()
        for visit in dead:
            frontier.settle_fault(visit, Fault(Reason.PROTOCOL, False), crawl.now)
        crawl.work(HOUR, step=MINUTE)
        frontier.add(pages(host, 4), 1, 4)
        crawl.work(HOUR, step=MINUTE)
    crawl.work(40 * DAY, step=HOUR)
    assert frontier.counts.fetched == 4
    assert frontier.counts.dead == 4


# -- no host keeps the others from theirs ----------------------------------------------------------------------------


@pytest.mark.parametrize("why", ["down", "blocked"])
@pytest.mark.parametrize("delay", [0.0, 1.0])
def test_a_host_that_cannot_be_visited_has_little_that_waits(crawl: Crawl, why: str, delay: float) -> None:
    crawl.delay = delay
    frontier = crawl.open()
    frontier.add(pages("a.test", 300), 1, 4)
    frontier.add(pages("b.test", 5), 1, 4)
    crawl.work(700)
    if why == "blocked":
        crawl.blocklist = ("a.test",)
        frontier.change_policy(crawl.policy, crawl.now, crawl.fresh)
    crawl.down = {"a.test"}
    made = crawl.work(40 * DAY, step=HOUR)
    assert {visit.url for visit in made} >= set(pages("b.test", 5))
    assert frontier.counts.revisits <= (0 if why == "blocked" else 15)
    assert sum(visit.host == "a.test" for visit in made) == 0 or why == "down"


def test_the_pages_of_a_slow_host_are_put_off_once_and_not_again_and_again(crawl: Crawl) -> None:
    crawl.delay = 100.0
    crawl.fresh = FreshConfig(keep_fresh=True, min_interval=DAY, max_interval=DAY)
    frontier = crawl.open()
    count = 300
    frontier.add(pages("a.test", count), 1, 4)
    crawl.work(count * 110.0, step=10.0)
    writes = 0
    until = crawl.now + DAY
    while crawl.now < until:  # all of them are due, and take a third of a day
        for visit in crawl.lease():
            crawl.page(visit)
        writes += sum(value is not None for value in frontier._database.due.values())
        frontier.commit({})
        crawl.now += 10.0
    assert writes < 4 * count


@pytest.mark.parametrize(
    ("hosts", "delay", "share"),
    [(1, 0.0, 0.2), (1, 0.0, 0.5), (10, 0.0, 0.5), (1, 1.0, 0.2), (1, 1.0, 0.5), (10, 1.0, 0.2), (10, 1.0, 0.5)],
)
def test_known_pages_and_new_ones_have_their_shares(crawl: Crawl, hosts: int, delay: float, share: float) -> None:
    crawl.delay = delay
    crawl.fresh = FreshConfig(keep_fresh=True, revisit_share=share, min_interval=DAY, max_interval=DAY)
    frontier = crawl.open()
    for host in range(hosts):
        frontier.add(pages(f"h{host}.test", 400 // hosts), 1, 4)
    crawl.work(500 if hosts == 1 else 100)
    crawl.now += 2 * DAY
    for host in range(hosts):
        frontier.add(pages(f"h{host}.test/new", 400 // hosts), 1, 4)
    made: list[Visit] = []
    while len(made) < 300:
        for visit in crawl.lease(10):
            made.append(visit)
            crawl.page(visit)
        frontier.commit({})
        crawl.now += 0.5
    later = made[100:]  # the first turn does not know of the new ones yet
    assert sum(visit.revisit for visit in later) / len(later) == pytest.approx(share, abs=0.1)


# -- where visits are scarce -----------------------------------------------------------------------------------------


def busy_pages(crawl: Crawl, a_day: float, count: int = 40) -> Frontier:
    """Pages that change often, and so many visits a day to them."""
    crawl.fresh = FreshConfig(keep_fresh=True, min_interval=HOUR, max_interval=30 * DAY, revisit_rate=a_day / DAY)
    frontier = crawl.open()
    frontier.add(pages("a.test", count), 1, 4)
    crawl.work(count * 2.0)
    return frontier


def change(crawl: Crawl, seconds: float, step: float = 10 * MINUTE) -> list[tuple[float, Visit]]:
    """All that is visited for so long, and when; three of four have changed."""
    made: list[tuple[float, Visit]] = []
    until = crawl.now + seconds
    while crawl.now < until:
        for visit in crawl.lease():
            made.append((crawl.now, visit))
            crawl.page(visit, Found(Change.CHANGED if len(visit.url) + len(made) & 3 else Change.SAME))
        assert crawl.frontier is not None
        crawl.frontier.commit({})
        crawl.now += step
    return made


@pytest.mark.parametrize("a_day", [1.0, 4.0, 20.0])
def test_no_visit_is_lost_where_there_are_too_few(crawl: Crawl, a_day: float) -> None:
    busy_pages(crawl, a_day)
    made = [change(crawl, 20 * DAY) for _ in range(3)]
    assert list(map(len, made)) == pytest.approx([20 * a_day] * 3, rel=0.02, abs=1)
    assert len({visit.url for _, visit in made[0]}) >= min(20 * a_day, 40) / 2, "not a few of them again and again"


def test_more_visits_are_made_as_soon_as_they_are_allowed(crawl: Crawl) -> None:
    frontier = busy_pages(crawl, 1.0)
    change(crawl, 20 * DAY)
    crawl.fresh = FreshConfig(keep_fresh=True, min_interval=HOUR, max_interval=30 * DAY, revisit_rate=20 / DAY)
    frontier.change_policy(crawl.policy, crawl.now, crawl.fresh)
    until, made = crawl.now + DAY, 0
    while True:  # as a crawl does that sleeps meanwhile
        moment = frontier.revisits.next_moment(crawl.now)
        assert moment is not None
        crawl.now = max(crawl.now, moment) + 1.0
        if crawl.now > until:
            break
        for visit in crawl.lease():
            made += 1
            crawl.page(visit, Found(Change.CHANGED))
        frontier.commit({})
    assert made == pytest.approx(20, abs=2)


def test_pages_with_a_fixed_interval_are_not_visited_sooner(crawl: Crawl) -> None:
    crawl.hosts = (HostRule("a.test", min_interval=5 * DAY, max_interval=5 * DAY),)
    busy_pages(crawl, 20.0)
    change(crawl, 6 * DAY)
    again = change(crawl, 9 * DAY)
    assert len(again) == pytest.approx(40 * 9 / 5, abs=40), "and 180 could be made"
    assert all(visit.before is not None and now - visit.before.fetched_at >= 5 * DAY for now, visit in again)


def test_a_visit_that_a_strategy_wants_is_made_when_it_wants_it(crawl: Crawl) -> None:
    frontier = busy_pages(crawl, 4.0)
    change(crawl, 10 * DAY)
    frontier.add(["http://b.test/"], 1, 4)
    crawl.now += DAY  # for which visits are left
    (visit,) = [visit for visit in crawl.lease() if visit.host == "b.test"]
    crawl.page(visit, Found(again=2 * HOUR))
    frontier.commit({})
    asked = crawl.now + 2 * HOUR
    made = change(crawl, DAY)  # one in six hours is allowed
    assert [now for now, visit in made if visit.host == "b.test"] == [pytest.approx(asked + 3 * HOUR, abs=3 * HOUR)]


def test_a_fixed_interval_of_all_does_not_yield(crawl: Crawl) -> None:
    crawl.fresh = FreshConfig(keep_fresh=True, min_interval=DAY, max_interval=DAY, revisit_rate=4 / DAY)
    frontier = crawl.open()
    frontier.add(pages("a.test", 40), 1, 4)
    crawl.work(100)
    change(crawl, 30 * DAY)
    waits = [
        due - keys.read_before(crawl.record(url)).fetched_at for url in pages("a.test", 40) if (due := crawl.due(url))
    ]
    assert max(waits) <= DAY + 1


def test_the_longest_interval_of_all_yields_where_visits_are_too_few_and_that_of_a_host_does_not(crawl: Crawl) -> None:
    crawl.hosts = (HostRule("b.test", max_interval=5 * DAY),)
    frontier = busy_pages(crawl, 1.0, count=80)  # 80 days between two visits to each
    frontier.add(pages("b.test", 2), 1, 4)
    crawl.work(HOUR)
    for _ in range(200):
        for visit in crawl.lease():
            crawl.page(visit, Found(Change.SAME, holds=100 * DAY))
        frontier.commit({})
        crawl.now += DAY / 2
    waits = [crawl.due(url) - keys.read_before(crawl.record(url)).fetched_at for url in pages("a.test", 80)]
    assert max(waits) > 31 * DAY
    assert all(
        crawl.due(url) - keys.read_before(crawl.record(url)).fetched_at <= 5 * DAY + HOUR for url in pages("b.test", 2)
    )


# -- what other versions noted ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "noted", [b"", b"\xc1", b"\x93\x01\x02\x03", b"\x92\xc4\x03abc\x92\x93\0\0\0\x93\0\0\0", b"\0" * 40]
)
def test_notes_of_another_version_are_as_if_there_were_none(crawl: Crawl, noted: bytes) -> None:
    frontier = crawl.open()
    frontier.add(pages("a.test", 5), 1, 4)
    crawl.work(30)
    database = frontier._database
    database.hosts[frontier._roster.prefix("a.test") + keys.FRESH] = noted
    database.visits[keys.META + b"fresh"] = noted
    database.commit()
    crawl.open()
    assert {visit.url for visit in crawl.work(40 * DAY, step=HOUR)} == set(pages("a.test", 5))


def test_a_record_of_another_version_is_not_visited_again(crawl: Crawl) -> None:
    frontier = crawl.open()
    frontier.add(pages("a.test", 2), 1, 4)
    crawl.work(30)
    url, other = pages("a.test", 2)
    frontier._changes[frontier._roster.key_of(url)] = b"\x07" + crawl.record(url)[1:]
    frontier.commit({})
    assert {visit.url for visit in crawl.work(40 * DAY, step=HOUR)} == {other}
    assert crawl.record(other)[0] == State.FETCHED
