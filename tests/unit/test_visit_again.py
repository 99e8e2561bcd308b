"""Known URLs that somebody asks for: each is visited once more, by the rules that hold now, or it is said why not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from test_revisits import DAY, HOUR, NOW, Crawl

from gossamer.config import FreshConfig, FrontierConfig, HostRule
from gossamer.frontier import Frontier, keys
from gossamer.frontier.reader import FrontierReader
from gossamer.model import Change, Exclusion, Fault, Reason, RequestOutcome, State, Visit
from gossamer.rules.revisits import Found
from gossamer.rules.robots import ALLOW_ALL, DISALLOW_ALL
from gossamer.rules.scope import Scope

URL = "http://a.test/page"


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[Crawl]:
    made = Crawl(tmp_path)
    made.fresh = FreshConfig()  # pages are not visited again by themselves
    yield made
    if made.frontier is not None:
        made.frontier.close()


def visited(crawl: Crawl, *urls: str) -> Frontier:
    frontier = crawl.open()
    frontier.add(list(urls) or [URL], 1, 4)
    crawl.work(60)
    return frontier


def reopened(crawl: Crawl, home: Path, scope: Scope) -> Frontier:
    return Frontier(home / "frontier", FrontierConfig(partitions=4), crawl.policy, scope, None, crawl.now)


def ask(crawl: Crawl, url: str = URL, priority: int = 4, max_age: float = 0.0) -> RequestOutcome | Exclusion | None:
    assert crawl.frontier is not None
    return crawl.frontier.visit_again(url, priority, max_age, crawl.now)


def test_a_page_is_visited_once_more_and_keeps_its_history(crawl: Crawl) -> None:
    frontier = visited(crawl)
    assert frontier.exhausted
    crawl.now += DAY
    assert ask(crawl) is RequestOutcome.AGAIN
    assert ask(crawl) is RequestOutcome.KNOWN
    assert not frontier.exhausted
    assert (frontier.counts.revisits, frontier.counts.requested, frontier.counts.queued) == (1, 1, 0)
    (visit,) = crawl.work(60)
    assert (visit.url, visit.before is not None, visit.suspect) == (URL, True, False)
    assert frontier.exhausted
    assert keys.read_before(crawl.record(URL)).unchanged == 1
    assert (frontier.counts.revisits, frontier.counts.requested, frontier.counts.fetched) == (0, 0, 1)
    assert crawl.work(90 * DAY, step=DAY) == [], "and not again by itself"
    assert ask(crawl) is RequestOutcome.AGAIN


def test_what_waits_outlives_a_restart(crawl: Crawl) -> None:
    frontier = visited(crawl)
    ask(crawl, priority=7)
    frontier.commit({}, clean=True)
    frontier = crawl.open()
    assert frontier.counts.requested == 1
    assert [visit.url for visit in crawl.work(60)] == [URL]


@pytest.mark.parametrize(
    ("max_age", "said"), [(HOUR + 1, RequestOutcome.FRESH), (HOUR, RequestOutcome.AGAIN), (0.0, RequestOutcome.AGAIN)]
)
def test_a_copy_that_is_younger_is_fresh_enough(crawl: Crawl, max_age: float, said: RequestOutcome) -> None:
    visited(crawl)
    crawl.now = keys.read_visit(b"--va\0p/", crawl.record(URL)).fetched_at + HOUR
    assert ask(crawl, max_age=max_age) is said


def test_what_is_not_known_is_not_visited_so(crawl: Crawl) -> None:
    frontier = visited(crawl)
    assert ask(crawl, "http://a.test/other") is None
    frontier.add(["http://a.test/queued"], 1, 4)
    assert ask(crawl, "http://a.test/queued") is RequestOutcome.KNOWN
    assert frontier.counts.revisits == 0


def test_the_priority_says_when_it_comes(crawl: Crawl) -> None:
    new = [f"http://a.test/new{number}" for number in range(5)]
    late, soon = "http://a.test/late", "http://a.test/soon"
    frontier = visited(crawl, late, soon)
    frontier.add(new, 1, 4)
    assert ask(crawl, late, 9) is ask(crawl, soon, 0) is RequestOutcome.AGAIN
    crawl.delay = 1.0
    frontier.change_policy(crawl.policy, crawl.now)
    made = [visit.url for visit in crawl.work(30, most=1)]
    assert soon in made[:2], "known URLs have half of the visits where new ones wait"
    assert made[-1] == late
    assert len(made) == 7


def test_what_failed_or_was_not_wanted_is_tried_as_if_it_were_new(crawl: Crawl) -> None:
    frontier = crawl.open()
    dead, unwanted = "http://down.test/", "http://a.test/picture"
    crawl.down = {"down.test"}
    frontier.add([dead], 1, 4)
    crawl.work(HOUR, step=60)
    frontier.add([unwanted], 1, 4)
    (visit,) = crawl.lease()
    frontier.settle_excluded(visit, Fault(Reason.UNWANTED_TYPE, False), crawl.now)
    assert (frontier.counts.dead, frontier.counts.excluded, frontier.counts.queued) == (1, 1, 0)
    crawl.down.clear()
    assert ask(crawl, dead, max_age=DAY) is ask(crawl, unwanted, max_age=DAY) is RequestOutcome.AGAIN, (
        "nothing is stored"
    )
    assert (frontier.counts.dead, frontier.counts.excluded, frontier.counts.queued) == (0, 0, 2)
    assert {visit.url: visit.before for visit in crawl.work(HOUR, step=60)} == {dead: None, unwanted: None}
    assert (frontier.counts.fetched, frontier.counts.urls) == (2, 2)


def test_a_sitemap_is_read_once_more(crawl: Crawl) -> None:
    frontier = crawl.open()
    frontier.add_source("http://a.test/map.xml", 0)
    (visit,) = crawl.lease()
    frontier.settle_source(visit, Exclusion.SITEMAP, 200, crawl.now, 0.0, (0, 1, 2), b"12345678")
    assert ask(crawl, "http://a.test/map.xml") is RequestOutcome.AGAIN
    (visit,) = crawl.lease()
    assert visit.source
    assert visit.before is not None


def test_what_the_crawl_does_not_want_is_refused(crawl: Crawl, tmp_path: Path) -> None:
    blocked, purged, outside = "http://blocked.test/", "http://purged.test/", "http://a.test/private"
    frontier = visited(crawl, blocked, purged, URL)
    list(frontier.review.purge("purged.test"))
    crawl.blocklist = ("blocked.test",)
    frontier.change_policy(crawl.policy, crawl.now)
    assert ask(crawl, blocked) is Exclusion.BLOCKLIST
    assert ask(crawl, purged) is Exclusion.PURGED
    frontier.close()
    scope = Scope("any", exclude=["private"])
    frontier = crawl.frontier = reopened(crawl, tmp_path, scope)
    frontier.add([outside], 1, 4)
    frontier.commit({})
    assert ask(crawl, outside) is Exclusion.EXCLUDE
    assert frontier.counts.revisits == frontier.counts.queued == 0


def test_what_was_left_out_by_a_rule_that_is_gone_is_visited(crawl: Crawl, tmp_path: Path) -> None:
    frontier = visited(crawl)
    frontier.close()
    crawl.frontier = None
    rule = Scope("any", exclude=["private"])
    frontier = reopened(crawl, tmp_path, rule)
    frontier.add(["http://a.test/private"], 1, 4)
    frontier.commit({}, clean=True)
    frontier.close()
    crawl.open()
    assert ask(crawl, "http://a.test/private") is RequestOutcome.AGAIN
    assert [visit.url for visit in crawl.work(60)] == ["http://a.test/private"]


def test_a_page_of_a_host_that_mirrors_another_is_refused(crawl: Crawl) -> None:
    frontier = visited(crawl)
    host = frontier._roster.enter_named("a.test")
    host.mirror_of, host.noted = "b.test", True
    frontier._roster.touch(host)
    frontier.commit({})
    assert ask(crawl) is RequestOutcome.REFUSED


def test_robots_are_obeyed_and_what_was_fetched_stays(crawl: Crawl) -> None:
    frontier = visited(crawl)
    crawl.now += 51 * 365 * DAY  # the rules are old
    ask(crawl)
    (visit,) = frontier.lease(crawl.now, 10)
    assert visit.robots
    frontier.settle_robots(visit, DISALLOW_ALL, crawl.now, 0.0, crawl.now + DAY)
    assert frontier.lease(crawl.now + 10, 10) == []
    assert frontier.counts.requested == frontier.counts.revisits == 0
    assert crawl.record(URL)[0] == State.FETCHED


def test_what_robots_forbade_is_asked_of_them_once_more(crawl: Crawl) -> None:
    frontier = visited(crawl)
    host = frontier._roster.enter_named("a.test")
    frontier.settle_robots(robots_of(crawl, "http://a.test/private"), DISALLOW_ALL, crawl.now, 0.0, crawl.now + DAY)
    assert crawl.work(5) == []
    assert keys.left_out(crawl.record("http://a.test/private")) == Reason.ROBOTS
    assert host.robots["p"][1] > crawl.now
    assert ask(crawl, "http://a.test/private") is RequestOutcome.AGAIN
    (robots,) = frontier.lease(crawl.now + 1.0, 10)
    assert robots.robots, "what it says now decides"
    frontier.settle_robots(robots, ALLOW_ALL, crawl.now, 0.0, crawl.now + DAY)
    assert [visit.url for visit in crawl.work(5)] == ["http://a.test/private"]


def robots_of(crawl: Crawl, url: str) -> Visit:
    """Queue a URL of a host whose rules are old, and give the visit to them."""
    assert crawl.frontier is not None
    crawl.now += 51 * 365 * DAY
    crawl.frontier.add([url], 1, 4)
    (visit,) = crawl.frontier.lease(crawl.now, 10)
    assert visit.robots
    return visit


# -- beside pages that are visited again by themselves -----------------------------------------------------------------


@pytest.fixture
def kept(crawl: Crawl) -> Crawl:
    crawl.fresh = FreshConfig(keep_fresh=True, min_interval=HOUR, max_interval=30 * DAY)
    return crawl


def test_a_page_that_is_due_later_is_visited_now_and_has_one_time(kept: Crawl) -> None:
    frontier = visited(kept)
    was = kept.due(URL)
    assert was > kept.now
    assert ask(kept) is RequestOutcome.AGAIN
    assert len(kept.work(5)) == 1
    assert [key for key, _ in frontier._database.scan_due(b"")] == [
        keys.due_key(kept.due(URL), frontier._roster.key_of(URL))
    ]


def test_requests_keep_nothing_from_being_due(kept: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gossamer.frontier.revisits._MOST_WAITING", 10)
    slow, quick = [f"http://slow.test/{number}" for number in range(40)], "http://quick.test/"
    kept.hosts = (HostRule("slow.test", delay=600.0),)
    frontier = kept.open()
    frontier.add([quick, *slow], 1, 4)
    kept.work(DAY, step=600)
    for url in slow:
        ask(kept, url)
    assert frontier.counts.requested > 10
    kept.now = max(kept.now, kept.due(quick) + 1.0)
    assert quick in {visit.url for visit in kept.work(HOUR, step=60)}
    assert frontier.counts.requested > 10


def test_validators_are_asked_with_unless_they_were_found_to_lie(kept: Crawl) -> None:
    frontier = kept.open()
    frontier.add([URL], 1, 4)
    (visit,) = kept.lease()
    page(kept, visit, Found())
    ask(kept)
    (visit,) = kept.lease()
    assert visit.validators == (b'"1"', b""), "nothing is known against them"
    page(kept, visit, Found(Change.CHANGED, 7))  # and the ETag is the same
    ask(kept)
    (visit,) = kept.lease()
    assert visit.validators == (b"", b"")


def page(crawl: Crawl, visit: Visit, found: Found) -> None:
    assert crawl.frontier is not None
    crawl.frontier.settle_page(
        visit, 200, crawl.now, 0.0, (0, 1, 2), digest=b"12345678", validators=(b'"1"', b""), found=found
    )


def test_those_who_read_see_that_it_was_asked_for(crawl: Crawl, tmp_path: Path) -> None:
    frontier = visited(crawl)
    ask(crawl, priority=3)
    frontier.commit({})
    reader = FrontierReader(tmp_path / "frontier", tmp_path)
    try:
        host, _, waiting = reader.host_with("a.test", crawl.policy.manners("a.test"), URL)
        visit = reader.visit(URL)
        counted = [(each.name, each.revisits) for each in reader.hosts()]
    finally:
        reader.close()
    assert host is not None
    assert waiting is not None
    assert visit is not None
    assert (host.revisits, host.new, waiting.requested, waiting.suspect, waiting.priority) == (1, 0, True, False, 3)
    assert (visit.waits, visit.fetched_at >= NOW, counted) == (True, True, [("a.test", 1)])
