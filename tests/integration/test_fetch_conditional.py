"""Asking whether a page has changed: with what, of whom, and what a "not modified" may look like."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme
from crawling import crawl
from test_fetch import fault, page
from tls_web import TlsWeb

from gossamer.agent import read_visits
from gossamer.config import FetchConfig, HostRule
from gossamer.fetch import Fetcher, Resolver
from gossamer.fetch.conditions import condition_lines, usable
from gossamer.model import Fault, Page, Reason, Visit
from gossamer.model.url import host_of
from gossamer.testing import TinyWeb
from gossamer.testing.web import End, Reply, Request

NONE = (b"", b"")
URL = "http://a.test/page"
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nok"
DATE = b"Mon, 16 Nov 2026 10:00:00 GMT"
BODY_OF_NONE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\nevil"


class Server:
    """Remembers requests; what has a condition is answered with `unchanged`."""

    def __init__(self, unchanged: bytes = b"HTTP/1.1 304 Not Modified\r\n\r\n", end: End = End.KEEP) -> None:
        self.heads: list[bytes] = []
        self.unchanged, self.end = unchanged, end

    def __call__(self, request: Request) -> Reply:
        self.heads.append(request.head + b"\r\n")
        asked = re.search(rb"^If-(None-Match|Modified-Since):", request.head, re.M)
        return Reply([self.unchanged], self.end) if asked else Reply([OK])

    def values(self, name: bytes) -> list[list[bytes]]:
        return [re.findall(rb"^%b: (.*)\r$" % name, head, re.M | re.I) for head in self.heads]


@pytest.fixture
def web() -> Iterator[TinyWeb]:
    with TinyWeb() as tiny:
        yield tiny


def fetch(
    connect: str,
    asked: list[tuple[str, tuple[bytes, bytes]]],
    hosts: tuple[HostRule, ...] = (),
    **options: object,
) -> list[tuple[Visit, Page | Fault]]:
    """Outcomes of URLs with validators, one after the other by one fetcher, which has one handle for them all."""
    config = FetchConfig(allow_private=True, connect=(connect,), **options)  # type: ignore[arg-type]

    async def run() -> list[tuple[Visit, Page | Fault]]:
        resolver = Resolver(config.connect, (), time.time)
        fetcher = Fetcher(config, "gossamer/test", ("text/html",), (), resolver, time.time, hosts)
        found: list[tuple[Visit, Page | Fault]] = []
        for url, validators in asked:
            fetcher.start(Visit(url, host_of(url), 0, 0, 1, validators=validators))
            while not (done := await fetcher.wait(1.0)):
                pass
            found += done
        await fetcher.close()
        return found

    return asyncio.run(run())


def test_validators_are_asked_with_as_they_came_and_by_nobody_else(web: TinyWeb) -> None:
    server = Server()
    web.add_handler(URL, server)
    etags = [b'"a"', b'W/"b, \xe9 c"', b"unquoted"]
    asked = [NONE, (etags[0], b""), (etags[0], b""), (etags[1], DATE), NONE, (b"", DATE), (etags[2], b""), NONE]
    found = fetch(web.connect, [(URL, validators) for validators in asked])
    assert server.values(b"If-None-Match") == [[etag] if etag else [] for etag, _ in asked]
    assert server.values(b"If-Modified-Since") == [[date] if date else [] for _, date in asked]
    assert [page(outcome).status for _, outcome in found] == [304 if any(validators) else 200 for validators in asked]
    assert [page(outcome).request for _, outcome in found] == server.heads
    assert len({arrival.connection for arrival in web.log.arrivals}) == 1, (
        "a 304 leaves the connection as good as it was"
    )


@pytest.mark.parametrize(
    "headers",
    [
        b"",
        b"Content-Length: 5000\r\n",
        b"Content-Length: 99999999999999999999999\r\n",
        b"Content-Type: image/png\r\nContent-Length: 12\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n",
        b"Content-Encoding: br\r\nContent-Length: 7\r\n",
    ],
)
def test_a_304_has_no_body_whatever_its_headers_say(web: TinyWeb, headers: bytes) -> None:
    server = Server(b"HTTP/1.1 304 Not Modified\r\n" + headers + b"\r\n")
    web.add_handler(URL, server)
    found = fetch(web.connect, [(URL, (b'"a"', b"")), (URL, NONE)])
    got, after = page(found[0][1]), page(found[1][1])
    assert (got.status, got.raw, got.body, got.truncated, got.wanted) == (304, b"", b"", "", True)
    assert got.head == b"HTTP/1.1 304 Not Modified\r\n" + headers + b"\r\n"
    assert (after.status, after.body) == (200, b"ok")


def test_what_follows_a_304_is_no_answer_to_the_next_request(web: TinyWeb) -> None:
    web.add_handler(URL, Server(b"HTTP/1.1 304 Not Modified\r\n\r\n" + BODY_OF_NONE))
    found = fetch(web.connect, [(URL, (b'"a"', b"")), (URL, NONE)])
    assert (page(found[0][1]).status, page(found[0][1]).raw) == (304, b"")
    assert page(found[1][1]).body == b"ok"


def test_a_304_that_is_cut_off_is_a_fault(web: TinyWeb) -> None:
    web.add_handler(URL, Server(b"HTTP/1.1 304 Not Modified\r\nETag", End.CLOSE))
    assert fault(fetch(web.connect, [(URL, (b'"a"', b""))])[0][1]).reason is Reason.CLOSED


@pytest.mark.parametrize(
    "etag", [b'"a"\r\nX-Evil: 1', b'"a\n"', b'"\x00"', b'"\x7f"', b'"a\tb"', b"*", b'"' + b"x" * 1000 + b'"']
)
def test_what_is_no_value_is_not_asked_with(web: TinyWeb, etag: bytes) -> None:
    server = Server()
    web.add_handler(URL, server)
    found = fetch(web.connect, [(URL, (b'"good"', b"")), (URL, (etag, b"")), (URL, (etag, DATE))])
    assert server.values(b"If-None-Match") == [[b'"good"'], [], []]
    assert server.values(b"If-Modified-Since") == [[], [], [DATE]]
    assert server.values(b"X-Evil") == [[], [], []]
    assert [page(outcome).status for _, outcome in found] == [304, 200, 304]
    assert [visit.validators for visit, _ in found] == [(b'"good"', b""), NONE, (b"", DATE)], "as it was asked with"


def test_usable_validators() -> None:
    assert usable((b'"*"', b"x" * 1000)) == (b'"*"', b"x" * 1000)
    assert usable((b"*", b"x" * 1001)) == NONE
    assert condition_lines(NONE) == []


def test_own_headers_logins_and_cookies_are_sent_too(web: TinyWeb) -> None:
    a, b = Server(), Server()
    web.add_handler(URL, a)
    web.add_handler("http://b.test/", b)
    rule = HostRule("a.test", user="me:secret", headers=("X-Own: 1", "Cookie: own=1"))
    asked = [(URL, (b'"a"', b"")), (URL, NONE), ("http://b.test/", (b'"a"', b"")), (URL, (b'"a"', b""))]
    found = fetch(web.connect, asked, (rule,))
    assert a.values(b"If-None-Match") == [[b'"a"'], [], [b'"a"']]
    assert a.values(b"X-Own") == [[b"1"]] * 3
    assert a.values(b"Cookie") == [[b"own=1"]] * 3
    assert len(a.values(b"Authorization")[0]) == 1
    assert (b.values(b"If-None-Match"), b.values(b"X-Own"), b.values(b"Cookie")) == ([[b'"a"']], [[]], [[]])
    withheld = re.compile(rb"^((?:Authorization|X-Own|Cookie): ).*\r$", re.M)
    sent = [a.heads[0], a.heads[1], b.heads[0], a.heads[2]]
    assert [page(outcome).request for _, outcome in found] == [withheld.sub(rb"\1(withheld)\r", head) for head in sent]


def test_a_proxy_passes_conditions_on(web: TinyWeb) -> None:
    server = Server()
    web.add_handler("http://www.example.org/", server)
    asked = [("http://www.example.org/", (b'"a"', DATE)), ("http://www.example.org/", NONE)]
    found = fetch("z.test=127.0.0.1:1", asked, proxy=f"http://127.0.0.1:{web.port}")
    assert [page(outcome).status for _, outcome in found] == [304, 200]
    assert [page(outcome).request for _, outcome in found] == server.heads


@pytest.mark.parametrize("late", [b"", b"late body"])
def test_http_2(tmp_path: Path, late: bytes) -> None:
    ca = trustme.CA()
    ca.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    with TlsWeb(ca.issue_cert("a.test")) as web:
        web.etag, web.late = b'W/"a"', late
        asked = [("https://a.test/", validators) for validators in (NONE, (b'W/"a"', DATE), NONE)]
        found = fetch(web.connect, asked, http2=True, ca_file=str(tmp_path / "ca.pem"))
    first, again, last = (page(outcome) for _, outcome in found)
    assert web.conditions == [(None, None), (b'W/"a"', DATE), (None, None)]
    assert (again.status, again.raw, again.truncated, again.protocol) == (304, b"", "", b"h2")
    assert again.head == b"HTTP/1.1 304 \r\ncontent-length: 8\r\n\r\n"
    assert again.request == first.request[:-2] + b'If-None-Match: W/"a"\r\nIf-Modified-Since: ' + DATE + b"\r\n\r\n"
    assert (first.status, last.status, last.body) == (200, 200, first.body)


def test_a_304_that_nobody_asked_for_is_a_response_without_a_body(web: TinyWeb, tmp_path: Path) -> None:
    web.add_handler(URL, lambda _: b'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\nContent-Length: 9\r\n\r\n')
    got = page(fetch(web.connect, [(URL, NONE)])[0][1])
    assert (got.status, got.raw, got.truncated) == (304, b"", "")
    crawl(tmp_path / "c", [URL], web.connect)
    (visit,) = read_visits(tmp_path / "c")
    assert (visit.status, visit.state.name) == (304, "FETCHED")
    line = next((tmp_path / "c" / "warc").glob("*.cdxj")).read_text().splitlines()[-1]
    assert '"status": "304"' in line
    assert "revisit" not in line
    assert "change" not in line
