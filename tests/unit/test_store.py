"""Pages into WARC and CDXJ, and what is left of them after a crash."""

from __future__ import annotations

import gzip
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType
from warcio.archiveiterator import ArchiveIterator as WarcioIterator
from warcio.checker import Checker

from gossamer.config import StoreConfig
from gossamer.errors import DamagedError
from gossamer.model import Page
from gossamer.store import Store, StorePosition


def page(number: int, body: bytes = b"<html>hello</html>", **more: object) -> Page:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n\r\n" % len(body)
    request = b"GET /p%d HTTP/1.1\r\nHost: a.test\r\n\r\n" % number
    return Page(
        f"http://a.test/p{number}", 200, head, body, body, 1_700_000_000.25 + number, 0.1, "192.0.2.7", request,
        content_type="text/html; charset=utf-8", **more,  # type: ignore[arg-type]
    )  # fmt: skip


def open_store(home: Path, position: StorePosition | None = None, **options: Any) -> Store:
    return Store(home, StoreConfig(**options), position or StorePosition(), "gossamer/0.1 (test)")


def responses(home: Path) -> list[tuple[str, bytes]]:
    found = []
    for file in sorted(home.glob("*.warc.gz")):
        with open(file, "rb") as stream:
            for record in ArchiveIterator(stream, record_types=WarcRecordType.response, parse_http=True):
                found.append((record.headers["WARC-Target-URI"], record.reader.read()))
    return found


def lines(home: Path) -> list[dict[str, str]]:
    return [
        json.loads(line.split(" ", 2)[2])
        for file in sorted(home.glob("*.cdxj"))
        for line in file.read_text().splitlines()
    ]


def test_pages_read_back_with_two_readers(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    for number in range(20):
        store.append(page(number, b"body %d" % number * 50))
    store.sync()
    store.close()
    assert responses(tmp_path) == [(f"http://a.test/p{n}", b"body %d" % n * 50) for n in range(20)]
    with open(tmp_path / "gossamer-00000.warc.gz", "rb") as stream:
        kinds = [record.rec_type for record in WarcioIterator(stream, check_digests="raise")]
    assert kinds == ["warcinfo"] + ["response", "request"] * 20


def test_warcio_check_accepts_it_and_sees_a_flipped_byte(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.append(page(1, b"some body to be damaged " * 40))
    store.sync()
    store.close()
    file = tmp_path / "gossamer-00000.warc.gz"

    def check(path: Path) -> int:
        class Arguments:
            inputs = (str(path),)
            verbose = False

        checker = Checker(Arguments())
        checker.process_all()
        return checker.exit_value

    assert check(file) == 0
    plain = bytearray(gzip.decompress(file.read_bytes()))
    plain[plain.index(b"damaged")] ^= 1
    damaged = tmp_path / "damaged.warc"
    damaged.write_bytes(plain)
    assert check(damaged) == 1


def test_every_cdxj_line_points_at_its_response(tmp_path: Path) -> None:
    store = open_store(tmp_path, warc_size=4000)
    for number in range(30):
        store.append(page(number, bytes(range(256)) * 4))
    store.sync()
    store.close()
    assert len(list(tmp_path.glob("*.warc.gz"))) > 3
    found = lines(tmp_path)
    assert [line["url"] for line in found] == [f"http://a.test/p{n}" for n in range(30)]
    for line in found:
        data = (tmp_path / line["filename"]).read_bytes()
        offset = int(line["offset"])
        member = data[offset : offset + int(line["length"])]
        record = gzip.decompress(member)
        assert f"WARC-Target-URI: {line['url']}\r\n".encode() in record
        assert f"WARC-Payload-Digest: {line['digest']}\r\n".encode() in record
        assert line["mime"] == "text/html"
        assert line["status"] == "200"


def test_what_came_after_the_last_commit_is_cut_off(tmp_path: Path) -> None:
    store = open_store(tmp_path, warc_size=6000)
    for number in range(5):
        store.append(page(number, bytes(range(256)) * 4))
    position = store.sync()
    for number in range(5, 40):
        store.append(page(number, bytes(range(256)) * 4))
    store.sync()
    store.close()  # killed here: the frontier never heard of pages 5 to 39
    torn = sorted(tmp_path.glob("*.warc.gz"))[-1]
    torn.write_bytes(torn.read_bytes()[:-7])

    again = open_store(tmp_path, position, warc_size=6000)
    assert [url for url, _ in responses(tmp_path)] == [f"http://a.test/p{n}" for n in range(5)]
    again.append(page(99))
    again.sync()
    again.close()
    assert [line["url"] for line in lines(tmp_path)] == [f"http://a.test/p{n}" for n in (0, 1, 2, 3, 4, 99)]


def test_a_file_shorter_than_committed_is_named(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.append(page(1))
    position = store.sync()
    store.close()
    file = tmp_path / "gossamer-00000.warc.gz"
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(DamagedError, match=r"gossamer-00000\.warc\.gz has"):
        open_store(tmp_path, position)


def test_a_truncated_body_says_so(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.append(page(1, truncated="time"))
    store.sync()
    store.close()
    with open(tmp_path / "gossamer-00000.warc.gz", "rb") as stream:
        headers = [record.rec_headers for record in WarcioIterator(io.BytesIO(stream.read()))]
    assert headers[1].get_header("WARC-Truncated") == "time"


def test_several_directories_share_the_pages(tmp_path: Path) -> None:
    homes = [tmp_path / name for name in ("first", "second", "third")]
    options = {"directories": (f"{homes[1]}=2", f"{homes[2]}=1"), "warc_size": 20_000}
    store = open_store(homes[0], **options)
    for number in range(200):
        store.append(page(number, bytes(range(256)) * 4))
    position = store.sync()
    sizes = [sum(file.stat().st_size for file in home.glob("*.warc.gz")) for home in homes]
    assert sizes[1] == pytest.approx(2 * sizes[0], rel=0.1)
    assert sizes[2] == pytest.approx(sizes[0], rel=0.1)
    for number in range(200, 300):
        store.append(page(number, bytes(range(256)) * 4))
    store.sync()
    store.close()  # killed here

    again = open_store(homes[0], position, **options)
    again.append(page(999))
    again.sync()
    again.close()
    urls = [line["url"] for home in homes for line in lines(home)]
    assert sorted(urls) == sorted(f"http://a.test/p{n}" for n in (*range(200), 999))
    names = [file.name for home in homes for file in home.glob("*.warc.gz")]
    assert len(set(names)) == len(names), "a number is used once over all directories"


def test_a_full_disk_is_left_out(tmp_path: Path) -> None:
    store = open_store(tmp_path / "a", directories=(f"{tmp_path / 'b'}=1",))
    store.append(page(1))
    store.sync()
    next(iter(store._writers.values())).has_room = False  # what statvfs would say of a full disk
    before = len(lines(tmp_path / "a"))
    for number in range(2, 20):
        store.append(page(number))
    store.sync()
    store.close()
    assert len(lines(tmp_path / "a")) == before
    assert len(lines(tmp_path / "b")) == 18 + (1 - before)


def test_a_system_that_takes_little_at_a_time_gets_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "writev", lambda file, pieces: write(file, b"".join(pieces)[:100]))
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:3333]))
    store = open_store(tmp_path)
    for number in range(2000):  # more pieces than one call may have
        store.append(page(number))
    store.sync()
    store.close()
    assert [url for url, _ in responses(tmp_path)] == [f"http://a.test/p{number}" for number in range(2000)]
    assert len(lines(tmp_path)) == 2000
