"""WARC 1.1 records, one gzip member each.

Written by hand because the record of a page is the same few lines each time: putting them together costs less than the
objects of a general writer, and isal's deflate costs a fifth of zlib's (docs/decisions/0006-isal.md).
"""

from __future__ import annotations

import os
import time
from base64 import b32decode
from functools import lru_cache
from hashlib import sha1

from isal import isal_zlib

from gossamer.model import Page
from gossamer.model.post import plain

_GZIP = 31  # wbits: a gzip member
_PROFILES = "http://netpreserve.org/warc/1.1/revisit/"
_IDENTICAL, _NOT_MODIFIED = _PROFILES + "identical-payload-digest", _PROFILES + "server-not-modified"
FORM = "Gossamer-Form"  # a field of our own: what stands behind the `#` in the URL of a form that was sent
_SMALL = 0  # level for records of a few hundred bytes: a better one costs more time than it saves bytes
_END = 4  # bytes of a record after its content
_MEMBER = (
    b"\x1f\x8b\x08\0\0\0\0\0\0\xff"  # how a gzip member begins: deflate, no name, no time, by nobody in particular
)
_STORED = 65_535  # bytes of a stored block at most
_PACKED = (b"\xff\xd8\xff", b"\x89PNG", b"GIF8", b"PK\3\4", b"\x1f\x8b", b"wOFF", b"wOF2")  # files that are packed


_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]
_SHIFTS = range(150, -1, -10)


def compress(record: bytes, level: int) -> bytes:
    packed: bytes = isal_zlib.compress(record, level, _GZIP)
    return packed


def compress_head(record: bytes, level: int, payload: int) -> bytes:
    """The same of a record whose payload, so many bytes before its end, is packed already: trying to pack it once more
    takes long and makes it larger.
    """
    cut = len(record) - payload - _END
    packer = isal_zlib.compressobj(level, isal_zlib.DEFLATED, -isal_zlib.MAX_WBITS)
    parts = [_MEMBER, packer.compress(record[:cut]), packer.flush(isal_zlib.Z_SYNC_FLUSH)]
    for start in range(cut, len(record), _STORED):
        block = record[start : start + _STORED]
        is_last = start + _STORED >= len(record)
        size = len(block)
        parts += (bytes((is_last, size & 255, size >> 8, ~size & 255, ~size >> 8 & 255)), block)
    parts.append(isal_zlib.crc32(record).to_bytes(4, "little"))
    parts.append((len(record) & 0xFFFFFFFF).to_bytes(4, "little"))
    return b"".join(parts)


def is_packed(page: Page) -> bool:
    """Whether what was sent is packed: it is much smaller than what it says, or is such a file."""
    raw = page.raw
    return 4 * len(raw) < 3 * len(page.body) or raw.startswith(_PACKED) or (raw[:4] == b"RIFF" and raw[8:12] == b"WEBP")


def payload_digest(payload: bytes) -> bytes:
    return sha1(payload, usedforsecurity=False).digest()


def _block_digest(head: bytes, body: bytes = b"") -> bytes:
    hashed = sha1(head, usedforsecurity=False)
    hashed.update(body)
    return hashed.digest()


def spelled_here(digest: bytes) -> str:
    """`sha1:` in base32, as web archives have it; two letters at a time, which is twice as fast as base64.b32encode."""
    number = int.from_bytes(digest, "big")
    pairs = _PAIRS
    return "sha1:" + "".join([pairs[number >> shift & 1023] for shift in _SHIFTS])


def record(fields: dict[str, str | bytes], digest: bytes, block: bytes, body: bytes = b"") -> bytes:
    """A whole record, whose content is `block` and `body`, which have this `digest` together; fields that have no value
    are not written.
    """
    fields = {**fields, "WARC-Block-Digest": spelled(digest)}
    texts = [(name, value.encode() if isinstance(value, str) else value) for name, value in fields.items() if value]
    lines = [b"%b: %b\r\n" % (name.encode(), value) for name, value in texts]
    length = b"Content-Length: %d\r\n\r\n" % (len(block) + len(body))
    return b"".join((b"WARC/1.1\r\n", *lines, length, block, body, b"\r\n\r\n"))


