"""The numbers of the report beside the truth of the simulated web, and of a web of a few pages."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import changing
import pytest
from changing import found, kept_fresh
from crawling import crawl

from gossamer.agent import read_visits
from gossamer.errors import ConfigError, CrawlDirError
from gossamer.model import State
from gossamer.model.url import host_of
from gossamer.report.html import report_page
from gossamer.report.report import Report, make_report
from gossamer.report.site import make_site
from gossamer.testing import SimServer, TinyWeb, World, reachable
from gossamer.testing.web.message import response

PLAIN = World(3, 9, 30, "plain")
VARIED = World(14, 8, 25, "realistic", faults=0.0)
DAY = 86400.0


class Crawled:
    """A crawl of a simulated web, the truth about it, and the report on it."""

    def __init__(self, world: World, home: Path) -> None:
        self.world = world
        self.home = home
        with SimServer.running(world) as server:
            options: dict[str, Any] = {"duplicates": "follow", "types": ["*/*"]} if world.profile.varied else {}
            crawl(home, [world.url(0)], server.connect, **options)
        self.truth = reachable(world, [world.url(0)])
        self.fetched = {url: found for url, found in self.truth.items() if found.fetched}
        self.report = make_report(home)

    def links(self) -> dict[str, list[str]]:
        """Where each page leads, as an obedient crawler sees it."""
        found = {}
        for url, expected in self.fetched.items():
            host = self.world.find(host_of(url))
            assert host is not None
            resource = self.world.resource(host, url.split("/", 3)[3].join(["/", ""]).encode())
            if resource is not None and expected.status == 200 and expected.kind == "ok":
                targets = (self.world.url(other, path) for other, path in self.world.links(host, resource))
                found[url] = [target for target in dict.fromkeys(targets) if target != url]
        return found


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    return Crawled(PLAIN, tmp_path_factory.mktemp("plain") / "c")


@pytest.fixture(scope="module")
def varied(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    return Crawled(VARIED, tmp_path_factory.mktemp("varied") / "c")


def column(report: Report, table: str, key: str, value: str) -> dict[Any, Any]:
    return {row[key]: row[value] for row in report.tables[table].objects()}


def histogram(report: Report, table: str, key: str) -> dict[Any, Any]:
    """Without the ranges of which there is nothing."""
    return {start: pages for start, pages in column(report, table, key, "pages").items() if pages}


def counted(values: Any) -> dict[Any, int]:
    return dict(Counter(values))


# -- beside the truth --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["plain", "varied"])
def test_totals(name: str, request: pytest.FixtureRequest) -> None:
    crawled: Crawled = request.getfixturevalue(name)
    totals = crawled.report.totals
    hosts = {host_of(url) for url in crawled.fetched}
    assert totals["pages"] == totals["fetched"] == len(crawled.fetched)
    assert totals["ok"] == sum(found.status == 200 for found in crawled.fetched.values())
    assert totals["hosts_with_pages"] == len(hosts)
    assert totals["domains"] == len({_domain(crawled, host) for host in hosts})
    assert totals["queued"] == sum(found.kind == "robots-unreachable" for found in crawled.truth.values())
    assert totals["addresses"] == 1
    assert crawled.report.behind == 0
    assert not crawled.report.running


def _domain(crawled: Crawled, name: str) -> str:
    host = crawled.world.find(name)
    assert host is not None
    return host.domain


@pytest.mark.parametrize("name", ["plain", "varied"])
def test_status_codes(name: str, request: pytest.FixtureRequest) -> None:
    crawled: Crawled = request.getfixturevalue(name)
    expected = counted(found.status for found in crawled.fetched.values())
    assert column(crawled.report, "status_codes", "status", "pages") == expected
    assert len(expected) > 3 or name == "plain"


@pytest.mark.parametrize("name", ["plain", "varied"])
def test_domains(name: str, request: pytest.FixtureRequest) -> None:
    crawled: Crawled = request.getfixturevalue(name)
    pages = counted(_domain(crawled, host_of(url)) for url in crawled.fetched)
    hosts = counted(_domain(crawled, host) for host in {host_of(url) for url in crawled.fetched})
    for table in ("domains_by_pages", "domains_by_hosts"):
        assert column(crawled.report, table, "domain", "pages") == pages
        assert column(crawled.report, table, "domain", "hosts") == hosts
    assert crawled.report.tables["domains_by_pages"].column("pages") == sorted(pages.values(), reverse=True)
    assert crawled.report.tables["domains_by_hosts"].column("hosts") == sorted(hosts.values(), reverse=True)
    assert column(crawled.report, "suffixes", "suffix", "domains") == {"test": len(pages)}
    assert column(crawled.report, "hosts", "host", "pages") == counted(host_of(url) for url in crawled.fetched)


def test_links_per_page(plain: Crawled) -> None:
    links = plain.links()
    buckets = counted(_floor(len(targets)) for targets in links.values())
    assert histogram(plain.report, "links_per_page", "from") == buckets
    assert plain.report.totals["links"] == sum(map(len, links.values()))
    assert plain.report.totals["html_pages"] == len(links)


def _floor(number: int) -> int:
    return 1 << number.bit_length() - 1 if number else 0


def test_links_between_domains(plain: Crawled) -> None:
    expected: Counter[tuple[str, str]] = Counter()
    for url, targets in plain.links().items():
        expected.update((_domain(plain, host_of(url)), _domain(plain, host_of(target))) for target in targets)
    rows = plain.report.tables["domain_links"].rows
    assert {(source, target): links for source, target, links in rows} == expected
    table = plain.report.tables["link_matrix"]
    names = [field.name for field in table.fields[1:]]
    assert set(names) == {source for source, _ in expected}
    for row in table.rows:
        assert list(row[1:]) == [expected[row[0], name] for name in names]
    inward: Counter[str] = Counter()
    for (source, target), links in expected.items():
        inward[target] += links if source != target else 0
    assert column(plain.report, "linked_domains", "domain", "links") == inward


@pytest.mark.parametrize("name", ["plain", "varied"])
def test_depths(name: str, request: pytest.FixtureRequest) -> None:
    crawled: Crawled = request.getfixturevalue(name)
    visits = list(read_visits(crawled.home))
    depths = counted(visit.depth for visit in visits if visit.state is State.FETCHED)
    assert histogram(crawled.report, "depths", "depth") == depths
    assert column(crawled.report, "url_depths", "depth", "urls") == counted(visit.depth for visit in visits)
    assert column(crawled.report, "url_depths", "depth", "fetched") | depths == column(
        crawled.report, "url_depths", "depth", "fetched"
    )
    assert min(depths) == 0
    assert depths[0] == 1


def test_robots_and_exclusions(varied: Crawled) -> None:
    excluded = [found for found in varied.truth.values() if found.kind == "robots-excluded"]
    assert excluded
    assert varied.report.totals["robots_excluded"] == len(excluded)
    exclusions = column(varied.report, "exclusions", "reason", "urls")
    assert exclusions["robots"] == len(excluded)
    states = column(varied.report, "states", "state", "urls")
    assert states["excluded"] == sum(exclusions.values())
    assert states["fetched"] == len(varied.fetched)
    asked = varied.report.tables["robots"].objects()
    assert sum(row["hosts"] for row in asked) >= len({host_of(url) for url in varied.fetched})


def test_languages_and_charsets(varied: Crawled) -> None:
    pages = [url for url in varied.links() if _is_text(varied, url)]
    expected = counted(_host(varied, url).language for url in pages)
    found = column(varied.report, "languages", "language", "pages")
    # Pages of a few words show no language, and lists of links none of their own.
    for language, count in expected.items():
        assert abs(found.get(language, 0) - count) <= max(6, count // 8), language
    assert len(expected) >= 2
    assert sum(found.values()) == varied.report.totals["html_pages"]


def _host(crawled: Crawled, url: str) -> Any:
    return crawled.world.find(host_of(url))


def _is_text(crawled: Crawled, url: str) -> bool:
    return crawled.fetched[url].kind == "ok"


def test_types_and_extensions(varied: Crawled) -> None:
    types = column(varied.report, "types", "type", "pages")
    other = [url for url, found in varied.fetched.items() if found.kind == "non-html"]
    assert sum(types.values()) == len(varied.fetched)
    assert sum(count for kind, count in types.items() if kind != "text/html") >= len(other) > 0
    extensions = counted(_extension(url) for url in varied.fetched)
    assert column(varied.report, "extensions", "extension", "pages") == extensions


def _extension(url: str) -> str:
    _, dot, extension = url.partition("?")[0].rpartition("/")[2].rpartition(".")
    return extension.lower() if dot and extension.isalnum() else "(none)"


def test_url_lengths(varied: Crawled) -> None:
    assert histogram(varied.report, "url_lengths", "from") == counted(len(url) // 10 * 10 for url in varied.fetched)


def test_speed_counts_every_page(varied: Crawled) -> None:
    table = varied.report.tables["speed"]
    assert sum(table.column("pages")) == len(varied.fetched)
    steps = {later - earlier for earlier, later in zip(table.column("at"), table.column("at")[1:], strict=False)}
    assert len(steps) <= 1, "gaps are part of the time"
    assert sum(table.column("bytes")) == varied.report.totals["encoded_bytes"]


def test_site_summary(plain: Crawled) -> None:
    links = plain.links()
    name = PLAIN.host(1).name
    site = make_site(plain.home, name)
    out = Counter(host_of(to) for url, targets in links.items() if host_of(url) == name for to in targets)
    into = Counter(host_of(url) for url, targets in links.items() for to in targets if host_of(to) == name)
    assert site.totals["pages"] == sum(host_of(url) == name for url in plain.fetched)
    assert site.totals["inside_links"] == out.pop(name)
    assert site.totals["out_links"] == out.total()
    into.pop(name)
    assert site.totals["in_links"] == into.total()
    assert {row["host"]: row["links"] for row in site.tables["in_links"].objects()} == into
    assert {row["host"]: row["links"] for row in site.tables["out_links"].objects()} == out
    assert column_of(site.tables["languages"], "language", "pages") == {PLAIN.host(1).language: site.totals["ok"]}


def column_of(table: Any, key: str, value: str) -> dict[Any, Any]:
    return {row[key]: row[value] for row in table.objects()}


def test_a_site_that_is_not_there(plain: Crawled) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.test"):
        make_site(plain.home, "nowhere.test")


def test_a_directory_that_is_no_crawl(tmp_path: Path) -> None:
    with pytest.raises(CrawlDirError):
        make_report(tmp_path)


# -- a web of a few pages ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("tiny") / "c"
    with TinyWeb() as web:
        words = "<p>The harbour of the old town has boats and nets, and the boats go out at night for herring.</p>" * 9
        page = f'<html lang="en"><title>A &amp; B</title>{words}'
        web.add_page(
            "http://www.a.co.uk/",
            ["/two.HTML", "/copy", "/gone", "/moved", "/file.tar.gz", "http://b.org/", "http://x.b.org/", "/secret/1"],
            page,
            headers={"Server": "nginx/1.25 (Debian)", "Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT"},
        )
        web.add_page("http://www.a.co.uk/two.HTML", ["/"], page + "two", headers={"Server": "nginx/1.27"})
        web.add_page("http://www.a.co.uk/copy", ["/"], page + "two", headers={"Server": "nginx/1.27"})
        web.add_redirect("http://www.a.co.uk/moved", "http://b.org/", 301)
        web.add_robots("www.a.co.uk", "User-agent: *\nCrawl-delay: 0.01\nDisallow: /secret/\n")
        web.add_handler(
            "http://www.a.co.uk/file.tar.gz", lambda request: response(200, "application/gzip", b"\x1f\x8b" * 50)
        )
        web.add_page("http://b.org/", [], page + "b", headers={"Server": "Apache"})
        web.add_page("http://x.b.org/", ["http://www.a.co.uk/", "http://www.a.co.uk/copy"], page + "x")
        crawl(home, ["http://www.a.co.uk/"], web.connect, types=["*/*"])
    return home


def test_tables_of_a_small_web(tiny: Path) -> None:
    report = make_report(tiny)
    assert column(report, "status_codes", "status", "pages") == {200: 6, 301: 1, 404: 1}
    assert column(report, "status_codes", "status", "meaning")[404] == "Not Found"
    assert column(report, "server_software", "server", "hosts") == {"(not said)": 2, "nginx": 1, "Apache": 1}
    assert column(report, "server_versions", "server", "pages") == {
        "nginx/1.25 (Debian)": 1,
        "nginx/1.27": 2,
        "Apache": 1,
    }
    suffixes = report.tables["suffixes"].objects()
    assert [(row["suffix"], row["domains"], row["hosts"], row["addresses"], row["pages"]) for row in suffixes] == [
        ("co.uk", 1, 1, 1, 6),
        ("org", 1, 2, 1, 2),
    ]
    assert column(report, "types", "type", "pages") == {"text/html": 7, "application/gzip": 1}
    assert column(report, "extensions", "extension", "pages") == {"(none)": 6, "html": 1, "gz": 1}
    assert column(report, "languages", "language", "pages") == {"en": 5}
    assert column(report, "charsets", "charset", "pages") == {"utf-8": 5}
    links = {(row["source"], row["target"]): row["links"] for row in report.tables["domain_links"].objects()}
    assert links == {("a.co.uk", "a.co.uk"): 8, ("a.co.uk", "b.org"): 2, ("b.org", "a.co.uk"): 2}
    assert report.as_json()["tables"]["link_matrix"] == {"domains": ["a.co.uk", "b.org"], "links": [[8, 2], [2, 0]]}
    assert report.as_json()["tables"]["suffix_links"] == {
        "suffixes": ["co.uk", "org"], "links": [[8, 2], [2, 0]], "from": [10, 2], "to": [10, 2], "total": 12,
    }  # fmt: skip
    assert histogram(report, "links_per_page", "from") == {0: 1, 1: 2, 2: 1, 8: 1}
    same = report.tables["duplicates"].objects()
    assert [(row["pages"], row["hosts"]) for row in same] == [(2, 1)]
    assert same[0]["url"] in ("http://www.a.co.uk/two.HTML", "http://www.a.co.uk/copy")
    assert report.totals["duplicate_pages"] == 1
    assert column(report, "exclusions", "reason", "urls") == {"robots": 1}
    assert column(report, "robots", "status", "hosts") == {200: 1, 404: 2}
    assert column(report, "robots", "status", "with_delay") == {200: 1, 404: 0}
    assert column(report, "sizes", "from", "pages")[128] == 0, "a range in between of which there is nothing"
    assert report.tables["links_per_page"].rows[2:4] == [(2, 3, 1), (4, 7, 0)]
    assert histogram(report, "sizes", "from") == {0: 1, 64: 2, 512: 3, 1024: 2}


def test_faults(tmp_path: Path) -> None:
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/broken", "/fine"])
        web.add_page("http://a.test/fine")
        web.add_handler("http://a.test/broken", lambda request: b"this is no HTTP\r\n\r\n")
        crawl(tmp_path / "c", ["http://a.test/"], web.connect)
    faults = make_report(tmp_path / "c").tables["faults"].objects()
    assert [(row["reason"], row["urls"]) for row in faults] == [("protocol", 1)]
    assert faults[0]["tries"] >= 1


def test_freshness(tiny: Path) -> None:
    now = max(visit.fetched_at for visit in read_visits(tiny))
    report = make_report(tiny, clock=lambda: now + 2 * DAY)
    ages = column(report, "freshness", "age", "pages")
    assert ages["1 d to 7 d"] == 8 == sum(ages.values())
    unchanged = column(report, "freshness", "age", "unchanged")
    assert unchanged["over 1 year"] == 1 == sum(unchanged.values())


def test_pages_that_were_visited_again(tmp_path: Path) -> None:
    home, scratch = tmp_path / "c", tmp_path / "scratch"
    scratch.mkdir()
    changing.make(home)
    before = make_report(home)
    assert before.tables["revisits"].rows == before.tables["revisits_by_host"].rows == []
    found(home, scratch, ("http://a.test/1", "changed"), ("http://a.test/2", "same"), ("http://b.test/", "gone"))
    found(home, scratch, ("http://a.test/1", "changed"), ("http://a.test/2", "same"))
    kept_fresh(home, freshness=0.75, age=90.0)
    report = make_report(home)  # facts of the first one are gone on with
    (whole,) = report.tables["revisits"].objects()
    assert {name: whole[name] for name in ("revisits", "changed", "gone", "freshness", "age")} == {
        "revisits": 5, "changed": 2, "gone": 1, "freshness": 0.75, "age": 90.0,
    }  # fmt: skip
    hosts = [
        (row["host"], row["revisits"], row["changed"], row["gone"], row["freshness"])
        for row in report.tables["revisits_by_host"].objects()
    ]
    assert hosts == [("a.test", 4, 2, 0, None), ("b.test", 1, 0, 1, None)]
    page = report_page(report)
    assert 'id="freshness"' in page
    assert "75 %" in page
    assert "1 min 30 s" in page


def test_mirrors_and_traps_are_named(tmp_path: Path) -> None:
    same = "<p>An empty calendar says nothing, whichever day one looks at, and leads to the next one.</p>"
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/x/?day=0"])
        for day in range(40):
            web.add_page(f"http://a.test/x/?day={day}", [f"/x/?day={day + 1}", f"/x/?day={day + 2}"], same)
        crawl(tmp_path / "c", ["http://a.test/"], web.connect)
    report = make_report(tmp_path / "c")
    found = report.tables["findings"].objects()
    assert [row["kind"] for row in found] == ["barren"]
    assert found[0]["what"].startswith("a.test/x/")
    assert found[0]["what"] in found[0]["sentence"]
    assert report.totals["findings"] == 1


def test_what_is_empty(tmp_path: Path) -> None:
    """No page was stored: every table is there, and none fails."""
    with TinyWeb() as web:
        web.add_robots("a.test", "User-agent: *\nDisallow: /\n")
        crawl(tmp_path / "c", ["http://a.test/"], web.connect)
    report = make_report(tmp_path / "c")
    assert report.totals["pages"] == 0
    assert report.totals["mean_size"] is None
    assert report.tables["status_codes"].rows == []
    assert column(report, "robots", "status", "closed") == {200: 1}
