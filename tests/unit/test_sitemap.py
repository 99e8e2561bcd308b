"""Sitemaps as the protocol has them, as people write them, and as nobody should."""

from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.model.url import normalize
from gossamer.parse.listing import MOST_BYTES, MOST_URLS, Listed, unpacked
from gossamer.parse.sitemap import read_sitemap
from gossamer.parse.xml_tags import root_of

HOME = "http://a.test/maps/sitemap.xml"
XMLNS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def urls(text: str | bytes, content_type: str | None = None) -> list[str]:
    listing = read_sitemap(text.encode() if isinstance(text, str) else text, HOME, content_type)
    assert not listing.sitemaps
    return [listed.url for listed in listing.urls]


def urlset(*locs: str) -> str:
    entries = "".join(f"<url><loc>{loc}</loc></url>\n" for loc in locs)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset {XMLNS}>\n{entries}</urlset>'


def test_what_an_entry_says() -> None:
    text = f"""<?xml version="1.0" encoding="UTF-8"?>
        <urlset {XMLNS}>
        <url><loc>http://a.test/1</loc><lastmod>2005-01-01</lastmod><changefreq>monthly</changefreq>
          <priority>0.8</priority></url>
        <url><priority> 1.0</priority><loc> http://a.test/2 </loc></url>
        <url><loc>http://a.test/3</loc><lastmod>yesterday</lastmod><priority>7</priority></url>
        <url><loc>http://a.test/4</loc><priority>0,25</priority><priority/></url>
        </urlset>"""
    assert [(listed.url, listed.lastmod, listed.priority) for listed in read_sitemap(text.encode(), HOME).urls] == [
        ("http://a.test/1", 1_104_537_600.0, 0.8),
        ("http://a.test/2", None, 1.0),
        ("http://a.test/3", None, None),
        ("http://a.test/4", None, None),
    ]


def test_an_index_names_sitemaps() -> None:
    text = f"""<sitemapindex {XMLNS}><sitemap><loc>http://a.test/1.xml.gz</loc><lastmod>2004-10-01T18:23:17+00:00</lastmod>
        </sitemap><sitemap><loc>/2.xml</loc></sitemap></sitemapindex>"""
    listing = read_sitemap(text.encode(), HOME)
    assert listing.urls == []
    assert listing.sitemaps == [
        Listed("http://a.test/1.xml.gz", "2004-10-01T18:23:17+00:00"),
        Listed("http://a.test/2.xml"),
    ]
    assert listing.sitemaps[0].lastmod == 1_096_654_997.0


@pytest.mark.parametrize(
    "text",
    [
        urlset("http://a.test/x?a=1&amp;b=2"),
        urlset("http://a.test/x?a=1&b=2"),
        urlset("http://a.test/x?a=1&#38;b=2"),
        urlset("http://a.test/x?a=1&#x26;b=2"),
        urlset("\n\t http://a.test/x?a=1&amp;b=2 \r\n"),
        urlset("<![CDATA[http://a.test/x?a=1&b=2]]>"),
        urlset("<!-- here --><![CDATA[http://a.test/x?]]>a=1&amp;b=2"),
        urlset("HTTP://A.test:80/x?a=1&amp;b=2#part"),
        urlset("../x?a=1&amp;b=2"),
        urlset("http://a.test/x?a=1&amp;b=2", "http://a.test/x?a=1&amp;b=2"),
        urlset("http://a.test/x?a=1&amp;b=2").replace(f" {XMLNS}", ""),
        urlset("http://a.test/x?a=1&amp;b=2").replace("<?xml", "\n\n  <?xml"),
        urlset("http://a.test/x?a=1&amp;b=2").replace("<", "<s:").replace("s:/", "/s:").replace("s:?", "?"),
        urlset("http://a.test/x?a=1&amp;b=2").replace("loc>", "LOC>").replace("url>", "Url>"),
        urlset("http://a.test/x?a=1&amp;b=2").replace("<loc>", '<loc type="a>b" x=\'"\'>'),
        urlset("http://a.test/x?a=1&amp;b=2").replace("</loc>", ""),
        urlset("http://a.test/x?a=1&amp;b=2").replace("</url>", ""),
        urlset("http://a.test/x?a=1&amp;b=2").replace("</urlset>", "<url><loc>http://a.test/x?a=1&amp;b=2").strip(),
        urlset("http://a.test/x?a=1&amp;b=2").replace("</urlset>", "<url><loc>http://a.test/bro"),
        "<loc>http://a.test/x?a=1&amp;b=2</loc>",
        "Warning: <b>mysql</b> is <br /> down\n" + urlset("http://a.test/x?a=1&amp;b=2"),
        "\ufeff" + urlset("http://a.test/x?a=1&amp;b=2"),
        urlset("http://a.test/x?a=1&amp;b=2").encode("utf-16"),
        urlset("http://a.test/x?a=1&amp;b=2").encode("utf-16-le"),
        urlset("http://a.test/x?a=1&amp;b=2").encode("utf-16-be"),
        urlset("http://a.test/x?a=1&amp;b=2").replace("UTF-8", "UTF-16"),
        gzip.compress(urlset("http://a.test/x?a=1&amp;b=2").encode(), mtime=0),
        gzip.compress(urlset("http://a.test/x?a=1&amp;b=2").encode("utf-16"), mtime=0),
        "http://a.test/x?a=1&b=2\n",
        "\ufeffhttp://a.test/x?a=1&b=2\r\n\r\nnot a URL\r\n",
        "# comment\nhttp://a.test/x?a=1&b=2",
        gzip.compress(b"http://a.test/x?a=1&b=2\n", mtime=0),
        "http://a.test/x?a=1&b=2\n".encode("utf-16"),
    ],
)
def test_one_address_in_many_ways(text: str | bytes) -> None:
    assert urls(text) == ["http://a.test/x?a=1&b=2"]


