"""The ways a response can go wrong. None shows links, so what a crawler makes of it does not change the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import repeat

from isal import igzip

from gossamer.testing.web import media
from gossamer.testing.web.message import End, Reply, response, simple_page

_HTML = "text/html; charset=utf-8"
_OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
_FLOOD_PARTS = 1_000  # of 10 KB
_HUGE = 24 << 20  # bytes of a page that is merely far too long
_NO_TARGETS = (None, "", "http://", "javascript:void(0)", "http://[::zz]/")  # of redirects: none can be crawled


def _error_500(body: bytes, x: int) -> bytes:
    return simple_page(500, "Internal error", "This page of the simulated web always fails.")


def _error_503(body: bytes, x: int) -> bytes:
    retry = [("Retry-After", str(1 + x % 30))] if x & 1 else []
    return response(503, _HTML, b"<p>Too busy.</p>", retry)


def _error_429(body: bytes, x: int) -> bytes:
    return response(429, _HTML, b"<p>Too many requests.</p>", [("Retry-After", str(1 + x % 3))])


def _bad_redirect(body: bytes, x: int) -> bytes:
    target = _NO_TARGETS[x % len(_NO_TARGETS)]
    return response(302, _HTML, b"<p>Elsewhere.</p>", [] if target is None else [("Location", target)])


def _closed(body: bytes, x: int) -> Reply:
    return Reply((), End.CLOSE, 0)


def _cut_head(body: bytes, x: int) -> Reply:
    return Reply((b"HTTP/1.1 200 OK\r\nContent-Ty",), End.CLOSE, 0)


def _cut_body(body: bytes, x: int) -> Reply:
    return Reply((_OK + b"Content-Length: %d\r\n\r\n" % (2 * len(body)), body), End.CLOSE)


def _short_length(body: bytes, x: int) -> Reply:
    return Reply((_OK + b"Content-Length: %d\r\n\r\n" % (len(body) // 2), body), End.CLOSE)


def _hang(body: bytes, x: int) -> Reply:
    return Reply((), End.HANG, 0)


def _hang_body(body: bytes, x: int) -> Reply:
    return Reply((_OK + b"Content-Length: 8000\r\n\r\n", b"<p>"), End.HANG)


def _reset(body: bytes, x: int) -> Reply:
    return Reply((), End.RESET, 0)


def _reset_body(body: bytes, x: int) -> Reply:
    return Reply((_OK + b"Content-Length: %d\r\n\r\n" % len(body), body[: len(body) // 2], 0.01), End.RESET)


def _drip(body: bytes, x: int) -> Reply:
    def parts() -> Iterator[bytes | float]:
        yield _OK + b"Content-Length: 1000000\r\n\r\n"
        for _ in range(1_000_000):
            yield b"."
            yield 1.0

    return Reply(parts(), End.CLOSE)


def _endless(body: bytes, x: int) -> Reply:
    def parts() -> Iterator[bytes | float]:
        if x & 1:
            yield _OK + b"Transfer-Encoding: chunked\r\n\r\n"
            yield from repeat(b"%x\r\n%b\r\n" % (len(body), body))
        yield _OK + b"Connection: close\r\n\r\n"
        yield from repeat(body)

    return Reply(parts(), End.CLOSE)


def _huge(body: bytes, x: int) -> Reply:
    times = _HUGE // len(body) + 1
    return Reply((_OK + b"Content-Length: %d\r\n\r\n" % (times * len(body)), *repeat(body, times)))


def _bare(body: bytes, x: int) -> Reply:
    return Reply((b"HTTP/1.1 200 OK\r\n\r\n", body), End.CLOSE)


def _bad_encoding(body: bytes, x: int) -> bytes:
    packed = igzip.compress(body, 1, mtime=0)
    middle = len(packed) // 2
    broken = packed[:middle] + bytes(8) + packed[middle + 8 :]
    name, sent = (("gzip", body), ("gzip", broken), ("deflate", body), ("br", body), ("x-unknown", body))[x % 5]
    return response(200, _HTML, sent, [("Content-Encoding", name)])


def _bomb(body: bytes, x: int) -> bytes:
    return response(200, _HTML, media.gzip_bomb(), [("Content-Encoding", "gzip")])


def _bad_chunks(body: bytes, x: int) -> Reply:
    chunks = (
        b"zz\r\n" + body,  # not a size
        b"ffffffffffffffffff\r\n" + body,  # a size that fits no integer
        b"%x\r\n%b" % (len(body) + 9, body),  # a size that never comes
        b"%x\r\n%b0\r\n\r\n" % (len(body), body),  # no line end after the chunk
    )
    return Reply((_OK + b"Transfer-Encoding: chunked\r\n\r\n", chunks[x % len(chunks)]), End.CLOSE)


def _header_flood(body: bytes, x: int) -> Reply:
    def parts() -> Iterator[bytes | float]:
        yield _OK
        if x & 1:
            for number in range(_FLOOD_PARTS):
                yield b"X-Flood-%d: %b\r\n" % (number, b"x" * 100) * 100
        else:
            yield b"X-Flood: "
            yield from repeat(b"x" * 10_000, _FLOOD_PARTS)
            yield b"\r\n"
        yield b"Content-Length: 2\r\n\r\nok"

    return Reply(parts(), End.CLOSE)


def _endless_head(body: bytes, x: int) -> Reply:
    def parts() -> Iterator[bytes | float]:
        if x & 1:
            yield _OK
            yield from repeat(b"X-Endless: %b\r\n" % (b"x" * 100) * 50)
        yield from repeat(b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n" * 100)

    return Reply(parts(), End.CLOSE, 0)


def _garbage(body: bytes, x: int) -> Reply:
    replies = (
        x.to_bytes(8) * 64,
        b"220 mail.test ESMTP\r\n",
        b"HTTP/1.1 OK 200\r\n\r\n",
        b"HTTP/9.9 999\r\n\r\n",
        b"SSH-2.0-simweb\r\n",
    )
    return Reply((replies[x % len(replies)],), End.CLOSE, 0)


FAULTS: dict[str, Callable[[bytes, int], bytes | Reply]] = {
    "error-500": _error_500,
    "error-503": _error_503,
    "error-429": _error_429,
    "bad-redirect": _bad_redirect,
    "closed": _closed,
    "cut-head": _cut_head,
    "cut-body": _cut_body,
    "short-length": _short_length,
    "hang": _hang,
    "hang-body": _hang_body,
    "reset": _reset,
    "reset-body": _reset_body,
    "drip": _drip,
    "endless": _endless,
    "huge": _huge,
    "bare": _bare,
    "bad-encoding": _bad_encoding,
    "bomb": _bomb,
    "bad-chunks": _bad_chunks,
    "header-flood": _header_flood,
    "endless-head": _endless_head,
    "garbage": _garbage,
}  # and "slow", which is the right response, late


def slow_seconds(x: int) -> float:
    return 0.5 + x % 26 / 10
