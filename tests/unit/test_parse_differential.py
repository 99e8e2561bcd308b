"""The link scanner against the whole parser: on every page the same links and the same rules."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.parse import LinkScanner
from gossamer.parse.html import parse_links
from gossamer.parse.scan import Found

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from fuzz_inputs import PIECES, VALUES, tag

URL = "http://h.example/dir/page.html"

SCANNED = {
    "an attribute with a bracket": '<p title="a > b <a href=/no>"><a href="/yes" title="x>y">',
    "a quote without a name in front": '<p ="x><a href=/yes>" y><p /="x><a href=/yes2>">',
    "names with strange signs": "<p \"a'b=c><a href='/yes' \">",
    "no blank between attributes": '<a class="x"href="/yes"title="y">',
    "slashes between attributes": "<a/href=/yes/class=x>",
    "upper case and line ends": "<A\r\nCLASS='x'\tHREF\n=\n'/yes'\f>",
    "the first of two attributes": '<a href="/yes" href="/no"><a HREF=/yes2 href="/no">',
    "unquoted up to the bracket": "<a href=/yes?a=1/><a href=/yes2'x\">",
    "comments of all kinds": "<!--><a href=/1><!---><a href=/2><!-- <a href=/no> --!>"
    "<a href=/3><!-- -- > <a href=/no>-->",
    "declarations end at the first bracket": '<!DOCTYPE html PUBLIC "a>b"><![CDATA[<a href=/no>]]><?php "'
    '<a href=/no>" ?>',
    "end tags that are none": "</><a href=/1></ a href=/no><a href=/2></1><a href=/3></a title='<a href=/no>'>",
    "text that looks like tags": "a < b <1 <é < a href=/no> <=> <a href=/yes>",
    "scripts": "<script>if (a<b) '<a href=/no>' + '<\\/script>'</script ><a href=/yes>",
    "scripts in comments": "<script><!-- '<a href=/no>' --></script><a href=/yes>",
    "raw text": "<style><a href=/no></style><title></a><a href=/no></title><textarea>"
    "<a href=/no></textarea><a href=/yes>",
    "old raw text": "<xmp><a href=/no></xmp><noembed><a href=/no></noembed><noframes>"
    "<a href=/no></noframes><a href=/yes>",
    "noscript is markup": "<head><noscript><a href=/1></noscript></head><body><noscript><a href=/2></noscript>",
    "frames without a frameset": '<frame src="/no"><iframe src=/yes><a href=/no></iframe>',
    "selects": "<select><option value='<a href=/no>'>1<optgroup><option>2</select><a href=/yes>",
    "drawings": '<svg viewBox="0 0 1 1"><g><path d="M0"/><title>a</title></g></svg><svg/><a href="/yes">',
    "drawings with all that is sure": "<svg fill=\"x\"><defs><style type='x'>a{}</style><text x=1>t<tspan>u</tspan>"
    "</text><image href=/no><animate/></defs><!-- <a href=/no> --><desc>d</desc></SVG><a href=/yes>",
    "formulas": "<math display=\"block\"><semantics><mrow><mi mathvariant='normal'>x</mi><mo>&lt;</mo><msup><mn>1</mn>"
    "</msup></mrow><annotation encoding='x'>\\frac</annotation></semantics></math><math/><a href=/yes>",
    "a base": '<base target=x><BASE href="/other/"><a href="yes"><a href="/yes2"><a href=""><a href="?q">',
    "a base elsewhere": "<base href='http://u:p@O.example./d/i?q#f'><a href='yes'><a href='/yes2'>"
    "<iframe src=yes3></iframe>",
    "a base that is none": "<base href='data:x'><base target=y><a href='yes'>",
    "templates": "<template><a href=/no><table><script></template></script><td></template><a href=/yes>",
    "tables": '<table><a href="/1"><tr><a href="/2"><td><a href="/3"></table>',
    "links in links": '<a href="/1"><p><a href="/2"><table><td><a href="/3"></a></table>',
    "references": '<a href="/?a=1&amp;b&#61;2&copy=3"><a href="&#x2f;x&notit;&lt">',
    "fragments and blanks": '<a href=" /1 "><a href="/2 #x"><a href="/3\n/4#x"><a href="#x"><a href=" #x">',
    "absolute": '<a href="HTTP://O.EXAMPLE:80/%7ex"><a href="https:///o.example/">'
    '<a href="http:rel"><a href="http://[">',
    "other schemes": '<a href="javascript:x"><a href="mailto:x"><a href="ftp://o.example/"><a href="tel:1">',
    "dots, doubled slashes, session ids": '<a href="/a/../b"><a href="/a//b"><a href="/x;jsessionid=1?sid=2">'
    '<a href="./../">',
    "rules": '<meta name=robots content=noindex><META CONTENT="nofollow" NAME="&#114;obots"><a href="/1">',
    "refresh": "<meta http-equiv=refresh content=\"0;url='/yes'\"><meta http-equiv=refresh content=5>",
    "relations": '<a rel="nofollow" href="/no"><a href="/no" rel=nofollow>'
    '<a href="/1" rel="x"><a href="/2" data-rel="nofollow">',
    "a base without a reference": '<base target="_top"><a href="yes">',
    "text in other encodings": "<p>\xe9\xff\x81<a href='/yes' title='\x81\"'>\xfc</a>",
    "nothing": "",
}
GIVEN_WAY = {
    "a base behind a link to the page itself": '<a href="#"><base href=/>',
    "a base behind an empty link": '<a href=""><base href=/>',
    "a base behind a link": '<a href="x"><base href="/other/"><a href="x">',
    "a base that makes a link short enough": f'<a href="{"x" * 2060}"><base href="http://o.example/">',
    "two bases": '<table><td><base href="/1/"></td><base href="/2/"></table><a href="x">',
    "a base of another scheme": '<base href="mailto:x"><a href="http://o.example/"><a href="/y"><a href="z">',
    "framesets": '<frameset><frame src="/yes"><a href="/no"></frameset>',
    "links in drawings": '<svg><a xlink:href="/yes"><style><a href="/yes2"></style></svg>',
    "HTML in drawings": '<svg><p><a href="/yes"></svg>',
    "links in formulas": '<math><mi><a href="/yes"></mi></math>',
    "markup where HTML may stand in formulas": '<math><mi><mrow></mi></math><![CDATA[<a href="/no">]]>',
    "links in selects": '<select><option><a href="/no"></select>',
    "nested templates": '<template><template></template><a href="/no"></template>',
    "scripts in scripts": '<script><!-- <script> </script> <a href="/no"> --></script><a href="/yes">',
    "plaintext": '<a href="/yes"><plaintext><a href="/no">',
    "a tag that never ends": '<a href="/yes"><a href="/no"',
    "a quote that never ends": '<a href="/yes"><p title="<a href=/no>',
    "a script that never ends": '<a href="/yes"><script><a href="/no">',
    "a comment that never ends": '<a href="/yes"><!-- <a href="/no">',
    "zero bytes": '<a href="/a\0b"><a\0href="/x">',
    "letters beyond ASCII in links": '<a href="/\xe9?\xe9"><a href="/&eacute;">',
    "letters beyond ASCII, by reference": '<p>\xe9<a href="/&eacute;">',
    "letters that are no UTF-8 somewhere": '<p>\xe9<a href="/\xc3\xa9?\xc3\xa9">',
    "hundreds of attributes": f"<a {' x' * 300} href=/yes>",
    "a very long attribute": f"<a href='{'&amp;' * 4000}'>",
    "an encoding that is none": '<meta charset="hz-gb-2312"><a href="/no">',
    "one that only the prescan sees": '<script>"<meta charset=iso-2022-kr>"</script><a href="/no">',
    "escape sequences": '<meta charset="iso-2022-jp">\x1b$B<a href="/no">\x1b(B<a href="/yes">',
    "UTF-16": "\xff\xfe<\0a\0 \0h\0r\0e\0f\0=\0x\0>\0",
}


def whole(body: bytes, content_type: str, obey: bool) -> Found:
    links = parse_links(body, URL, content_type)
    followed = [] if links.nofollow and obey else [link for link in links.links if not (link.nofollow and obey)]
    urls = [url for url in dict.fromkeys(link.url for link in followed) if url != URL]
    return Found(urls, links.noindex, links.nofollow, full=True)


def check(body: bytes, content_type: str = "text/html", obey: bool = True) -> bool:
    """Whether the page was scanned; if so, like the parser does."""
    expected = whole(body, content_type, obey)
    found = LinkScanner(obey_nofollow=obey).scan(body, URL, content_type)
    assert found == LinkScanner(obey_nofollow=obey, compiles=False).scan(
        body, URL, content_type
    )  # by the pattern alone
    assert sorted(found.urls) == sorted(expected.urls), body
    assert (found.noindex, found.nofollow) == (expected.noindex, expected.nofollow), body
    if b"<table" not in body.lower():
        assert found.urls == expected.urls, body
    return not found.full


@pytest.mark.parametrize("name", SCANNED)
def test_pages_that_are_scanned(name: str) -> None:
    page = SCANNED[name].encode("latin-1")
    for obey in (True, False):
        for content_type in ("text/html", "text/html; charset=shift_jis"):
            assert check(page, content_type, obey), "the scanner gave way"
            # The same somewhere in the middle of a page, with more behind it.
            before = b"<a name=a>" if b"<base" in page.lower() else b'<a href="/a">'
            assert check(b"<html><body>" + before + page + b'<p><a class="z" href="/z"></body>', content_type, obey)


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf", b"<meta charset=utf-8>"])
@pytest.mark.parametrize("content_type", ["text/html", "text/html; charset=UTF-8"])
def test_letters_beyond_ascii_are_scanned_on_pages_in_utf_8(mark: bytes, content_type: str) -> None:
    page = (
        "<p>日本語のページ<base href=/é/><a href='/日本?q=日本#日本'>"
        "<a href=é rel=é><a href=/&eacute;?&#x65e5;><area href=/ß>"
    )
    assert check(mark + page.encode(), content_type)
    assert not check(page.encode("euc-jp", "replace"), "text/html; charset=euc-jp")


@pytest.mark.parametrize("name", GIVEN_WAY)
def test_pages_that_are_left_to_the_parser(name: str) -> None:
    assert not check(GIVEN_WAY[name].encode("latin-1"))


@pytest.mark.parametrize("name", SCANNED)
def test_what_the_hand_written_pages_say(name: str) -> None:
    """Their links are named after what is right, so that the parser is held to account too."""
    body = SCANNED[name].encode("latin-1")
    paths = {url.removeprefix("http://h.example") for url in whole(body, "text/html", obey=True).urls}
    assert not any("/no" in path for path in paths)
    assert ("/yes" not in SCANNED[name]) or any("/yes" in path for path in paths)


def a_page(pick: random.Random) -> bytes:
    """A page put together at random from what is hard to read; most of its tags are whole."""
    return "".join(
        tag(pick) if pick.random() < 0.5 else pick.choice(PIECES) for _ in range(pick.randint(1, 10))
    ).encode()


@given(st.randoms(use_true_random=False), st.booleans())
@settings(max_examples=1500)
def test_nasty_pages(pick: random.Random, obey: bool) -> None:
    check(a_page(pick), obey=obey)


@given(
    st.lists(
        st.sampled_from([*PIECES, *(f'<a href="{value}">' for value in VALUES)]) | st.text(max_size=5), max_size=12
    ),
    st.lists(st.tuples(st.integers(0, 300), st.binary(min_size=1, max_size=3)), max_size=8),
    st.sampled_from(
        ["utf-8", "shift_jis", "euc-jp", "gbk", "big5", "euc-kr", "iso-2022-jp", "windows-1251", "x", "utf-16"]
    ),
    st.booleans(),
)
@settings(max_examples=1000)
def test_bytes_of_any_encoding(pieces: list[str], bytes_in: list[tuple[int, bytes]], name: str, in_http: bool) -> None:
    body = "".join(pieces).encode("utf-8", "replace")
    for position, extra in bytes_in:
        body = body[:position] + extra + body[position:]
    if in_http:
        check(body, f"text/html; charset={name}")
    else:
        check(f'<meta charset="{name}">'.encode() + body)


def test_the_scanner_is_used() -> None:
    """It may give way, but not to everything: else the tests above would say nothing."""
    pick = random.Random(7)
    scanned = sum(check(a_page(pick)) for _ in range(1000))
    assert scanned > 350