def records_here(
    page: Page,
    digest: bytes,
    blocks: tuple[bytes, bytes],
    run: str,
    number: int,
    same_as: tuple[str, float] | None = None,
) -> tuple[bytes, bytes]:
    """The response record of a page, or a revisit of the URL and moment `same_as`, and the request record or nothing.
    Their ids begin with `run`, and go on with `number` and the one after it. `digest` is that of the payload, `blocks`
    are those of the blocks of both records; without the second there is no request record.
    """
    date, url = date_of(page.fetched_at), plain(page.url)
    about = {"WARC-Type": "response"}
    raw = page.raw
    if same_as is not None:
        raw = b""
        about = {
            "WARC-Type": "revisit",
            "WARC-Profile": _NOT_MODIFIED if page.status == 304 else _IDENTICAL,
            "WARC-Refers-To-Target-URI": plain(same_as[0]),
            "WARC-Refers-To-Date": date_of(same_as[1]),
        }
    response: dict[str, str | bytes] = {
        **about, "WARC-Record-ID": f"{run}{number:012x}>", "WARC-Date": date, "WARC-Target-URI": url,
        FORM: page.url[len(url) + 1 :],
        "WARC-IP-Address": page.address, "WARC-Protocol": page.protocol, "WARC-Truncated": page.truncated,
        "WARC-Payload-Digest": spelled(digest), "Content-Type": "application/http;msgtype=response",
    }  # fmt: skip
    request: dict[str, str | bytes] = {
        "WARC-Type": "request", "WARC-Record-ID": f"{run}{number + 1:012x}>", "WARC-Date": date,
        "WARC-Target-URI": url, "WARC-Concurrent-To": f"{run}{number:012x}>", "WARC-Protocol": page.protocol,
        "Content-Type": "application/http;msgtype=request",
    }  # fmt: skip
    answered, asked = blocks
    return record(response, answered, page.head, raw), record(request, asked, page.request) if asked else b""


try:  # both are done for every page
    from gossamer.store import _records

    records, spelled = _records.records, _records.spelled
except ImportError:  # no compiler was at hand when it was installed
    records, spelled = records_here, spelled_here


def read_digest(text: str) -> bytes:
    """What `spelled` wrote; empty where it is something else."""
    try:
        digest = b32decode(text.removeprefix("sha1:"))
    except ValueError:
        return b""
    return digest if len(digest) == 20 else b""


def date_of(seconds: float) -> str:
    """WARC-Date with milliseconds, which WARC 1.1 allows. One that was read (`moment`) is written again as it was."""
    seconds += 1e-6  # a number read from a date may be a little below it
    whole = int(seconds)
    return f"{_second(whole)}.{int((seconds - whole) * 1000):03d}Z"


@lru_cache(maxsize=4)
def _second(whole: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole))


class RecordWriter:
    """Formats and compresses records. Knows no file.

    Ids are `urn:uuid`: a random part for the run, then a counter: none comes twice, none costs a system call.
    """

    def __init__(self, level: int, requests: bool) -> None:
        self._level = level
        self._requests = requests
        noise = os.urandom(10).hex()
        self._run = f"<urn:uuid:{noise[:8]}-{noise[8:12]}-4{noise[12:15]}-8{noise[15:18]}-"
        self._number = int.from_bytes(
            os.urandom(5), "big"
        )  # of six bytes: there is room for more than are ever written

    def warcinfo(self, filename: str, fields: dict[str, str], now: float) -> bytes:
        block = "".join(f"{name}: {value}\r\n" for name, value in fields.items()).encode()
        self._number += 1
        named: dict[str, str | bytes] = {
            "WARC-Type": "warcinfo", "WARC-Record-ID": f"{self._run}{self._number:012x}>", "WARC-Date": date_of(now),
            "WARC-Filename": filename, "Content-Type": "application/warc-fields",
        }  # fmt: skip
        return compress(record(named, _block_digest(block), block), _SMALL)

    def page(self, page: Page, digest: bytes, same_as: tuple[str, float] | None = None) -> tuple[bytes, bytes]:
        """The response record, or a revisit of the URL and moment `same_as`, and the request record or nothing."""
        self._number += 2
        asked = payload_digest(page.request) if self._requests else b""
        if same_as is None:
            blocks = _block_digest(page.head, page.raw), asked
            response, request = records(page, digest, blocks, self._run, self._number)
        else:
            blocks = _block_digest(page.head), asked
            response, request = records_here(page, digest, blocks, self._run, self._number, same_as)
        if same_as is None and is_packed(page):
            packed = compress_head(response, self._level, len(page.raw))
        else:
            packed = compress(response, self._level)
        return packed, compress(request, _SMALL) if request else b""
