"""The whole loop on small webs over real sockets, judged from the server's log and from what is on disk."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from crawling import crawl, urls
from fastwarc.warc import ArchiveIterator, WarcRecordType

from gossamer.agent import read_progress, read_visits
from gossamer.agent.crawl import Crawl
from gossamer.config import Config, FetchConfig
from gossamer.errors import CrawlDirError, SeedError
from gossamer.model import State
from gossamer.testing import SimServer, TinyWeb, World, reachable
from gossamer.testing.dns import TinyDNS
from gossamer.testing.web import End, Reply, Request


def captures(home: Path) -> list[str]:
    """URLs in the CDXJ files, robots.txt apart."""
    lines = [
        json.loads(line.split(" ", 2)[2])["url"]
        for file in sorted((home / "warc").glob("*.cdxj"))
        for line in file.read_text().splitlines()
    ]
    return [url for url in lines if not url.endswith("/robots.txt")]


def responses(home: Path) -> list[str]:
    found = []
    for file in sorted((home / "warc").glob("*.warc.gz")):
        with open(file, "rb") as stream:
            for record in ArchiveIterator(stream, record_types=WarcRecordType.response, parse_http=True):
                found.append(record.headers["WARC-Target-URI"])
    return [url for url in found if not url.endswith("/robots.txt")]


def test_every_reachable_page_is_fetched_once(tmp_path: Path) -> None:
    world = World(3, 20, 30, "plain")
    with SimServer.running(world) as server:
        summary = crawl(tmp_path / "c", [world.url(0)], server.connect)
        arrivals = server.log.arrivals
    truth = reachable(world, [world.url(0)])
    expected = {url for url, outcome in truth.items() if outcome.fetched}
    assert urls(tmp_path / "c", State.FETCHED) == expected
    assert summary.reason == "complete"
    assert summary.pages == len(expected) == len(captures(tmp_path / "c"))
    assert sorted(captures(tmp_path / "c")) == sorted(responses(tmp_path / "c")) == sorted(expected)
    assert set(server.log.requests_per_url().values()) == {1}
    assert not [arrival for arrival in arrivals if arrival.path.startswith("/private/")]
    disallowed = {url for url, outcome in truth.items() if not outcome.fetched}
    assert disallowed
    excluded = {visit.url: visit.reason for visit in read_visits(tmp_path / "c", State.EXCLUDED)}
    assert excluded == dict.fromkeys(disallowed, "robots")


def test_responses_that_say_they_are_too_long_are_left_out(tmp_path: Path) -> None:
    sent = []

    def long(request: Request) -> Reply:
        def parts() -> Iterator[bytes]:
            yield b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100000000\r\n\r\n"
            for number in range(10_000):
                sent.append(number)
                yield b"x" * 10_000

        return Reply(parts(), End.CLOSE)

    with TinyWeb() as web:
        web.add_page("http://a.test/", links=["/long", "/edge", "/over", "/undeclared", "/missing"])
        web.add_handler("http://a.test/long", long)
        web.add_page("http://a.test/edge", body="x" * 5_000)
        web.add_page("http://a.test/over", body="x" * 5_001)
        chunks = b"2000\r\n%b\r\n0\r\n\r\n" % (b"x" * 0x2000)
        head = b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\nTransfer-Encoding: chunked\r\n\r\n"
        web.add_handler("http://a.test/undeclared", lambda request: head + chunks)
        web.add_page("http://a.test/missing", body="x" * 9_000, status=404)
        summary = crawl(tmp_path / "c", ["http://a.test/"], web.connect, max_length="5000")
        assert set(web.log.requests_per_url().values()) == {1}
    assert (summary.pages, summary.excluded, summary.faults) == (4, 2, 0)
    left_out = {visit.url: (visit.reason, visit.status) for visit in read_visits(tmp_path / "c", State.EXCLUDED)}
    assert left_out == dict.fromkeys(["http://a.test/long", "http://a.test/over"], ("too_large", 200))
    assert len(sent) < 5_000


@pytest.mark.parametrize("limit", [1, 7, 77])
def test_max_pages_is_exact(tmp_path: Path, limit: int) -> None:
    world = World(3, 10, 20, "plain")
    with SimServer.running(world) as server:
        summary = crawl(tmp_path / "c", [world.url(0)], server.connect, max_pages=limit, connections=16)
        again = crawl(tmp_path / "c", [world.url(0)], server.connect, max_pages=limit + 5, connections=16)
        assert set(server.log.requests_per_url().values()) == {1}
    assert (summary.pages, summary.reason) == (limit, "max_pages")
    told = read_progress(tmp_path / "c")
    assert (told.urls, told.hosts, told.queued) == (again.urls, again.hosts, len(urls(tmp_path / "c", State.QUEUED)))
    assert again.pages == limit + 5
    assert len(captures(tmp_path / "c")) == len(responses(tmp_path / "c")) == limit + 5


def test_hosts_are_visited_in_parallel_each_with_its_pauses(tmp_path: Path) -> None:
    world = World(3, 12, 4, "plain")
    with SimServer.running(world) as server:
        crawl(tmp_path / "c", [world.url(n) for n in range(12)], server.connect, delay="150ms", delay_factor=0)
        gaps = [server.log.min_gap(host) for host in server.log.by_host()]
        arrivals = server.log.arrivals
    assert len(gaps) == 12
    assert min(gaps) >= 0.15
    # One host alone needs 5 requests; if hosts waited for each other, the crawl would have taken twelve times that.
    assert arrivals[-1].time - arrivals[0].time < 12 * 5 * 0.15 / 2


def test_a_crawl_goes_on_where_it_was(tmp_path: Path) -> None:
    world = World(5, 6, 15, "plain")
    home = tmp_path / "c"
    with SimServer.running(world) as server:
        first = crawl(home, [world.url(0)], server.connect, max_pages=20)
        queued = urls(home, State.QUEUED)
        last = crawl(home, [], server.connect)
        assert set(server.log.requests_per_url().values()) == {1}
    assert first.pages == 20
    assert queued
    expected = {url for url, outcome in reachable(world, [world.url(0)]).items() if outcome.fetched}
    assert urls(home, State.FETCHED) == expected
    assert last.pages == len(expected)


def test_depth_and_scope(tmp_path: Path) -> None:
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/1", "http://b.test/", "http://sub.a.test/"])
        web.add_page("http://a.test/1", ["/2"])
        web.add_page("http://a.test/2", ["/3"])
        web.add_page("http://a.test/3")
        web.add_page("http://b.test/")
        web.add_page("http://sub.a.test/")
        crawl(tmp_path / "depth", ["http://a.test/"], web.connect, max_depth=1)
        crawl(tmp_path / "domain", ["http://a.test/"], web.connect, scope="domain")
        crawl(tmp_path / "host", ["http://a.test/"], web.connect, scope="host", exclude=["/3$"])
    assert urls(tmp_path / "depth", State.FETCHED) == {
        "http://a.test/", "http://a.test/1", "http://b.test/", "http://sub.a.test/"
    }  # fmt: skip
    assert urls(tmp_path / "domain", State.FETCHED) == {
        "http://a.test/", "http://a.test/1", "http://a.test/2", "http://a.test/3", "http://sub.a.test/"
    }  # fmt: skip
    assert urls(tmp_path / "host", State.FETCHED) == {"http://a.test/", "http://a.test/1", "http://a.test/2"}
    reasons = {visit.url: visit.reason for visit in read_visits(tmp_path / "host", State.EXCLUDED)}
    assert reasons == {"http://a.test/3": "exclude", "http://b.test/": "scope", "http://sub.a.test/": "scope"}


def test_redirects_errors_and_unwanted_types(tmp_path: Path) -> None:
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/moved", "/gone", "/broken", "/picture", "/loop", "/reset"])
        web.add_redirect("http://a.test/moved", "/target")
        web.add_page("http://a.test/target")
        web.add_page("http://a.test/broken", status=500)
        web.add_redirect("http://a.test/loop", "/loop2")
        web.add_redirect("http://a.test/loop2", "/loop")
        web.add_page("http://a.test/picture", body=b"\x89PNG" * 1000, headers={"Content-Type": "image/png"})
        web.add_handler("http://a.test/reset", lambda request: Reply((), End.CLOSE))
        summary = crawl(tmp_path / "c", ["http://a.test/"], web.connect, max_tries=2)
        requests = web.log.requests_per_url()
    visits = {visit.url.removeprefix("http://a.test"): visit for visit in read_visits(tmp_path / "c")}
    assert {path: visit.status for path, visit in visits.items() if visit.state is State.FETCHED} == {
        "/": 200, "/moved": 302, "/target": 200, "/gone": 404, "/broken": 500, "/loop": 302, "/loop2": 302
    }  # fmt: skip
    picture = visits["/picture"]
    assert (picture.state, picture.reason, picture.status, picture.tries) == (State.EXCLUDED, "unwanted_type", 200, 1)
    assert (visits["/reset"].state, visits["/reset"].reason) == (State.DEAD, "closed")
    assert visits["/reset"].tries == 2
    # libcurl asks once more by itself when a connection it had kept alive is closed instead of answered.
    assert 2 <= requests["http://a.test/reset"] <= 4
    assert summary.pages == 7
    assert summary.ok == 2
    assert summary.faults == 1
    assert summary.urls == 9


def test_robots_is_obeyed_wherever_it_is(tmp_path: Path) -> None:
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/open", "/closed", "http://b.test/", "http://c.test/"])
        web.add_page("http://a.test/open")
        web.add_redirect("http://a.test/robots.txt", "/real-robots")
        web.add_page("http://a.test/real-robots", body="User-agent: *\nDisallow: /closed\n")
        web.add_robots("b.test", "oops", status=503)
        web.add_page("http://c.test/")
        notices: list[str] = []
        summary = crawl(tmp_path / "c", ["http://a.test/"], web.connect, notices, max_tries=2)
        paths = {arrival.url for arrival in web.log.arrivals}
    assert "http://a.test/closed" not in paths
    assert "http://b.test/" not in paths, "its robots.txt could not be had"
    assert {"http://a.test/open", "http://c.test/"} <= paths
    assert summary.reason == "complete"
    assert urls(tmp_path / "c", State.QUEUED) == {"http://b.test/"}
    words = "ended: 1 of 3 hosts could not be reached (1 asked to be left alone (429, 503)); run the same command again"
    assert notices == [f"{words} later to try them again"]


def test_half_a_robots_txt_opens_nothing(tmp_path: Path) -> None:
    cut = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 400\r\n\r\nUser-agent: *\n"
    with TinyWeb() as web:
        web.add_page("http://a.test/")
        web.add_handler("http://a.test/robots.txt", lambda request: Reply((cut,), End.CLOSE))
        summary = crawl(tmp_path / "c", ["http://a.test/"], web.connect, max_tries=2)
        paths = {arrival.url for arrival in web.log.arrivals}
    assert paths == {"http://a.test/robots.txt"}
    assert (summary.pages, summary.reason) == (0, "complete")
    assert urls(tmp_path / "c", State.QUEUED) == {"http://a.test/"}


def test_unusable_seeds_are_named_and_the_rest_crawled(tmp_path: Path) -> None:
    notices: list[str] = []
    with TinyWeb() as web, TinyDNS() as dns:
        web.add_page("http://a.test/")
        pattern = web.connect.replace("*=", "a.test=")
        seeds = ["ftp://a.test/", "http://", "http://nobody.test/", "http://a.test/"]
        summary = crawl(tmp_path / "c", seeds, pattern, notices, dns=[dns.address])
        assert (summary.pages, summary.hosts_left) == (1, {"dns": 1})
        assert len(notices) == 4
        assert "ftp" in notices[0]
        assert notices[2] == "note: nobody.test cannot be visited now: it does not resolve"
        assert "1 of 2 hosts could not be reached (1 could not be found in DNS)" in notices[3]
        with pytest.raises(SeedError):
            crawl(tmp_path / "none", seeds[:2], pattern)
    assert not (tmp_path / "none").exists()
    assert urls(tmp_path / "c", State.QUEUED) == {"http://nobody.test/"}


def test_directories_that_cannot_be_used(tmp_path: Path) -> None:
    with TinyWeb() as web:
        web.add_page("http://a.test/")
        other = tmp_path / "other"
        other.mkdir()
        (other / "letter.txt").write_text("dear")
        with pytest.raises(CrawlDirError, match=r"is not a crawl .* not empty"):
            crawl(other, ["http://a.test/"], web.connect)
        assert [path.name for path in other.iterdir()] == ["letter.txt"]

        newer = tmp_path / "newer"
        newer.mkdir()
        (newer / "gossamer.toml").write_text("# A crawl of gossamer, directory format 99.\n")
        with pytest.raises(CrawlDirError, match="newer version"):
            crawl(newer, ["http://a.test/"], web.connect)
        assert [path.name for path in newer.iterdir()] == ["gossamer.toml"]

        with pytest.raises(CrawlDirError, match="is a file"):
            crawl(other / "letter.txt", ["http://a.test/"], web.connect)
        with pytest.raises(CrawlDirError, match="is not a crawl"):
            list(read_visits(other))


def test_private_addresses_are_refused_by_default(tmp_path: Path) -> None:
    with TinyWeb() as web:
        web.add_page("http://a.test/")
        summary = crawl(tmp_path / "c", ["http://a.test/"], web.connect, allow_private=False)
        assert web.log.arrivals == []
    assert (summary.pages, summary.excluded, summary.reason) == (0, 1, "complete")
    assert [visit.reason for visit in read_visits(tmp_path / "c", State.EXCLUDED)] == ["address"]


def test_links_of_pages_that_say_nofollow_are_not_followed(tmp_path: Path) -> None:
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/meta", "/header"])
        web.add_page("http://a.test/meta", ["/1"], body='<meta name="robots" content="nofollow">')
        web.add_page("http://a.test/header", ["/2"], headers={"X-Robots-Tag": "nofollow"})
        summary = crawl(tmp_path / "c", ["http://a.test/"], web.connect)
    assert summary.urls == summary.pages == 3


def test_links_in_headers_are_followed_where_wanted(tmp_path: Path) -> None:
    linked = {"Link": '</2>; rel="next", </3>; rel="prev", </4>; rel="next nofollow"'}
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/1"], headers=linked)
        for follow, paths in (
            (("a",), ["/", "/1"]),
            (("a", "header:next"), ["/", "/1", "/2"]),
            (("header",), ["/", "/2", "/3"]),
        ):
            home = tmp_path / "-".join(follow).replace(":", "-")
            crawl(home, ["http://a.test/"], web.connect, follow=list(follow))
            assert sorted(visit.url.removeprefix("http://a.test") for visit in read_visits(home)) == paths


def test_a_busy_server_is_asked_again_when_it_says(tmp_path: Path) -> None:
    asked: list[bytes] = []

    def answer(request: object) -> bytes:
        asked.append(b"")
        if len(asked) == 1:
            return b"HTTP/1.1 503 Busy\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"
        return b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nok"

    with TinyWeb() as web:
        web.add_handler("http://a.test/", answer)
        summary = crawl(tmp_path / "c", ["http://a.test/"], web.connect)
        pages = [arrival for arrival in web.log.arrivals if arrival.path == "/"]
    assert summary.pages == 1
    assert pages[1].time - pages[0].time >= 1.0
    assert captures(tmp_path / "c") == ["http://a.test/"]


def test_a_chain_of_redirects_has_an_end(tmp_path: Path) -> None:
    with TinyWeb() as web:
        for step in range(30):
            web.add_redirect(f"http://a.test/{step}", f"/{step + 1}")
        crawl(tmp_path / "c", ["http://a.test/0"], web.connect)
        requests = [url for url in web.log.requests_per_url() if not url.endswith("robots.txt")]
    assert len(requests) == 11
    excluded = {visit.url: visit.reason for visit in read_visits(tmp_path / "c", State.EXCLUDED)}
    assert excluded == {"http://a.test/11": "redirects"}


@pytest.mark.parametrize(("rate", "longest"), [(0.0, 0.25), (200.0, 0.05)])
def test_under_a_cap_the_loop_sleeps_no_longer_than_the_bucket_saves(
    tmp_path: Path, rate: float, longest: float
) -> None:
    waits: list[float] = []
    with TinyWeb() as web:
        web.add_page("http://a.test/", [])
        config = Config(fetch=FetchConfig(rate=rate, allow_private=True, connect=(web.connect,)))
        run = Crawl(config, tmp_path / "crawl", ["http://a.test/"], print)
        asyncio.run(run.run(ready=lambda agent: waits.append(agent._patience()), signals=False))
    assert waits == [longest]
