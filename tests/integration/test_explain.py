"""`explain` says why, truly, for each end that a URL can come to: one test each, brought about by a real crawl, or by a
real frontier where no crawl here can. test_explain_waiting.py has URLs that have come to no end yet.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from commanding import WHO
from crawling import crawl
from explaining import NOW, Small

from gossamer.agent import Control, read_visits, run
from gossamer.agent.explain import explain
from gossamer.agent.left_out import EXCLUSIONS, FAULTS, REMEDIES
from gossamer.config import load
from gossamer.errors import CrawlDirError, SeedError
from gossamer.model import Exclusion, Fault, Reason, State
from gossamer.rules.robots import ALLOW_ALL, Robots
from gossamer.rules.scope import Scope
from gossamer.testing import TinyWeb
from gossamer.testing.web import End, Reply

SETTINGS = """
[scope]
scope = "domain"
exclude = ['\\?print=', '/no$']
max_directories = 6
domain_hosts = 4
max_length = 100000
reserved = ["secret words"]
[policy]
delay = 0
max_tries = 2
retry_wait = "10ms"
blocklist = ["a.test/blocked/"]
[fetch]
allow_private = true
timeout = "300ms"
max_headers = 2048
connect = ["CONNECT"]
[hosts."few.a.test"]
max_pages = 1
[urls."/forum/"]
max_pages = 2
"""
CHAIN = [f"http://a.test/r{number}" for number in range(12)]
MANY = "&".join(f"p{number}=1" for number in range(41))
LINKS = [
    "/closed/x", "/moved", "/missing", "/secret", "/gone", "/let-in", "/broken", "/no", "/?print=1",
    "/pic", "/big", "/silent", "/odd", "/loud", "/reserved",
    "/1/2/3/4/5/6/7/x", "/en/b/en/c/en/", "/calendar/2999-05", "/x?a=1&a=1&a=1",
    f"/x?{MANY}", "/blocked/x", "/rss", "http://far.net/", "http://few.a.test/", "http://few.a.test/2", CHAIN[0],
    "http://a.test:22/", "http://www..a.test/x", "http://b.a.test/", "http://b.a.test/busy", "http://c.a.test/", "http://d.a.test/",
    *(f"/forum/{number}" for number in range(4)),
]  # fmt: skip


def build(web: TinyWeb) -> None:
    web.add_page("http://a.test/", LINKS)
    web.add_robots(
        "a.test", "User-agent: *\nAllow: /\nDisallow: /closed\nDisallow: /cl\nSitemap: /map\nSitemap: /nomap"
    )
    for url, target in pairwise(CHAIN):
        web.add_redirect(url, target)
    web.add_redirect("http://a.test/moved", "/")
    for path, status in (("gone", 410), ("let-in", 401), ("secret", 403), ("broken", 500)):
        web.add_page(f"http://a.test/{path}", status=status)
    web.add_page("http://b.a.test/busy", status=503)  # from then on its host is visited slowly
    web.add_page("http://a.test/pic", body=b"png", headers={"Content-Type": "image/png"})
    web.add_page("http://a.test/big", body=b"x" * 200_000)
    web.add_page("http://a.test/reserved", body="<p>Some SECRET\nwords</p>")
    web.add_page("http://a.test/map", body="<urlset></urlset>", headers={"Content-Type": "text/xml"})
    web.add_page("http://a.test/rss", body="<rss></rss>", headers={"Content-Type": "application/rss+xml"})
    web.add_handler("http://a.test/silent", lambda request: Reply((), End.HANG))
    web.add_handler("http://a.test/odd", lambda request: Reply((b"220 mail.a.test ESMTP\r\n",), End.CLOSE))
    web.add_handler("http://a.test/loud", lambda request: b"HTTP/1.1 200 OK\r\nX: " + b"y" * 5000 + b"\r\n\r\n")
    for number in range(4):
        web.add_page(f"http://a.test/forum/{number}")
    for page in ("http://few.a.test/", "http://few.a.test/2", "http://b.a.test/"):
        web.add_page(page)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("explain") / "c"
    file = home.parent / "settings.toml"
    with TinyWeb() as web:
        build(web)
        # The host of port 22 is not sent elsewhere, so that its port is looked at; nothing is connected to.
        file.write_text(SETTINGS.replace("CONNECT", web.connect.replace("*=", "*.test=")))
        summary = run(load(file), home, ["http://a.test/"])
    assert summary.reason == "complete"
    return home


ENDS = {
    Reason.ROBOTS: ("http://a.test/closed/x", "the robots.txt of a.test does not allow it (Disallow: /closed)"),
    Reason.ADDRESS: (
        "http://a.test:22/",
        "port 22 is used by services that are no web servers; name it in fetch.ports",
    ),
    Reason.UNWANTED_TYPE: ("http://a.test/pic", "its type is not one of those wanted (text/html, "),
    Reason.TOO_LARGE: ("http://a.test/big", "its Content-Length is more than the 100 kB that scope.max_length allows"),
    Reason.RESERVED: ("http://a.test/reserved", "contains a reserved string ('secret words': scope.reserved)"),
    Exclusion.SCOPE: ("http://far.net/", "far.net is not a domain of the seeds (--scope domain)"),
    Exclusion.HOST_NAME: ("http://www..a.test/x", "the host name www..a.test has an empty part: a dot stands where"),
    Exclusion.EXCLUDE: ("http://a.test/no", "it matches --exclude '/no$'"),
    Exclusion.REPEATED: ("http://a.test/en/b/en/c/en/", "its path has the same directories again and again"),
    Exclusion.DEEP: (
        "http://a.test/1/2/3/4/5/6/7/x",
        "its path has 7 directories, more than the 6 that scope.max_directories allows",
    ),
    Exclusion.CALENDAR: ("http://a.test/calendar/2999-05", "a page of a calendar, more than two years ahead"),
    Exclusion.PARAMETERS: (f"http://a.test/x?{MANY}", "its query has 41 parameters, more than 40"),
    Exclusion.REDIRECTS: (CHAIN[-1], "more than 10 redirects in a row led to it"),
    Exclusion.DOMAIN_HOSTS: ("http://d.a.test/", "a.test had the 4 hosts that scope.domain_hosts allows when d.a.test"),
    Exclusion.HOST_PAGES: ("http://few.a.test/2", "few.a.test has its 1 pages, as many as max_pages of its table"),
    Exclusion.PATTERN_PAGES: (
        "http://a.test/forum/3",
        "it matches '/forum/', of which 2 pages were fetched: max_pages",
    ),
    Exclusion.BLOCKLIST: ("http://a.test/blocked/x", "it is on the blocklist ('a.test/blocked/'; gossamer block shows"),
    Exclusion.SITEMAP: ("http://a.test/map", "it is a sitemap, which was read for links and is no page"),
    Exclusion.FEED: ("http://a.test/rss", "it is a feed, which was read for links; as a page its type is not wanted"),
}
ELSEWHERE = {
    Exclusion.INCLUDE,
    Exclusion.LENGTH,
    Exclusion.DEPTH,
    Exclusion.PURGED,
    Reason.FORM,
}  # have tests of their own, here, in test_post and in test_rejudge


def test_each_exclusion_has_a_test() -> None:
    assert ENDS.keys() | ELSEWHERE == EXCLUSIONS.keys()


@pytest.mark.parametrize("reason", ENDS, ids=str)
def test_each_exclusion(home: Path, reason: Exclusion | Reason) -> None:
    url, words = ENDS[reason]
    found = explain(home, url)
    assert found.visit is not None
    assert (found.visit.state, found.visit.reason, found.known) == (State.EXCLUDED, reason, True)
    assert found.sentence.startswith("It is left out: ")
    assert words in found.sentence
    assert (". " in found.sentence) == (reason in REMEDIES), "what to do about it is said"


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://a.test/?print=1", r"it matches --exclude '\\?print='"),
        ("http://a.test/x?a=1&a=1&a=1", "its query repeats itself, or holds itself"),
        ("http://a.test/nomap", "it was named as a sitemap, and could not be read (status 404)"),
    ],
)
def test_where_a_rule_has_several_ways(home: Path, url: str, words: str) -> None:
    assert words in explain(home, url).sentence


def test_exclusions_by_include_and_by_the_host_of_the_seeds(tmp_path: Path) -> None:
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/other", "http://b.a.test/docs/"])
        crawl(tmp_path / "c", ["http://a.test/"], web.connect, scope="host", include=["/docs/", "/news/"])
    found = explain(tmp_path / "c", "http://a.test/other")
    assert found.visit is not None
    assert found.visit.reason == Exclusion.INCLUDE
    assert found.sentence == (
        "It is left out: it matches no --include pattern ('/docs/', '/news/'). Give it as a seed (gossamer seeds "
        "URL), or start the crawl again with other patterns."
    )
    assert (
        "b.a.test is not a host of the seeds (--scope host)"
        in explain(tmp_path / "c", "http://b.a.test/docs/").sentence
    )


def test_exclusion_by_length(tmp_path: Path) -> None:
    """No option sets it, and longer URLs are no URLs: links are dropped before."""
    small = Small(tmp_path, scope=Scope("any", max_url_length=20))
    small.frontier.add(["http://a.test/" + "x" * 10], 1, 4)
    found = small.explained("http://a.test/" + "x" * 10)
    assert found.visit is not None
    assert (found.visit.reason, found.sentence[:52]) == (
        Exclusion.LENGTH, "It is left out: its URL has 24 characters, and at mo"
    )  # fmt: skip
    with pytest.raises(SeedError, match="too long"):
        explain(tmp_path, "http://a.test/" + "x" * 3000)


def test_exclusion_by_a_purge(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["http://b.test/", "http://b.test/2"])
        web.add_page("http://b.test/")
        crawl(home, ["http://a.test/"], web.connect, max_pages=2)
        Control(home, WHO).purge("b.test")
        run(load(home / "gossamer.toml", resumed=True), home, [])
    found = explain(home, "http://b.test/")
    assert found.visit is not None
    assert found.visit.reason == Exclusion.PURGED
    assert "left out: b.test was purged (gossamer purge): its pages left the index" in found.sentence
    assert "on the blocklist ('b.test/*'; gossamer block shows all)" in explain(home, "http://b.test/2").sentence


def test_exclusion_by_a_private_address(tmp_path: Path) -> None:
    crawl(tmp_path / "c", ["http://127.0.0.9:8000/"], "nobody.test=127.0.0.1:9", allow_private=False)
    found = explain(tmp_path / "c", "http://127.0.0.9:8000/")
    assert found.visit is not None
    assert found.visit.reason == Reason.ADDRESS
    assert "127.0.0.9:8000 may not be connected to: it is not a public one (--allow-private)" in found.sentence
    assert found.sentence.endswith(". Start the crawl again with --allow-private to have it visited.")


def test_exclusion_by_networks(tmp_path: Path) -> None:
    crawl(tmp_path / "c", ["http://127.0.0.9:8000/"], "nobody.test=127.0.0.1:9", networks=["127.1.0.0/16"])
    found = explain(tmp_path / "c", "http://127.0.0.9:8000/")
    assert found.visit is not None
    assert found.visit.reason == Reason.ADDRESS
    assert "the address of 127.0.0.9:8000 is not in --networks 127.1.0.0/16" in found.sentence


def test_exclusion_by_names_and_addresses(tmp_path: Path) -> None:
    crawl(
        tmp_path / "c", ["http://127.0.0.9:8000/"], "nobody.test=127.0.0.1:9", networks=["127.1.0.0/16"],
        domains=[".th"],
    )  # fmt: skip
    found = explain(tmp_path / "c", "http://127.0.0.9:8000/")
    assert "is not in --networks 127.1.0.0/16, and its name not in --domains .th" in found.sentence


def test_a_robots_txt_that_was_changed_since(tmp_path: Path) -> None:
    small = Small(tmp_path)
    small.frontier.add(["http://a.test/x"], 1, 4)
    small.lease(Robots({"/x": False}))
    assert small.lease(now=NOW + 60) == []
    assert "does not allow it (Disallow: /x)" in small.explained("http://a.test/x").sentence
    small.frontier.add(["http://a.test/y"], 1, 4)
    small.lease(ALLOW_ALL, NOW + 2 * 86400)
    said = small.explained("http://a.test/x").sentence
    assert said.endswith("and has been changed since. gossamer control rejudge has it visited.")


CHANGED = {
    Reason.TOO_LARGE: ("http://a.test/big", "scope.max_length allowed, which has been changed since"),
    Exclusion.SCOPE: ("http://far.net/", "on no host or domain of the seeds when it was found, and is by now"),
    Exclusion.EXCLUDE: ("http://a.test/no", "matched an --exclude pattern that is no longer in the settings"),
    Exclusion.DEEP: ("http://a.test/1/2/3/4/5/6/7/x", "7 directories, more than were allowed when it was found"),
    Exclusion.HOST_PAGES: ("http://few.a.test/2", "as its max_pages allowed, which has been changed since"),
    Exclusion.PATTERN_PAGES: ("http://a.test/forum/3", "as many pages as allowed; that has been changed since"),
    Exclusion.BLOCKLIST: ("http://a.test/blocked/x", "was on the blocklist when its turn came, and no longer is"),
    Exclusion.DOMAIN_HOSTS: ("http://d.a.test/", "a.test had all hosts that it was allowed when d.a.test was found"),
}


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same crawl, whose settings were changed since: the next run will judge by them."""
    home = tmp_path_factory.mktemp("changed") / "c"
    file = home.parent / "settings.toml"
    with TinyWeb() as web:
        build(web)
        connect = web.connect.replace("*=", "*.test=")
        file.write_text(SETTINGS.replace("CONNECT", connect))
        run(load(file), home, ["http://a.test/"])
    (home / "gossamer.toml").write_text('[scope]\nscope = "any"\n')
    return home


