"""Keys of CDXJ lines are those that the field looks up: the `surt` package and cdxj-indexer are the judges."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from io import BytesIO, StringIO
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest
import surt as judge
from cdxj_indexer.main import CDXJIndexer
from hypothesis import given, settings
from hypothesis import strategies as st
from surt import GoogleURLCanonicalizer

from gossamer import normalize
from gossamer.config import StoreConfig
from gossamer.model import Page
from gossamer.model.post import posted
from gossamer.store import Store, StorePosition
from gossamer.store.cdxj import key_of
from gossamer.store.surt import surt, surt_here


class _NoLookups:
    """`socket` for the judge, which looks up hosts that look like addresses and are none. Tests ask no name server."""

    gaierror, herror, inet_ntoa = socket.gaierror, socket.herror, staticmethod(socket.inet_ntoa)

    @staticmethod
    def gethostbyname_ex(host: bytes) -> tuple[bytes, list[str], list[str]]:
        try:
            return host, [], [socket.inet_ntoa(socket.inet_aton(host.decode()))]
        except OSError:
            raise socket.gaierror from None


@pytest.fixture(autouse=True, scope="module")
def no_lookups() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(GoogleURLCanonicalizer, "socket", _NoLookups)
        yield


INDEXER = CDXJIndexer(StringIO(), [])


def expected(url: str) -> str:
    """What cdxj-indexer writes, which is what `surt` says; where `surt` raises it writes the URL."""
    key: str = INDEXER.get_url_key(url)
    try:
        alone = judge.surt(url)
    except (ValueError, AttributeError, AssertionError):
        alone = url
    assert key == alone, f"the judges differ: {url!r}"
    return key


def compare(url: str) -> None:
    key = expected(url)
    assert surt_here(url) == key, url
    assert surt(url) == key, url


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://www.example.org/en-US/", "org,example)/en-us"),
        ("https://www2.example.org:8443/", "org,example:8443)/"),
        ("http://example.org:80//a//b/?b=2&a=1", "org,example)/a/b?a=1&b=2"),
        ("http://example.org/%7Euser/", "org,example)/~user"),
        ("http://192.0.2.7/x", "7,2,0,192)/x"),
        ("http://[2001:db8::1]:8080/", "2001:db8::1:8080)/"),
        ("http://example.org/p?PHPSESSID=0123456789abcdef0123456789abcdef&q=1", "org,example)/p?q=1"),
        ("http://bücher.example/?", "example,xn--bcher-kva)/"),
        ("dns:www.Example.org", "dns:www.example.org"),
        ("urn:pageinfo:http://example.org/", "urn:pageinfo:http://example.org"),
        ("http://example.org:99999/", "http://example.org:99999/"),
        ("", "-"),
    ],
)
def test_known_keys(url: str, key: str) -> None:
    compare(url)
    assert surt(url) == key


# -- URLs such as there are --------------------------------------------------------------------------------------------

_SESSION = "0123456789abcdef0123456789ABCDEF"
_NAMES = [
    "a", "B", "index.html", "en-US", "~user", "%7Euser", "a%20b", "caf%C3%A9", "x;v=1", "x;jsessionid=" + _SESSION,
    "(S(abcdefghijklmnopqrstuvwx))", "p.aspx", ".", "..", ".well-known", "", "", "a+b", "%2F", "%2e%2e", "日本", "a,b",
    "%25", "50%", "robots.txt", "Ünï", "a'b", "(x)", "[y]", "a|b", "a:b", "a@b", "%3Fq", "%23",
]  # fmt: skip
_FIELDS = [
    "a=1", "b=2", "A=1", "a", "a=", "=a", "", "q=x+y", "q=%E0%B8%81", "id=%7e", "sid=" + _SESSION, "x=a=b", "z[]=1",
    "PHPSESSID=" + _SESSION, "jsessionid=" + _SESSION.lower(), "cfid=1", "cftoken=2", "cfid=9&cftoken=x", "a-b=1",
    "ASPSESSIONIDABCDEFGH=ABCDEFGHIJKLMNOPQRSTUVWX", "u=http://x.org/?y", "p=100%", "%26=1", "utm_source=x", "a/b",
    "a%3D1", "é=ü", "a=1;b=2",
]  # fmt: skip
_HOSTS = [
    "example.org", "www.example.org", "WWW.Example.ORG", "www3.example.co.th", "wwwx.example.org", "www.com",
    "localhost", "127.0.0.1", "10.0.0.255", "192.168.1.1", "3232235777", "0x7f.1", "017.1", "[::1]",
    "[2001:DB8::7:1]", "a-b.c_d.org", "bücher.example", "xn--bcher-kva.example", "例え.テスト", "example.org.", "a..b",
    "1e100.net", "4chan.org", "www.1.2.3.4",
]  # fmt: skip
_PORTS = [""] * 8 + [":80", ":443", ":8080", ":", ":0", ":00080", ":65535"]
_USERS = [""] * 9 + ["user@", "user:pass@", ":@"]
_ENDS = [""] * 6 + ["/", "/", "?", "#top", "#", "/?", "?#x"]


def realistic(random: Random) -> Iterator[str]:
    while True:
        scheme = random.choice(("http", "http", "https", "https", "HTTP", "ftp"))
        host = "".join((random.choice(_USERS), random.choice(_HOSTS), random.choice(_PORTS)))
        path = "".join("/" + random.choice(_NAMES) for _ in range(random.randrange(6)))
        fields = [random.choice(_FIELDS) for _ in range(random.choice((0, 0, 1, 2, 3, 5)))]
        yield f"{scheme}://{host}{path}{'?' if fields else ''}{'&'.join(fields)}{random.choice(_ENDS)}"


_PIECES = [
    *_NAMES, *_FIELDS, *_HOSTS, *_PORTS, *_USERS, *_ENDS, "http://", "https://", "HTTP://", "dns:", "urn:x:",
    "mailto:", "filedesc", "ftp://", "warcinfo:", "//", "///", "/./", "/../", "&", "=", "%", "%2", "%zz", "%2525",
    "%0A", "%00", "\\", " ", "\t", "\n", "\x0b", "\x7f", "\x00", '"', "{", "}", "^", "`", "\u2028", "1.2.3.999",
    "99999999999", ":x", ":65536", "x" * 300,
]  # fmt: skip


def odd(random: Random) -> Iterator[str]:
    while True:
        yield "".join(random.choices(_PIECES, k=random.randrange(1, 10)))


@pytest.mark.parametrize("seed", range(4))
def test_a_hundred_thousand_urls(seed: int) -> None:
    random = Random(seed)
    for url in islice(realistic(random), 10_000):
        compare(url)
        normal = normalize(url)
        if normal is not None:
            compare(normal)
    for url in islice(odd(random), 10_000):
        compare(url)


@given(st.text(max_size=60) | st.text("htps:/.w3aA%27E&=?#;[]@ \\é", max_size=60).map("http://".__add__))
@settings(max_examples=2_000, deadline=None, derandomize=True)
def test_any_text(url: str) -> None:
    compare(url)


@given(st.text("ab&=;%?/'", max_size=40), st.text("ab&=%?", max_size=200))
@settings(max_examples=1_000, deadline=None, derandomize=True)
def test_paths_and_queries(path: str, query: str) -> None:
    compare(f"https://example.org/{path}?{query}")


@pytest.mark.parametrize("count", [63, 64, 65, 500])
def test_many_parameters(count: int) -> None:
    compare("http://example.org/?" + "&".join(f"p{number * 7919 % count}=x" for number in range(count)))


# -- what cdxj-indexer makes of a WARC file of ours --------------------------------------------------------------------

_BODIES = ["", "q=word", "q=several+words&b=1", "q=W%C3%B6rter+%26+50%25%2Fx", "a=%23x", "B=2&a=1", "x=%2525", "q=%FF"]


def _page(url: str, number: int) -> Page:
    target, _, sent = url.partition("#")
    host, _, path = target.partition("//")[2].partition("/")
    method, body = ("POST", sent.partition("&")[2]) if sent else ("GET", "")
    fields = f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n" if sent else ""
    request = f"{method} /{path} HTTP/1.1\r\nHost: {host}\r\n{fields}\r\n{body}".encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\n"
    return Page(url, 200, head, b"hi", b"hi", 1.8e9 + number, 0.0, "127.0.0.1", request, content_type="text/html")


def test_the_lines_of_a_warc_file_have_the_keys_of_cdxj_indexer(tmp_path: Path) -> None:
    urls = [url for url in map(normalize, islice(realistic(Random(9)), 3_000)) if url]
    forms = [posted(url, _BODIES[number % len(_BODIES)]) for number, url in enumerate(urls[:300])]
    store = Store(tmp_path, StoreConfig(), StorePosition(), "test")
    for number, url in enumerate([*urls, *filter(None, forms)]):
        store.append(_page(url, number))
    store.sync()
    store.close()
    found = StringIO()
    with (tmp_path / "gossamer-00000.warc.gz").open("rb") as warc:
        indexer: Any = CDXJIndexer(found, [], post_append=True)
        indexer.process_one(BytesIO(warc.read()), found, "gossamer-00000.warc.gz")
    theirs = [line.partition(" ")[0] for line in found.getvalue().splitlines()]
    ours = [line.partition(" ")[0] for line in (tmp_path / "gossamer-00000.cdxj").read_text().splitlines()]
    assert ours == theirs
    assert len(ours) > 2_500
    assert sum("__wb_method=post" in key for key in ours) == len(forms)
    assert key_of("http://a.test/f#__wb_method=POST&q=b+c") == "test,a)/f?__wb_method=post&q=b%20c"
