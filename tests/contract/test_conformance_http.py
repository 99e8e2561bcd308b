"""The HTTP suites of others, each reply over a real socket to the real fetcher.

They were written for browsers. Where a crawler does otherwise it is listed here with its reason, and the result is
asserted as exactly as where it does the same.
"""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Iterator
from typing import Any

import pytest
from conformance import load, read

from gossamer.config import FetchConfig
from gossamer.fetch import Fetcher, Resolver
from gossamer.fetch.decode import decoded
from gossamer.model import Fault, Page, Reason, Visit
from gossamer.model.media_type import media_type_of, parse_media_type
from gossamer.parse.labels import encoding_of
from gossamer.parse.mime import charset_label, essence
from gossamer.testing import TinyWeb
from gossamer.testing.web import End, Reply

# RFC 9112, 5.1: a field line that is none spoils no other. The line is kept as it came and means nothing.
_MEANS_NOTHING = "the field line is broken and says nothing about where the body ends: it is ignored, and kept"
# Replies that a browser refuses and that are a page here, and why.
KEPT = {
    "COLON_after-colon": "valid: a value may begin with a colon (RFC 9110, 5.5)",
    "COLON_before-colon": "valid: the same bytes",
    "COLON_in-name": "valid: the name ends at the first colon, and a value may begin with anything visible",
    "COLON_in-value": "valid: a value may hold colons",
    "COLON_after-value": "valid: a value may end with a colon",
    "COLON_after-reason": "valid: a reason phrase may hold colons (RFC 9112, 4)",
    "COLON_before-reason": "valid: a reason phrase may begin with a colon",
    "COLON_leading": _MEANS_NOTHING,
    "HTAB_in-name": _MEANS_NOTHING,
    "SP_in-name": _MEANS_NOTHING,
    "HTAB_before-colon": "whitespace before the colon is to be taken off in a response (RFC 9112, 5.1)",
    "SP_before-colon": "whitespace before the colon is to be taken off in a response (RFC 9112, 5.1)",
    "HTAB_leading": "a line of a folded field that never began is passed over (RFC 9112, 2.2)",
    "SP_leading": "a line of a folded field that never began is passed over (RFC 9112, 2.2)",
    "HTAB_after-num": "any whitespace may stand for the space of a status line (RFC 9112, 4)",
    "SP_after-num": "valid: the reason phrase begins with a space",
    "LF_after-reason": "a line feed alone may end a line (RFC 9112, 2.2), so the blank line comes early",
    "LF_after-value": "a line feed alone may end a line (RFC 9112, 2.2), so the blank line comes early",
    "LF_leading": "a line feed alone may end a line (RFC 9112, 2.2), so the blank line comes early",
}
# What then comes after the head, where that is not the five bytes of all others.
EARLY = {
    "LF_after-reason": b"X-Frame-Options:DENY\r\nContent-Length: 5\r\n\r\nTest.",
    "LF_after-value": b"Content-Length: 5\r\n\r\nTest.",
    "LF_leading": b"X-Frame-Options:DENY\r\nContent-Length: 5\r\n\r\nTest.",
}
# Of the replies with a carriage return alone, the one in which there is none: CR LF ends a line, LF the head.
NOT_ALONE = b"HTTP/1.1 200 OK\nHeader: Value\r\n\nBody"

# Status lines that a browser takes and that are no page here: a status has three digits, from 100 (RFC 9110, 15).
NO_STATUS = {"0 OK", "1 OK", "99 NOT OK", "077 77", "099 HELLO"}

# Lengths for which browsers read until the connection is closed. RFC 9112, 6.3: with an invalid length nobody knows
# where the body ends, and a user agent must discard the response.
INVALID_LENGTH = {
    "Content-Length: aaaah\r\nContent-Length: aaaah",
    "Content-Length: aaaah, aaaah",
    "Content-Length: aaaah",
    "Content-Length: 42s",
    "Content-Length: 30s",
    "Content-Length: -1",
    "Content-Length: 0x20",
    'Content-Length: "30"',
    "Content-Length: ",
}
# Lengths that browsers compare as text. RFC 9110, 8.6 speaks of the same decimal value, and 030 is 30.
SAME_VALUE = {"Content-Length: 030\r\nContent-Length: 30", "Content-Length: 030, 30"}


