"""Chunks and compression come off; bombs and broken streams cost no more than the cap."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib

import brotli
import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from gossamer.fetch.decode import Decoded, _frames, _gunzip, _gunzipped, dechunked, decoded

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
        (b"zstd", zstd.compress),
        (b"Zstd", lambda data: zstd.compress(data[:99]) + zstd.compress(data[99:])),
        (b"identity", bytes),
        (b"gzip, br", lambda data: brotli.compress(gzip.compress(data))),
    ],
)
def test_each_encoding_comes_off(encoding: bytes, pack: object) -> None:
    raw = pack(TEXT)  # type: ignore[operator]
    assert decoded(head(b"Content-Encoding: " + encoding), raw, MOST) == Decoded(TEXT)
    both = head(b"content-encoding: " + encoding, b"Transfer-Encoding: chunked")
    assert decoded(both, chunked(raw), MOST) == Decoded(TEXT, end=len(chunked(raw)))


def test_nothing_to_do() -> None:
    assert decoded(head(b"Content-Type: text/html"), TEXT, MOST) == Decoded(TEXT)


def test_gzip_of_several_members() -> None:
    raw = gzip.compress(TEXT) + gzip.compress(b"more") + b"trailing rubbish"
    assert decoded(head(b"Content-Encoding: gzip"), raw, MOST).body == TEXT + b"more"


@pytest.mark.parametrize("pack", [gzip.compress, brotli.compress, zlib.compress, zstd.compress])
def test_a_bomb_is_cut_at_the_cap(pack: object) -> None:
    bomb = pack(bytes(50_000_000))  # type: ignore[operator]
    names = {gzip.compress: b"gzip", brotli.compress: b"br", zlib.compress: b"deflate", zstd.compress: b"zstd"}
    name = names[pack]  # type: ignore[index]
    got = decoded(head(b"Content-Encoding: " + name), bomb, 100_000)
    assert (len(got.body), got.whole, got.cut) == (100_000, False, True)


def test_what_comes_before_a_break_is_kept() -> None:
    raw = bytearray(gzip.compress(bytes(range(256)) * 4000))
    raw[len(raw) // 2] ^= 0xFF
    got = decoded(head(b"Content-Encoding: gzip"), bytes(raw), 10 * MOST)
    assert not got.whole
    assert len(got.body) > 10_000
    assert got.body[:1000] == (bytes(range(256)) * 4)[:1000]
    got = decoded(head(b"Content-Encoding: gzip"), gzip.compress(TEXT)[:-20], MOST)
    assert not got.whole
    assert got.body
    assert TEXT.startswith(got.body)


def test_a_wrong_claim_gives_the_bytes_as_they_are() -> None:
    for name in (b"br", b"gzip", b"deflate", b"zstd", b"unheard-of"):
        assert decoded(head(b"Content-Encoding: " + name), TEXT, MOST) == Decoded(TEXT, whole=False)
    for name in (b"br", b"gzip", b"zstd"):  # five bytes may well be the beginning of bare deflate
        assert decoded(head(b"Content-Encoding: " + name), b"short", MOST) == Decoded(b"short", whole=False)


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
        (b"ffffffffffffffff\r\nx", b"ffffffffffffffff\r\nx", False),  # no length: it overflows 63 bits
        (b"5\r\nhello\r\nfffffffffffffffff\r\nx", b"hello", False),
        (b"7fffffffffffffff\r\nx", b"x", False),
        (b"000000000000000000005\r\nhello\r\n0\r\n\r\n", b"hello", True),
        (b"5\r\nhello\r\n0\r\nTrailer: cut", b"hello", False),
        (b"5\r\nhello6\r\n world\r\n0\r\n\r\n", b"hello world", True),
    ],
)
def test_chunks(raw: bytes, body: bytes, whole: bool) -> None:
    got = dechunked(raw)
    assert (got.body, got.whole) == (body, whole)


def test_what_follows_the_last_chunk_is_another_message() -> None:
    own = chunked(TEXT)[:-2] + b"Trailer: x\r\n\r\n"
    got = decoded(head(b"Transfer-Encoding: chunked"), own + b"HTTP/1.1 200 OK\r\n\r\n0\r\n\r\n", MOST)
    assert got == Decoded(TEXT, end=len(own))


def test_encodings_of_the_transfer_come_off_too() -> None:
    raw = chunked(gzip.compress(TEXT))
    assert decoded(head(b"Transfer-Encoding: gzip, chunked"), raw, MOST) == Decoded(TEXT, end=len(raw))
    assert decoded(head(b"Transfer-Encoding: gzip", b"Transfer-Encoding: chunked"), raw, MOST).body == TEXT
    assert decoded(head(b"Transfer-Encoding: xchunked"), TEXT, MOST).body == TEXT


def test_headers_of_one_name_count_together_in_any_case() -> None:
    raw = brotli.compress(gzip.compress(TEXT))
    assert decoded(head(b"cOnTeNt-EnCoDiNg: gzip", b"CONTENT-ENCODING:br"), raw, MOST) == Decoded(TEXT)


def test_too_many_layers_are_left_on() -> None:
    assert decoded(head(b"Content-Encoding: gzip, gzip, gzip, gzip, gzip"), TEXT, MOST) == Decoded(TEXT, whole=False)


def test_a_body_exactly_as_long_as_the_cap_is_whole() -> None:
    for name, pack in ((b"gzip", gzip.compress), (b"br", brotli.compress), (b"zstd", zstd.compress)):
        assert decoded(head(b"Content-Encoding: " + name), pack(TEXT), len(TEXT)) == Decoded(TEXT), name


def test_a_zstd_frame_that_asks_for_a_larger_window_than_the_web_allows() -> None:
    wide = {zstd.CompressionParameter.window_log: 24, zstd.CompressionParameter.content_size_flag: 0}
    packer = zstd.ZstdCompressor(options=wide)
    raw = packer.compress(TEXT) + packer.flush()
    assert decoded(head(b"Content-Encoding: zstd"), raw, MOST) == Decoded(raw, whole=False)


def peak(head: bytes, raw: bytes, most: int) -> tuple[int, Decoded]:
    tracemalloc.start()
    got = decoded(head, raw, most)
    _, highest = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return highest, got


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [
        (b"gzip", gzip.compress),
        (b"deflate", zlib.compress),
        (b"deflate", lambda data: zlib.compress(data, wbits=-15)),
        (b"br", lambda data: brotli.compress(data, quality=1)),
        (b"zstd", zstd.compress),
    ],
)
def test_a_bomb_holds_no_more_than_the_cap_and_a_constant(encoding: bytes, pack: object) -> None:
    bomb = pack(bytes(64 << 20))  # type: ignore[operator]
    highest, got = peak(head(b"Content-Encoding: " + encoding), bomb, 8 << 20)
    assert (len(got.body), got.cut) == (8 << 20, True)
    assert highest < (8 << 20) * 9 // 8 + (4 << 20)
    # Packed twice, the inner one is what the outer bomb is made into: two bodies at a time, never more.
    highest, got = peak(head(b"Content-Encoding: gzip, gzip"), gzip.compress(gzip.compress(bytes(64 << 20))), 8 << 20)
    assert (len(got.body), got.cut) == (8 << 20, True)
    assert highest < 2 * (8 << 20) * 9 // 8 + (4 << 20)


def test_a_bomb_cut_in_an_inner_layer_says_so() -> None:
    inner = gzip.compress(TEXT) + bytes(1 << 20)
    got = decoded(head(b"Content-Encoding: gzip, gzip"), gzip.compress(inner), 100_000)
    assert (got.body, got.cut) == (TEXT, True)


@pytest.mark.parametrize(
    ("encoding", "raw"),
    [
        (b"Content-Encoding: gzip", gzip.compress(b"") * 200_000),
        (b"Content-Encoding: zstd", b"\x50\x2a\x4d\x18\0\0\0\0" * 500_000),
        (b"Transfer-Encoding: chunked", b"2\r\nab\r\n" * 600_000),
    ],
)
def test_a_flood_of_tiny_pieces_is_given_up(encoding: bytes, raw: bytes) -> None:
    assert not decoded(head(encoding), raw, 16 << 20).whole


@given(st.binary(max_size=300), st.sampled_from([b"gzip", b"deflate", b"br", b"zstd", b"gzip, gzip", b"x", b",,"]))
def test_no_bytes_raise(raw: bytes, encoding: bytes) -> None:
    for extra in (b"", b"Transfer-Encoding: chunked"):
        got = decoded(head(b"Content-Encoding: " + encoding, extra), raw, 1000)
        assert len(got.body) <= max(1000, len(raw))


@given(
    st.lists(st.binary(max_size=300) | st.sampled_from([TEXT, b"x" * 2000]), min_size=1, max_size=3),
    st.integers(0, 400),
    st.sampled_from([b"", b"\0", b"garbage", b"\x1f\x8b", b"\x1f\x8b\x08\0"]),
    st.integers(0, 12_000),
    st.tuples(st.integers(0, 400), st.integers(0, 255)),
)
def test_gzip_in_one_step_gives_what_it_gives_piece_by_piece(
    bodies: list[bytes], cut: int, after: bytes, most: int, flipped: tuple[int, int]
) -> None:
    raw = b"".join(map(gzip.compress, bodies)) + after
    damaged = bytearray(raw[: len(raw) - cut] or raw)
    damaged[flipped[0] % len(damaged)] = flipped[1]
    for each in (raw, raw[: len(raw) - cut], bytes(damaged)):
        if each.startswith(b"\x1f\x8b"):
            assert _gunzipped(each, most) == _frames(_gunzip, each, most, b"\x1f\x8b")