@pytest.mark.parametrize("reason", CHANGED, ids=str)
def test_what_no_longer_holds_is_not_said_to_hold(changed: Path, reason: Exclusion | Reason) -> None:
    url, words = CHANGED[reason]
    found = explain(changed, url)
    assert found.visit is not None
    assert found.visit.reason == reason
    assert words in found.sentence
    assert found.sentence.endswith(
        "The settings have been changed since: it is judged again when the crawl is started again."
    )


# -- fetched -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("a.test/", "with status 200."),
        ("a.test/moved", "with status 302: it is a redirect, and where it leads is a visit of its own."),
        ("a.test/missing", "with status 404: the server has no such page."),
        ("a.test/gone", "with status 410: the server says that the page is gone for good."),
        ("a.test/let-in", "with status 401: the server lets in only whom it knows."),
        ("a.test/secret", "with status 403: the server does not let this crawl in."),
        ("a.test/broken", "with status 500: the server failed, and what it sent then is stored."),
        ("b.a.test/busy", "with status 503: the server was too busy each of the 2 times."),
    ],
)
def test_each_kind_of_page(home: Path, page: str, words: str) -> None:
    url = f"http://{page}"
    (at,) = [visit.fetched_at for visit in read_visits(home, State.FETCHED) if visit.url == url]
    assert explain(home, url, now=at + 7200).sentence == f"It was fetched 2 h ago, {words}"


