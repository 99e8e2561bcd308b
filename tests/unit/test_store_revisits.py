"""A page that is visited again: what is stored of it, as other readers of WARC see it, and as it is read back here."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator as WarcioIterator
from warcio.checker import Checker

from gossamer.agent.earlier import Earlier
from gossamer.config import StoreConfig
from gossamer.model import Change, Locator, Page
from gossamer.store import Captures, RecordFiles, Store, StorePosition, payload_digest
from gossamer.store.cdxj import line_here
from gossamer.store.reader import moment
from gossamer.store.warc import date_of, spelled

URL = "http://a.test/page"
BODY = b"<p>as it was"
DIGEST = payload_digest(BODY)
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
UNCHANGED = b'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\nContent-Length: 12\r\n\r\n'
PROFILE = "http://netpreserve.org/warc/1.1/revisit/"


def page(at: float, body: bytes = BODY, url: str = URL) -> Page:
    request = b"GET /page HTTP/1.1\r\nHost: a.test\r\n\r\n"
    return Page(url, 200, OK, body, body, at, 0.1, "192.0.2.7", request, content_type="text/html")


def unchanged(at: float) -> Page:
    request = b'GET /page HTTP/1.1\r\nHost: a.test\r\nIf-None-Match: "a"\r\n\r\n'
    return Page(URL, 304, UNCHANGED, b"", b"", at, 0.1, "192.0.2.7", request)


class History:
    """A page that is new, the same by a 304, the same by its digest, changed, gone, and new again."""

    def __init__(self, home: Path) -> None:
        self.home = home
        store = Store(home, StoreConfig(), StorePosition(), "gossamer/0.1 (test)")
        first = (URL, 1000.123)
        gone = Page(URL, 410, b"HTTP/1.1 410 Gone\r\n\r\n", b"", b"", 1004.0, 0.1, "")
        self.places = [
            Locator(*place)
            for place in (
                store.append(page(1000.123), DIGEST),
                store.append(unchanged(1001.5), DIGEST, first, Change.SAME),
                store.append(page(1002.5), DIGEST, first, Change.SAME),
                store.append(page(1003.5, b"<p>other"), None, None, Change.CHANGED),
                store.append(gone, change=Change.GONE),
                store.append(page(1005.5), DIGEST, first, Change.NEW),
            )
        ]
        self.committed = store.sync()
        store.close()

    @property
    def file(self) -> Path:
        return self.home / "gossamer-00000.warc.gz"


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path)


def test_records_of_revisits_say_why_and_refer_to_the_payload(history: History) -> None:
    found = []
    with history.file.open("rb") as stream:
        for record in WarcioIterator(stream, check_digests="raise"):
            if record.rec_type == "revisit":
                headers = record.rec_headers
                found.append((headers["WARC-Profile"].removeprefix(PROFILE), headers["WARC-Date"][:19]))
                assert headers["WARC-Refers-To-Target-URI"] == URL
                assert headers["WARC-Refers-To-Date"] == "1970-01-01T00:16:40.123Z"
                assert headers["WARC-Payload-Digest"] == spelled(DIGEST)
                status = record.http_headers.get_statuscode()
                assert status == ("304" if found[-1][0] == "server-not-modified" else "200")
                assert int(headers["Content-Length"]) == len(UNCHANGED if status == "304" else OK)
                assert record.content_stream().read() == b""
    assert found == [
        ("server-not-modified", "1970-01-01T00:16:41"),
        ("identical-payload-digest", "1970-01-01T00:16:42"),
        ("identical-payload-digest", "1970-01-01T00:16:45"),
    ]


def test_warcio_check_and_fastwarc_read_them(history: History) -> None:
    class Arguments:
        inputs = (str(history.file),)
        verbose = False

    checker = Checker(Arguments())
    checker.process_all()
    assert checker.exit_value == 0
    data = history.file.read_bytes()
    revisits = ArchiveIterator(io.BytesIO(data), WarcRecordType.revisit, parse_http=True)
    assert [(each.http_headers.status_code, each.reader.read()) for each in revisits] == [
        (304, b""), (200, b""), (200, b"")
    ]  # fmt: skip
    requests = [each.reader.read() for each in ArchiveIterator(io.BytesIO(data), WarcRecordType.request, False)]
    assert [b"If-None-Match" in request for request in requests] == [False, True, False, False, False, False]


def test_fastwarc_check_verifies_every_record(history: History) -> None:
    """The warcinfo record, and six visits with what was asked for: a response or a revisit each."""
    command = [Path(sys.executable).with_name("fastwarc"), "check", history.file]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "13 records were verified successfully" in done.stdout + done.stderr, done
    data = bytearray(gzip.decompress(history.file.read_bytes()))
    data[data.index(b"Content-Type: text/html")] ^= 1  # in the head of a response, so that no payload digest sees it
    history.file.write_bytes(gzip.compress(data))
    assert subprocess.run(command, check=False, capture_output=True).returncode != 0


def test_lines_say_what_has_changed(history: History) -> None:
    lines = [line.split(" ", 2) for line in history.file.with_name("gossamer-00000.cdxj").read_text().splitlines()]
    fields = [json.loads(line[2]) for line in lines]
    assert [each.get("change") for each in fields] == [None, "same", "same", "changed", "gone", "new"]
    assert (fields[1]["mime"], fields[1]["status"], fields[1]["digest"]) == ("warc/revisit", "304", spelled(DIGEST))
    assert [list(each)[:7] for each in fields] == [list(fields[0])] * 6
    plain = line_here((URL, 1000.123, "text/html", 200, DIGEST, 0, 9, ""), "x.warc.gz")
    assert "change" not in plain


def test_captures_know_the_change_and_where_they_end(history: History) -> None:
    captures = list(Captures(history.home).after({}, history.committed))
    assert [(each.change, each.status, each.is_revisit) for each in captures] == [
        ("", 200, False),
        ("same", 304, True),
        ("same", 200, True),
        ("changed", 200, False),
        ("gone", 410, False),
        ("new", 200, True),
    ]
    assert [each.stored for each in captures] == history.places
    for number, capture in enumerate(captures):
        places = {"": capture.after}
        assert list(Captures(history.home).after(places, history.committed)) == captures[number + 1 :]
        assert Captures(history.home).checked(places, history.committed) == places


def test_a_304_is_read_back(history: History) -> None:
    files = RecordFiles([history.home])
    record = files.read(history.places[1])
    files.close()
    assert record is not None
    assert (record.url, record.status, record.head, record.raw) == (URL, 304, UNCHANGED, b"")
    assert (record.digest, record.refers_to) == (DIGEST, (URL, 1000.123))


@given(st.floats(0, 4e9))
def test_a_date_that_was_read_is_written_again_as_it_was(seconds: float) -> None:
    text = date_of(seconds)
    read = moment(text.encode())
    assert read is not None
    assert abs(read - seconds) < 0.0011
    assert date_of(read) == text


# -- the copy that is there already ------------------------------------------------------------------------------------


def test_an_earlier_copy_names_the_record_with_the_payload(history: History) -> None:
    earlier = Earlier([history.home], 1 << 20, {URL: history.places[0]}.get)
    copies = [earlier.read(place) for place in history.places]
    earlier.close()
    assert [copy and copy.refers_to for copy in copies] == [
        (URL, 1000.123), (URL, 1000.123), (URL, 1000.123), (URL, 1003.5), (URL, 1004.0), (URL, 1000.123)
    ]  # fmt: skip
    assert [copy and copy.body for copy in copies] == [BODY, BODY, BODY, b"<p>other", b"", BODY]
    assert [copy and copy.digest for copy in copies[:3]] == [DIGEST] * 3
    assert [copy and copy.status for copy in copies] == [200, 304, 200, 200, 410, 200]
    assert copies[0] is not None
    assert copies[0].content_type == "text/html"


def test_an_earlier_copy_without_its_body(history: History) -> None:
    asked: list[str] = []

    def elsewhere(url: str) -> Locator | None:
        asked.append(url)
        return history.places[3]

    earlier = Earlier([history.home], 1 << 20, elsewhere)
    plain = earlier.read(history.places[2], with_body=False)
    assert plain is not None
    assert (plain.digest, plain.refers_to, plain.body, asked) == (DIGEST, (URL, 1000.123), None, [])
    other = earlier.read(history.places[2])
    assert other is not None
    assert (other.body, asked) == (None, [URL]), "what is there has another digest"
    earlier.close()


def test_what_is_not_on_disk_is_no_earlier_copy(tmp_path: Path) -> None:
    store = Store(tmp_path, StoreConfig(), StorePosition(), "test")
    store.append(page(999.0, url="http://a.test/first"))
    store.sync()
    place = Locator(*store.append(page(1000.0)))
    earlier = Earlier(store.directories, 1 << 20)
    assert earlier.read(place) is None, "it is gathered, and not written yet"
    store.sync()
    copy = earlier.read(place)
    assert copy is not None
    assert copy.body == BODY
    assert earlier.read(Locator(7, 0, 100)) is None
    assert earlier.read(Locator(place.file, place.offset + 1, place.length)) is None
    store.close()
    earlier.close()
    (tmp_path / "gossamer-00000.warc.gz").rename(tmp_path / "moved")
    assert earlier.read(place) is None
    earlier.close()


def test_earlier_copies_are_found_in_all_directories(tmp_path: Path) -> None:
    config = StoreConfig(directories=(f"{tmp_path / 'b'}=1",))
    store = Store(tmp_path / "a", config, StorePosition(), "test")
    places = [Locator(*store.append(page(1000.0 + number, b"%d" % number * 500))) for number in range(10)]
    position = store.sync()
    store.close()
    assert all((tmp_path / name / "gossamer-00000.warc.gz").exists() is (name == "a") for name in "ab")
    again = Store(tmp_path / "a", StoreConfig(), position, "test")  # the other directory is not given any more
    earlier = Earlier(again.directories, 1 << 20)
    assert [copy.body for place in places if (copy := earlier.read(place))] == [b"%d" % n * 500 for n in range(10)]
    earlier.close()
    again.close()
