"""Replies that no server should send, over real sockets: each has one result, and costs no more than the caps."""

from __future__ import annotations

import asyncio
import gzip
import itertools
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import brotli
import pytest
from backports import zstd
from crawling import crawl
from fastwarc.warc import ArchiveIterator, WarcRecordType
from test_fetch import HTML, URL, answer, fault, fetch, page

from gossamer.config import FetchConfig
from gossamer.fetch import Fetcher, Resolver
from gossamer.model import Fault, Page, Reason, Visit
from gossamer.testing import TinyWeb
from gossamer.testing.web import End, Reply, Request

OK = HTML + b"Content-Length: 2\r\n\r\nok"
CHUNKED = HTML + b"Transfer-Encoding: chunked\r\n\r\n"
Parts = Callable[[], Iterable[bytes | float]]


@pytest.fixture
def web() -> Iterator[TinyWeb]:
    with TinyWeb() as tiny:
        yield tiny


def length(value: bytes) -> bytes:
    return HTML + b"Content-Length: " + value + b"\r\n\r\n"


def endless(web: TinyWeb, parts: Parts, **options: object) -> Page | Fault:
    web.add_handler(URL, lambda request: Reply(parts(), End.CLOSE, 0))
    return fetch(web, URL, **options)[0]  # type: ignore[arg-type]