# -- dead --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", FAULTS, ids=str)
def test_each_way_to_be_dead(tmp_path: Path, reason: Reason) -> None:
    small = Small(tmp_path)
    small.frontier.add(["http://a.test/"], 0, 4)
    small.settle_fault(Fault(reason, False))
    found = small.explained("http://a.test/", later=60)
    assert found.visit is not None
    assert (found.visit.state, found.visit.reason) == (State.DEAD, reason)
    assert (
        found.sentence
        == f"It is dead: {FAULTS[reason]}; the one try failed 1 min ago (gossamer control retry queues it again)."
    )


@pytest.mark.parametrize(
    ("path", "reason", "tries"),
    [("silent", Reason.TIMEOUT, 2), ("odd", Reason.PROTOCOL, 1), ("loud", Reason.TOO_LARGE, 1)],
)
def test_dead_in_a_crawl(home: Path, path: str, reason: Reason, tries: int) -> None:
    found = explain(home, f"http://a.test/{path}")
    assert found.visit is not None
    assert (found.visit.state, found.visit.reason, found.visit.tries) == (State.DEAD, reason, tries)
    how = "the one try failed" if tries == 1 else f"all {tries} tries failed, the last"
    assert f"It is dead: {FAULTS[reason]}; {how}" in found.sentence


