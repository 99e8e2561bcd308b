"""A page to look at: nothing in it acts, its text and its links stay."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.inert import MAX_SHOWN, inert, is_readable

HTML = "text/html; charset=utf-8"
PIECES = [
    b"<object>", b"</object>", b"<svg>", b"<math>", b"<iframe src=a>", b"<template>", b"<frameset>", b"<frame src=b>",
    b"<script>", b"</script>", b"<a href=x>", b"</a>", b"<table>", b"<td>", b"<select>", b"<video src=x>", b"<style>",
    b"</style>", b"<base href=q>", b"\0", b"<!--", b"-->", b"<meta http-equiv=x>", b"<p onclick=1 xlink:href=e>",
    b"</p>", b"\xff", b"<![CDATA[", b"<html onload=1>", b"<body>", b"<plaintext>", b"<noscript>", b"&#0;", b"text",
]  # fmt: skip


def shown(body: str | bytes, kind: str | None = HTML) -> str:
    html = inert(body.encode() if isinstance(body, str) else body, "http://a.test/d/p", kind, lambda url: f"/go?{url}")
    assert html is not None
    return html


@pytest.mark.parametrize(
    "markup",
    [
        "<script>x</script>",
        "<svg><script>x</script></svg>",
        "<img src=http://e.test/ srcset='x 2x' onerror=x alt=picture>",
        "<body onload=x background=y>",
        "<svg onload=x><image href=//e.test/ xlink:href=//e.test/ /><use href=//e.test/#x /></svg>",
        "<meta http-equiv=refresh content='0;url=//e.test/'>",
        "<link rel=stylesheet href=//e.test/>",
        "<base href=//e.test/ target=_parent>",
        "<form action=//e.test/><button formaction=//e.test/>b</button></form>",
        "<object data=//e.test/><embed src=//e.test/></object>",
        "<object><object><param name=x></object></object>",
        "<style>a{}</styl<!--</style><script>x</script>-->",
        "<video src=x poster=y autoplay><source src=z><track src=t></video>",
        "<div><template shadowrootmode=open><script>x</script></template></div>",
        "<a ping=//e.test/>x</a>",
        "<input autofocus onfocus=x>",
        "<a href='javascript:x'>x</a><a href='data:text/html,x'>x</a><a href=' java\nscript:x'>x</a>",
    ],
)
def test_what_acts_is_taken_out(markup: str) -> None:
    html = shown(f"<!DOCTYPE html><p>kept</p>{markup}")
    assert "kept" in html
    assert not re.search(
        r"<(?:script|link|base|meta|object|embed|template|video|source|track)|e\.test|\son\w+=|autofocus|script:|src"
        r"|background|action|data:",
        html,
    )


def test_links_lead_where_the_caller_says() -> None:
    html = shown(
        '<base href="/x/"><a href="y?a&amp;b" target=other>l</a><map><area href="//b.test"></map><a name=here>n</a>'
    )
    assert '<a href="/go?http://a.test/x/y?a&amp;b" target="_top">l</a>' in html
    assert '<area href="/go?http://b.test/" target="_top">' in html
    assert "other" not in html


def test_what_lead_gives_is_escaped() -> None:
    html = inert(b"<a href=x>l</a>", "http://a.test/", HTML, lambda url: '"><script>')
    assert html is not None
    assert "<script" not in html


def test_frames_become_links() -> None:
    assert '<a href="/go?http://a.test/f" target="_top">http://a.test/f</a>' in shown("<p>x<iframe src=/f></iframe>")
    html = shown("<title>A &lt;b&gt;</title><frameset><frame src=one><frame src=two></frameset>")
    assert "made of frames" in html
    assert html.count("<li>") == 2
    assert "<b>" not in html


def test_images_in_the_page_itself_stay() -> None:
    assert 'src="data:image/png;base64,AA"' in shown("<img src='data:image/png;base64,AA'>")


def test_the_encoding_is_found_out() -> None:
    assert "港" in shown("<meta charset=shift_jis><p>港の風景".encode("shift_jis"), "text/html")


def test_looks_that_are_in_the_page_stay() -> None:
    html = shown(
        "<style>p > b { color: red }</style><table bgcolor=red><td colspan=2 class=x style='color: red'>t</table>"
    )
    assert "<style>p > b { color: red }</style>" in html
    assert '<table bgcolor="red">' in html
    assert 'colspan="2"' in html
    assert 'style="color: red"' in html


def test_places_within_the_page_stay_there() -> None:
    html = shown("<a href='#end'>down</a><h2 id=end>End</h2>")
    assert '<a href="#end">down</a>' in html
    assert '<h2 id="end">' in html


@pytest.mark.parametrize(
    ("markup", "written"),
    [
        ("<pre>\n\n x</pre>", "<pre>\n\n x</pre>"),
        ("<xmp><b>x</b></xmp>", "<pre>\n&lt;b&gt;x&lt;/b&gt;</pre>"),
        ("<my-box><p>x</p></my-box>", "<p>x</p>"),
        ("<form><p>x</p></form>", "<div><p>x</p></div>"),
        ("<noscript><p>x</p></noscript>", "<p>x</p>"),
        ("<object><p>x</p></object>", "<p>x</p>"),
        ("<p>a &amp; b &lt;c&gt;<!-- d --></p>", "<p>a &amp; b &lt;c&gt;</p>"),
        ("<ul><li>a<li>b</ul>", "<ul><li>a</li><li>b</li></ul>"),
        ("<p>a<br>b<hr>", "<p>a<br>b</p><hr>"),
    ],
)
def test_what_people_read_stays(markup: str, written: str) -> None:
    assert written in shown(markup)


def test_the_document_type_stays() -> None:
    assert shown("<!DOCTYPE html><p>x").startswith("<!DOCTYPE html>")
    assert shown("<p>x").startswith("<html>")


def test_text_is_text() -> None:
    assert "&lt;script&gt;" in shown("<script>", "text/plain")
    assert "{&quot;a&quot;: 1}" in shown('{"a": 1}', "application/json")
    assert "&lt;svg" in shown("<svg onload=x>", "image/svg+xml")


@pytest.mark.parametrize(
    ("body", "kind", "readable"),
    [
        (b"x", "text/html", True), (b"x", "text/css", True), (b"x", "application/json", True), (b"x", None, True),
        (b"%PDF-1.7", None, False), (b"x", "application/pdf", False), (b"x", "image/png", False),
        (b"a\0b", "application/json", False), (b"x", "application/octet-stream", False),
    ],
)  # fmt: skip
def test_what_people_can_read(body: bytes, kind: str | None, readable: bool) -> None:
    assert is_readable(body, kind) == readable
    assert (inert(body, "http://a.test/", kind, str) is not None) == readable


@given(st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join), st.sampled_from([None, HTML, "text/xml", "x"]))
def test_no_bytes_raise_and_nothing_acts(body: bytes, kind: str | None) -> None:
    html = inert(body, "http://a.test/", kind, lambda url: "/go") or ""
    tags = re.sub(r"<style>.*?</style>", "", html, flags=re.S)
    assert not re.search(r"<(?:script|object|iframe|frame|base|video|template|svg)|<[a-z]+ [^>]*(?:on\w+|src)=", tags)


@pytest.mark.parametrize(
    "piece", [b"<object>", b"<iframe src=a>", b"<a href=x>", b"<p onx=1>", b"<frameset><frame src=a>", b"<b><table>"]
)
def test_hostile_pages_are_bounded(piece: bytes) -> None:
    """They come to an end at all: with the square of their length they would take hours."""
    inert(piece * (2 * MAX_SHOWN // len(piece)), "http://a.test/", HTML, lambda url: "/go?" + url)
