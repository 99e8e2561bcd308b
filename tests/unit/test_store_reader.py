"""What the store wrote, read back: in the order of appending, and by place."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.config import StoreConfig
from gossamer.model import Locator, Page
from gossamer.store import (
    Captures,
    CommittedNote,
    Place,
    RecordFiles,
    Store,
    StorePosition,
    payload_digest,
    read_committed,
)
from gossamer.store.reader import moment, read_record
from gossamer.store.warc import read_digest, spelled

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


def page(number: int, body: bytes = b"", status: int = 200) -> Page:
    head = HEAD.replace(b"200", b"%d" % status)
    body = body or b"<p>page %d</p>" % number
    url = f"http://a.test/p{number}"
    return Page(url, status, head, body, body, 1_700_000_000.25 + number, 0.1, "192.0.2.7", content_type="text/html")


OpenStore = Callable[..., Store]


@pytest.fixture
def open_store() -> Iterator[OpenStore]:
    """Opens stores, which the end of the test closes."""
    with ExitStack() as stack:

        def opened(home: Path, position: StorePosition | None = None, **options: Any) -> Store:
            store = Store(home, StoreConfig(**options), position or StorePosition(), "gossamer/0.1 (test)")
            stack.callback(store.close)
            return store

        yield opened


def urls(home: Path, places: dict[str, Place], committed: StorePosition) -> list[int]:
    return [int(capture.url[len("http://a.test/p") :]) for capture in Captures(home).after(places, committed)]


def test_captures_come_in_order_over_files_and_go_on_from_any_place(tmp_path: Path, open_store: OpenStore) -> None:
    store = open_store(tmp_path, warc_size=3000)
    for number in range(40):
        store.append(page(number, os.urandom(200)))
    committed = store.sync()
    assert len(list(tmp_path.glob("*.cdxj"))) > 3
    captures = list(Captures(tmp_path).after({}, committed))
    assert [capture.url for capture in captures] == [f"http://a.test/p{number}" for number in range(40)]
    for number, capture in enumerate(captures):
        assert urls(tmp_path, {"": capture.after}, committed) == list(range(number + 1, 40))
        assert capture.fetched_at == 1_700_000_000 + number


def test_nothing_beyond_the_commit_is_read(tmp_path: Path, open_store: OpenStore) -> None:
    store = open_store(tmp_path, warc_size=3000)
    for number in range(10):
        store.append(page(number, os.urandom(200)))
    committed = store.sync()
    for number in range(10, 40):
        store.append(page(number, os.urandom(200)))
    later = store.sync()
    assert urls(tmp_path, {}, committed) == list(range(10))
    assert urls(tmp_path, {}, later) == list(range(40))
    assert urls(tmp_path, {}, StorePosition()) == []


def test_captures_of_several_directories_come_by_time(tmp_path: Path, open_store: OpenStore) -> None:
    home, more = tmp_path / "warc", tmp_path / "more"
    store = open_store(home, directories=(f"{more}=1",), warc_size=3000)
    for number in range(30):
        store.append(page(number, os.urandom(200)))
    committed = store.sync()
    assert {name for name, end in committed.writers.items() if end.file >= 0} == {"", str(more)}
    assert urls(home, {}, committed) == list(range(30))
    places: dict[str, Place] = {}
    for number, capture in zip(range(17), Captures(home).after({}, committed), strict=False):
        assert capture.url == f"http://a.test/p{number}"
        places[capture.directory] = capture.after
    assert urls(home, places, committed) == list(range(17, 30))
    done, total = Captures(home).sizes(places, committed)
    assert 0.4 < done / total < 0.7
    files = RecordFiles([home, more])
    for capture in Captures(home).after({}, committed):
        record = files.read(capture.stored)
        assert record is not None
        assert record.url == capture.url


def test_a_place_that_no_longer_fits_goes_back_to_the_beginning_of_its_file(
    tmp_path: Path, open_store: OpenStore
) -> None:
    store = open_store(tmp_path)
    for number in range(5):
        store.append(page(number))
    earlier = store.sync()
    for number in range(5, 9):
        store.append(page(number))
    committed = store.sync()
    captures = list(Captures(tmp_path).after({}, committed))
    places = {"": captures[7].after}
    reader = Captures(tmp_path)
    assert reader.checked(places, committed) == places
    assert reader.checked({}, committed) == {"": Place()}
    # The machine failed: the store is back where it was, and other pages follow.
    assert reader.checked(places, earlier) == {"": Place(0)}
    store.close()
    store = open_store(tmp_path, earlier)
    for number in range(20, 30):
        store.append(page(number))
    committed = store.sync()
    assert reader.checked(places, committed) == {"": Place(0)}
    assert reader.checked({"": captures[4].after}, committed) == {"": captures[4].after}


def test_records_read_back_as_they_were_stored(tmp_path: Path, open_store: OpenStore) -> None:
    store = open_store(tmp_path)
    first = page(1, b"x" * 5000)
    place = Locator(*store.append(first))
    again = page(2, b"x" * 5000)
    revisit = Locator(*store.append(again, same_as=(first.url, first.fetched_at)))
    store.sync()
    files = RecordFiles([tmp_path])
    record = files.read(place)
    assert record is not None
    assert (record.url, record.status, record.head, record.raw) == (first.url, 200, first.head, first.raw)
    assert record.digest == payload_digest(first.raw)
    assert (record.fetched_at, record.refers_to) == (first.fetched_at, None)
    record = files.read(revisit)
    assert record is not None
    assert (record.raw, record.refers_to, record.digest) == (
        b"",
        (first.url, first.fetched_at),
        payload_digest(again.raw),
    )
    files.close()


@pytest.mark.parametrize("end", [b"\r\n", b"\n"])
def test_heads_end_as_servers_end_them(tmp_path: Path, open_store: OpenStore, end: bytes) -> None:
    head = end.join([b"HTTP/1.0 200 OK", b"Content-Type: text/html", b"", b""])
    body = b"first\n\nsecond\r\n\r\nthird"
    store = open_store(tmp_path)
    place = Locator(*store.append(Page("http://a.test/", 200, head, body, body, 1e9, 0.1, "")))
    store.sync()
    record = RecordFiles([tmp_path]).read(place)
    assert record is not None
    assert (record.head, record.raw) == (head, body)


def test_what_is_no_record_is_none(tmp_path: Path, open_store: OpenStore) -> None:
    store = open_store(tmp_path)
    place = Locator(*store.append(page(1, b"y" * 3000)))
    store.sync()
    files = RecordFiles([tmp_path])
    assert files.read(Locator(7, 0, 100)) is None
    assert files.read(Locator(0, 10**9, 100)) is None
    assert files.read(Locator(0, place.offset + 1, place.length)) is None
    assert files.read(Locator(0, place.offset, place.length - 9)) is None
    assert files.read(Locator(0, 0, place.offset)) is None  # the warcinfo
    assert RecordFiles([tmp_path], most=-(200 << 10)).read(place) is not None
    bomb = gzip.compress(b"WARC/1.1\r\nWARC-Type: response\r\n\r\n" + bytes(1 << 20))
    (tmp_path / "gossamer-00009.warc.gz").write_bytes(bomb)
    assert RecordFiles([tmp_path], most=1000).read(Locator(9, 0, len(bomb))) is None


@given(st.binary(max_size=400))
def test_no_bytes_raise(data: bytes) -> None:
    read_record(data)
    read_record(b"WARC/1.1\r\nWARC-Type: response\r\n" + data)
    moment(data)
    read_digest(data.decode("latin-1"))


@given(st.binary(min_size=20, max_size=20))
def test_digests_read_back(digest: bytes) -> None:
    assert read_digest(spelled(digest)) == digest


def test_a_commit_is_noted_and_half_a_note_is_none(tmp_path: Path, open_store: OpenStore) -> None:
    assert read_committed(tmp_path) is None
    store = open_store(tmp_path)
    store.append(page(1))
    position = store.sync()
    note = CommittedNote(tmp_path)
    note.write(position)
    assert read_committed(tmp_path) == position
    note.write(StorePosition())  # shorter: the end of the longer one stays behind it
    assert read_committed(tmp_path) == StorePosition()
    note.write(position)
    note.close()
    file = tmp_path / "committed"
    whole = file.read_bytes()
    for length in range(len(whole)):
        file.write_bytes(whole[:length])
        assert read_committed(tmp_path) is None
    CommittedNote(tmp_path / "nowhere").write(position)  # no reason for a crawl to end