def test_no_crawl_ends_in_a_way_that_has_no_words(home: Path, changed: Path) -> None:
    for visit in [*read_visits(home), *read_visits(changed)]:
        if visit.state is State.EXCLUDED:
            assert visit.reason in EXCLUSIONS
        if visit.state is State.DEAD:
            assert visit.reason in FAULTS
        assert explain(home, visit.url).sentence


# -- not known ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "words"),
    [
        (
            "http://a.test/never",
            r"does not know it: no page fetched so far links to it \(\d+ pages of its host are known\)",
        ),
        (
            "http://elsewhere.test/",
            "would leave it out: elsewhere.test is not a domain .*As a seed it would be visited",
        ),
        ("http://sub.a.test/x", "nor its host sub.a.test: no page fetched so far links there"),
        ("http://a.test/blocked/y", "would leave it out: it is on the blocklist"),
        (
            "http://a.test/closed/y",
            r"would leave it out: the robots.txt of a.test does not allow it \(Disallow: /closed\)",
        ),
        ("http://few.a.test/3", "would leave it out: few.a.test has its 1 pages"),
        ("http://a.test/forum/9", "would leave it out: it matches '/forum/'"),
    ],
)
def test_what_is_not_known(home: Path, url: str, words: str) -> None:
    found = explain(home, url)
    assert not found.known
    assert re.search(words, found.sentence)


