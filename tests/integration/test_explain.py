"""`explain` says why, truly, for each state a URL can be in."""

from __future__ import annotations

from pathlib import Path

import pytest
from crawling import crawl

from gossamer.agent import explain, read_visits
from gossamer.errors import CrawlDirError, SeedError
from gossamer.model import State
from gossamer.testing import TinyWeb
from gossamer.testing.web import End, Reply


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("explain") / "c"
    with TinyWeb() as web:
        web.add_page(
            "http://a.test/", ["/closed", "/moved", "/broken", "/pic", "/no", "http://b.test/", "http://far.net/"]
        )
        web.add_robots("a.test", "User-agent: *\nDisallow: /closed\n")
        web.add_redirect("http://a.test/moved", "/target")
        web.add_page("http://a.test/target")
        web.add_handler("http://a.test/broken", lambda request: Reply((), End.RESET))
        web.add_page("http://a.test/pic", body=b"png", headers={"Content-Type": "image/png"})
        web.add_robots("b.test", "", status=503)
        crawl(home, ["http://a.test/", "http://b.test/"], web.connect, scope="domain", exclude=["/no$"], max_tries=2)
    return home


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://a.test/", "was fetched 0 s ago, with status 200"),
        ("http://a.test/moved", "with status 302. It is a redirect"),
        ("http://a.test/closed", "left out: the robots.txt of a.test does not allow it"),
        ("http://a.test/no", "left out: it matches an --exclude pattern"),
        ("http://far.net/", "left out: it is not on a host or domain of the seeds"),
        ("http://a.test/pic", "left out: its type is not one of those wanted"),
        ("http://a.test/broken", "is dead: 2 tries failed"),
        ("http://b.test/", "its host is down: 2 failures in a row"),
        ("http://a.test/never", "does not know it: no page fetched so far links to it"),
        ("http://elsewhere.test/", "would leave it out: it is not on a host or domain of the seeds"),
        ("http://sub.a.test/x", "nor its host sub.a.test"),
    ],
)
def test_each_state_has_its_sentence(home: Path, url: str, words: str) -> None:
    last = max(visit.fetched_at for visit in read_visits(home, State.FETCHED))
    explanation = explain(home, url, now=last)
    assert words in explanation.sentence
    assert explanation.known == ("know it" not in explanation.sentence)


def test_facts_come_with_it(home: Path) -> None:
    explanation = explain(home, "http://a.test/")
    assert explanation.visit is not None
    assert explanation.visit.stored is not None
    assert len(explanation.visit.digest) == 16
    assert explanation.host is not None
    assert (explanation.host.robots_known, explanation.host.pages) == (True, 3)


def test_a_bare_name_is_its_front_page(home: Path) -> None:
    assert explain(home, "a.test").url == "http://a.test/"
    assert explain(home, "unknown.test").url == "https://unknown.test/"


def test_nonsense_is_refused(home: Path, tmp_path: Path) -> None:
    with pytest.raises(SeedError, match="ftp"):
        explain(home, "ftp://a.test/")
    with pytest.raises(CrawlDirError):
        explain(tmp_path, "http://a.test/")


def test_a_host_that_said_it_is_busy_is_visited_more_slowly_and_that_is_said(tmp_path: Path) -> None:
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/busy", "/next"])
        web.add_page("http://a.test/busy", status=503)
        web.add_page("http://a.test/next")
        crawl(tmp_path / "c", ["http://a.test/"], web.connect, time_limit="0.3s", max_tries=3)
    explanation = explain(tmp_path / "c", "http://a.test/busy")
    assert "it said that it is busy" in explanation.sentence
    assert explanation.host is not None
    assert explanation.host.delay >= explanation.host.added_delay > 0
