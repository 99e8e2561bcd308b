"""Taking transfer and content encodings off a body, with a cap on what comes out."""

from __future__ import annotations

import re
import zlib

from isal import isal_zlib

_TRANSFER = re.compile(rb"\ntransfer-encoding[ \t]*:[ \t]*([^\r\n]*)", re.I)
_CONTENT = re.compile(rb"\ncontent-encoding[ \t]*:[ \t]*([^\r\n]*)", re.I)
_CHUNK_SIZE = re.compile(rb"[ \t]*([0-9a-fA-F]{1,16})[ \t]*(?:;[^\r\n]*)?\r?\n")
_MOST_LAYERS = 4


def decoded(head: bytes, raw: bytes, most: int) -> tuple[bytes, bool]:
    """The body as its author meant it, and whether all of it is there. What cannot be decoded is given as it is."""
    if b"ncoding" not in head and b"NCODING" not in head:
        return raw, True
    whole = True
    transfer = _TRANSFER.search(head)
    if transfer and b"chunked" in transfer[1].lower():
        raw, whole = dechunked(raw)
    content = _CONTENT.search(head)
    if content is None:
        return raw, whole
    names = [name.strip().lower() for name in content[1].split(b",") if name.strip()]
    if len(names) > _MOST_LAYERS:
        return raw, False
    for name in reversed(names):
        raw, complete = _unpacked(name, raw, most)
        whole = whole and complete
    return raw, whole


def dechunked(raw: bytes) -> tuple[bytes, bool]:
    """The data of all chunks; a body that is not chunked after all is given as it is."""
    parts: list[bytes] = []
    at = 0
    while True:
        size_line = _CHUNK_SIZE.match(raw, at)
        if size_line is None:
            return (b"".join(parts), False) if parts else (raw, False)
        size = int(size_line[1], 16)
        if size == 0:
            return b"".join(parts), True
        start = size_line.end()
        parts.append(raw[start : start + size])
        at = start + size
        if at > len(raw):
            return b"".join(parts), False
        if raw[at : at + 2] == b"\r\n":
            at += 2
        elif raw[at : at + 1] == b"\n":
            at += 1


def _unpacked(name: bytes, raw: bytes, most: int) -> tuple[bytes, bool]:
    if name in (b"gzip", b"x-gzip"):
        return _inflated(raw, 31, most)
    if name == b"deflate":
        body, complete = _inflated(raw, 15, most)
        # Some servers send deflate without the zlib frame that the standard asks for.
        return (body, complete) if body or not raw else _inflated(raw, -15, most)
    if name == b"br":
        return _unbrotlied(raw, most)
    return raw, name == b"identity"


def _inflated(raw: bytes, wbits: int, most: int) -> tuple[bytes, bool]:
    parts = []
    left = most
    while raw and left > 0:
        unpacker = isal_zlib.decompressobj(wbits)
        try:
            part = unpacker.decompress(raw, left)
        except (isal_zlib.IsalError, ValueError):  # type: ignore[misc]  # its stub says instance, it is a class
            # Broken further on: what comes before the break is worth having.
            part = _inflated_before_error(raw, wbits, left)
            parts.append(part)
            return b"".join(parts), False
        parts.append(part)
        left -= len(part)
        if not unpacker.eof:
            return b"".join(parts), False
        raw = unpacker.unused_data if wbits == 31 else b""  # gzip may have several members
        if raw and not raw.startswith(b"\x1f\x8b"):
            break
    return b"".join(parts), left > 0


def _inflated_before_error(raw: bytes, wbits: int, most: int) -> bytes:
    unpacker = zlib.decompressobj(wbits)
    parts = []
    size = 0
    try:
        for at in range(0, len(raw), 256):
            part = unpacker.decompress(raw[at : at + 256], most - size)
            parts.append(part)
            size += len(part)
            if size >= most:
                break
    except zlib.error:
        pass
    return b"".join(parts)


def _unbrotlied(raw: bytes, most: int) -> tuple[bytes, bool]:
    import brotli  # many crawls meet no server that sends it

    unpacker = brotli.Decompressor()
    parts = []
    size = 0
    try:
        data = raw
        while size < most and not unpacker.is_finished():
            part = unpacker.process(data, output_buffer_limit=most - size)
            parts.append(part)
            size += len(part)
            data = b""
            if not part and unpacker.can_accept_more_data():
                break
    except brotli.error:
        return b"".join(parts) or raw, False
    return b"".join(parts)[:most], unpacker.is_finished()
