"""What sitemaps and feeds are made of: URLs, each with what its publisher says of it."""

from __future__ import annotations

import zlib
from io import BytesIO
from typing import Final

import msgspec

from gossamer.parse.moments import when

MOST_BYTES: Final = 50 * 1024 * 1024
"""Of one file, when it is not compressed any more (sitemaps.org)."""
MOST_URLS: Final = 50_000
"""In one file (sitemaps.org)."""
_GZIP: Final = b"\x1f\x8b"
_PIECE: Final = 256  # bytes handed over at a time: of a broken piece nothing comes out
_MOST_MEMBERS: Final = 1024


class Listed(msgspec.Struct, frozen=True, gc=False):
    """A normalised URL. The rest are hints, None where nothing is said, or nothing that makes sense."""

    url: str
    modified: str = ""  # as written: hardly anybody asks
    priority: float | None = None  # 0 to 1, among the URLs of its host

    @property
    def lastmod(self) -> float | None:
        """In seconds since 1970."""
        return when(self.modified) if self.modified else None


class Listing(msgspec.Struct, gc=False):
    """What one file lists, each URL once and in the order of the file."""

    urls: list[Listed]
    sitemaps: list[Listed]


def unpacked(body: bytes) -> bytes:
    """A file as it was before gzip, if that was used, and no more of it than the protocol allows. Of a broken file
    what comes before the break.
    """
    if not body.startswith(_GZIP):
        return body[:MOST_BYTES]
    out = BytesIO()
    view = memoryview(body)
    at = 0
    try:
        for _ in range(_MOST_MEMBERS):
            unpacker = zlib.decompressobj(wbits=31)
            while not unpacker.eof and (left := MOST_BYTES - out.tell()) > 0:
                data = unpacker.unconsumed_tail or view[at : at + _PIECE]
                if not data:
                    break
                at += 0 if unpacker.unconsumed_tail else len(data)
                out.write(unpacker.decompress(data, left))
            at -= len(unpacker.unused_data)
            if not unpacker.eof or not body.startswith(_GZIP, at):
                break
    except zlib.error:
        pass
    return out.getvalue()