@pytest.fixture(scope="module")
def web() -> Iterator[TinyWeb]:
    with TinyWeb() as tiny:
        yield tiny


def fetched(web: TinyWeb, replies: list[bytes]) -> list[Page | Fault]:
    """What becomes of each reply, on a connection of its own that is closed after it."""
    config = FetchConfig(allow_private=True, connect=(web.connect,), timeout=10.0)
    urls = [f"http://a.test/{number}" for number in range(len(replies))]
    for url, reply in zip(urls, replies, strict=True):
        web.add_handler(url, lambda request, reply=reply: Reply((reply,), End.CLOSE, 0))  # type: ignore[misc]

    async def run() -> list[Page | Fault]:
        fetcher = Fetcher(config, "gossamer", ("*/*",), (), Resolver(config.connect, (), time.time), time.time)
        found: dict[str, Page | Fault] = {}
        waiting = list(reversed(urls))
        while len(found) < len(urls):
            while waiting and fetcher.room:
                fetcher.start(Visit(waiting.pop(), "a.test", 0, 0, 1))
            for visit, outcome in await fetcher.wait(1.0):
                found[visit.url] = outcome
        await fetcher.close()
        return [found[url] for url in urls]

    return asyncio.run(run())


def is_page(outcome: Page | Fault, raw: bytes, body: bytes) -> None:
    """Every byte of the reply is in the page, in its place."""
    assert isinstance(outcome, Page), outcome
    assert (outcome.status, outcome.truncated) == (200, "")
    assert (outcome.head, outcome.raw, outcome.body) == (raw[: len(raw) - len(body)], body, body)


def is_fault(outcome: Page | Fault) -> None:
    assert isinstance(outcome, Fault), outcome
    assert (outcome.reason, outcome.retry) == (Reason.PROTOCOL, False)


def test_raw_replies(web: TinyWeb) -> None:
    cases = load("http/wpt_h1_raw_responses.json")
    assert len(cases) >= 113
    replies = [base64.b64decode(case["raw_response_b64"]) for case in cases]
    kept = set()
    for case, raw, outcome in zip(cases, replies, fetched(web, replies), strict=True):
        name = f"{case['inserted']}_{case['position']}" if case.get("inserted") else ""
        if case["expect_fetch"] == "Valid" or name in KEPT or raw == NOT_ALONE:
            is_page(outcome, raw, EARLY.get(name, raw[raw.rindex(b"\n") + 1 :]))
            kept.add(name if case["expect_fetch"] != "Valid" else "")
        else:
            is_fault(outcome)
    assert kept == {"", *KEPT}


def test_a_header_has_its_effect_or_none(web: TinyWeb) -> None:
    cases = [case for case in load("http/wpt_h1_raw_responses.json") if case.get("expect_header_effect")]
    replies = [base64.b64decode(case["raw_response_b64"]) for case in cases]
    valued = 0
    for case, outcome in zip(cases, fetched(web, replies), strict=True):
        if case["expect_fetch"] != "Valid":
            continue
        assert isinstance(outcome, Page)
        assert (outcome.header("X-Frame-Options") == "DENY") is (case["expect_header_effect"] == "active-XFO")
        valued += 1
    assert valued >= 10


def test_status_lines(web: TinyWeb) -> None:
    cases = load("http/wpt_status_line.json")["cases"]
    assert len(cases) >= 16
    replies = [f"HTTP/1.1 {case['status_line_rest']}\r\nX: y\r\n\r\n".encode() for case in cases]
    for case, raw, outcome in zip(cases, replies, fetched(web, replies), strict=True):
        if case["expected"] is None or case["status_line_rest"] in NO_STATUS:
            is_fault(outcome)
        else:
            assert isinstance(outcome, Page), case
            assert (outcome.status, outcome.head, outcome.raw) == (case["expected"]["status"], raw, b"")


