"""HEAD before GET, judged from the server's log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from crawling import crawl
from fastwarc.warc import ArchiveIterator, WarcRecordType
from simulated_time import HOUR, LongCrawl

from gossamer.agent import read_visits
from gossamer.model import State
from gossamer.testing import FakeClock, TinyWeb
from gossamer.testing.web import End, Reply, Request

HOST = "http://a.test"
HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\n"


@pytest.fixture
def web() -> Iterator[TinyWeb]:
    with TinyWeb() as tiny:
        yield tiny


def requests(web: TinyWeb) -> list[tuple[str, str]]:
    return [(arrival.method, arrival.path) for arrival in web.log.arrivals if arrival.path != "/robots.txt"]


def typed(kind: str) -> dict[str, str]:
    return {"Content-Type": kind}


def test_never_is_the_default(web: TinyWeb, tmp_path: Path) -> None:
    web.add_page(f"{HOST}/", links=["/a"])
    web.add_page(f"{HOST}/a", headers=typed("image/png"))
    crawl(tmp_path, [f"{HOST}/"], web.connect)
    assert requests(web) == [("GET", "/"), ("GET", "/a")]


def test_each_url_that_says_no_type_is_asked_about(web: TinyWeb, tmp_path: Path) -> None:
    links = ["/1.bin7", "/2.bin7", "/p.php", "/q.php?x", "/r.html", "/s.png", "/unknownpic", "/page"]
    web.add_page(f"{HOST}/", links=links)
    for path in links[:2]:
        web.add_page(HOST + path, headers=typed("application/octet-stream"))
    for path in ("/p.php", "/q.php?x", "/r.html", "/page"):
        web.add_page(HOST + path)
    for path in ("/s.png", "/unknownpic"):
        web.add_page(HOST + path, headers=typed("image/png"))
    summary = crawl(tmp_path, [f"{HOST}/"], web.connect, head_first="unknown")
    assert requests(web) == [
        ("HEAD", "/"), ("GET", "/"),
        ("HEAD", "/1.bin7"), ("HEAD", "/2.bin7"),
        ("HEAD", "/p.php"), ("GET", "/p.php"), ("HEAD", "/q.php?x"), ("GET", "/q.php?x"),
        ("GET", "/r.html"), ("GET", "/s.png"),
        ("HEAD", "/unknownpic"), ("HEAD", "/page"), ("GET", "/page"),
    ]  # fmt: skip
    assert (summary.pages, summary.excluded, summary.faults) == (5, 4, 0)
    (asked,) = (visit for visit in read_visits(tmp_path, State.EXCLUDED) if visit.url.endswith("/1.bin7"))
    assert (asked.reason, asked.status, asked.tries) == ("unwanted_type", 200, 1)


@pytest.mark.parametrize("policy", ["unknown", "always"])
def test_none_goes_before_a_page_that_is_visited_again(web: TinyWeb, tmp_path: Path, policy: str) -> None:
    web.add_page(f"{HOST}/", links=["/a"])
    web.add_page(f"{HOST}/a")
    bounds = {"fresh__min_interval": "1h", "fresh__max_interval": "1h"}
    kept = LongCrawl(tmp_path, web.connect, FakeClock(1_790_000_000.0), fetch__head_first=policy, **bounds)
    kept.run(f"{HOST}/", seconds=10 * HOUR)
    found = Counter(requests(web))
    assert [count for (method, _), count in found.items() if method == "HEAD"] == [1, 1]
    assert min(count for (method, _), count in found.items() if method == "GET") >= 5


def test_always_keeps_the_pause_between_all_requests(web: TinyWeb, tmp_path: Path) -> None:
    web.add_page(f"{HOST}/", links=["/a.html", "/b.png"])
    web.add_page(f"{HOST}/a.html")
    web.add_page(f"{HOST}/b.png", headers=typed("image/png"))
    summary = crawl(tmp_path, [f"{HOST}/"], web.connect, head_first="always", delay="100ms")
    assert requests(web) == [
        ("HEAD", "/"), ("GET", "/"), ("HEAD", "/a.html"), ("GET", "/a.html"), ("HEAD", "/b.png"),
    ]  # fmt: skip
    assert (summary.pages, summary.excluded) == (2, 1)
    gaps = [later.time - earlier.time for earlier, later in pairwise(web.log.arrivals)]
    assert len(gaps) == 5
    assert min(gaps) > 0.09


def test_too_long_by_the_head(web: TinyWeb, tmp_path: Path) -> None:
    web.add_page(f"{HOST}/", body="x" * 500)
    crawl(tmp_path, [f"{HOST}/"], web.connect, head_first="always", max_length="400")
    assert requests(web) == [("HEAD", "/")]
    (visit,) = read_visits(tmp_path, State.EXCLUDED)
    assert visit.reason == "too_large"


@pytest.mark.parametrize("status", [400, 403, 404, 405, 500, 501])
def test_servers_that_know_no_head_are_asked_with_get(web: TinyWeb, tmp_path: Path, status: int) -> None:
    def handler(request: Request) -> bytes:
        if request.method == b"HEAD":
            return b"HTTP/1.1 %d No\r\nContent-Type: image/png\r\nContent-Length: 0\r\n\r\n" % status
        return HTML + b"hello"

    web.add_handler(f"{HOST}/", handler)
    summary = crawl(tmp_path, [f"{HOST}/"], web.connect, head_first="always")
    assert requests(web) == [("HEAD", "/"), ("GET", "/")]
    assert (summary.pages, summary.ok, summary.faults) == (1, 1, 0)


@pytest.mark.parametrize("end", [End.CLOSE, End.RESET, End.HANG])
def test_servers_that_do_not_answer_a_head(web: TinyWeb, tmp_path: Path, end: End) -> None:
    web.add_handler(f"{HOST}/", lambda request: Reply((), end, 0) if request.method == b"HEAD" else HTML + b"hello")
    summary = crawl(tmp_path, [f"{HOST}/"], web.connect, head_first="always", timeout="300ms", max_tries=1)
    assert (summary.pages, summary.ok, summary.faults) == (1, 1, 0)
    assert requests(web)[-1] == ("GET", "/")


def test_a_body_after_head_is_no_answer_to_the_get(web: TinyWeb, tmp_path: Path) -> None:
    wrong = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 3\r\n\r\nbad"
    web.add_handler(
        f"{HOST}/", lambda request: HTML + b"<head" + wrong if request.method == b"HEAD" else HTML + b"hello"
    )
    bodies: list[bytes] = []
    summary = crawl(tmp_path, [f"{HOST}/"], web.connect, head_first="always")
    assert (summary.pages, summary.ok) == (1, 1)
    for file in (tmp_path / "warc").glob("*.warc.gz"):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream, record_types=WarcRecordType.response, parse_http=True):
                bodies.append(record.reader.read())
    assert bodies[-1] == b"hello"
    assert b"bad" not in bodies


def test_a_busy_server_gets_the_time_it_asks_for(web: TinyWeb, tmp_path: Path) -> None:
    busy = b"HTTP/1.1 503 Busy\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"
    web.add_handler(f"{HOST}/", lambda request: busy if request.method == b"HEAD" else HTML + b"hello")
    crawl(tmp_path, [f"{HOST}/"], web.connect, head_first="always")
    assert requests(web) == [("HEAD", "/"), ("GET", "/")]
    first, second = web.log.arrivals[-2:]
    assert second.time - first.time > 0.95
