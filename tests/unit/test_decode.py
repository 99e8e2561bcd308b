"""Chunks and compression come off; bombs and broken streams cost no more than the cap."""

from __future__ import annotations

import gzip
import zlib

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.fetch.decode import dechunked, decoded

TEXT = b"All work and no play makes Jack a dull boy. " * 200
MOST = 1 << 20


def head(*lines: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\n" + b"".join(line + b"\r\n" for line in lines) + b"\r\n"


def chunked(body: bytes, size: int = 700) -> bytes:
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [
        (b"gzip", gzip.compress),
        (b"x-gzip", gzip.compress),
        (b"GZIP", gzip.compress),
        (b"deflate", zlib.compress),
        (b"deflate", lambda data: zlib.compress(data, wbits=-15)),
        (b"br", brotli.compress),
        (b"identity", bytes),
        (b"gzip, br", lambda data: brotli.compress(gzip.compress(data))),
    ],
)
def test_each_encoding_comes_off(encoding: bytes, pack: object) -> None:
    raw = pack(TEXT)  # type: ignore[operator]
    assert decoded(head(b"Content-Encoding: " + encoding), raw, MOST) == (TEXT, True)
    both = head(b"content-encoding: " + encoding, b"Transfer-Encoding: chunked")
    assert decoded(both, chunked(raw), MOST) == (TEXT, True)


def test_nothing_to_do() -> None:
    assert decoded(head(b"Content-Type: text/html"), TEXT, MOST) == (TEXT, True)


def test_gzip_of_several_members() -> None:
    raw = gzip.compress(TEXT) + gzip.compress(b"more") + b"trailing rubbish"
    assert decoded(head(b"Content-Encoding: gzip"), raw, MOST)[0] == TEXT + b"more"


@pytest.mark.parametrize("pack", [gzip.compress, brotli.compress, zlib.compress])
def test_a_bomb_is_cut_at_the_cap(pack: object) -> None:
    bomb = pack(bytes(50_000_000))  # type: ignore[operator]
    name = {gzip.compress: b"gzip", brotli.compress: b"br", zlib.compress: b"deflate"}[pack]  # type: ignore[index]
    body, whole = decoded(head(b"Content-Encoding: " + name), bomb, 100_000)
    assert len(body) == 100_000
    assert not whole


def test_what_comes_before_a_break_is_kept() -> None:
    raw = bytearray(gzip.compress(bytes(range(256)) * 4000))
    raw[len(raw) // 2] ^= 0xFF
    body, whole = decoded(head(b"Content-Encoding: gzip"), bytes(raw), 10 * MOST)
    assert not whole or body != bytes(range(256)) * 4000
    short, whole = decoded(head(b"Content-Encoding: gzip"), gzip.compress(TEXT)[:-20], MOST)
    assert not whole
    assert TEXT.startswith(short)


def test_a_wrong_claim_gives_the_bytes_as_they_are() -> None:
    body, whole = decoded(head(b"Content-Encoding: br"), TEXT, MOST)
    assert not whole
    assert body == TEXT


@pytest.mark.parametrize(
    ("raw", "body", "whole"),
    [
        (b"5\r\nhello\r\n0\r\n\r\n", b"hello", True),
        (b"5;name=value\r\nhello\r\n0\r\nTrailer: x\r\n\r\n", b"hello", True),
        (b"5\nhello\n0\n\n", b"hello", True),
        (b"5\r\nhel", b"hel", False),
        (b"5\r\nhello\r\nzz\r\n", b"hello", False),
        (b"not chunked at all", b"not chunked at all", False),
        (b"", b"", False),
        (b"ffffffffffffffff\r\nx", b"x", False),
    ],
)
def test_chunks(raw: bytes, body: bytes, whole: bool) -> None:
    assert dechunked(raw) == (body, whole)


@given(st.binary(max_size=300), st.sampled_from([b"gzip", b"deflate", b"br", b"gzip, gzip", b"x", b",,"]))
def test_no_bytes_raise(raw: bytes, encoding: bytes) -> None:
    for extra in (b"", b"Transfer-Encoding: chunked"):
        body, _ = decoded(head(b"Content-Encoding: " + encoding, extra), raw, 1000)
        assert len(body) <= max(1000, len(raw))
