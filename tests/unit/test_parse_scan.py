"""The link scanner: what it gives, when it gives way, and that it reads every byte once."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.parse import LinkScanner
from gossamer.parse import scan as scan_module
from gossamer.parse.grammar import LINKS
from gossamer.parse.scan import DEFAULT_KINDS, Found

URL = "http://h.example:8080/dir/page.html"
HTML = "text/html; charset=utf-8"


def scan(html: str, **options: Any) -> Found:
    return LinkScanner(**options).scan(html.encode(), URL, HTML)


def test_a_page() -> None:
    found = scan(
        """<!DOCTYPE html><title>t</title><p>text <a href="/plain/path.html" title="x">1</a>
        <a class="c" href="relative.html">2</a> <a href="http://O.example/x">3</a> <a href='/single'>4</a>
        <a href=/bare>5</a> <a href="/q?a=1&amp;b=2">6</a> <a href="//o.example/y#f">7</a> <area href="/area">
        <iframe src="/iframe"></iframe> <a href="/plain/path.html#again">8</a>"""
    )
    assert found == Found(
        [
            "http://h.example:8080/plain/path.html",
            "http://h.example:8080/dir/relative.html",
            "http://o.example/x",
            "http://h.example:8080/single",
            "http://h.example:8080/bare",
            "http://h.example:8080/q?a=1&b=2",
            "http://o.example/y",
            "http://h.example:8080/area",
            "http://h.example:8080/iframe",
        ]
    )


def test_the_page_itself_is_left_out() -> None:
    assert scan('<a href="#top">x</a><a href="">y</a><a href="/dir/page.html">z</a>').urls == []
    assert scan('<base href="/dir/page.html"><a href="#top">x</a>') == Found([])


def test_nofollow() -> None:
    page = (
        '<a href="/1" rel="nofollow">x</a><a rel=NOFOLLOW href=/2>y</a><area href="/3" rel="a nofollow"><a href="/4">'
    )
    assert scan(page).urls == ["http://h.example:8080/4"]
    assert len(scan(page, obey_nofollow=False).urls) == 4


@pytest.mark.parametrize("head", ["", "<svg><b></svg>"])
def test_rules_of_the_page(head: str) -> None:
    page = head + '<meta name="ROBOTS" content="noindex, nofollow"><a href="/1">x</a>'
    assert scan(page) == Found([], noindex=True, nofollow=True, full=bool(head))
    heedless = scan(page, obey_nofollow=False)
    assert heedless == Found(["http://h.example:8080/1"], noindex=True, nofollow=True, full=bool(head))


def test_refreshes_are_followed() -> None:
    assert scan('<meta http-equiv="Refresh" content="0; url=/next">').urls == ["http://h.example:8080/next"]


@pytest.mark.parametrize(
    ("follow", "urls", "full"),
    [
        (DEFAULT_KINDS, ["/a", "/area", "/iframe", "/meta"], False),
        (frozenset(("a",)), ["/a"], False),
        (frozenset(("a", "meta")), ["/a", "/meta"], False),
        (frozenset(("iframe",)), ["/iframe"], True),
        (frozenset(("a", "img")), ["/a", "/img"], True),
        (frozenset(("link:next",)), ["/link", "/more"], True),
        (frozenset(("link",)), ["/link", "/more", "/prev"], True),
        (frozenset(("cite",)), ["/cite"], True),
        (frozenset(("media",)), ["/video"], True),
    ],
)
def test_kinds_to_follow(follow: frozenset[str], urls: list[str], full: bool) -> None:
    found = scan(
        '<a href="/a">x</a><area href="/area"><iframe src="/iframe"></iframe><img src="/img">'
        '<video src="/video"></video>'
        '<link rel="next" href="/link"><link rel="prev" href="/prev"><q cite="/cite"></q>'
        '<link rel="more next" href="/more"><meta http-equiv="refresh" content="0;url=/meta">',
        follow=follow,
    )
    assert sorted(url.removeprefix("http://h.example:8080") for url in found.urls) == urls
    assert found.full is full


@pytest.mark.parametrize(
    ("content_type", "urls", "full"),
    [
        ("text/html", 1, False),
        ("Text/HTML;charset=koi8-r", 1, False),
        ("text/html; charset=unheard-of", 1, False),
        ("text/html; charset=iso-2022-jp", 1, True),
        ("text/html; charset=hz-gb-2312", 0, True),
        ("application/xhtml+xml", 1, True),
        ("text/plain", 0, True),
        ("image/png", 0, True),
        (None, 1, True),
    ],
)
def test_types(content_type: str | None, urls: int, full: bool) -> None:
    found = LinkScanner().scan(b'<a href="/x">', URL, content_type)
    assert (len(found.urls), found.full) == (urls, full)


def test_absolute_links_are_remembered_in_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def counted(url: str, base: str | None = None) -> str:
        calls.append(url)
        return url

    monkeypatch.setattr(scan_module, "normalize", counted)
    monkeypatch.setattr(scan_module, "_CACHED", 3)
    scanner = LinkScanner()
    for number in (1, 2, 1, 2, 3, 1, 4, 1):
        scanner.scan(b'<a href="http://O.example/%d">' % number, URL, HTML)
    # 4 did not fit any more, so everything was forgotten before it.
    assert calls == [f"http://O.example/{number}" for number in (1, 2, 3, 4, 1)]


def test_plain_paths_are_joined_without_normalising(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan_module, "normalize", None)
    assert scan('<a href="/a/b-c_d~e.html">x</a>').urls == ["http://h.example:8080/a/b-c_d~e.html"]


@pytest.mark.parametrize(
    "piece",
    [
        '<a <a <a "', '<a href="', "<a href='", '<a href="/" x="', "<a\n", "<p ", "<p =", "<p a=b", "<p x='",
        "<p x=\"'", "<", "</", "<!", "<?", "<!--", "<!-- -- ", "-->", "&", "<script>", "<script><!--<script>",
        "<style></styl", "<title></title", "<textarea><", "<iframe>", "<svg>", "<svg><path", "<select>", "<template>",
    ],
)  # fmt: skip
def test_a_megabyte_of_anything(piece: str) -> None:
    body = (piece * (1_000_000 // len(piece))).encode()
    assert sum(match.end() - match.start() for match in LINKS.finditer(body)) == len(body)
    assert isinstance(LinkScanner().scan(body + b"<p>end</p>", URL, HTML), Found)


@given(st.binary(max_size=200) | st.text("<>/!-='\"&;#ahrefscriptmebsvgl \n", max_size=200).map(str.encode))
@settings(max_examples=500)
def test_matches_cover_the_page_without_a_gap(body: bytes) -> None:
    """Where the pattern did not match, the search would start again one byte further, and cost the square of a page."""
    position = 0
    for match in LINKS.finditer(body):
        assert match.start() == position
        position = match.end()
    assert position == len(body)


def test_no_part_of_the_pattern_is_read_twice() -> None:
    """Every repetition is possessive, so that none is tried again in another length."""
    assert _loose(re._parser.parse(LINKS.pattern)) == []  # type: ignore[attr-defined]
    assert _loose(re._parser.parse(rb"(?:a|b*)+c"))  # type: ignore[attr-defined]


def _loose(node: Any) -> list[Any]:
    found = []
    for code, argument in node:
        if str(code) in ("MAX_REPEAT", "MIN_REPEAT") and argument[1] > 1:
            found.append((code, argument))
        for child in _children(argument):
            found += _loose(child)
    return found


def _children(argument: Any) -> list[Any]:
    if isinstance(argument, re._parser.SubPattern):  # type: ignore[attr-defined]
        return [argument]
    if isinstance(argument, tuple | list):
        return [child for part in argument for child in _children(part)]
    return []


@pytest.mark.parametrize("body", [b"", bytes(1 << 20), b'{"a": 1}' * 1000, "Пусто".encode("utf-16")])
def test_what_has_no_element_is_not_parsed(body: bytes) -> None:
    assert LinkScanner().scan(body, URL, "text/html") == Found([])


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-16"])
def test_elements_of_wide_characters_are_seen(encoding: str) -> None:
    body = '<!DOCTYPE html><a href="/x">'.encode(encoding)
    found = LinkScanner().scan(body, URL, "text/html" if encoding == "utf-16" else f"text/html; charset={encoding}")
    assert found.urls == ["http://h.example:8080/x"]