# -- where the body ends -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "body", "truncated"),
    [
        (length(b"100") + b"hello", b"hello", "disconnect"),  # too long, or closed early
        (length(b"9223372036854775807") + b"hello", b"hello", "disconnect"),
        (length(b"9223372036854775808") + b"hello", b"hello", "disconnect"),
        (length(b"9" * 40) + b"hello", b"hello", "disconnect"),
        (length(b"9" * 9_000) + b"hello", b"hello", "disconnect"),
        (length(b"0" * 50 + b"5") + b"hello", b"hello", ""),
        (length(b"0" * 50 + b"9" * 30) + b"hello", b"hello", "disconnect"),
        (length(b"3") + b"hello", b"hel", ""),  # too short: what follows is no part of it
        (length(b"5, 5") + b"hello", b"hello", ""),
        (HTML + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", b"hello", ""),
        (HTML + b"\r\nhello", b"hello", ""),  # none: the body ends with the connection
        (HTML + b"Content-Length : 3\r\n\r\nhello", b"hello", ""),  # a name with a space is none
        (HTML + b"Content Length: 3\r\n\r\nhello", b"hello", ""),
        (HTML + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", b"hello", ""),
        (HTML + b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n5\r\nhello\r\n0\r\n\r\n", b"hello", ""),
        (b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", b"hello", ""),
        (b"HTTP/1.1 205 Reset\r\nContent-Length: 5\r\n\r\nhello", b"hello", ""),
        (b"HTTP/1.1 204 Nothing\r\nContent-Length: 5\r\n\r\nhello", b"", ""),
        (b"HTTP/1.1 304 As before\r\nContent-Length: 5\r\n\r\nhello", b"", ""),
    ],
)
def test_lengths(web: TinyWeb, reply: bytes, body: bytes, truncated: str) -> None:
    got = page(answer(web, reply))
    assert (got.body, got.truncated) == (body, truncated)
    assert reply.startswith(got.head + got.raw)


@pytest.mark.parametrize("value", [b"-1", b"+5", b"5 5", b"0x5", b"5, 6", b"5\r\nContent-Length: 6", b"", b"five"])
def test_a_length_that_is_none_leaves_no_page(web: TinyWeb, value: bytes) -> None:
    got = fault(answer(web, length(value) + b"hello"))
    assert (got.reason, got.retry) == (Reason.PROTOCOL, False)


@pytest.mark.parametrize(
    ("sent", "body", "truncated"),
    [
        (b"5\r\nhello\r\n0\r\n\r\n", b"hello", ""),
        (b'5;a=b;c="d"\r\nhello\r\n0;e\r\n\r\n', b"hello", ""),
        (b"5\r\nhello\r\n0\r\nETag: x\r\nX: y\r\n\r\n", b"hello", ""),
        (b"5\nhello\n0\n\n", b"hello", ""),
        (b"5\r\nhello\r\nzz\r\nhello\r\n0\r\n\r\n", b"hello", "disconnect"),
        (b"5\r\nhello\r\n-5\r\nhello\r\n0\r\n\r\n", b"hello", "disconnect"),
        (b"5\r\nhello\r\nfffffffffffffffff\r\nhello\r\n0\r\n\r\n", b"hello", "disconnect"),
        (b"5\r\nhello\r\nffffffffffffffff\r\nhello\r\n0\r\n\r\n", b"hello", "disconnect"),
        (b"5\r\nhello5\r\nworld\r\n0\r\n\r\n", b"helloworld", "disconnect"),
        (b"5\r\nhello\r\n", b"hello", "disconnect"),
        (b"5\r\nhel", b"hel", "disconnect"),
        (b"5\r\nhello\r\n0\r\n", b"hello", "disconnect"),
        (b"5\r\nhello\r\n0\r\nX: cut", b"hello", "disconnect"),
        (b"not a chunk\r\nhello", b"not a chunk\r\nhello", "disconnect"),
    ],
)
def test_chunks(web: TinyWeb, sent: bytes, body: bytes, truncated: str) -> None:
    got = page(answer(web, CHUNKED, sent))
    assert (got.head, got.raw, got.body, got.truncated) == (CHUNKED, sent, body, truncated)


def test_what_follows_the_last_chunk_is_not_stored(web: TinyWeb) -> None:
    got = page(answer(web, CHUNKED, b"5\r\nhello\r\n0\r\n\r\n" + OK))
    assert (got.raw, got.body, got.truncated) == (b"5\r\nhello\r\n0\r\n\r\n", b"hello", "")


@pytest.mark.parametrize("reply", [length(b"5") + b"hello" + OK, CHUNKED + b"5\r\nhello\r\n0\r\n\r\n" + OK])
def test_bytes_too_many_are_no_answer_to_the_next_request(web: TinyWeb, reply: bytes) -> None:
    other = URL + "&next"
    web.add_handler(URL, lambda request: Reply((reply,), End.KEEP))
    web.add_page(other, body="the right one")
    for outcome in one_after_the_other(web, URL, other)[1:]:
        assert page(outcome).body == b"the right one"


def test_what_was_cut_is_stored_with_its_reason(web: TinyWeb, tmp_path: Path) -> None:
    web.add_page("http://a.test/", links=["/length", "/time", "/disconnect", "/whole"])
    web.add_handler("http://a.test/length", lambda request: length(b"50000") + b"x" * 50_000)
    web.add_handler("http://a.test/time", lambda request: Reply((length(b"5"), b"four"), End.HANG))
    web.add_handler("http://a.test/disconnect", lambda request: Reply((length(b"5"), b"four"), End.CLOSE))
    web.add_handler("http://a.test/whole", lambda request: length(b"4") + b"four")
    summary = crawl(tmp_path, ["http://a.test/"], web.connect, max_body="20000", timeout="500ms")
    assert (summary.pages, summary.faults) == (5, 0)
    (file,) = (tmp_path / "warc").glob("*.warc.gz")
    with file.open("rb") as stream:
        records = list(ArchiveIterator(stream, record_types=WarcRecordType.response, parse_http=False))
        found = {record.headers["WARC-Target-URI"]: record.headers.get("WARC-Truncated") for record in records}
    expected = {name: name for name in ("length", "time", "disconnect")} | {"whole": None}
    assert {url.rpartition("/")[2]: reason for url, reason in found.items() if url[14:] in expected} == expected


@pytest.mark.parametrize(
    ("version", "header", "kept"),
    [
        (b"1.1", b"", True),
        (b"1.1", b"Connection: close\r\n", False),
        (b"1.0", b"", False),
        (b"1.0", b"Connection: keep-alive\r\n", True),
    ],
)
def test_connections_are_kept_where_the_server_says_so(web: TinyWeb, version: bytes, header: bytes, kept: bool) -> None:
    urls = ["http://a.test/0", "http://a.test/1"]
    for url in urls:
        web.add_handler(url, lambda request: b"HTTP/%b 200 OK\r\n%bContent-Length: 2\r\n\r\nok" % (version, header))
    assert [page(outcome).body for outcome in one_after_the_other(web, *urls)] == [b"ok", b"ok"]
    first, second = web.log.arrivals
    assert (first.connection == second.connection) is kept


# -- heads -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "status", "body"),
    [
        (b"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", 200, b"ok"),
        (b"HTTP/1.1 200 \xff\xfe\x01?\r\nContent-Length: 2\r\n\r\nok", 200, b"ok"),
        (b"HTTP/1.1 999 ???\r\nContent-Length: 2\r\n\r\nok", 999, b"ok"),
        (b"HTTP/1.1 600 ???\r\nContent-Length: 2\r\n\r\nok", 600, b"ok"),
        (b"HTTP/1.0 200 OK\r\n\r\nok", 200, b"ok"),
        (b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok", 200, b"ok"),
        (b"HTTP/2.0 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, b"ok"),  # said by some, and meant as 1.1
        (b"HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: 2\n\nok", 200, b"ok"),
        (b"HTTP/1.1 200 OK\r\n: no name\r\nwith space: x\r\nContent-Length: 2\r\n\r\nok", 200, b"ok"),
        (b"HTTP/1.1 200 OK\r\n\r\n", 200, b""),
    ],
)
def test_odd_heads(web: TinyWeb, reply: bytes, status: int, body: bytes) -> None:
    got = page(answer(web, reply))
    assert (got.status, got.head + got.raw, got.body, got.truncated) == (status, reply, body, "")


@pytest.mark.parametrize(
    "reply",
    [
        b"<html>HTTP/0.9 had no headers</html>",
        b"\r\n\r\n",
        b"\r\n" + OK,
        b"ICY 200 OK\r\n\r\nmusic",
        b"http/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 000 OK\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 2xx OK\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 2000 OK\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 2000 OK\r\nContent-Type: image/png\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 1000 OK\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 20 OK\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1200 OK\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 OK\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: unasked\r\n\r\nhello",
        b"HTTP/2 200 OK\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/7.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
        b"\x00\x00\x12\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x64\x00\x04\x00\x10\x00\x00",  # HTTP/2 frames
        b"\x15\x03\x01\x00\x02\x02\x0a",  # a TLS alert
        HTML + b"X: a\0b\r\n\r\nok",
        HTML + b"X: a\rb\r\n\r\nok",
        HTML + b"no colon\r\n\r\nok",
        HTML + b"\rX: y\r\n\r\nok",
    ],
)
def test_what_is_no_response(web: TinyWeb, reply: bytes) -> None:
    got = fault(answer(web, reply))
    assert (got.reason, got.retry) == (Reason.PROTOCOL, False)


def test_lines_that_carriage_returns_alone_end_are_no_lines(web: TinyWeb) -> None:
    """So nothing came before the connection was closed."""
    got = fault(answer(web, b"HTTP/1.1 200 OK\rContent-Type: text/html\r\rok"))
    assert (got.reason, got.retry) == (Reason.CLOSED, True)


def test_a_folded_header_is_one_header(web: TinyWeb) -> None:
    """libcurl hands it over on one line, as RFC 9112, 5.2 asks of a user agent: the only bytes of a head that are not
    kept as they came.
    """
    folded = b"HTTP/1.1 200 OK\r\nContent-Type:\r\n text/html;\r\n\tcharset=utf-8\r\nContent-Length: 2\r\n\r\nok"
    got = page(answer(web, folded))
    assert got.head == b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 2\r\n\r\n"
    assert got.content_type == "text/html;charset=utf-8"


@pytest.mark.parametrize("ends", [b"\r\n", b"\n"])
@pytest.mark.parametrize("count", [1, 100])
def test_interim_responses_are_passed_over(web: TinyWeb, ends: bytes, count: int) -> None:
    lines = [b"HTTP/1.1 100 Continue", b"", b"HTTP/1.1 103 Early Hints", b"Link: </a.css>", b""]
    got = page(answer(web, b"".join(line + ends for line in lines) * count, OK))
    assert (got.status, got.head, got.raw) == (200, OK[:-2], b"ok")


def test_an_interim_response_alone_is_none(web: TinyWeb) -> None:
    assert fault(answer(web, b"HTTP/1.1 100 Continue\r\n\r\n")).reason is Reason.CLOSED


@pytest.mark.parametrize(
    "parts",
    [
        lambda: [HTML + b"X: " + b"y" * 400_000 + b"\r\n\r\nok"],
        lambda: itertools.chain([HTML + b"X: "], itertools.repeat(b"y" * 10_000)),
        lambda: itertools.chain([HTML], itertools.repeat(b"X: y\r\n" * 1000)),
        lambda: itertools.chain([HTML], itertools.repeat(b"X: " + b"y" * 1000 + b"\r\n")),
        lambda: itertools.repeat(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" * 100),
        lambda: itertools.repeat(b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
    ],
)
def test_headers_without_end(web: TinyWeb, parts: Parts) -> None:
    got = fault(endless(web, parts))
    assert (got.reason, got.retry, got.status) == (Reason.TOO_LARGE, False, 0)


# -- bodies without end ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parts", "body"),
    [
        (lambda: itertools.chain([HTML + b"\r\n"], itertools.repeat(b"x" * 10_000)), b"x" * 50_000),
        (lambda: itertools.chain([length(b"9" * 18)], itertools.repeat(b"x" * 10_000)), b"x" * 50_000),
        (lambda: itertools.chain([CHUNKED], itertools.repeat(b"5\r\nhello\r\n")), b"hello" * 5_000),
        (lambda: itertools.chain([CHUNKED + b"5;"], itertools.repeat(b"x" * 1_000)), b"5;" + b"x" * 49_998),
        (lambda: itertools.chain([CHUNKED + b"5\r\nhello\r\n0\r\n"], itertools.repeat(b"X: y\r\n")), b"hello"),
    ],
)
def test_bodies_without_end(web: TinyWeb, parts: Parts, body: bytes) -> None:
    got = page(endless(web, parts, max_body=50_000))
    assert (len(got.raw), got.body, got.truncated) == (50_000, body, "length")


def test_a_trailer_line_without_end(web: TinyWeb) -> None:
    got = page(
        endless(web, lambda: itertools.chain([CHUNKED + b"5\r\nhello\r\n0\r\nX: "], itertools.repeat(b"y" * 999)))
    )
    assert (got.body, got.truncated) == (b"hello", "disconnect")
    assert len(got.raw) < 1_000_000


def test_a_byte_now_and_then_ends_with_the_time(web: TinyWeb) -> None:
    slow = itertools.chain([HTML + b"\r\n"], itertools.cycle([b"x", 0.05]))
    started = time.perf_counter()
    got = page(endless(web, lambda: slow, timeout=0.5))
    assert (got.truncated, got.body) == ("time", b"x" * len(got.body))
    assert 1 <= len(got.body) <= 11
    assert time.perf_counter() - started < 5


def test_headers_now_and_then_end_with_the_time(web: TinyWeb) -> None:
    slow = itertools.chain([HTML], itertools.cycle([b"X: y\r\n", 0.05]))
    assert fault(endless(web, lambda: slow, timeout=0.5)).reason is Reason.TIMEOUT


def test_a_reset_within_the_body_keeps_what_came(web: TinyWeb) -> None:
    got = page(answer(web, length(b"100") + b"hello", 0.05, end=End.RESET))
    assert (got.body, got.truncated) == (b"hello", "disconnect")


# -- memory ------------------------------------------------------------------------------------------------------------

CAP = 8 << 20
CONSTANT = 6 << 20


def peak(web: TinyWeb, parts: Parts, most: int) -> tuple[int, Page]:
    """The most memory that this process had beyond what it had before, the server's included."""
    web.add_handler(URL, lambda request: Reply(parts(), End.CLOSE, 0))
    config = FetchConfig(allow_private=True, connect=(web.connect,), max_body=most)
    outcomes: list[Page | Fault] = []

    async def run() -> int:
        fetcher = Fetcher(config, "gossamer", ("*/*",), (), Resolver(config.connect, (), time.time), time.time)
        tracemalloc.start()
        fetcher.start(Visit(URL, "a.test", 0, 0, 1))
        while not outcomes:
            outcomes.extend(outcome for _, outcome in await fetcher.wait(1.0))
        _, highest = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        await fetcher.close()
        return highest

    return asyncio.run(run()), page(outcomes[0])


@pytest.mark.parametrize(("size", "most"), [(1, 100_000), (100_000, CAP)])
def test_a_body_without_end_holds_the_cap_and_a_constant(web: TinyWeb, size: int, most: int) -> None:
    piece = b"x" * size
    highest, got = peak(web, lambda: itertools.chain([HTML + b"\r\n"], itertools.repeat(piece)), most)
    assert (len(got.raw), got.raw is got.body, got.truncated) == (most, True, "length")
    assert highest < most * 9 // 8 + CONSTANT


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("br", lambda data: brotli.compress(data, quality=1)),
        ("zstd", zstd.compress),
        ("gzip, zstd", lambda data: zstd.compress(gzip.compress(data))),
    ],
)
def test_a_bomb_holds_the_cap_and_a_constant(web: TinyWeb, name: str, pack: Callable[[bytes], bytes]) -> None:
    bomb = pack(bytes(50 << 20))
    head = HTML + b"Content-Encoding: %b\r\nContent-Length: %d\r\n\r\n" % (name.encode(), len(bomb))
    highest, got = peak(web, lambda: [head, bomb], CAP)
    assert (got.raw, len(got.body), got.truncated) == (bomb, CAP, "length")
    assert highest < CAP * 9 // 8 + CONSTANT


# -- encodings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("encoding", "sent", "body"),
    [
        (b"gzip", b"not gzip at all", b"not gzip at all"),
        (b"br", b"not brotli at all", b"not brotli at all"),
        (b"zstd", b"not zstd at all", b"not zstd at all"),
        (b"unheard-of", b"hello", b"hello"),
        (b"gzip, unheard-of", b"hello", b"hello"),
        (b"zstd", zstd.compress(b"hello"), b"hello"),
        (b"gzip\r\nContent-Encoding: br", brotli.compress(gzip.compress(b"hello", mtime=0)), b"hello"),
        (b"gzip, gzip", gzip.compress(b"hello", mtime=0), b"hello"),  # said twice, done once
        (b"gzip", b"", b""),
    ],
)
def test_encodings_that_are_wrong_unknown_or_several(web: TinyWeb, encoding: bytes, sent: bytes, body: bytes) -> None:
    head = HTML + b"Content-Encoding: %b\r\nContent-Length: %d\r\n\r\n" % (encoding, len(sent))
    got = page(answer(web, head, sent))
    assert (got.head, got.raw, got.body, got.truncated) == (head, sent, body, "")


# -- what is wanted ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "body", "wanted"),
    [
        (b"", b"<!doctype html><p>hello", True),
        (b"", b"plain words, perhaps with a <a href=x>link</a>", True),
        (b"", b"%PDF-1.7 \x00\x01", False),
        (b"", b"\x89PNG\r\n\x1a\n\x00\x00", False),
        (b"", b"\x00\x01\x02\x03", False),
        (b"", b"", True),
        (b"Content-Type: html\r\n", b"<html>", True),
        (b"Content-Type: \r\n", b"\x00\x01\x02\x03", False),
        (b"Content-Type: text/html(\r\n", b"GIF89a", False),
        (b"Content-Type: text/plain\r\nContent-Type: TEXT/html;charset=utf-8\r\n", b"words", True),
        (b"Content-Type: text/html\r\nContent-Type: image/png\r\n", b"<html>", False),
        (b"Content-Type: text/html, image/png\r\n", b"<html>", False),
        (b"Content-Type: text/html\r\nContent-Type: */*\r\n", b"words", True),
        (b'Content-Type: text/html;x=", image/png"\r\n', b"words", True),
        (b"Content-Type: text/html5\r\n", b"<html>", False),
        (b"Content-Type: application/octet-stream\r\n", b"<html>", False),
    ],
)
def test_types(web: TinyWeb, header: bytes, body: bytes, wanted: bool) -> None:
    head = b"HTTP/1.1 200 OK\r\n" + header + b"Content-Length: %d\r\n\r\n" % len(body)
    got = answer(web, head, body)
    if wanted:
        assert page(got).raw == body
    else:
        assert (fault(got).reason, fault(got).status) == (Reason.UNWANTED_TYPE, 200)


# -- a request is sent once --------------------------------------------------------------------------------------------


def one_after_the_other(web: TinyWeb, *urls: str) -> list[Page | Fault]:
    """With one fetcher, so that connections are kept."""
    return run_fetcher(web.connect, *urls)


def run_fetcher(connect: str, *urls: str) -> list[Page | Fault]:
    config = FetchConfig(allow_private=True, connect=(connect,), timeout=10.0)

    async def run() -> list[Page | Fault]:
        fetcher = Fetcher(config, "gossamer", ("*/*",), (), Resolver(config.connect, (), time.time), time.time)
        found: list[Page | Fault] = []
        for url in urls:
            fetcher.start(Visit(url, "a.test", 0, 0, 1))
            while not (done := await fetcher.wait(1.0)):
                pass
            found.append(done[0][1])
        await fetcher.close()
        return found

    return asyncio.run(run())


@pytest.mark.parametrize("end", [End.CLOSE, End.RESET])
def test_a_kept_connection_closed_instead_of_answered_is_not_asked_again_at_once(web: TinyWeb, end: End) -> None:
    urls = [f"http://a.test/{number}" for number in range(4)]
    for url in urls:
        web.add_page(url)
    closed: list[Request] = []

    def close_once(request: Request) -> bytes | Reply:
        closed.append(request)
        return Reply((), end, 0) if len(closed) == 1 else OK

    web.add_handler(urls[2], close_once)
    outcomes = one_after_the_other(web, *urls)
    assert [type(outcome) for outcome in outcomes] == [Page, Page, Fault, Page]
    got = fault(outcomes[2])
    assert (got.reason, got.retry, got.stale) == (Reason.CLOSED, True, True)
    assert len(closed) == 1
    assert [arrival.path for arrival in web.log.arrivals] == ["/0", "/1", "/2", "/3"]


def test_the_rest_of_an_earlier_response_is_not_the_fault_of_the_next_page(web: TinyWeb) -> None:
    web.add_handler("http://a.test/short", lambda request: Reply((length(b"2") + b"ab", 0.05, b"cdef")))
    web.add_page("http://a.test/next")
    _, got = one_after_the_other(web, "http://a.test/short", "http://a.test/next")
    assert isinstance(got, Fault)
    assert (got.reason, got.retry) == (Reason.PROTOCOL, True)


def test_it_is_asked_again_after_the_pause_and_loses_no_try(web: TinyWeb, tmp_path: Path) -> None:
    """A server that closes every kept connection instead of answering: each page comes on a connection of its own."""
    paths = [f"/{number}" for number in range(4)]
    web.add_page("http://a.test/", links=paths)
    answered: set[bytes] = set()

    def only_once_a_connection(request: Request) -> bytes | Reply:
        if request.target in answered:
            return OK
        answered.add(request.target)
        return Reply((), End.CLOSE, 0)

    for path in paths:
        web.add_handler(f"http://a.test{path}", only_once_a_connection)
    summary = crawl(tmp_path, ["http://a.test/"], web.connect, delay="100ms", max_tries=1)
    assert (summary.pages, summary.faults) == (5, 0)
    arrivals = web.log.arrivals
    assert len(arrivals) == 2 + 2 * len(paths)
    gaps = [later.time - earlier.time for earlier, later in itertools.pairwise(arrivals)]
    assert min(gaps) > 0.09
