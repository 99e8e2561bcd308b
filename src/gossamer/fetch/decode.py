"""Taking transfer and content encodings off a body, with a cap on what comes out.

Memory: beside the body as sent there is one decoded body of at most the cap, and one that it is made from when there
are several layers; everything else is a constant. Time is linear in both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from io import BytesIO
from typing import Protocol

import msgspec
from isal import igzip_lib, isal_zlib

from gossamer.regex import compiled_later

_TRANSFER = compiled_later(rb"\ntransfer-encoding[ \t]*:[ \t]*([^\r\n]*)", re.I)
_CONTENT = compiled_later(rb"\ncontent-encoding[ \t]*:[ \t]*([^\r\n]*)", re.I)
_CHUNK_SIZE = compiled_later(rb"[ \t]*0*([0-9a-fA-F]{1,16})[ \t]*(?:;[^\r\n]*)?\r?\n")
_TRAILERS = compiled_later(rb"(?:[^\r\n][^\n]*\n)*+\r?\n")
_GZIP = 31  # wbits: a gzip member
_MEMBER = b"\x1f\x8b"  # how one begins
_LONGEST_CHUNK = 2**63 - 1
_MOST_CHUNKS = 262_144  # more of them are there to keep us busy
_MOST_LAYERS = 4
_MOST_FRAMES = 1024  # gzip members or zstd frames one after the other
_ZSTD_WINDOW = 23  # RFC 9659: 8 MB, as a power of two
_AT_ONCE = 256 * 1024  # bytes of a body that are handed over in one piece
_PIECE = 64 * 1024
_SMALL_PIECE = 256
_STEP = 1024 * 1024  # bytes that come out at a time


class Decoded(msgspec.Struct, gc=False):
    """A body as its author meant it. What cannot be decoded is given as it is."""

    body: bytes
    whole: bool = True  # all of it is there
    cut: bool = False  # at the cap
    end: int = -1  # where the message ends in what was sent, when that is known: bytes may follow the last chunk


class Unpacker(Protocol):
    """As in `bz2`: one frame, a piece at a time."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes | memoryview, max_length: int = -1) -> bytes: ...


def decoded(head: bytes, raw: bytes, most: int) -> Decoded:
    if b"-encoding" not in head.lower():
        return Decoded(raw)
    result = Decoded(raw)
    transfer = _names(_TRANSFER.findall(head))
    if b"chunked" in transfer:
        result = dechunked(raw)
        transfer.remove(b"chunked")
    layers = _names(_CONTENT.findall(head)) + transfer
    if len(layers) > _MOST_LAYERS:
        result.whole = False
        return result
    for name in reversed(layers):
        body, whole = _unpacked(name, result.body, most)
        result.cut = result.cut or (not whole and len(body) >= most and body is not result.body)
        result.body, result.whole = body, result.whole and whole
    return result


def dechunked(raw: bytes) -> Decoded:
    """The data of all chunks; a body that is not chunked after all is given as it is."""
    body = BytesIO()
    at = 0
    for _ in range(_MOST_CHUNKS):
        size_line = _CHUNK_SIZE.match(raw, at)
        size = _LONGEST_CHUNK + 1 if size_line is None else int(size_line[1], 16)
        if size_line is None or size > _LONGEST_CHUNK:
            return Decoded(body.getvalue() if at else raw, whole=False)
        at = size_line.end()
        if size == 0:
            trailers = _TRAILERS.match(raw, at)
            if trailers is None:
                return Decoded(body.getvalue(), whole=False)
            return Decoded(body.getvalue(), end=trailers.end())
        body.write(memoryview(raw)[at : at + size])
        at += size
        if at > len(raw):
            return Decoded(body.getvalue(), whole=False)
        if raw[at : at + 2] == b"\r\n":
            at += 2
        elif raw[at : at + 1] == b"\n":
            at += 1
    return Decoded(body.getvalue(), whole=False, cut=True)


def _names(values: Iterable[bytes]) -> list[bytes]:
    """The codings of all headers of a name, in the order in which they were put on."""
    return [name.strip().lower() for value in values for name in value.split(b",") if name.strip()]


