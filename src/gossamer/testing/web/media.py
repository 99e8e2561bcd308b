"""Things that are not HTML: PDF-like files, images, style sheets, and a gzip bomb."""

from __future__ import annotations

import struct
import zlib
from functools import lru_cache

from gossamer.testing.web.dice import mix

STYLE = b"body { max-width: 44em; margin: 2em auto; font: 16px/1.5 system-ui; }\na { color: #0b6b5d; }\n"

_BLOCK = bytes(16 << 20)
_BLOCKS = 16


def pdf(seed: int, host: int, number: int) -> bytes:
    """Looks like a PDF from both ends; some 4 to 20 KB."""
    x = mix(seed, host, number)
    words = b" ".join(b"%x" % mix(x, turn) for turn in range(200 + x % 800))
    stream = b"1 0 obj\n<< /Length %d >>\nstream\n%b\nendstream\nendobj\n" % (len(words), words)
    return b"%PDF-1.4\n" + stream + b"trailer\n<< /Root 1 0 R >>\n%%EOF\n"


def png(seed: int, host: int, number: int) -> bytes:
    """A valid image of 16 x 16 pixels in one colour."""
    colour = (mix(seed, host, number) & 0xFFFFFF).to_bytes(3)
    rows = zlib.compress((b"\0" + colour * 16) * 16)
    chunks = ((b"IHDR", struct.pack(">IIBBBBB", 16, 16, 8, 2, 0, 0, 0)), (b"IDAT", rows), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


@lru_cache(maxsize=1)
def gzip_bomb() -> bytes:
    """256 MB of zeros in 260 KB, one valid gzip member.

    A fully flushed deflate block refers to nothing before it, so one block can be repeated without compressing again.
    """
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = deflate.compress(_BLOCK) + deflate.flush(zlib.Z_FULL_FLUSH)
    crc = 0
    for _ in range(_BLOCKS):
        crc = zlib.crc32(_BLOCK, crc)
    end = b"\x03\x00" + struct.pack("<II", crc, len(_BLOCK) * _BLOCKS)  # an empty last block, then the trailer
    return b"\x1f\x8b\x08\0\0\0\0\0\x02\xff" + block * _BLOCKS + end