def test_links_beyond_the_depth_are_not_remembered_and_that_is_said(tmp_path: Path) -> None:
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/1"])
        web.add_page("http://a.test/1", ["/2"])
        crawl(tmp_path / "c", ["http://a.test/"], web.connect, max_depth=1)
    said = explain(tmp_path / "c", "http://a.test/2").sentence
    assert "links to it, or only pages 1 links from the seeds do, whose links are not taken (--max-depth)" in said


def test_nonsense_is_refused(home: Path, tmp_path: Path) -> None:
    with pytest.raises(SeedError, match="ftp"):
        explain(home, "ftp://a.test/")
    with pytest.raises(CrawlDirError):
        explain(tmp_path, "http://a.test/")


# -- facts -------------------------------------------------------------------------------------------------------------


def test_facts_come_with_it(home: Path) -> None:
    explanation = explain(home, "http://b.a.test/")
    assert explanation.visit is not None
    assert explanation.visit.stored is not None
    assert len(explanation.visit.digest) == 16
    assert explanation.host is not None
    assert (explanation.host.robots_known, explanation.host.pages) == (True, 2)
    assert explanation.host_sentence == "Nothing of b.a.test waits: all that is known of it was visited or left out."


def test_a_bare_name_is_its_front_page(home: Path) -> None:
    assert explain(home, "a.test").url == "http://a.test/"
    assert explain(home, "unknown.test").url == "https://unknown.test/"
