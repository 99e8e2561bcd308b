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

_GZIP = 31  # wbits: a gzip member
_PROFILES = "http://netpreserve.org/warc/1.1/revisit/"
_IDENTICAL, _NOT_MODIFIED = _PROFILES + "identical-payload-digest", _PROFILES + "server-not-modified"
_SMALL = 0  # level for records of a few hundred bytes: a better one costs more time than it saves bytes


_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]
_SHIFTS = range(150, -1, -10)
_ENDS = [f"{number:02x}>" for number in range(256)]  # of record ids

Fields = tuple[str | bytes, ...]
"""Names and values in turn; what has no value is not written."""


def compress(record: bytes, level: int) -> bytes:
    packed: bytes = isal_zlib.compress(record, level, _GZIP)
    return packed


def payload_digest(payload: bytes) -> bytes:
    return sha1(payload, usedforsecurity=False).digest()


def spelled_here(digest: bytes) -> str:
    """`sha1:` in base32, as web archives have it; two letters at a time, which is twice as fast as base64.b32encode."""
    number = int.from_bytes(digest, "big")
    pairs = _PAIRS
    return "sha1:" + "".join([pairs[number >> shift & 1023] for shift in _SHIFTS])


def record_here(fields: Fields, block: bytes, body: bytes) -> bytes:
    """A whole record, whose content is `block` and `body`."""
    texts = [field.encode() if isinstance(field, str) else field for field in fields]
    lines = [b"%b: %b\r\n" % (name, value) for name, value in zip(texts[::2], texts[1::2], strict=True) if value]
    length = b"Content-Length: %d\r\n\r\n" % (len(block) + len(body))
    return b"".join((b"WARC/1.1\r\n", *lines, length, block, body, b"\r\n\r\n"))


try:  # both are done for every page
    from gossamer.store import _records

    record, spelled = _records.record, _records.spelled
except ImportError:  # no compiler was at hand when it was installed
    record, spelled = record_here, spelled_here


def read_digest(text: str) -> bytes:
    """What `spelled` wrote; empty where it is something else."""
    try:
        digest = b32decode(text.removeprefix("sha1:"))
    except ValueError:
        return b""
    return digest if len(digest) == 20 else b""


class RecordIds:
    """`urn:uuid` ids: a random part for the run, then a counter: none comes twice, none costs a system call.

    The last two digits are taken from a list: numbers take longer to write than all the rest of an id.
    """

    def __init__(self) -> None:
        noise = os.urandom(10).hex()
        self._run = f"<urn:uuid:{noise[:8]}-{noise[8:12]}-4{noise[12:15]}-8{noise[15:18]}-"
        self._hundreds = int.from_bytes(os.urandom(4), "big")
        self._prefix, self._left = "", 0

    def next(self) -> str:
        if not self._left:
            self._hundreds += 1
            self._prefix, self._left = f"{self._run}{self._hundreds:010x}", len(_ENDS)
        self._left -= 1
        return self._prefix + _ENDS[self._left]


class Dates:
    """WARC-Date with milliseconds, which WARC 1.1 allows. The last is kept at hand: pages come many at a moment.

    Invariant: a date that was read (`moment`) is written again as it was.
    """

    def __init__(self) -> None:
        self._seconds = -1.0
        self._text = ""

    def format(self, seconds: float) -> str:
        if seconds != self._seconds:
            self._seconds = seconds
            seconds += 1e-6  # a number read from a date may be a little below it
            whole = int(seconds)
            self._text = f"{_second(whole)}.{int((seconds - whole) * 1000):03d}Z"
        return self._text


@lru_cache(maxsize=4)
def _second(whole: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole))


class RecordWriter:
    """Formats and compresses records. Knows no file."""

    def __init__(self, level: int, requests: bool) -> None:
        self._level = level
        self._requests = requests
        self._ids = RecordIds()
        self._dates = Dates()

    def warcinfo(self, filename: str, fields: dict[str, str], now: float) -> bytes:
        block = "".join(f"{name}: {value}\r\n" for name, value in fields.items()).encode()
        named = (
            "WARC-Type", "warcinfo", "WARC-Record-ID", self._ids.next(), "WARC-Date", self._dates.format(now),
            "WARC-Filename", filename, "Content-Type", "application/warc-fields",
        )  # fmt: skip
        return compress(record(named, block, b""), _SMALL)

    def page(self, page: Page, digest: str, same_as: tuple[str, float] | None = None) -> tuple[bytes, bytes]:
        """The response record, or a revisit of the URL and moment `same_as`, and the request record or nothing."""
        date = self._dates.format(page.fetched_at)
        url, response_id = page.url, self._ids.next()
        kind, raw, profile, first, first_date = "response", page.raw, "", "", ""
        if same_as is not None:
            kind, raw, profile = "revisit", b"", _NOT_MODIFIED if page.status == 304 else _IDENTICAL
            first, first_date = same_as[0], self._dates.format(same_as[1])
        response = (
            "WARC-Type", kind, "WARC-Profile", profile, "WARC-Refers-To-Target-URI", first,
            "WARC-Refers-To-Date", first_date, "WARC-Record-ID", response_id, "WARC-Date", date, "WARC-Target-URI", url,
            "WARC-IP-Address", page.address, "WARC-Protocol", page.protocol, "WARC-Truncated", page.truncated,
            "WARC-Payload-Digest", digest, "Content-Type", "application/http;msgtype=response",
        )  # fmt: skip
        packed = compress(record(response, page.head, raw), self._level)
        if not self._requests:
            return packed, b""
        request = (
            "WARC-Type", "request", "WARC-Record-ID", self._ids.next(), "WARC-Date", date, "WARC-Target-URI", url,
            "WARC-Concurrent-To", response_id, "WARC-Protocol", page.protocol,
            "Content-Type", "application/http;msgtype=request",
        )  # fmt: skip
        return packed, compress(record(request, page.request, b""), _SMALL)