@pytest.mark.parametrize(
    ("loc", "url"),
    [
        ("http://a.test/caf\u00e9", "http://a.test/caf%C3%A9"),
        ("http://a.test/a b", "http://a.test/a%20b"),
        ("http://a.test/?x=&copy;1&copy=2&nbsp", "http://a.test/?x=%C2%A91&copy=2&nbsp"),
        ("http://a.test/&unknown;", "http://a.test/&unknown;"),
        ("http://a.test/&#xD800;&#99999999;", "http://a.test/%EF%BF%BD%EF%BF%BD"),
    ],
)
def test_addresses_that_need_work(loc: str, url: str) -> None:
    assert urls(urlset(loc)) == [url]


def test_what_is_declared_counts_where_it_is_not_utf_8() -> None:
    text = urlset("http://a.test/caf\u00e9")
    latin = text.replace("UTF-8", "ISO-8859-1").encode("latin-1")
    assert urls(latin) == urls(text.encode("latin-1")) == ["http://a.test/caf%C3%A9"]
    assert urls(text.replace("UTF-8", "ISO-8859-1")) == ["http://a.test/caf%C3%A9"]  # declared wrongly
    greek = text.replace("\u00e9", "\u03b1").encode("iso-8859-7")
    assert urls(greek.replace(b"UTF-8", b"ISO-8859-7")) == urls(
        greek.replace(b' encoding="UTF-8"', b""), "text/xml; charset=iso-8859-7"
    )


@pytest.mark.parametrize("loc", ["", " ", "ftp://a.test/", "mailto:x@a.test", "http://", "javascript:0", "x" * 20_000])
def test_addresses_that_are_none(loc: str) -> None:
    assert urls(urlset(loc, "http://a.test/")) == ["http://a.test/"]


def test_extensions_are_left_alone() -> None:
    text = urlset("http://a.test/1", "http://a.test/2").replace(
        "</url>",
        """<image:image><image:loc>http://a.test/i.png</image:loc></image:image>
           <image:image><loc>http://a.test/j.png</loc></image:image>
           <image xmlns="http://www.google.com/schemas/sitemap-image/1.1"><loc>http://a.test/k.png</loc></image>
           <video:video><video:content_loc>http://a.test/v.mp4</video:content_loc><loc>http://a.test/w</loc></video:video>
           <news:news><news:publication><url>http://a.test/n</news:url></news:publication></news:news>
           <xhtml:link rel="alternate" hreflang="de" href="http://a.test/de/1"/>
           <PageMap xmlns="x"/><lastmod>2020</lastmod></url>""".replace("<url>", "<news:url>"),
    )
    listing = read_sitemap(text.encode(), HOME)
    assert [listed.url for listed in listing.urls] == ["http://a.test/1", "http://a.test/2"]
    assert [listed.lastmod for listed in listing.urls] == [1_577_836_800.0] * 2


def test_comments_and_sections_hide_entries() -> None:
    hidden = "<url><loc>http://a.test/no</loc></url>"
    text = urlset("http://a.test/yes").replace("</urlset>", f"<!-- {hidden} --><x><![CDATA[{hidden}]]></x></urlset>")
    assert urls(text) == ["http://a.test/yes"]