def _unpacked(name: bytes, raw: bytes, most: int) -> tuple[bytes, bool]:
    if not raw:
        return raw, True
    if name in (b"gzip", b"x-gzip"):
        return _gunzipped(raw, most) if raw.startswith(_MEMBER) else (raw, False)
    if name == b"deflate":
        body, whole = _frames(_zlib, raw, most)
        # Some servers send deflate without the zlib frame that the standard asks for.
        return (body, whole) if body or whole else _or_as_it_is(_frames(_raw_deflate, raw, most), raw)
    if name == b"br":
        return _or_as_it_is(_unbrotlied(raw, most), raw)
    if name == b"zstd":
        return _or_as_it_is(_frames(_unzstd, raw, most), raw)
    return raw, name == b"identity"


def _gunzipped(raw: bytes, most: int) -> tuple[bytes, bool]:
    """One whole member, as nearly always, is unpacked in one step; whatever else it is, piece by piece."""
    if len(raw) <= _AT_ONCE and most > 0:
        unpacker = isal_zlib.decompressobj(_GZIP)
        with suppress(Exception):  # its errors are those of the library
            body: bytes = unpacker.decompress(raw, min(most, _STEP))
            if unpacker.eof and not unpacker.unused_data:
                return body, True
    return _frames(_gunzip, raw, most, _MEMBER)


def _or_as_it_is(result: tuple[bytes, bool], raw: bytes) -> tuple[bytes, bool]:
    return result if result[0] or result[1] else (raw, False)


def _gunzip() -> Unpacker:
    unpacker: Unpacker = igzip_lib.IgzipDecompressor(igzip_lib.DECOMP_GZIP)
    return unpacker


def _zlib() -> Unpacker:
    unpacker: Unpacker = igzip_lib.IgzipDecompressor(igzip_lib.DECOMP_ZLIB)
    return unpacker


def _raw_deflate() -> Unpacker:
    unpacker: Unpacker = igzip_lib.IgzipDecompressor(igzip_lib.DECOMP_DEFLATE)
    return unpacker


def _unzstd() -> Unpacker:
    from backports import zstd  # few servers send it unasked

    return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW})


def _frames(make: Callable[[], Unpacker], raw: bytes, most: int, magic: bytes = b"") -> tuple[bytes, bool]:
    """What comes out, and whether that is all. Frames after the first one count if they begin with `magic`."""
    body = BytesIO()
    try:
        whole = _unpack(make, raw, most, magic, _AT_ONCE if len(raw) <= _AT_ONCE else _PIECE, body)
    except Exception:  # each library has its own
        # Broken further on: what comes before the break is worth having.
        body = BytesIO()
        whole = False
        with suppress(Exception):
            _unpack(make, raw, most, magic, _SMALL_PIECE, body)
    return body.getvalue(), whole


def _unpack(make: Callable[[], Unpacker], raw: bytes, most: int, magic: bytes, piece: int, body: BytesIO) -> bool:
    view = memoryview(raw)
    at = 0
    for _ in range(_MOST_FRAMES):
        unpacker = make()
        while not unpacker.eof:
            data = view[at : at + piece] if unpacker.needs_input else view[:0]
            left = most - body.tell()
            if (unpacker.needs_input and not data) or left <= 0:
                return False
            at += len(data)
            body.write(unpacker.decompress(data, min(left, _STEP)))
        at -= len(unpacker.unused_data)
        if at >= len(raw) or not (magic or make is _unzstd) or not raw.startswith(magic, at):
            return True
    return False


def _unbrotlied(raw: bytes, most: int) -> tuple[bytes, bool]:
    import brotli  # many crawls meet no server that sends it

    unpacker = brotli.Decompressor()
    body = BytesIO()
    data = raw
    whole = False
    try:
        while not unpacker.is_finished() and body.tell() < most:
            part = unpacker.process(data, output_buffer_limit=min(most - body.tell(), _STEP))
            body.write(part)
            data = b""
            if not part and unpacker.can_accept_more_data():
                break
        whole = unpacker.is_finished() and body.tell() <= most
    except brotli.error:
        pass
    body.truncate(most)  # its limit is a rough one
    return body.getvalue(), whole