def test_lengths(web: TinyWeb) -> None:
    cases = load("http/wpt_content_lengths.json")
    assert len(cases) >= 35
    body = b"Fact: this is really forty-two bytes long."
    heads = [f"HTTP/1.1 200 OK\r\n{case['input']}\r\n\r\n".encode() for case in cases]
    for case, head, outcome in zip(cases, heads, fetched(web, [head + body for head in heads]), strict=True):
        length = 30 if case["input"] in SAME_VALUE else case["output"]
        if length is None or case["input"] in INVALID_LENGTH:
            is_fault(outcome)
        else:
            is_page(outcome, head + body[:length], body[:length])


def test_media_types() -> None:
    cases = [case for case in load("http/wpt_mime_types.json") if not isinstance(case, str)]
    assert len(cases) >= 68
    for case in cases:
        found = parse_media_type(case["input"])
        assert (None if found is None else str(found)) == case["output"], case
        assert essence(case["input"]) == (found.essence if found else "")
        assert _encoding(case["input"]) == (case.get("encoding") or "").lower(), case


def test_several_types(web: TinyWeb) -> None:
    cases = load("http/wpt_content_types.json")
    assert len(cases) >= 20
    heads = [
        "HTTP/1.1 200 OK\r\n" + "".join(f"Content-Type: {value}\r\n" for value in case["contentType"]) + "\r\n"
        for case in cases
    ]
    for case, outcome in zip(cases, fetched(web, [head.encode() + b"body" for head in heads]), strict=True):
        assert str(media_type_of(case["contentType"])) == case["mimeType"]
        assert isinstance(outcome, Page)
        assert outcome.content_type == case["mimeType"]
        assert essence(outcome.content_type) == case["documentContentType"]
        assert _encoding(outcome.content_type) == (case["encoding"] or "").lower()


def _encoding(content_type: str) -> str:
    return encoding_of(charset_label(content_type) or "") or ""


def _compressed(name: str) -> bytes:
    return read(f"http/scrapy_compressed/{name}")


def _decoded(encoding: str, raw: bytes, most: int = 1 << 24) -> Any:
    return decoded(f"HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\n\r\n".encode(), raw, most)


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        ("html-br.bin", "br"),
        ("html-gzip.bin", "gzip"),
        ("html-gzip-deflate.bin", "gzip, deflate"),
        ("html-gzip-deflate-gzip.bin", "gzip, deflate, gzip"),
        ("html-rawdeflate.bin", "deflate"),
        ("html-zlibdeflate.bin", "deflate"),
        ("html-zstd-static-content-size.bin", "zstd"),
        ("html-zstd-static-no-content-size.bin", "zstd"),
        ("html-zstd-streaming-no-content-size.bin", "zstd"),
    ],
)
def test_compressed_pages(name: str, encoding: str) -> None:
    got = _decoded(encoding, _compressed(name))
    assert got.whole
    assert got.body.startswith(b"<!DOCTYPE HTML>\n")
    assert got.body.endswith(b"</html>\n")


@pytest.mark.parametrize("kind", ["br", "deflate", "gzip", "zstd"])
def test_bombs(web: TinyWeb, kind: str) -> None:
    bomb = _compressed(f"bomb-{kind}.bin")
    got = _decoded(kind, bomb, 1 << 20)
    assert (len(got.body), got.cut) == (1 << 20, True)
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: %b\r\nContent-Length: %d\r\n\r\n" % (kind.encode(), len(bomb))
    (outcome,) = fetched(web, [head + bomb])
    assert isinstance(outcome, Page)
    assert (outcome.raw, len(outcome.body)) == (bomb, min(len(_decoded(kind, bomb, 1 << 30).body), 16 << 20))


def test_gzip_that_is_cut_or_broken_gives_what_can_be_read() -> None:
    cut = _decoded("gzip", _compressed("unexpected-eof.gz"))
    expected = _compressed("unexpected-eof-output.txt").decode()  # written with a character for each byte
    assert (cut.body, cut.whole) == (expected.encode("latin-1"), False)
    for name, end in (("truncated-crc-error.gz", b"</html"), ("truncated-crc-error-short.gz", b"</html>")):
        broken = _decoded("gzip", _compressed(name))
        assert not broken.whole
        assert broken.body.endswith(end)
