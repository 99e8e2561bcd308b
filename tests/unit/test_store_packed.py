"""Payloads that are packed already are not packed once more: the records read back, and are no larger."""

from __future__ import annotations

import gzip
import random
import zlib
from pathlib import Path

import brotli
import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType
from warcio.checker import Checker

from gossamer.config import StoreConfig
from gossamer.model import Page
from gossamer.store import Store, StorePosition
from gossamer.store.warc import RecordWriter, compress, compress_head, is_packed, payload_digest, records

NOISE = random.Random(1).randbytes(200_000)
BLOCKS = bytes(20), b""
TEXT = b"<p>All work and no play makes Jack a dull boy.</p>\n" * 300


def page(raw: bytes, body: bytes | None = None, encoding: bytes = b"gzip") -> Page:
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: %b\r\nContent-Length: %d\r\n\r\n" % (encoding, len(raw))
    request = b"GET /p HTTP/1.1\r\nHost: a.test\r\n\r\n"
    return Page(
        "http://a.test/p", 200, head, raw, raw if body is None else body, 1_700_000_000.25, 0.1, "192.0.2.7", request,
        content_type="text/html",
    )  # fmt: skip


@pytest.mark.parametrize("size", [0, 1, 2, 65_526, 65_530, 65_531, 65_532, 65_535, 65_536, 131_066, 131_067, 200_000])
@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_every_reader_of_gzip_reads_it(size: int, level: int) -> None:
    record, _ = records(page(NOISE[:size]), payload_digest(NOISE[:size]), BLOCKS, "<urn:uuid:1-", 1)
    packed = compress_head(record, level, size)
    assert gzip.decompress(packed) == record
    reader = zlib.decompressobj(31)
    assert reader.decompress(packed + b"the next member") == record
    assert reader.unused_data == b"the next member"


@pytest.mark.parametrize(
    ("raw", "body", "packed"),
    [
        (gzip.compress(TEXT), TEXT, True),
        (brotli.compress(TEXT), TEXT, True),
        (TEXT, TEXT, False),
        (b"4b0\r\n" + TEXT[:1200] + b"\r\n0\r\n\r\n", TEXT[:1200], False),  # chunks
        (gzip.compress(NOISE), NOISE, True),
        (b"", b"", False),
        (b"\xff\xd8\xff\xe0 a photo", b"\xff\xd8\xff\xe0 a photo", True),
        (b"\x89PNG\r\n", b"\x89PNG\r\n", True),
        (b"RIFF\0\0\0\0WEBPVP8", b"RIFF\0\0\0\0WEBPVP8", True),
        (b"RIFF\0\0\0\0WAVEfmt", b"RIFF\0\0\0\0WAVEfmt", False),
    ],
)
def test_what_is_packed_is_known_by_what_it_says(raw: bytes, body: bytes, packed: bool) -> None:
    assert is_packed(page(raw, body)) == packed


def test_it_is_not_larger_than_packed_once_more() -> None:
    words = [NOISE[at : at + 4].hex().encode() for at in range(0, 3000, 4)]
    raw = gzip.compress(b" ".join(random.Random(2).choices(words, k=3000)))
    record, _ = records(page(raw), payload_digest(raw), BLOCKS, "<urn:uuid:1-", 1)
    assert len(compress_head(record, 1, len(raw))) <= len(compress(record, 1))


def test_a_revisit_has_no_payload_that_could_be_packed() -> None:
    packed = page(gzip.compress(TEXT), TEXT)
    response, _ = RecordWriter(1, True).page(packed, payload_digest(packed.raw), ("http://a.test/q", 1_600_000_000.0))
    assert gzip.decompress(response).endswith(b"\r\n\r\n\r\n\r\n")


def test_archives_of_packed_pages_are_read_and_checked_by_others(tmp_path: Path) -> None:
    store = Store(tmp_path, StoreConfig(), StorePosition(), "gossamer/0.1 (test)")
    bodies = [TEXT + b"%d" % number for number in range(20)]
    for body in bodies:
        store.append(page(gzip.compress(body), body))
    store.append(page(NOISE, NOISE, b"identity"))
    store.sync()
    store.close()
    (file,) = tmp_path.glob("*.warc.gz")
    with open(file, "rb") as stream:
        kinds = WarcRecordType.response
        found = [record.reader.read() for record in ArchiveIterator(stream, record_types=kinds, auto_decode="content")]
    assert found == [*bodies, NOISE]
    arguments = type("Arguments", (), {"inputs": [str(file)], "verbose": False})
    checker = Checker(arguments)  # type: ignore[no-untyped-call]
    checker.process_all()  # type: ignore[no-untyped-call]
    assert checker.exit_value == 0
