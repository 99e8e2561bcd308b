"""The whole parser: what a Document holds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from gossamer.model import Link
from gossamer.parse import parse

URL = "http://h.example/dir/page.html"


def links_of(html: str, url: str = URL) -> list[tuple[str, str]]:
    return [(link.kind, link.url) for link in parse(html.encode(), url, "text/html; charset=utf-8").links]


def test_a_whole_page() -> None:
    document = parse(
        b"""<!DOCTYPE html><html lang="EN-us"><head><title> A
        title </title><meta name="Description" content="In  short"><link rel="canonical" href="/page#x">
        </head><body><h1>Hello</h1><p>wor<b>ld</b></p><a href="next.html" rel="nofollow">next <i>page</i></a></body>""",
        URL,
        "text/html; charset=utf-8",
    )
    assert document.url == document.base == URL
    assert document.charset == "utf-8"
    assert document.title == "A title"
    assert document.text == "Hello world next page"
    assert document.language == "en-US"
    assert document.description == "In short"
    assert document.canonical == "http://h.example/page"
    assert not document.noindex
    assert not document.nofollow
    assert document.links == [
        Link("http://h.example/page", "link:canonical"),
        Link("http://h.example/dir/next.html", "a", "next page", nofollow=True),
    ]


def test_the_library_s_name_for_it() -> None:
    assert gossamer.parse(b"<title>x</title>", URL).title == "x"


@pytest.mark.parametrize(
    ("html", "kind", "url"),
    [
        ("<a href=/x>", "a", "http://h.example/x"),
        ("<map><area href=x></map>", "area", "http://h.example/dir/x"),
        ("<frameset><frame src=f.html></frameset>", "frame", "http://h.example/dir/f.html"),
        ("<iframe src=//o.example></iframe>", "iframe", "http://o.example/"),
        ("<link rel='Shortcut  Icon' href=i.ico>", "link:shortcut icon", "http://h.example/dir/i.ico"),
        ("<link href=i.ico>", "link", "http://h.example/dir/i.ico"),
        ("<img src=i.png>", "img", "http://h.example/dir/i.png"),
        ("<img lowsrc=i.png>", "img", "http://h.example/dir/i.png"),
        ("<img srcset='i.png 2x'>", "img", "http://h.example/dir/i.png"),
        ("<picture><source srcset='i.png 2x'></picture>", "img", "http://h.example/dir/i.png"),
        ("<video src=v.mp4></video>", "media", "http://h.example/dir/v.mp4"),
        ("<embed src=e>", "embed", "http://h.example/dir/e"),
        ("<object data=o></object>", "object", "http://h.example/dir/o"),
        ("<object data=o codebase=/c/></object>", "object", "http://h.example/c/o"),
        ("<applet code=A.class codebase=/c/></applet>", "applet", "http://h.example/c/A.class"),
        ("<applet archive=a.jar></applet>", "applet", "http://h.example/dir/a.jar"),
        ("<script src=s.js></script>", "script", "http://h.example/dir/s.js"),
        ("<form action=/s></form>", "form", "http://h.example/s"),
        ("<meta http-equiv=Refresh content='3; URL=r.html'>", "meta", "http://h.example/dir/r.html"),
        ("<svg><a xlink:href='s.html'></a></svg>", "a", "http://h.example/dir/s.html"),
        ("<noscript><a href=n></a></noscript>", "a", "http://h.example/dir/n"),
        ("<svg><image xlink:href=i.png></svg>", "img", "http://h.example/dir/i.png"),
        ("<svg><image href=i.png></svg>", "img", "http://h.example/dir/i.png"),
        ("<image src=i.png>", "img", "http://h.example/dir/i.png"),
        ("<video poster=i.png></video>", "img", "http://h.example/dir/i.png"),
        ("<audio><track src=t.vtt></audio>", "media", "http://h.example/dir/t.vtt"),
        ("<input type=Image src=i.png>", "img", "http://h.example/dir/i.png"),
        ("<input type=submit formaction=/s src=no.png>", "form", "http://h.example/s"),
        ("<button formaction=/s>x</button>", "form", "http://h.example/s"),
        ("<body background=i.png>", "img", "http://h.example/dir/i.png"),
        ("<table><td background=i.png></table>", "img", "http://h.example/dir/i.png"),
        ("<blockquote cite=/c></blockquote>", "cite", "http://h.example/c"),
        ("<del cite=/c></del>", "cite", "http://h.example/c"),
    ],
)
def test_kinds_of_links(html: str, kind: str, url: str) -> None:
    assert links_of(html) == [(kind, url)]


@pytest.mark.parametrize(
    "html",
    [
        "<a name=x>",
        "<a href='javascript:x()'>",
        "<a href='mailto:a@b.example'>",
        "<a href='http://[bad/'>",
        "<!-- <a href=/x> -->",
        "<script>'<a href=/x>'</script>",
        "<textarea><a href=/x></textarea>",
        "<template><a href=/x></a></template>",
        "<select><a href=/x></a></select>",
        "<frame src=x>",
        "<meta http-equiv=refresh content=5>",
        "<link rel=canonical>",
    ],
)
def test_what_is_no_link(html: str) -> None:
    assert links_of(html) == []


@pytest.mark.parametrize(
    ("html", "base"),
    [
        ("<base href=/b/>", "http://h.example/b/"),
        ("<base target=x><base href=/b/><base href=/c/>", "http://h.example/b/"),
        ("<a href=x></a><base href='//o.example/b/'>", "http://o.example/b/"),
        ("<base href='http://[bad'>", URL),
        ("<base href='data:x'>", URL),
        ("<base href=''>", URL),
    ],
)
def test_the_first_base_counts_for_the_whole_page(html: str, base: str) -> None:
    document = parse(f"{html}<a href=x>".encode(), URL)
    assert document.base == base
    assert {link.url for link in document.links} == {base.rpartition("/")[0] + "/x"}


@pytest.mark.parametrize(
    ("html", "noindex", "nofollow"),
    [
        ("<meta name=robots content=noindex>", True, False),
        ("<META NAME=' Robots ' CONTENT='NoFollow, archive'>", False, True),
        ("<meta name=robots content=none>", True, True),
        ("<meta name=gossamer content='noindex,nofollow'>", True, True),
        ("<meta name=robots content='index,follow'><meta name=gossamer content=noindex>", True, False),
        ("<meta name=otherbot content=none>", False, False),
        ("<meta name=robots>", False, False),
    ],
)
def test_robots_rules(html: str, noindex: bool, nofollow: bool) -> None:
    document = parse(f"{html}<a href=/x>x</a>".encode(), URL)
    assert (document.noindex, document.nofollow) == (noindex, nofollow)
    assert [link.nofollow for link in document.links] == [nofollow]


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>a</p><p>b</p>", "a b"),
        ("a<br>b", "a b"),
        ("<b>a</b><i>b</i>", "ab"),
        ("<table><tr><td>a<td>b<tr><td>c</table>d", "a b c d"),
        ("<div><span>a</span></div>b", "a b"),
        ("<ul><li>a<li>b</ul>c", "a b c"),
        ("a<script>x</script><style>y</style><noframes>n</noframes><iframe>z</iframe>b", "a b"),
        ("a<!-- x -->b", "ab"),
        ("a&nbsp;&amp;\n\tb", "a & b"),
        ("<title>t</title>a", "a"),
        ("<template>x</template>a", "a"),
        ("<textarea>a</textarea><select><option>b<option>c</select>", "a b c"),
        ("<pre>a\n  b</pre>", "a b"),
        ("", ""),
    ],
)
def test_text(html: str, text: str) -> None:
    assert parse(html.encode(), URL).text == text


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ("<html lang=de>", "de"),
        ("<html lang=' ZH-hant-tw '>", "zh-Hant-TW"),
        ("<html xml:lang=fr>", "fr"),
        ("<meta http-equiv=content-language content='es, en'>", "es"),
        ("<html lang=''><meta http-equiv=content-language content=it>", "it"),
        ("<html lang='?'>", ""),
        ("<p lang=en>", ""),
    ],
)
def test_language(html: str, language: str) -> None:
    assert parse(html.encode(), URL).language == language


def test_the_text_of_a_link_is_what_a_reader_sees() -> None:
    html = (
        "<a href=1> one  <b>two</b></a><a href=2><img alt='a picture' src=i></a><area href=3 alt=three><a href=4></a>"
        "<a href=5 title=t><img alt=''><img alt=second></a><a href=6 title=t aria-label=' l '></a><a href=7 title=t>"
    )
    texts = [link.text for link in parse(html.encode(), URL).links if link.kind in ("a", "area")]
    assert texts == ["one two", "a picture", "three", "", "second", "l", "t"]


def test_other_kinds_have_a_text_where_they_are_called_something() -> None:
    html = "<iframe src=1 title=one></iframe><link rel=next href=2 title=two><img src=3 alt=three><form action=4>"
    assert [link.text for link in parse(html.encode(), URL).links] == ["one", "two", "three", ""]


def test_links_in_links_share_a_bounded_text() -> None:
    """Without a bound, the texts of a page with 20 MB would be 5 GB here."""
    html = "".join(f"<a href={number}><table><td>" for number in range(250)) + "word " * 400_000
    links = parse(html.encode(), URL).links
    assert len(links) == 250
    assert links[0].text.startswith("word word")
    assert links[-1].text == ""


def test_queries_are_sent_in_the_encoding_of_the_page() -> None:
    html = "<a href='/日本?q=日本#日本'>x</a>"
    path = "/%E6%97%A5%E6%9C%AC"
    assert (
        parse(html.encode(), URL, "text/html;charset=utf-8").links[0].url
        == f"http://h.example{path}?q=%E6%97%A5%E6%9C%AC"
    )
    assert (
        parse(html.encode("euc-jp"), URL, "text/html;charset=euc-jp").links[0].url
        == f"http://h.example{path}?q=%C6%FC%CB%DC"
    )


def test_letters_that_the_page_s_encoding_lacks() -> None:
    html = "<meta charset=koi8-r><a href='/?q=&#26085;'>x</a>"
    assert parse(html.encode(), URL).links[0].url == "http://h.example/?q=%26%2326085%3B"


@pytest.mark.parametrize(
    ("content_type", "body", "text", "links"),
    [
        ("text/plain; charset=utf-8", b"a <a href=/x>\n b", "a <a href=/x> b", 0),
        ("text/csv", b"a,b", "a,b", 0),
        ("text/css", b"a{}", "", 0),
        ("image/png", b"<a href=/x>", "", 0),
        ("application/xml", b"<urlset><a href='/x'>a</a></urlset>", "", 0),
        ("application/xml", b"<?xml version='1.0'?><!-- c --><html><a href='/x'>a</a></html>", "a", 1),
        ("application/xhtml+xml", b"<html><script src='s.js'/><a href='/x'>a</a></html>", "a", 2),
        ("text/html", b"<html><script src='s.js'/><a href='/x'>a</a></html>", "", 1),
        ("nonsense", b"<a href=/x>a</a>", "a", 1),
        (None, b"<a href=/x>a</a>", "a", 1),
        (None, b"%PDF-1.4 <a href=/x>", "", 0),
        (None, b"<?xml version='1.0'?><rss><a href='/x'>a</a></rss>", "", 0),
        (None, b"<?xml version='1.0'?>\n<html><a href='/x'>a</a></html>", "a", 1),
    ],
)
def test_types(content_type: str | None, body: bytes, text: str, links: int) -> None:
    document = parse(body, URL, content_type)
    assert (document.text, len(document.links)) == (text, links)


def test_broken_html() -> None:
    html = "<a href=/one>never closed<a href=/two <p>no bracket<a href='/three'>x</a>"
    urls = [url for _, url in links_of(html)]
    assert urls[:2] == ["http://h.example/one", "http://h.example/two"]
    assert "http://h.example/three" in urls


def test_a_url_that_is_none() -> None:
    document = parse(b"<a href=/x>x</a><a href='http://o.example/'>y</a>", "not a url")
    assert [link.url for link in document.links] == ["http://o.example/"]


@given(
    st.binary(max_size=300) | st.text("<>/!-='\"&;#ahrefscriptmebs \n\0é日", max_size=200).map(str.encode),
    st.sampled_from([None, "text/html", "text/plain", "application/xhtml+xml", "text/html;charset=shift_jis", "x"]),
)
@settings(max_examples=500)
def test_no_bytes_raise(body: bytes, content_type: str | None) -> None:
    document = parse(body, URL, content_type)
    assert all(link.url.startswith(("http://", "https://")) for link in document.links)
    document.text.encode()
