"""Sitemaps and feeds on their way: what may be one, how they are queued, and for whom they speak."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_frontier import DELAY, NOW, POLICY, lease_pages

from gossamer.agent.sources import Sources
from gossamer.agent.statistics import Statistics
from gossamer.config import FrontierConfig
from gossamer.frontier import Frontier, keys
from gossamer.frontier.reader import FrontierReader
from gossamer.model import Fault, Page, Reason, State, Visit
from gossamer.parse.source import read_source
from gossamer.rules.head_first import HeadFirst
from gossamer.rules.link_sources import may_be_source, named_as_sitemap
from gossamer.rules.robots import ALLOW_ALL
from gossamer.rules.scope import Scope

MAP = "http://a.test/map"
JSON = "application/feed+json"


def opened(home: Path, now: float = NOW, scope: Scope | None = None, max_depth: int | None = None) -> Frontier:
    return Frontier(home / "frontier", FrontierConfig(partitions=4), POLICY, scope or Scope("any"), max_depth, now)


def only_page(frontier: Frontier, now: float) -> Visit:
    (visit,) = lease_pages(frontier, now)
    return visit


def visit_of(url: str, source: bool = False) -> Visit:
    return Visit(url, "a.test", 1, 4, 1, source=source)


@pytest.mark.parametrize("hops", [0, 1, 10])
@pytest.mark.parametrize("listed", [False, True])
def test_what_an_entry_says_of_a_sitemap_survives_tries_and_restarts(tmp_path: Path, hops: int, listed: bool) -> None:
    frontier = opened(tmp_path)
    frontier.add_source(MAP, 3, hops, listed)
    lease_pages(frontier, NOW)
    visit = only_page(frontier, NOW + 10)
    assert (visit.source, visit.listed, visit.hops, visit.depth) == (True, listed, hops, 3)
    frontier.settle_fault(visit, Fault(Reason.CLOSED, True), NOW + 10)
    frontier.commit({}, clean=True)
    frontier.close()
    again = opened(tmp_path, NOW + 100)
    visit = only_page(again, NOW + 100)
    assert (visit.source, visit.listed, visit.hops, visit.tries) == (True, listed, hops, 1)
    again.settle_source(visit, "sitemap", 200, NOW + 100, 0.5, (1, 2, 3))
    assert lease_pages(again, NOW + 100.5 + DELAY - 0.6) == []
    again.commit({}, clean=True)
    again.close()
    reader = FrontierReader(tmp_path / "frontier", tmp_path / "scratch")
    record = reader.visit(MAP)
    counts = reader.counts()
    reader.close()
    assert record is not None
    assert (record.state, record.reason, record.status, record.tries) == (State.EXCLUDED, "sitemap", 200, 2)
    assert (counts.urls, counts.excluded, counts.fetched, counts.queued) == (1, 1, 0, 0)


def test_bits_of_an_entry_are_apart() -> None:
    assert keys.HOPS & (keys.SOURCE | keys.LISTED) == keys.SOURCE & keys.LISTED == 0
    for hops in range(keys.HOPS + 1):
        marked = hops | keys.SOURCE | keys.LISTED
        packed = keys.pack_entry(7, 2, marked, "p", "/x")
        assert keys.read_entry(packed) == (7, 2, marked, "p", "/x")
        assert "\n" not in packed


def test_known_urls_are_not_queued_twice(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    frontier.add([MAP], 1, 4)
    frontier.lease(NOW, 1)
    frontier.add_source(MAP, 0)
    frontier.add_source("http://a.test/other", 0)
    frontier.add(["http://a.test/other"], 1, 4)
    frontier.add_source("http://a.test/other", 0, again=True)
    frontier.commit({})
    assert (frontier.counts.urls, frontier.counts.queued) == (2, 2)
    frontier.close()


def test_scope_of_sitemaps_is_wider_but_not_without_limits(tmp_path: Path) -> None:
    scope = Scope("host", include=["page"], exclude=["secret"])
    scope.load(["a.test"])
    frontier = opened(tmp_path, scope=scope)
    frontier.add(["http://maps.test/all.xml"], 1, 4)
    frontier.commit({})
    assert (frontier.counts.urls, frontier.counts.excluded) == (1, 1)
    for url in ("http://maps.test/all.xml", MAP, "http://maps.test/secret.xml", "http://a.test/" + "x" * 3000):
        frontier.add_source(url, 0)
    frontier.add_source("http://a.test/far", 0, hops=11)
    assert (frontier.counts.urls, frontier.counts.excluded, frontier.counts.queued) == (5, 3, 2)
    assert scope.has_host("a.test")
    assert not scope.has_host("maps.test")
    frontier.close()


@pytest.mark.parametrize(("limit", "order"), [(None, ["/", "/map"]), (1, ["/map", "/"]), (0, ["/"])])
def test_sitemaps_come_first_only_where_depth_matters(tmp_path: Path, limit: int | None, order: list[str]) -> None:
    frontier = opened(tmp_path, max_depth=limit)
    frontier.add(["http://a.test/"], 0, 4)
    frontier.commit({})
    frontier.add_source(MAP, 0)
    found = []
    for moment in range(1, 6):
        for visit in lease_pages(frontier, NOW + 10 * moment):
            found.append(visit.url.removeprefix("http://a.test"))
            frontier.settle_page(visit, 200, NOW + 10 * moment, 0.0, (0, 1, 2))
    assert found == order
    frontier.close()


@pytest.mark.parametrize(
    ("url", "kind", "source", "expected"),
    [
        ("http://a.test/x", "application/rss+xml;charset=utf-8", False, True),
        ("http://a.test/x", "application/feed+json", False, True),
        ("http://a.test/x", "text/xml", False, True),
        ("http://a.test/x", "application/json", False, False),
        ("http://a.test/x", "application/gzip", False, False),
        ("http://a.test/x", "application/gzip", True, True),
        ("http://a.test/sitemap-3.xml.gz", "application/gzip", False, True),
        ("http://a.test/x", "image/png", True, False),
    ],
)
def test_what_may_be_a_source(url: str, kind: str, source: bool, expected: bool) -> None:
    assert may_be_source(visit_of(url, source), kind) == expected


def test_no_head_goes_before_a_sitemap() -> None:
    for policy in ("unknown", "always"):
        assert HeadFirst(policy).asks(visit_of(MAP))
        assert not HeadFirst(policy).asks(visit_of(MAP, source=True))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/sitemap.xml", True), ("/a/news-sitemap2.txt?x=1", True), ("/Sitemap_index.XML.gz", True),
        ("/sitemap/", False), ("/sitemap.xml/x", False), ("/sitemap.html", False), ("/x?y=/sitemap.xml", False),
        ("/x?sitemap.xml", False),
    ],
)  # fmt: skip
def test_names_of_sitemaps(path: str, expected: bool) -> None:
    assert named_as_sitemap("http://a.test" + path) == expected


@pytest.mark.parametrize(
    ("body", "kind", "named", "expected"),
    [
        (b"<urlset/>", "text/xml", False, "sitemap"),
        (b"<rss/>", "text/xml", False, "feed"),
        (b"<feed/>", "text/xml", False, "feed"),
        (b"<rdf:RDF><foaf:Person/></rdf:RDF>", "application/rdf+xml", False, ""),
        (b"<rdf:RDF><item><link>http://a.test/1</link></item></rdf:RDF>", "application/rdf+xml", False, "feed"),
        (b"<data><loc>http://a.test/1</loc></data>", "text/xml", False, ""),
        (b"<data><loc>http://a.test/1</loc></data>", "text/xml", True, "sitemap"),
        (b"http://a.test/1", "text/plain", False, ""),
        (b"http://a.test/1", "text/plain", True, "sitemap"),
        (b"http://a.test/1", "text/html", True, "sitemap"),
        (b"<title>Map</title>", "text/html", True, ""),
        (b"<html><loc>http://a.test/1</loc>", "text/plain", True, ""),
        (b'{"version": "https://jsonfeed.org/version/1", "items": [{"url": "/1"}]}', JSON, False, "feed"),
        (b'{"items": [{"url": "/1"}]}', JSON, False, ""),
    ],
)  # fmt: skip
def test_what_is_a_source(body: bytes, kind: str, named: bool, expected: str) -> None:
    assert read_source(body, "http://a.test/", kind, named).kind == expected


def sources_of(frontier: Frontier, scope: Scope) -> Sources:
    return Sources(frontier, scope, "gossamer", True, Statistics())


def response(url: str, body: str) -> Page:
    head = b"HTTP/1.1 200 OK\r\n\r\n"
    return Page(url, 200, head, body.encode(), body.encode(), NOW, 0.1, "", content_type="text/xml")


def test_for_whom_a_sitemap_speaks_has_a_bound(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    scope = Scope("any")
    sources = sources_of(frontier, scope)
    for number in range(300):
        visit = Visit(f"http://h{number}.test/robots.txt", f"h{number}.test", 0, 0, 0, robots=True)
        sources.named(visit, [MAP, "/own.xml", "nonsense", "http://"])
        if number == 50:
            frontier.commit(sources.unsaved())
    locs = "".join(f"<url><loc>http://h{number}.test/</loc></url>" for number in range(300))
    frontier.commit(sources.unsaved())
    assert frontier.counts.urls == 301
    assert sources.read(visit_of(MAP, source=True), response(MAP, f"<urlset>{locs}</urlset>")) == "sitemap"
    frontier.commit(sources.unsaved())
    assert frontier.counts.urls == 401
    frontier.close()


def test_a_host_may_name_only_so_many_sitemaps_elsewhere(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    visit = Visit("http://a.test/robots.txt", "a.test", 0, 0, 0, robots=True)
    sources_of(frontier, Scope("any")).named(visit, [f"http://h{number}.test/map" for number in range(300)] + ["/map"])
    assert frontier.counts.urls == 101
    frontier.close()


def test_hosts_that_name_each_others_sitemaps_have_an_end(tmp_path: Path) -> None:
    frontier = opened(tmp_path, max_depth=4)
    sources = sources_of(frontier, Scope("any"))
    frontier.add(["http://h0.test/"], 0, 4)
    depths = []
    for moment in range(20):
        for visit in frontier.lease(NOW + 10 * moment, 10):
            if visit.robots:
                depths.append(visit.depth)
                frontier.settle_robots(visit, ALLOW_ALL, NOW + 10 * moment, 0.0, NOW + 1e6)
                sources.named(visit, [f"http://h{int(visit.host[1:-5]) + 1}.test/map"])
    assert depths == [0, 1, 2, 3, 4]
    frontier.close()


def test_hints_move_a_url_by_one(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    sources = sources_of(frontier, Scope("any"))
    entries = "".join(
        f"<url><loc>/{share}</loc><priority>{share}</priority></url>"
        for share in ("0.0", "0.2", "0.5", "0.8", "1.0", "9")
    )
    sources.read(visit_of(MAP, source=True), response(MAP, f"<urlset>{entries}</urlset>"))
    lease_pages(frontier, NOW)
    order = []
    for moment in range(1, 7):
        for visit in lease_pages(frontier, NOW + 10 * moment):
            order.append((visit.priority, visit.url.rpartition("/")[2]))
            frontier.settle_page(visit, 200, NOW + 10 * moment, 0.0, (0, 1, 2))
    assert order == [(3, "0.8"), (3, "1.0"), (4, "0.5"), (4, "9"), (5, "0.0"), (5, "0.2")]
    frontier.close()
