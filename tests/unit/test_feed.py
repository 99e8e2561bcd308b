"""Feeds of every kind: where they lead, and when that was last changed."""

from __future__ import annotations

import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.model.url import normalize
from gossamer.parse.feed import read_feed
from gossamer.parse.listing import MOST_URLS
from gossamer.parse.moments import when

HOME = "http://a.test/feeds/all.xml"
NEW_YEAR = 1_104_537_600.0


def links(text: str | bytes) -> list[str]:
    return [listed.url for listed in read_feed(text.encode() if isinstance(text, str) else text, HOME)]


RSS_2 = """<?xml version="1.0"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:media="m"><channel>
  <title>News</title><link>http://a.test/</link><atom:link href="http://a.test/feeds/all.xml" rel="self"/>
  <description>&lt;a href="http://a.test/no"&gt;</description><pubDate>Fri, 31 Dec 2004 10:00:00 GMT</pubDate>
  <image><url>http://a.test/logo.png</url><link>http://a.test/logo</link></image>
  <textInput><link>http://a.test/search</link></textInput>
  <item><title>One</title><link>http://a.test/1</link><guid isPermaLink="false">http://a.test/guid1</guid>
    <pubDate>Sat, 01 Jan 2005 00:00:00 GMT</pubDate><enclosure url="http://a.test/1.mp3" type="audio/mpeg"/>
    <source url="http://b.test/feed">B</source><media:content url="http://a.test/m"><link>http://a.test/n</link>
    </media:content></item>
  <item><guid>http://a.test/2</guid><description><![CDATA[<link>http://a.test/no</link>]]></description></item>
  <item><guid isPermaLink="false">http://a.test/no</guid></item>
  <item><guid>tag:a.test,2005:3</guid></item>
  <item><link href="/4"/></item>
  <item><link><![CDATA[ http://a.test/5?a=1&b=2 ]]></link></item>
</channel></rss>"""


def test_rss_2() -> None:
    assert [(listed.url, listed.lastmod) for listed in read_feed(RSS_2.encode(), HOME)] == [
        ("http://a.test/", NEW_YEAR - 14 * 3600),
        ("http://a.test/1", NEW_YEAR),
        ("http://a.test/2", None),
        ("http://a.test/4", None),
        ("http://a.test/5?a=1&b=2", None),
    ]


@pytest.mark.parametrize("version", ["0.91", "0.92", "0.93"])
def test_rss_of_old(version: str) -> None:
    text = f"""<?xml version="1.0" encoding="ISO-8859-1"?>
      <!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://my.netscape.com/rss-0.91.dtd">
      <rss version="{version}"><channel><link>http://a.test/</link>
      <item><title>caf\u00e9</title><link>http://a.test/caf\u00e9</link></item></channel></rss>"""
    assert links(text.encode("latin-1")) == ["http://a.test/", "http://a.test/caf%C3%A9"]


@pytest.mark.parametrize("prefix", ["", "rss:"])
def test_rss_1(prefix: str) -> None:
    text = """<rdf:RDF xmlns:rdf="r" xmlns="http://purl.org/rss/1.0/" xmlns:dc="d">
      <*channel rdf:about="http://a.test/rss"><*link>http://a.test/</*link><*image rdf:resource="http://a.test/logo"/>
      <*items><rdf:Seq><rdf:li resource="http://a.test/1"/></rdf:Seq></*items></*channel>
      <*image rdf:about="http://a.test/logo"><*link>http://a.test/logo</*link></*image>
      <*item rdf:about="http://a.test/one"><*link>http://a.test/1</*link><dc:date>2005-01-01T01:00+01:00</dc:date></*item>
      <*item rdf:about="http://a.test/2"><*title>Two</*title></*item></rdf:RDF>"""
    found = read_feed(text.replace("*", prefix).encode(), HOME)
    assert [listed.url for listed in found] == ["http://a.test/", "http://a.test/1", "http://a.test/2"]
    assert [listed.lastmod for listed in found] == [None, NEW_YEAR, None]


@pytest.mark.parametrize("prefix", ["", "atom:"])
def test_atom(prefix: str) -> None:
    text = """<?xml version="1.0" encoding="utf-8"?><*feed xmlns="http://www.w3.org/2005/Atom" xml:base="/base/">
      <*link href="."/><*link rel="self" href="/feeds/all.xml"/><*link rel="next" href="?page=2"/><*id>http://a.test/id</*id>
      <*entry><*link rel="alternate" type="text/html" href="one"/><*link rel='enclosure' href='one.mp3'/>
        <*link rel="related" href="http://b.test/"/><*id>tag:1</*id><*published>2004-01-01</*published>
        <*updated>2005-01-01T00:00:00Z</*updated>
        <*source><*link href="http://b.test/source"/></*source>
        <*content type="xhtml"><div><*link href="http://b.test/text"/></div></*content></*entry>
      <*entry xml:base="http://b.test/dir/"><*link href="two"/><*link href="three" hreflang="de"/></*entry>
      <*entry><*link xml:base="http://c.test/" href="four"/><*content src="http://a.test/src"/></*entry>
      <*entry><*link href="five"></*link></*entry><*entry><*link>http://a.test/text</*link></*entry>
    </*feed>"""
    found = read_feed(text.replace("*", prefix).encode(), HOME)
    assert [listed.url for listed in found] == [
        "http://a.test/base/", "http://a.test/base/one", "http://b.test/dir/two", "http://b.test/dir/three",
        "http://c.test/four", "http://a.test/base/five", "http://a.test/text",
    ]  # fmt: skip
    assert found[1].lastmod == NEW_YEAR


