"""What a capture means for the index, and what the words of links say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.agent.anchor_words import outward, telling
from gossamer.agent.indexing import Verdict, judge, may_be_page
from gossamer.model import Locator
from gossamer.parse import parse
from gossamer.store import Capture, Place


def capture(url: str, status: int, mime: str = "text/html") -> Capture:
    return Capture(url, status, mime, "", 0, Locator(0, 0, 1), "", Place())


@pytest.mark.parametrize(
    ("url", "status", "mime", "verdict"),
    [
        ("http://a.test/", 200, "text/html", Verdict.READ),
        ("http://a.test/", 203, "warc/revisit", Verdict.READ),
        ("http://a.test/x.pdf", 200, "application/pdf", Verdict.READ),
        ("http://a.test/", 204, "unk", Verdict.KEEP),
        ("http://a.test/", 404, "text/html", Verdict.GONE),
        ("http://a.test/", 410, "text/html", Verdict.GONE),
        ("http://a.test/", 451, "text/html", Verdict.GONE),
        ("http://a.test/", 301, "text/html", Verdict.GONE),
        ("http://a.test/", 308, "text/html", Verdict.GONE),
        ("http://a.test/", 302, "text/html", Verdict.KEEP),
        ("http://a.test/", 403, "text/html", Verdict.KEEP),
        ("http://a.test/", 503, "text/html", Verdict.KEEP),
        ("http://a.test/robots.txt", 200, "text/plain", Verdict.KEEP),
        ("http://a.test/robots.txt", 404, "text/html", Verdict.KEEP),
        ("http://a.test/about/robots.txt", 200, "text/plain", Verdict.READ),
        ("http://a.test/sitemap-1.xml", 200, "text/plain", Verdict.KEEP),
        ("http://a.test/sitemap.html", 200, "text/html", Verdict.READ),
        ("http://a.test/news", 200, "application/rss+xml", Verdict.KEEP),
    ],
)
def test_what_a_response_means(url: str, status: int, mime: str, verdict: Verdict) -> None:
    assert judge(capture(url, status, mime)) is verdict


def test_types_that_may_be_text() -> None:
    assert all(map(may_be_page, [None, "text/html; charset=x", "text/plain", "application/pdf", "application/xml"]))
    assert not any(map(may_be_page, ["image/png", "application/zip", "video/mp4"]))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Introduction to sockets", "Introduction to sockets"),
        ("« Previous: sockets »", "Previous: sockets"),
        ("next", ""),
        ("Next »", ""),
        ("こちら", ""),
        ("次へ", ""),
        ("¶", ""),
        ("4.2.1", ""),
        ("https://example.org/a", ""),
        ("/a/b", ""),
        ("検索エンジン", "検索エンジン"),
        ("word " * 100, ("word " * 20).strip()),
        ("half \ud800 of a letter", "half ? of a letter"),
    ],
)
def test_words_that_say_something(text: str, words: str) -> None:
    assert telling(text) == words


@given(st.text(max_size=300))
def test_no_words_are_too_long_or_raise(text: str) -> None:
    found = telling(text)
    assert len(found.encode()) <= 400
    assert len(found) <= 100


def test_links_to_others() -> None:
    page = b"""<a href="/b">to b</a><a href="http://x.test/">elsewhere</a><a rel=nofollow href="/c">c</a>
    <a href="#top">top of this</a><img src="/picture"><link rel=next href="/d">"""
    document = parse(page, "http://a.test/", "text/html")
    assert list(outward(document, "http://a.test/")) == [
        ("http://a.test/b", False, "to b"),
        ("http://x.test/", True, "elsewhere"),
    ]
