"""Excluded URLs judged anew: seeds that are given again, rules that have changed, `gossamer control rejudge`."""

from __future__ import annotations

from pathlib import Path

import pytest
from commanding import WHO, running
from crawling import crawl, urls

from gossamer.agent import Control, read_visits
from gossamer.agent.audit import read_changes
from gossamer.agent.explain import explain
from gossamer.model import State
from gossamer.testing import TinyWeb
from gossamer.testing.web import Request


def excluded(home: Path) -> dict[str, str]:
    return {visit.url: visit.reason for visit in read_visits(home, State.EXCLUDED)}


# -- seeds that are given again ----------------------------------------------------------------------------------------


def test_a_seed_that_was_excluded_is_judged_again_when_it_is_given_again(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/1"])
        web.add_page("http://a.test/1")
        assert crawl(home, ["http://a.test/"], web.connect, allow_private=False).excluded == 1
        assert web.log.arrivals == []
        assert crawl(home, [], web.connect, allow_private=False).excluded == 1
        summary = crawl(home, ["http://a.test/"], web.connect)
    assert (summary.pages, summary.excluded, summary.urls) == (2, 0, 2)


def test_a_seed_given_again_is_no_page_twice(tmp_path: Path) -> None:
    home = tmp_path / "c"
    seeds = ["http://a.test/", "http://a.test/picture", "http://a.test/nothing", "http://a.test/sitemap.xml"]
    answers = iter([b"\0", b"\0", b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nok"])

    def failing(request: Request) -> bytes:
        return next(answers)

    with TinyWeb() as web:
        web.add_page("http://a.test/")
        web.add_robots("a.test", "Sitemap: http://a.test/sitemap.xml\n")
        sitemap = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"></urlset>'
        web.add_page("http://a.test/sitemap.xml", body=sitemap, headers={"Content-Type": "application/xml"})
        web.add_page("http://a.test/picture", body=b"\x89PNG", headers={"Content-Type": "image/png"})
        web.add_handler("http://a.test/nothing", failing)
        summary = crawl(home, seeds, web.connect, max_tries=1)
        assert (summary.pages, summary.excluded, summary.faults) == (1, 2, 1)
        summary = crawl(home, [*seeds, *seeds], web.connect, max_tries=1)
        assert (summary.pages, summary.excluded, summary.faults) == (1, 2, 1)
        summary = crawl(home, seeds, web.connect, max_tries=1)
        requests = web.log.requests_per_url()
    assert (summary.pages, summary.excluded, summary.faults, summary.urls) == (2, 2, 0, 4)
    asked = {url.removeprefix("http://a.test"): count for url, count in requests.items()}
    assert asked["/"] == asked["/sitemap.xml"] == 1
    assert asked["/picture"] == asked["/nothing"] == 3


def test_seeds_given_to_a_running_crawl_get_another_chance(tmp_path: Path) -> None:
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/1", "/2"])
        for path in "12":
            web.add_page(f"http://a.test/{path}")
        with running(tmp_path / "c", ["http://a.test/"], web.connect, exclude=["/[12]"], keep_fresh=True) as going:
            while len(excluded(tmp_path / "c")) < 2:
                going.control.checkpoint()
            answer = going.control.add_seeds(["http://a.test/1", "http://a.test/"])
            assert answer.facts["again"] == 1
            assert "1 of them had been excluded or had failed" in answer.text
            while "http://a.test/1" not in urls(tmp_path / "c", State.FETCHED):
                going.control.checkpoint()
            going.control.stop()
            going.end()
    assert excluded(tmp_path / "c") == {"http://a.test/2": "exclude"}


# -- rules that have changed -------------------------------------------------------------------------------------------

MIXED = {
    "": ["/1", "/deep/a/b/c", "/picture", "/big", "/secret", "/word", "http://b.test/", "http://c.a.test/", "/far"],
    "/far": ["/further"],
}


def serve(web: TinyWeb) -> None:
    for path in ("1", "deep/a/b/c", "secret", "word", "further"):
        web.add_page(f"http://a.test/{path}", body=f"<p>the {path}")
    for path, links in MIXED.items():
        web.add_page(f"http://a.test{path or '/'}", links)
    web.add_page("http://a.test/picture", body=b"\x89PNG", headers={"Content-Type": "image/png"})
    web.add_page("http://a.test/big", body=b"<p>" + b"x" * 5000)
    web.add_robots("a.test", "User-agent: gossamer\nDisallow: /secret\n")
    web.add_page("http://b.test/")
    web.add_page("http://c.a.test/")


STRICT: dict[str, object] = {
    "scope": "host", "exclude": ["/1$"], "max_directories": 2, "max_length": 4000, "reserved": ["the word"],
}  # fmt: skip
WAYS = [
    ({}, {}),
    ({"exclude": []}, {"/1"}),
    ({"scope": "domain"}, {"http://c.a.test/"}),
    ({"scope": "any"}, {"http://c.a.test/", "http://b.test/"}),
    ({"max_directories": 20}, {"/deep/a/b/c"}),
    ({"types": ["text/html", "image/*"]}, {"/picture"}),
    ({"max_length": 0}, {"/big"}),
    ({"reserved": []}, {"/word"}),
    ({"user_agent": "another/1.0"}, {"/secret"}),
]


@pytest.mark.parametrize(("change", "more"), WAYS)
def test_what_a_changed_setting_excluded_is_judged_again(
    tmp_path: Path, change: dict[str, object], more: set[str]
) -> None:
    home, notices = tmp_path / "c", list[str]()
    with TinyWeb() as web:
        serve(web)
        first = crawl(home, ["http://a.test/"], web.connect, **STRICT)
        before, asked = urls(home, State.FETCHED), web.log.requests_per_url()
        left = excluded(home)
        assert set(left.values()) == {
            "exclude", "scope", "trap-depth", "unwanted_type", "too_large", "reserved", "robots"
        }  # fmt: skip
        second = crawl(home, [], web.connect, notices, **{**STRICT, **change})
        again = web.log.requests_per_url()
    added = {url if "://" in url else f"http://a.test{url}" for url in more}
    assert urls(home, State.FETCHED) == before | added
    assert excluded(home) == {url: why for url, why in left.items() if url not in added}
    assert (second.pages, second.urls) == (first.pages + len(added), first.urls)
    assert not {url for url in before if again[url] != asked[url]}, "no page is fetched again"
    judged = [notice for notice in notices if "are judged again" in notice]
    assert len(judged) == bool(change)
    assert not judged or f": {len(added)} of " in judged[0]


def test_a_url_that_another_rule_excludes_now_says_so(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with TinyWeb() as web:
        serve(web)
        crawl(home, ["http://a.test/"], web.connect, exclude=["/1$", "/far"])
        assert excluded(home)["http://a.test/1"] == "exclude"
        crawl(home, [], web.connect, include=["/nothing"], exclude=["/far"])
        assert excluded(home)["http://a.test/1"] == "include"
        assert excluded(home)["http://a.test/far"] == "exclude"
        crawl(home, [], web.connect, exclude=["/2"], max_depth=0)
        assert {excluded(home)[f"http://a.test/{path}"] for path in ("1", "far")} == {"depth"}
        words = "It is left out: its depth is 1, more than the 0 that --max-depth allows. Start the crawl again with a "
        words += "greater --max-depth to have it visited."
        assert explain(home, "http://a.test/1").sentence == words
        crawl(home, [], web.connect, max_depth=1)
    assert "http://a.test/1" in urls(home, State.FETCHED)
    assert "http://a.test/further" not in urls(home), "depth holds for what is judged again, too"


def test_pages_that_were_the_deepest_lead_further_when_the_limit_is_raised(tmp_path: Path) -> None:
    home, notices = tmp_path / "c", list[str]()
    with TinyWeb() as web:
        for depth in range(6):
            web.add_page(f"http://a.test/{depth}", [f"/{depth + 1}", f"/moved{depth}"])
            web.add_redirect(f"http://a.test/moved{depth}", f"/to{depth}")
            web.add_page(f"http://a.test/to{depth}")
        assert crawl(home, ["http://a.test/0"], web.connect, max_depth=1).pages == 3
        crawl(home, [], web.connect, notices, max_depth=3)
        assert notices[-1] == "the links of 2 stored pages are followed, as scope.max_depth allows now"
        limited = {visit.url: visit.depth for visit in read_visits(home, State.FETCHED)}
        assert limited == {
            "http://a.test/0": 0, "http://a.test/1": 1, "http://a.test/moved0": 1, "http://a.test/2": 2,
            "http://a.test/moved1": 2, "http://a.test/to0": 2, "http://a.test/3": 3, "http://a.test/moved2": 3,
            "http://a.test/to1": 3,
        }  # fmt: skip
        crawl(home, [], web.connect, max_depth=2)
        crawl(home, [], web.connect)
        requests = web.log.requests_per_url()
    assert "http://a.test/to5" in urls(home, State.FETCHED)
    assert set(requests.values()) == {1}


def test_a_new_seed_brings_in_the_pages_of_its_domain(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["http://b.test/1", "http://b.test/2", "http://c.test/1"])
        for page in ("http://b.test/", "http://b.test/1", "http://b.test/2"):
            web.add_page(page)
        assert crawl(home, ["http://a.test/"], web.connect, scope="domain").excluded == 3
        summary = crawl(home, ["http://b.test/"], web.connect, scope="domain")
    assert (summary.pages, summary.excluded) == (4, 1)
    assert excluded(home) == {"http://c.test/1": "scope"}


def test_robots_rules_read_for_another_name_hold_for_nobody(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/1", "/2"])
        for path in "12":
            web.add_page(f"http://a.test/{path}")
        web.add_robots("a.test", "User-agent: other\nDisallow: /2\n")
        crawl(home, ["http://a.test/"], web.connect, max_pages=1)
        crawl(home, [], web.connect, user_agent="other/2")
        requests = web.log.requests_per_url()
    assert requests["http://a.test/robots.txt"] == 2
    assert "http://a.test/2" not in requests
    assert excluded(home) == {"http://a.test/2": "robots"}


def test_limits_of_pages_hold_for_what_is_judged_again(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with TinyWeb() as web:
        web.add_page("http://a.test/", [f"/{n}" for n in range(20)])
        for n in range(20):
            web.add_page(f"http://a.test/{n}")
        assert crawl(home, ["http://a.test/"], web.connect, exclude=["/1"]).pages == 10
        assert crawl(home, [], web.connect, max_pages=12).pages == 12
        assert crawl(home, [], web.connect).pages == 21


def test_what_was_cut_off_is_done_by_the_next_run(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/1", "http://b.test/"])
        web.add_page("http://a.test/1")
        web.add_page("http://b.test/")
        assert crawl(home, ["http://a.test/"], web.connect, scope="domain", exclude=["/1"], max_pages=2).excluded == 2
        # The limit is reached already, so that nothing is judged. The run after it has the same settings.
        assert crawl(home, [], web.connect, max_pages=1).excluded == 2
        assert crawl(home, [], web.connect).pages == 3


def test_a_setting_changed_while_it_runs_is_judged_by_at_once(tmp_path: Path) -> None:
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/1", "/2", "/3"])
        for path in "123":
            web.add_page(f"http://a.test/{path}", body=f"<p>word{path}")
        given = {"reserved": ["word1"], "blocklist": ["a.test/2"], "keep_fresh": True}
        with running(tmp_path / "c", ["http://a.test/"], web.connect, **given) as going:
            going.control.block(["b.test"])
            while len(urls(tmp_path / "c", State.FETCHED)) < 2 or len(excluded(tmp_path / "c")) < 2:
                going.control.checkpoint()
            looked = [notice for notice in going.notices if "are judged again" in notice]
            assert looked == [], "a longer blocklist brings nothing in"
            going.control.unblock(["a.test/2"])
            while len(excluded(tmp_path / "c")) > 1 or len(urls(tmp_path / "c", State.FETCHED)) < 3:
                going.control.checkpoint()
            going.control.stop()
            going.end()
        assert any("(policy.blocklist): 1 of 1 are queued" in notice for notice in going.notices)
    assert excluded(tmp_path / "c") == {"http://a.test/1": "reserved"}


# -- gossamer control rejudge ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("runs", [True, False], ids=["running", "stopped"])
def test_what_a_site_allows_by_now_is_visited(tmp_path: Path, runs: bool) -> None:
    home = tmp_path / "c"
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/1", "/2", "/3", "http://b.test/"])
        web.add_robots("a.test", "User-agent: *\nDisallow: /1\nDisallow: /3")
        web.add_page("http://a.test/1")
        web.add_page("http://a.test/2", body=b"%PDF", headers={"Content-Type": "application/pdf"})
        crawl(home, ["http://a.test/"], web.connect, scope="domain")
        assert excluded(home) == {
            "http://a.test/1": "robots", "http://a.test/2": "unwanted_type", "http://a.test/3": "robots",
            "http://b.test/": "scope",
        }  # fmt: skip
        web.add_robots("a.test", "User-agent: *\nDisallow: /3")
        web.add_page("http://a.test/2")
        if runs:
            with running(home, [], web.connect, keep_fresh=True) as going:
                answer = going.control.rejudge()
                assert answer.facts == {"urls": 4, "queued": 3}
                while len(urls(home, State.FETCHED)) < 3 or len(excluded(home)) != 2:
                    going.control.checkpoint()
                going.control.stop()
                going.end()
        else:
            assert Control(home, WHO).rejudge().later
            crawl(home, [], web.connect, scope="domain")
        requests = web.log.requests_per_url()
    assert excluded(home) == {"http://b.test/": "scope", "http://a.test/3": "robots"}
    assert requests["http://a.test/"] == requests["http://a.test/1"] == 1
    assert requests["http://a.test/robots.txt"] == 2
    assert "http://a.test/3" not in requests
    assert ("rejudge", {"urls": 4, "queued": 3}) in [(change.what, change.after) for change in read_changes(home)]


def test_what_was_purged_or_led_in_a_circle_is_not_judged_again(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/0", "http://b.test/", "http://a..b/"])
        for step in range(14):
            web.add_redirect(f"http://a.test/{step}", f"/{step + 1}")
        web.add_page("http://b.test/")
        crawl(home, ["http://a.test/"], web.connect)
        left = excluded(home)
        Control(home, WHO).purge("b.test")
        Control(home, WHO).rejudge()
        before = web.log.requests_per_url()
        crawl(home, [], web.connect, blocklist=["b.test/*"])
        again = web.log.requests_per_url()
    assert set(left.values()) == {"redirects", "host_name"}
    assert excluded(home) == {**left, "http://b.test/": "purged"}
    assert set((again - before).values()) <= {1}
    assert not [url for url in again - before if "b.test" in url or url in left]