def test_atom_03() -> None:
    text = """<feed version="0.3" xmlns="http://purl.org/atom/ns#"><link rel="alternate" type="text/html"
      href="http://a.test/"/><entry><link rel="alternate" type="text/html" href="http://a.test/1"/>
      <issued>2004-01-01</issued><modified>2005-01-01T00:00:00Z</modified></entry></feed>"""
    assert [(listed.url, listed.lastmod) for listed in read_feed(text.encode(), HOME)] == [
        ("http://a.test/", None),
        ("http://a.test/1", NEW_YEAR),
    ]


def test_json_feed() -> None:
    feed = {
        "version": "https://jsonfeed.org/version/1.1",
        "home_page_url": "http://a.test/",
        "items": [{"id": "1", "url": "/1", "date_modified": "2005-01-01T00:00:00Z"}, {"id": "2"}, {"url": "ftp://x/"}],
    }
    assert [(listed.url, listed.lastmod) for listed in read_feed(json.dumps(feed).encode(), HOME)] == [
        ("http://a.test/", None),
        ("http://a.test/1", NEW_YEAR),
    ]
    assert links(json.dumps({**feed, "version": "1"})) == links(json.dumps({**feed, "items": 3})) == []
    assert links('{"version": "https://jsonfeed.org/", "x": ' + "[" * 100_000) == []


def test_broken_feeds_give_what_they_can() -> None:
    half = RSS_2[: RSS_2.index("<item><link href")]
    assert links(half) == ["http://a.test/", "http://a.test/1", "http://a.test/2"]
    assert links(half + "<item><link>http://a.test/hal") == links(half)
    assert links(half + "<item><link>http://a.test/6<item><link>http://a.test/7</item>") == [
        *links(half), "http://a.test/6", "http://a.test/7"
    ]  # fmt: skip
    for text in (RSS_2.encode("utf-16"), b"\xef\xbb\xbf" + RSS_2.encode(), gzip.compress(RSS_2.encode())):
        assert links(text) == links(RSS_2)
    assert links(RSS_2.replace("</title>", "").replace("</description>", "")) == links(RSS_2)


def test_no_more_is_read_than_is_sensible() -> None:
    many = "".join(f"<item><link>http://a.test/{number}</link></item>" for number in range(MOST_URLS + 100))
    assert len(links(f"<rss>{many}</rss>")) == MOST_URLS
    assert links("<rss>" + "<item><image><link>" * 100_000) == []


PIECES = st.sampled_from(
    """<rss> <feed> <rdf:RDF> <item> </item> <entry> <entry\txml:base='x'> <link> </link> <link\thref='y'/> <guid>
    <updated> <image> </image> <content> http://a.test/ /x & &amp; <![CDATA[ ]]> <!-- --> \x00 < > " '
    { } 2020 \u00e9""".split()
)


@settings(max_examples=300)
@given(st.lists(PIECES, max_size=40).map("".join), st.sampled_from(["utf-8", "utf-16", "latin-1"]))
def test_whatever_comes_gives_normalised_urls(text: str, encoding: str) -> None:
    for listed in read_feed(text.encode(encoding, "replace"), HOME):
        assert normalize(listed.url) == listed.url != HOME
        assert listed.lastmod is None or isinstance(listed.lastmod, float)


@settings(max_examples=100)
@given(st.binary(max_size=300))
def test_no_bytes_raise(body: bytes) -> None:
    for start in (b"", b"<rss><item><link>", b'{"version":"https://jsonfeed.org/","items":'):
        read_feed(start + body, HOME)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2005", 0),
        ("2005-01", 0),
        ("2005-01-01", 0),
        (" 2005-01-01\n", 0),
        ("2005-01-01T00:00Z", 0),
        ("2005-01-01T00:00:00Z", 0),
        ("2005-01-01T00:00:30.45Z", 30),
        ("2005-01-01T01:30:00+01:30", 0),
        ("2004-12-31T19:00:00-0500", 0),
        ("2005-01-01 10:00:00", 36_000),
        ("2005-1-1", 0),
        ("Sat, 01 Jan 2005 00:00:00 GMT", 0),
        ("Sat, 1 Jan 05 00:00 UT", 0),
        ("1 January 2005 00:00:00 +0000", 0),
        ("Sat, 01 Jan 2005 01:00:00 +0100", 0),
        ("Fri, 31 Dec 2004 19:00:00 EST", 0),
        ("Saturday, 01-Jan-05 00:00:60 GMT", 59),
        ("Sat, 01 Jan 2005 00:00:00 Z (Zulu)", 0),
    ],
)
def test_dates(text: str, seconds: int) -> None:
    assert when(text) == NEW_YEAR + seconds


@pytest.mark.parametrize(
    "text",
    ["", "now", "0", "20050101", "2005-13-01", "2005-02-31", "0000-01-01", "2005-01-01T25:00Z",
     "2005-01-01T00:00+99:99",
     "1 Foo 2005 00:00 GMT", "32 Jan 2005 00:00 GMT", "99999-01-01", "2005-01-01" * 50, "\u0662\u0660\u0660\u0665"],
)  # fmt: skip
def test_no_dates(text: str) -> None:
    assert when(text) is None


@given(st.text(max_size=90))
def test_no_text_is_a_date_that_raises(text: str) -> None:
    when(text)
    when(f"{text[:4]}-01-01T{text[4:]}")
