"""WARC 1.1 records, one gzip member each.

Written by hand because the record of a page is the same few lines each time: formatting them costs less than the
objects of a general writer, and isal's deflate costs a fifth of zlib's (docs/decisions/0006-isal.md).
"""

from __future__ import annotations

import os
import time
from base64 import b32decode
from hashlib import sha1

from isal import isal_zlib

from gossamer.model import Page

_GZIP = 31  # wbits: a gzip member
_IDENTICAL, _NOT_MODIFIED = b"identical-payload-digest", b"server-not-modified"  # profiles of revisit records
_SMALL = 0  # level for records of a few hundred bytes: a better one costs more time than it saves bytes


_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]
_SHIFTS = range(150, -1, -10)


def compress(parts: tuple[bytes, ...], level: int) -> bytes:
    packed: bytes = isal_zlib.compress(b"".join(parts), level, _GZIP)
    return packed


def payload_digest(payload: bytes) -> bytes:
    return sha1(payload, usedforsecurity=False).digest()


def spelled(digest: bytes) -> str:
    """`sha1:` in base32, as web archives have it; two letters at a time, which is twice as fast as base64.b32encode."""
    number = int.from_bytes(digest, "big")
    pairs = _PAIRS
    return "sha1:" + "".join([pairs[number >> shift & 1023] for shift in _SHIFTS])


def read_digest(text: str) -> bytes:
    """What `spelled` wrote; empty where it is something else."""
    try:
        digest = b32decode(text.removeprefix("sha1:"))
    except ValueError:
        return b""
    return digest if len(digest) == 20 else b""


class RecordIds:
    """`urn:uuid` ids: a random part for the run, then a counter: none comes twice, none costs a system call."""

    def __init__(self) -> None:
        noise = os.urandom(10).hex()
        self._prefix = f"{noise[:8]}-{noise[8:12]}-4{noise[12:15]}-8{noise[15:18]}-".encode()
        self._count = int.from_bytes(os.urandom(5), "big")

    def next(self) -> bytes:
        self._count += 1
        return b"<urn:uuid:%b%012x>" % (self._prefix, self._count)


class Dates:
    """WARC-Date with milliseconds, which WARC 1.1 allows; the last second is kept at hand.

    Invariant: a date that was read (`moment`) is written again as it was.
    """

    def __init__(self) -> None:
        self._second = -1
        self._text = b""

    def format(self, seconds: float) -> bytes:
        seconds += 1e-6  # a number read from a date may be a little below it
        whole = int(seconds)
        if whole != self._second:
            self._second = whole
            self._text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole)).encode()
        return b"%b.%03dZ" % (self._text, int((seconds - whole) * 1000))


class RecordWriter:
    """Formats and compresses records. Knows no file."""

    def __init__(self, level: int, requests: bool) -> None:
        self._level = level
        self._requests = requests
        self._ids = RecordIds()
        self._dates = Dates()

    def warcinfo(self, filename: str, fields: dict[str, str], now: float) -> bytes:
        block = "".join(f"{name}: {value}\r\n" for name, value in fields.items()).encode()
        head = (
            b"WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: %b\r\nWARC-Date: %b\r\nWARC-Filename: %b\r\n"
            b"Content-Type: application/warc-fields\r\nContent-Length: %d\r\n\r\n"
            % (self._ids.next(), self._dates.format(now), filename.encode(), len(block))
        )
        return compress((head, block, b"\r\n\r\n"), _SMALL)

    def page(self, page: Page, digest: str, same_as: tuple[str, float] | None = None) -> tuple[bytes, bytes]:
        """The response record, or a revisit of the URL and moment `same_as`, and the request record or nothing."""
        date = self._dates.format(page.fetched_at)
        url = page.url.encode()
        response_id = self._ids.next()
        truncated = b"WARC-Truncated: %b\r\n" % page.truncated.encode() if page.truncated else b""
        protocol = b"WARC-Protocol: %b\r\n" % page.protocol if page.protocol else b""
        address = b"WARC-IP-Address: %b\r\n" % page.address.encode() if page.address else b""
        kind, raw = b"response", page.raw
        if same_as is not None:
            kind, raw = self._revisit(_NOT_MODIFIED if page.status == 304 else _IDENTICAL, *same_as), b""
        head = (
            b"WARC/1.1\r\nWARC-Type: %b\r\nWARC-Record-ID: %b\r\nWARC-Date: %b\r\nWARC-Target-URI: %b\r\n"
            b"%b%b%bWARC-Payload-Digest: %b\r\nContent-Type: application/http;msgtype=response\r\n"
            b"Content-Length: %d\r\n\r\n"
            % (kind, response_id, date, url, address, protocol, truncated, digest.encode(), len(page.head) + len(raw))
        )
        response = compress((head, page.head, raw, b"\r\n\r\n"), self._level)
        if not self._requests:
            return response, b""
        head = (
            b"WARC/1.1\r\nWARC-Type: request\r\nWARC-Record-ID: %b\r\nWARC-Date: %b\r\nWARC-Target-URI: %b\r\n"
            b"WARC-Concurrent-To: %b\r\n%bContent-Type: application/http;msgtype=request\r\nContent-Length: %d\r\n\r\n"
            % (self._ids.next(), date, url, response_id, protocol, len(page.request))
        )
        return response, compress((head, page.request, b"\r\n\r\n"), _SMALL)

    def _revisit(self, profile: bytes, url: str, fetched_at: float) -> bytes:
        """The type of a record whose payload is in another one, and the lines that say in which."""
        return (
            b"revisit\r\nWARC-Profile: http://netpreserve.org/warc/1.1/revisit/%b\r\n"
            b"WARC-Refers-To-Target-URI: %b\r\nWARC-Refers-To-Date: %b"
            % (profile, url.encode(), self._dates.format(fetched_at))
        )
