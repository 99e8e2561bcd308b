"""Sitemaps and feeds over real sockets: what is asked for, what is found through them, and that they are no pages."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from crawling import crawl, urls

from gossamer.agent import read_visits
from gossamer.agent.explain import explain
from gossamer.model import State
from gossamer.testing import SimServer, TinyWeb, World, reachable
from gossamer.testing.web import End, Kind, Reply

XML = {"Content-Type": "application/xml"}
RSS = {"Content-Type": "application/rss+xml; charset=utf-8"}


def urlset(*locs: str) -> str:
    return "<urlset>" + "".join(f"<url><loc>{loc}</loc></url>" for loc in locs) + "</urlset>"


def index(*locs: str) -> str:
    return "<sitemapindex>" + "".join(f"<sitemap><loc>{loc}</loc></sitemap>" for loc in locs) + "</sitemapindex>"


def feed(*links: str) -> str:
    return "<rss><channel>" + "".join(f"<item><link>{link}</link></item>" for link in links) + "</channel></rss>"


def fetched(home: Path) -> dict[str, int]:
    """Depths by path on a.test; other hosts by URL."""
    return {visit.url.removeprefix("http://a.test"): visit.depth for visit in read_visits(home, State.FETCHED)}


def left_out(home: Path) -> dict[str, tuple[str, int]]:
    return {
        visit.url.removeprefix("http://a.test"): (visit.reason, visit.status)
        for visit in read_visits(home, State.EXCLUDED)
    }


def stored(home: Path) -> list[str]:
    return [
        json.loads(line.split(" ", 2)[2])["url"]
        for file in sorted((home / "warc").glob("*.cdxj"))
        for line in file.read_text().splitlines()
    ]


@pytest.fixture
def web() -> Any:
    with TinyWeb() as web:
        web.add_page("http://a.test/")
        for page in range(1, 6):
            web.add_page(f"http://a.test/{page}")
        yield web


def test_a_realistic_web_with_sitemaps_is_found_exactly(tmp_path: Path) -> None:
    world = World(4, 50, 15, "realistic", faults=0)
    assert {world.host(number).sitemap for number in range(50)} == {"", "xml", "gz", "index"}
    seeds = [world.url(0)]
    with SimServer.running(world) as server:
        summary = crawl(tmp_path / "c", seeds, server.connect, max_crawl_delay="0", max_tries=1)
        asked = server.log.requests_per_url()
    truth = reachable(world, seeds)
    archived = {url for url in truth if "/archive/" in url}
    assert len(archived) > 5
    assert not archived & set(reachable(world, seeds, sitemaps=False))
    pages = {url: e.status for url, e in truth.items() if e.fetched and e.kind is not Kind.NON_HTML}
    assert {visit.url: visit.status for visit in read_visits(tmp_path / "c", State.FETCHED)} == pages
    assert summary.pages == len(pages)
    maps = {url for url in asked if "/sitemap" in url}
    expected = dict.fromkeys(maps, "sitemap")
    expected |= {url: "unwanted_type" for url, e in truth.items() if e.kind is Kind.NON_HTML}
    expected |= {url: "robots" for url, e in truth.items() if e.kind is Kind.ROBOTS_EXCLUDED}
    # Where redirects go round, the truth has no limit on their number.
    found = {visit.url: visit.reason for visit in read_visits(tmp_path / "c", State.EXCLUDED)}
    assert {url: reason for url, reason in found.items() if reason != "address"} == expected
    assert urls(tmp_path / "c", State.QUEUED) == {url for url, e in truth.items() if e.kind is Kind.ROBOTS_UNREACHABLE}
    assert max(asked[url] for url in (*pages, *maps)) == 1


def test_depths_are_those_of_links_of_the_first_page(tmp_path: Path) -> None:
    """Of one host, so that each URL is found by the shortest way first, as long as it matters."""
    world = World(4, 50, 15, "realistic", faults=0)
    number = next(n for n in range(50) if world.host(n).sitemap == "index" and world.host(n).size > 5)
    seeds = [world.url(number)]
    for depth in (0, 1, 2, 9, None):
        with SimServer.running(world) as server:
            home = tmp_path / f"c{depth}"
            crawl(home, seeds, server.connect, scope="host", **({} if depth is None else {"max_depth": depth}))
            assert any("sitemap" in url for url in server.log.requests_per_url()) == (depth != 0)
        truth = reachable(world, seeds, scope="host", max_depth=depth)
        depths = {visit.url: visit.depth for visit in read_visits(home) if visit.reason not in ("scope", "sitemap")}
        if depth is None:
            assert depths.keys() == truth.keys()
        else:
            assert depths == {url: outcome.depth for url, outcome in truth.items()}


def test_what_robots_names_is_read_and_is_no_page(tmp_path: Path, web: TinyWeb) -> None:
    web.add_robots(
        "a.test",
        "User-agent: *\nDisallow: /2\nsitemap: http://a.test/one.xml\nSITEMAP:/two.txt\nSitemap: none\nSitemap: http://\n"
        "Sitemap: http://a.test/three.gz\nSitemap: http://a.test/missing.xml\nSitemap: http://a.test/moved.xml\n",
    )
    web.add_page("http://a.test/one.xml", body=urlset("http://a.test/1", "/2", "http://b.test/"), headers=XML)
    web.add_page("http://a.test/two.txt", body="http://a.test/3\n", headers={"Content-Type": "text/plain"})
    packed = gzip.compress(urlset("http://a.test/4").encode())
    web.add_page("http://a.test/three.gz", body=packed, headers={"Content-Type": "application/octet-stream"})
    web.add_redirect("http://a.test/moved.xml", "/five.xml")
    web.add_page("http://a.test/five.xml", body=urlset("http://a.test/5"), headers=XML)
    web.add_page("http://a.test/sitemap.xml", body=urlset("http://a.test/guessed"), headers=XML)
    home = tmp_path / "c"
    summary = crawl(home, ["http://a.test/"], web.connect)
    assert fetched(home) == {"/": 0, "/1": 1, "/3": 1, "/4": 1, "/5": 1}
    assert left_out(home) == {
        "/one.xml": ("sitemap", 200), "/two.txt": ("sitemap", 200), "/three.gz": ("sitemap", 200), "/2": ("robots", 0),
        "/missing.xml": ("sitemap", 404), "/moved.xml": ("sitemap", 302), "/five.xml": ("sitemap", 200),
    }  # fmt: skip
    assert (summary.pages, summary.ok, summary.excluded, summary.urls) == (5, 5, 7, 12)
    assert "http://a.test/one.xml" in stored(home), "in WARC, as robots.txt is"
    assert "http://a.test/sitemap.xml" not in web.log.requests_per_url(), "nobody named it"
    assert set(web.log.requests_per_url().values()) == {1}
    assert "it is a sitemap" in explain(home, "http://a.test/one.xml").sentence


def test_sitemaps_may_be_turned_off(tmp_path: Path, web: TinyWeb) -> None:
    web.add_robots("a.test", "Sitemap: http://a.test/one.xml\n")
    web.add_page("http://a.test/", ["/feed"])
    web.add_page("http://a.test/feed", body=feed("/1"), headers=RSS)
    crawl(tmp_path / "c", ["http://a.test/"], web.connect, sitemaps=False)
    assert sorted(web.log.requests_per_url()) == ["http://a.test/", "http://a.test/feed", "http://a.test/robots.txt"]
    assert left_out(tmp_path / "c") == {"/feed": ("unwanted_type", 200)}


@pytest.mark.parametrize("limit", [1, 2, 4])
def test_max_pages_is_exact_with_sitemaps(tmp_path: Path, web: TinyWeb, limit: int) -> None:
    web.add_robots("a.test", "Sitemap: http://a.test/one.xml\nSitemap: http://a.test/index.xml\n")
    web.add_page("http://a.test/one.xml", body=urlset("/1", "/2"), headers=XML)
    web.add_page("http://a.test/index.xml", body=index("/two.xml"), headers=XML)
    web.add_page("http://a.test/two.xml", body=urlset("/3", "/4", "/5"), headers=XML)
    summary = crawl(tmp_path / "c", ["http://a.test/"], web.connect, max_pages=limit)
    assert (summary.pages, summary.reason) == (limit, "max_pages")
    assert len(urls(tmp_path / "c", State.FETCHED)) == limit
    again = crawl(tmp_path / "c", [], web.connect)
    assert (again.pages, again.reason) == (6, "complete")
    assert set(web.log.requests_per_url().values()) == {1}


def test_whose_urls_a_sitemap_may_list(tmp_path: Path, web: TinyWeb) -> None:
    """Those of its own host and of hosts whose robots.txt name it. Elsewhere nothing else is asked for."""
    web.add_robots("a.test", "Sitemap: http://maps.test/a.xml\nSitemap: http://maps.test/index.xml\n")
    web.add_robots("maps.test", "User-agent: *\nDisallow: /private\nSitemap: http://maps.test/own.xml\n")
    web.add_page(
        "http://maps.test/a.xml",
        body=urlset("http://a.test/1", "http://maps.test/page", "http://sub.a.test/", "http://c.test/"),
        headers=XML,
    )
    children = index("http://maps.test/child.xml", "http://c.test/child.xml", "http://maps.test/private.xml")
    web.add_page("http://maps.test/index.xml", body=children, headers=XML)
    web.add_page("http://maps.test/child.xml", body=urlset("http://a.test/2", "http://sub.a.test/x"), headers=XML)
    home = tmp_path / "c"
    crawl(home, ["http://a.test/"], web.connect, scope="domain")
    assert fetched(home) == {"/": 0, "/1": 1, "/2": 1}
    assert left_out(home) == {
        "http://maps.test/a.xml": ("sitemap", 200), "http://maps.test/index.xml": ("sitemap", 200),
        "http://maps.test/child.xml": ("sitemap", 200), "http://maps.test/private.xml": ("robots", 0),
        "http://maps.test/page": ("scope", 0),
    }  # fmt: skip


def test_a_shared_sitemap_is_read_again_for_another_host(tmp_path: Path, web: TinyWeb) -> None:
    """And for whom it speaks is known after a restart."""
    web.add_robots("a.test", "Sitemap: http://maps.test/all.xml\n")
    web.add_robots("b.test", "Sitemap: http://maps.test/all.xml\n")
    web.add_page("http://maps.test/all.xml", body=urlset("http://a.test/1", "http://b.test/1"), headers=XML)
    web.add_page("http://b.test/")
    web.add_page("http://b.test/1")
    home = tmp_path / "c"
    crawl(home, ["http://a.test/"], web.connect, scope="host", max_pages=1)
    assert fetched(home) == {"/": 0}
    crawl(home, [], web.connect, scope="host")
    assert fetched(home) == {"/": 0, "/1": 1}
    crawl(home, ["http://b.test/"], web.connect, scope="host")
    assert fetched(home) == {"/": 0, "/1": 1, "http://b.test/": 0, "http://b.test/1": 1}
    assert web.log.requests_per_url()["http://maps.test/all.xml"] == 2


def test_an_index_leads_to_sitemaps_and_no_further(tmp_path: Path, web: TinyWeb) -> None:
    web.add_robots("a.test", "Sitemap: http://a.test/index.xml\n")
    web.add_page("http://a.test/index.xml", body=index("/index.xml", "/next.xml", "/leaf.xml"), headers=XML)
    web.add_page("http://a.test/next.xml", body=index("/index.xml", "/third.xml") + urlset("/1"), headers=XML)
    web.add_page("http://a.test/leaf.xml", body=urlset("/2", "/leaf.xml", "/index.xml"), headers=XML)
    web.add_page("http://a.test/third.xml", body=urlset("/3"), headers=XML)
    home = tmp_path / "c"
    crawl(home, ["http://a.test/"], web.connect)
    assert fetched(home) == {"/": 0, "/1": 1, "/2": 1}
    assert set(left_out(home)) == {"/index.xml", "/next.xml", "/leaf.xml"}
    assert set(web.log.requests_per_url().values()) == {1}


@pytest.mark.parametrize("name", ["sitemap.xml", "map.php", "sitemap_index.xml.gz"])
def test_a_seed_may_be_a_sitemap(tmp_path: Path, web: TinyWeb, name: str) -> None:
    body = index("/child.xml").encode()
    kind = {"Content-Type": "application/x-gzip"} if name.endswith("gz") else {"Content-Type": "text/xml"}
    web.add_page(f"http://a.test/{name}", body=gzip.compress(body) if name.endswith("gz") else body, headers=kind)
    web.add_page("http://a.test/child.xml", body=urlset("/1", "http://b.test/"), headers=XML)
    home = tmp_path / "c"
    summary = crawl(home, [f"http://a.test/{name}"], web.connect, scope="domain")
    assert fetched(home) == {"/1": 1}
    assert left_out(home) == {f"/{name}": ("sitemap", 200), "/child.xml": ("sitemap", 200)}
    assert summary.pages == 1


def test_feeds_are_read_for_links(tmp_path: Path, web: TinyWeb) -> None:
    web.add_page("http://a.test/", ["/rss", "/atom", "/xml", "/data.xml", "/quiet"])
    web.add_page("http://a.test/rss", body=feed("/1", "http://b.test/"), headers=RSS)
    atom = '<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="2"/></entry></feed>'
    web.add_page("http://a.test/atom", body=atom, headers={"Content-Type": "application/atom+xml"})
    web.add_page("http://a.test/xml", body=feed("/3"), headers={"Content-Type": "text/xml"})
    web.add_page("http://a.test/data.xml", body="<data><link>/4</link></data>", headers=XML)
    web.add_page("http://a.test/quiet", body=feed("/5"), headers={**RSS, "X-Robots-Tag": "nofollow"})
    web.add_page("http://b.test/")
    home = tmp_path / "c"
    summary = crawl(home, ["http://a.test/"], web.connect)
    assert fetched(home) == {"/": 0, "/1": 2, "/2": 2, "/3": 2, "http://b.test/": 2}
    assert left_out(home) == {
        "/rss": ("feed", 200), "/atom": ("feed", 200), "/xml": ("feed", 200), "/quiet": ("feed", 200),
        "/data.xml": ("unwanted_type", 200),
    }  # fmt: skip
    assert summary.pages == 5
    assert "http://a.test/rss" in stored(home)
    assert "http://a.test/data.xml" not in stored(home)


def test_feeds_that_are_wanted_are_pages_and_are_followed(tmp_path: Path, web: TinyWeb) -> None:
    web.add_robots("a.test", "Sitemap: http://a.test/one.xml\n")
    web.add_page("http://a.test/one.xml", body=urlset("/2"), headers=XML)
    web.add_page("http://a.test/", ["/rss", "/sitemap.xml"])
    web.add_page("http://a.test/rss", body=feed("/1"), headers=RSS)
    web.add_page("http://a.test/sitemap.xml", body=urlset("/3", "http://b.test/"), headers=XML)
    home = tmp_path / "c"
    crawl(home, ["http://a.test/"], web.connect, types="text/html,application/xml,application/rss+xml")
    assert fetched(home) == {"/": 0, "/rss": 1, "/sitemap.xml": 1, "/1": 2, "/2": 1, "/3": 2}
    assert left_out(home) == {"/one.xml": ("sitemap", 200)}


def test_a_page_that_robots_calls_a_sitemap_is_a_page(tmp_path: Path, web: TinyWeb) -> None:
    web.add_robots("a.test", "Sitemap: http://a.test/site-map\nSitemap: http://b.test/site-map\n")
    web.add_page("http://a.test/site-map", ["/1"])
    web.add_page("http://b.test/site-map", ["/x"])
    home = tmp_path / "c"
    summary = crawl(home, ["http://a.test/"], web.connect, scope="host")
    assert fetched(home) == {"/": 0, "/site-map": 1, "/1": 2}
    assert left_out(home) == {"http://b.test/site-map": ("sitemap", 200)}
    assert summary.pages == 3


def test_a_sitemap_that_fails_is_tried_again(tmp_path: Path, web: TinyWeb) -> None:
    asked: list[bytes] = []

    def answer(request: object) -> bytes | Reply:
        asked.append(b"")
        if len(asked) == 1:
            return Reply((), End.CLOSE)
        if len(asked) == 2:
            return b"HTTP/1.1 503 Busy\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n"
        body = urlset("/1").encode()
        return b"HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)

    web.add_robots("a.test", "Sitemap: http://a.test/map\nSitemap: http://a.test/busy\n")
    web.add_handler("http://a.test/map", answer)
    web.add_page("http://a.test/busy", status=500)
    home = tmp_path / "c"
    summary = crawl(home, ["http://a.test/"], web.connect)
    assert fetched(home) == {"/": 0, "/1": 1}
    assert left_out(home) == {"/map": ("sitemap", 200), "/busy": ("sitemap", 500)}
    assert (summary.pages, summary.faults) == (2, 0)


def test_what_was_left_out_as_a_page_is_read_as_a_sitemap(tmp_path: Path, web: TinyWeb) -> None:
    web.add_page("http://a.test/", ["http://maps.test/a.gz"])
    home = tmp_path / "c"
    crawl(home, ["http://a.test/"], web.connect, scope="host")
    assert left_out(home)["http://maps.test/a.gz"] == ("scope", 0)
    web.add_robots("b.test", "Sitemap: http://maps.test/a.gz\n")
    packed = gzip.compress(urlset("http://b.test/2").encode())
    web.add_page("http://maps.test/a.gz", body=packed, headers={"Content-Type": "application/gzip"})
    web.add_page("http://b.test/")
    web.add_page("http://b.test/2")
    summary = crawl(home, ["http://b.test/"], web.connect, scope="host")
    assert left_out(home) == {"http://maps.test/a.gz": ("sitemap", 200)}
    assert fetched(home) == {"/": 0, "http://b.test/": 0, "http://b.test/2": 1}
    assert (summary.urls, summary.excluded) == (4, 1)