def test_everything_before_a_break_is_used() -> None:
    whole = urlset(*(f"http://a.test/{number}" for number in range(1000))).encode()
    packed = gzip.compress(whole)
    known = urls(whole)
    for body in (whole[: len(whole) // 2], packed[: len(packed) * 3 // 4], packed[:-8]):
        assert urls(body) == known[: len(urls(body))]
        assert len(urls(body)) > 100
    broken = bytearray(packed)
    broken[len(packed) * 3 // 4] ^= 0xFF
    assert len(urls(bytes(broken))) > 100
    assert urls(whole.replace(b"<loc>http://a.test/7</loc>", b'<loc>http://a.test/7</lo <a b="<url>')) == known
    assert urls(packed + gzip.compress(whole.replace(b"a.test", b"b.test"))) == known + [
        url.replace("a.test", "b.test") for url in known
    ]


def test_entities_are_not_expanded() -> None:
    bomb = "".join(f'<!ENTITY x{n} "{f"&x{n - 1};" * 10}">' for n in range(1, 30))
    text = f'<?xml version="1.0"?><!DOCTYPE urlset [<!ENTITY x0 "ha"><!ENTITY e SYSTEM "file:///etc/passwd">{bomb}]>'
    body = text + urlset("http://a.test/&x29;", "http://a.test/&e;").partition("?>")[2]
    assert urls(body) == ["http://a.test/&x29;", "http://a.test/&e;"]
    assert root_of(body.encode()) == "urlset"


def test_no_more_is_read_than_the_protocol_allows() -> None:
    many = urlset(*(f"http://a.test/{number}" for number in range(MOST_URLS + 100)))
    assert len(urls(many)) == MOST_URLS
    assert len(urls(many.replace("<url>", "<url >"))) == MOST_URLS
    assert len(urls("\n".join(f"http://a.test/{number}" for number in range(MOST_URLS + 100)))) == MOST_URLS
    packer = zlib.compressobj(9, wbits=31)
    bomb = b"".join(packer.compress(bytes(1 << 20)) for _ in range(200)) + packer.flush()
    assert len(unpacked(bomb)) == MOST_BYTES


@pytest.mark.parametrize(
    "piece",
    [
        "<",
        "<url>",
        "<loc>",
        "<loc",
        '<loc a="',
        "<loc><![CDATA[",
        "<loc><!--",
        "<!-",
        "]]>",
        "<a:",
        "&amp;",
        "<url><loc>",
    ],
)
def test_any_nesting_is_read_in_one_go(piece: str) -> None:
    assert len(urls(urlset("http://a.test/") + piece * 100_000)) <= 2


def test_pages_and_pictures_are_no_sitemaps() -> None:
    assert urls("<!DOCTYPE html><html><body><a href='http://a.test/x'>http://a.test/y</a></body></html>") == []
    assert urls(b"\x89PNG\r\n\x1a\n\0\0\nhttp://a.test/x\n") == []
    assert urls("") == urls("nothing to see") == []


@pytest.mark.parametrize(
    ("text", "root"),
    [
        ("<urlset/>", "urlset"),
        ("\ufeff<?xml version='1.0'?><!-- <rss> --><?xml-stylesheet href='x'?>\n<s:urlset>", "urlset"),
        ("<!DOCTYPE rss [<!ENTITY a '<b>'>]><rss version='2.0'>", "rss"),
        ("<rdf:RDF xmlns='x'>", "rdf"),
        ("<html>", "html"),
        ("<!-- " + "x" * 100_000, ""),
        ("", ""),
        ("no markup", ""),
    ],
)
def test_the_root(text: str, root: str) -> None:
    assert root_of(text.encode()) == root
    assert root_of(text.encode("utf-16")) == root


PIECES = st.sampled_from(
    """<urlset> <sitemapindex> </url> <url> <url/> <sitemap> <loc> </loc> <lastmod> <priority>0.5 http://a.test/ /x &
    &amp; &#0; <![CDATA[ ]]> <!-- --> <image:loc> <image> </image> \x00 \ufeff < > " ' <s: 2020-01-01 \u00e9
    <?xml ?>""".split()
)


@settings(max_examples=300)
@given(st.lists(PIECES, max_size=40).map("".join), st.sampled_from(["utf-8", "utf-16", "latin-1"]), st.booleans())
def test_whatever_comes_is_a_listing_of_normalised_urls(text: str, encoding: str, packed: bool) -> None:
    body = text.encode(encoding, "replace")
    listing = read_sitemap(gzip.compress(body) if packed else body, HOME)
    for listed in (*listing.urls, *listing.sitemaps):
        assert normalize(listed.url) == listed.url
        assert listed.priority is None or 0 <= listed.priority <= 1
        assert listed.lastmod is None or isinstance(listed.lastmod, float)


@settings(max_examples=200)
@given(st.binary(max_size=300), st.booleans())
def test_no_bytes_raise(body: bytes, packed: bool) -> None:
    read_sitemap(b"\x1f\x8b\x08" + body if packed else body, HOME)
    read_sitemap(b"<urlset><loc>" + body, HOME)
