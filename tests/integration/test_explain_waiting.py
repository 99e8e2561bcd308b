"""`explain` of URLs that wait: for something of their own, for their host, or for the whole crawl."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from crawling import crawl
from explaining import NOW, Small

from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.explain import explain
from gossamer.agent.waiting import _ENDS
from gossamer.frontier import keys
from gossamer.model import Fault, Reason
from gossamer.rules.robots import Robots
from gossamer.testing import TinyWeb

URLS = [f"http://a.test/{number}" for number in range(4)]


@pytest.fixture
def running(tmp_path: Path) -> Iterator[None]:
    """Somebody has taken the directory, as a crawl does."""
    directory = CrawlDir(tmp_path)
    directory.take()
    yield
    directory.release()


def small_one(home: Path, **options: Any) -> Small:
    small = Small(home, **{"delay": "10s", **options})
    small.frontier.add(URLS, 1, 4)
    return small


# -- its host ----------------------------------------------------------------------------------------------------------


def test_a_host_that_was_never_visited(tmp_path: Path, running: None) -> None:
    said = small_one(tmp_path).explained(URLS[2])
    assert said.sentence == (
        "It is queued; its host is asked for its robots.txt first. "
        "3 other URLs of the host are queued, 2 of them before it."
    )
    assert said.host_sentence == "a.test is asked for its robots.txt first."


def test_a_host_that_rests(tmp_path: Path, running: None) -> None:
    small = small_one(tmp_path)
    small.lease()
    said = small.explained(URLS[0], later=4)
    assert said.sentence == (
        "It is queued; its host rests for 6.0 s more (10 s between visits). "
        "3 other URLs of the host are queued, all after it."
    )
    assert said.host_sentence == "a.test rests for 6.0 s more (10 s between visits)."


def test_a_host_that_may_be_visited(tmp_path: Path, running: None) -> None:
    small = small_one(tmp_path)
    small.lease()
    assert "its host may be visited now, when its turn comes." in small.explained(URLS[0], later=11).sentence


def test_a_host_that_waits_for_its_domain(tmp_path: Path, running: None) -> None:
    small = Small(tmp_path, delay="16s")
    small.frontier.add([f"http://{name}.big.test/" for name in ("a", "b", "c")], 1, 4)
    small.lease()
    schedule = small.frontier.schedule
    small.progress.running, small.progress.waits = True, schedule.waits(9)
    assert schedule.held == 2
    assert small.explained("http://b.big.test/").sentence == (
        "It is queued; its host waits for its domain: 2 hosts of big.test wait, of which one is visited every 2 s;"
        " its robots.txt comes first."
    )
    said = small.explained("http://a.big.test/", later=20)
    assert said.host_sentence == (
        "a.big.test waits for its domain: 2 hosts of big.test wait, of which one is visited every 2 s."
    )
    assert said.host is not None
    assert (said.host.delay, said.host.domain_delay, said.host.address_delay) == (16.0, 2.0, 1.0)
    small.progress.waits = {}
    assert "may be visited now" in small.explained("http://a.big.test/", later=20).host_sentence


def test_a_host_whose_rules_are_old(tmp_path: Path, running: None) -> None:
    small = small_one(tmp_path)
    small.lease()
    said = small.explained(URLS[0], later=2 * 86400).sentence
    assert "its host is asked for its robots.txt again first, which was fetched too long ago." in said


def test_a_host_that_failed_once(tmp_path: Path, running: None) -> None:
    small = small_one(tmp_path, retry_wait="40s", max_tries=3)
    small.settle_fault(Fault(Reason.CONNECT, True))
    said = small.explained(URLS[0], later=0).sentence
    assert "its host did not answer: 1 failure in a row (it refused the connection); it rests for 4" in said
    assert said.endswith(
        "3 other URLs of the host are queued, 3 of them before it. It was tried before: 1 of 3 tries failed."
    )


def test_a_host_that_is_down(tmp_path: Path, running: None) -> None:
    small = small_one(tmp_path, max_tries=1, retry_wait="40s")
    small.settle_fault(Fault(Reason.CONNECT, True))
    said = small.explained(URLS[1], later=3600)
    words = "its host is down: 1 failure in a row (it refused the connection); it rests no longer (gossamer control"
    assert words in said.sentence
    assert said.host_sentence.startswith("a.test is down: 1 failure in a row")


def test_a_host_whose_robots_txt_cannot_be_had(tmp_path: Path, running: None) -> None:
    small = small_one(tmp_path, max_tries=2)
    small.lease(robots=Reason.ROBOTS_5XX)
    said = small.explained(URLS[1]).sentence
    words = "its host did not answer: 1 failure in a row to get its robots.txt, which comes first (it answered"
    assert f"{words} robots.txt with a server error); it rests for" in said


def test_a_host_that_is_busy(tmp_path: Path, running: None) -> None:
    small = small_one(tmp_path)
    small.frontier.settle_fault(small.visit(), Fault(Reason.BUSY, True), NOW, wait=100.0)
    assert "s between visits; it said that it is busy)." in small.explained(URLS[1]).sentence


def test_a_busy_host_in_a_crawl(tmp_path: Path) -> None:
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/busy", "/next"])
        web.add_page("http://a.test/busy", status=503, headers={"Retry-After": "100"})
        web.add_page("http://a.test/next")
        crawl(tmp_path / "c", ["http://a.test/"], web.connect, time_limit="1s", max_tries=3)
    explanation = explain(tmp_path / "c", "http://a.test/busy")
    assert "it said that it is busy" in explanation.sentence
    assert explanation.host is not None
    assert explanation.host.delay >= explanation.host.added_delay > 0


def test_a_host_that_is_blocked(tmp_path: Path, running: None) -> None:
    said = small_one(tmp_path, blocklist=["other.test", "*.test"]).explained(URLS[0])
    assert "its host is on the blocklist ('*.test'), and stays queued until it is taken off." in said.sentence
    assert said.host_sentence.startswith("a.test is on the blocklist ('*.test')")


def test_a_host_that_is_blocked_and_has_nothing_left(tmp_path: Path) -> None:
    with TinyWeb() as web:
        web.add_page("http://a.test/")
        crawl(tmp_path / "c", ["http://a.test/"], web.connect)
    settings = tmp_path / "c" / "gossamer.toml"
    settings.write_text(settings.read_text().replace("blocklist = []", 'blocklist = ["a.test"]'))
    said = explain(tmp_path / "c", "http://a.test/").host_sentence
    assert said.startswith("Nothing of a.test waits")
    assert said.endswith("It is on the blocklist ('a.test'), and is not visited again.")


# -- its own -----------------------------------------------------------------------------------------------------------


def test_a_path_that_was_blocked_since(tmp_path: Path, running: None) -> None:
    said = small_one(tmp_path, blocklist=["a.test/2"])
    assert said.explained(URLS[2]).sentence.startswith(
        "It is queued, and will be left out when its turn comes: it is on the blocklist ('a.test/2'; "
    )
    assert "will be left out" not in said.explained(URLS[1]).sentence


def test_what_robots_txt_does_not_allow(tmp_path: Path, running: None) -> None:
    small = small_one(tmp_path)
    small.lease(Robots({"/2": False, "/": True}))
    said = small.explained(URLS[2]).sentence
    assert "will be left out when its turn comes: the robots.txt of a.test does not allow it (Disallow: /2)." in said
    assert "will be left out" not in small.explained(URLS[1]).sentence


def test_a_host_and_a_pattern_that_have_all_their_pages(tmp_path: Path, running: None) -> None:
    tables = "[hosts.'a.test']\nmax_pages = 1\n[urls.'/forum/']\nmax_pages = 1\n"
    small = small_one(tmp_path, tables=tables)
    small.frontier.settle_page(small.visit(), 200, NOW, 0.0, (1, 0, 9))
    said = small.explained(URLS[2]).sentence
    assert "will be left out when its turn comes: a.test has its 1 pages, as many as max_pages of its table" in said
    small.frontier.add(["http://b.test/forum/1", "http://b.test/forum/2"], 1, 4)
    small.lease()
    (visit,) = small.lease(now=NOW + 30)
    small.frontier.settle_page(visit, 200, NOW, 0.0, (1, 0, 9))
    said = small.explained("http://b.test/forum/2").sentence
    assert "will be left out when its turn comes: it matches '/forum/', of which 1 pages were fetched" in said


def test_what_was_put_aside_stays_so_after_its_place_was_relieved(tmp_path: Path, running: None) -> None:
    """Its place in the queue says it: nothing speaks against the place any more."""
    small = small_one(tmp_path)
    origin = small.frontier._roster.origin("http://a.test")
    entry = keys.pack_entry(1, 0, 0, "p", "/deep/place/9")
    small.frontier._changes[origin.prefix + b"/deep/place/9"] = keys.queued_visit(1)
    small.frontier._enqueue(origin, [entry], keys.ASIDE)
    said = small.explained("http://a.test/deep/place/9").sentence
    assert "and put aside: its place, /deep/place/, brought nothing new when its turn came." in said
    assert "4 other URLs of the host are queued, 4 of them before it." in said


# -- the crawl ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", ["max_pages", "time_limit", "stopped", "complete", ""])
def test_no_crawl_runs(tmp_path: Path, reason: str) -> None:
    small = small_one(tmp_path)
    small.progress.reason = reason
    why = _ENDS.get(reason, "it died")
    assert small.explained(URLS[0]).sentence.endswith(
        f" No crawl is running ({why}): gossamer crawl --dir {tmp_path} continues it."
    )


def test_every_reason_to_end_has_its_words(tmp_path: Path) -> None:
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/1", "/2"])
        crawl(tmp_path / "c", ["http://a.test/"], web.connect, max_pages=1)
    said = explain(tmp_path / "c", "http://a.test/2").sentence
    assert said.endswith(
        f"No crawl is running (--max-pages was reached): gossamer crawl --dir {tmp_path / 'c'} continues it."
    )


def test_the_crawl_is_paused(tmp_path: Path, running: None) -> None:
    small = small_one(tmp_path, paused=True)
    said = small.explained(URLS[0])
    assert said.sentence.endswith(" The crawl is paused: gossamer control resume continues it.")
    assert said.host_sentence.endswith(" The crawl is paused: gossamer control resume continues it.")


def test_the_crawl_pauses_at_this_hour(tmp_path: Path, running: None) -> None:
    then = time.localtime(NOW)
    hour = f"{then.tm_hour:02d}:00-{then.tm_hour + 1:02d}:00"
    small = small_one(tmp_path, schedule=[f"{hour} pause"])
    assert small.explained(URLS[0]).sentence.endswith(
        f" The crawl pauses at this hour ({hour} pause: gossamer limits)."
    )
    assert "pauses" not in small.explained(URLS[0], later=3600).sentence


def test_the_seeds_are_still_read(tmp_path: Path, running: None) -> None:
    small = small_one(tmp_path)
    small.progress.seeds_share = 0.5
    assert small.explained(URLS[0]).sentence.endswith(" The crawl has not begun: its seeds are still being read.")
