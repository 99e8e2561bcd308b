"""Pages that were visited again, in reports, exports and what is said of them: each counts once, as it is now."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from crawling import crawl
from indexing import append
from serving import client
from test_export import quiet, rows

from gossamer.agent import PageReader, read_visits
from gossamer.agent.explain import explain
from gossamer.report.export import export_links, export_pages
from gossamer.report.report import Report, make_facts, make_report
from gossamer.report.wacz import export_wacz
from gossamer.testing import TinyWeb

HOME = "http://a.test/"
PAGE, OTHER, GONE, BACK = (HOME + name for name in ("page", "other", "gone", "back"))


def visited_again(home: Path, steps: int = 9) -> None:
    """What later visits to the pages of a crawl found, up to so many of them."""
    history = (
        (PAGE, 200, '<title>Second</title><a href="/new">new</a>', "changed", ""),
        (PAGE, 304, "", "same", PAGE),
        (PAGE, 200, '<title>Second</title><a href="/new">new</a>', "same", PAGE),
        (PAGE, 200, '<title>Second</title><a href="/new">new</a><i>12:30</i>', "same", ""),
        (GONE, 503, "broken", "gone", ""),
        (BACK, 410, "", "gone", ""),
        (OTHER, 200, '<title>Third</title><a href="/">x</a>', "changed", ""),
        (OTHER, 304, "", "same", OTHER),
        (BACK, 200, "", "new", PAGE),
    )
    payloads: dict[str, Any] = {}
    for url, status, body, change, same_as in history[:steps]:
        found = append(home, url, status, body, change, payloads.get(same_as))
        payloads.setdefault(url, found)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A crawl of five pages."""
    with TinyWeb() as web:
        web.add_page(HOME, ["/page", "/other", "/gone", "/back"], "<title>Front</title>")
        for url in (PAGE, OTHER, GONE, BACK):
            web.add_page(url, [f"{url}/1", f"{url}/2"], f"<title>First of {url}</title>")
        crawl(tmp_path / "c", [HOME], web.connect, max_depth="1")
    return tmp_path / "c"


def statuses(report: Report) -> dict[int, int]:
    return {row[0]: row[2] for row in report.tables["status_codes"].rows}


def test_each_page_counts_once_as_it_is_now(home: Path) -> None:
    before = make_report(home)
    assert (before.totals["pages"], statuses(before)) == (5, {200: 5})
    visited_again(home)
    report = make_report(home)
    assert statuses(report) == {200: 4, 503: 1}
    assert (report.totals["pages"], report.totals["html_pages"]) == (5, 4)
    assert report.totals["captures"] == before.totals["captures"] + 9
    assert (report.totals["same_captures"], report.totals["robots_captures"]) == (4, before.totals["robots_captures"])
    assert sum(report.tables["speed"].column("pages")) == 5 + 9, "every visit"


@pytest.mark.parametrize("steps", [1, 2, 3, 4, 8])
def test_facts_made_on_the_way_are_those_made_at_once(home: Path, tmp_path: Path, steps: int) -> None:
    visited_again(home, steps)
    make_facts(home)
    export_pages(home, tmp_path / "on-the-way.parquet", quiet)
    found = rows(tmp_path / "on-the-way.parquet")
    for path in (home / "facts").iterdir():
        path.unlink()
    export_pages(home, tmp_path / "at-once.parquet", quiet)
    assert sorted(found, key=str) == sorted(rows(tmp_path / "at-once.parquet"), key=str)


def test_a_page_that_is_as_another_was(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the payload is must be found by its moment: nobody remembers it, and the other page is another one now."""
    monkeypatch.setattr("gossamer.report.source._REMEMBERED", 0)
    visited_again(home)
    append(home, PAGE, 200, "<title>Fourth</title>", "changed")
    export_pages(home, tmp_path / "p.parquet", quiet)
    titles = {row["url"]: row["title"] for row in rows(tmp_path / "p.parquet")}
    assert (titles[PAGE], titles[BACK]) == ("Fourth", "Second")


def test_pages_and_links_are_exported_as_they_are_now(home: Path, tmp_path: Path) -> None:
    visited_again(home)
    assert export_pages(home, tmp_path / "p.parquet", quiet) == 5
    found = {row["url"]: row for row in rows(tmp_path / "p.parquet")}
    assert {url: (row["status"], row["title"], row["links"]) for url, row in found.items()} == {
        HOME: (200, "Front", 4),
        PAGE: (200, "Second", 1),
        OTHER: (200, "Third", 1),
        GONE: (503, "", None),
        BACK: (200, "Second", 1),
    }
    assert {row["kind"] for row in found.values()} == {"page"}
    assert found[BACK]["duplicate_of"] == PAGE
    assert {row["redirect"] for row in found.values()} == {""}
    export_links(home, tmp_path / "l.parquet", quiet)
    links = {(row["source"], row["target"]) for row in rows(tmp_path / "l.parquet") if row["source"] != HOME}
    assert links == {(PAGE, HOME + "new"), (OTHER, HOME), (BACK, HOME + "new")}


def test_a_304_that_nobody_asked_for_leads_nowhere(tmp_path: Path) -> None:
    with TinyWeb() as web:
        web.add_handler(HOME, lambda _: b"HTTP/1.1 304 Not Modified\r\nServer: odd\r\n\r\n")
        crawl(tmp_path / "c", [HOME], web.connect)
    export_pages(tmp_path / "c", tmp_path / "p.parquet", quiet)
    (row,) = rows(tmp_path / "p.parquet")
    assert (row["status"], row["server"], row["redirect"]) == (304, "odd", "")
    assert export_links(tmp_path / "c", tmp_path / "l.parquet", quiet) == 0


def test_a_page_is_as_fresh_as_its_last_visit(home: Path) -> None:
    visited_again(home, 4)
    last = max(visit.fetched_at for visit in read_visits(home))
    report = make_report(home, clock=lambda: last + 30)
    assert report.totals["last_fetched_at"] == last
    ages = {row[0]: row[1] for row in report.tables["freshness"].rows if row[1]}
    assert list(ages.values()) == [1, 4], "the others were last seen some years before"


def test_a_web_archive_has_every_visit_and_lists_each_page_once(home: Path, tmp_path: Path) -> None:
    visited_again(home)
    assert export_wacz(home, tmp_path / "c.wacz", quiet) == 4
    with zipfile.ZipFile(tmp_path / "c.wacz") as archive:
        lines = gzip.decompress(archive.read("indexes/index.cdx.gz")).decode().splitlines()
        assert lines == sorted(lines)
        captures = [(line.split(" ")[:2], json.loads(line.split(" ", 2)[2])) for line in lines]
        _, *pages = [json.loads(line) for line in archive.read("pages/pages.jsonl").splitlines()]
        assert sorted(page["url"] for page in pages) == [HOME, BACK, OTHER, PAGE]
        for page in pages:  # a player looks for a capture of this moment
            stamp = "".join(filter(str.isdigit, page["ts"]))
            (fields,) = [fields for key, fields in captures if fields["url"] == page["url"] and key[1] == stamp]
            assert fields["status"] == "200"
            assert fields.get("change") != "same"
    assert len([fields for _, fields in captures if fields["url"] == PAGE]) == 5


def test_what_is_said_of_a_page_is_what_it_is_now(home: Path) -> None:
    visited_again(home)
    visits = {visit.url: visit for visit in read_visits(home)}
    assert {url: visits[url].status for url in (PAGE, OTHER, GONE, BACK)} == {
        PAGE: 200,
        OTHER: 200,
        GONE: 503,
        BACK: 200,
    }
    assert "with status 200" in explain(home, PAGE).sentence
    assert "with status 503" in explain(home, GONE).sentence
    with PageReader(home) as reader:
        page, back = reader.by_url(PAGE), reader.by_url(BACK)
    assert page is not None
    assert back is not None
    assert page.body == back.body == b'<title>Second</title><a href="/new">new</a>'
    assert page.fetched_at < page.checked_at == visits[PAGE].fetched_at
    assert back.fetched_at == back.checked_at
    assert (page.revisit, back.revisit) == (False, True)


def test_what_the_service_says_of_it(home: Path) -> None:
    visited_again(home)
    with client(home) as api:
        page, back = (api.get("/api/v1/pages", params={"url": url}).json() for url in (PAGE, BACK))
        content = api.get("/api/v1/pages/content", params={"url": BACK}).content
        said = {url: " ".join(api.get("/urls", params={"url": url}).text.split()) for url in (PAGE, BACK)}
    assert (page["status"], page["revisit"], back["status"], back["revisit"]) == (200, False, 200, True)
    assert page["stored_at"] < page["fetched_at"]
    assert back["stored_at"] == back["fetched_at"]
    assert content == b'<title>Second</title><a href="/new">new</a>'
    assert said[PAGE].count(", unchanged") == 3, "also the one with other bytes"
    assert "status 304, unchanged" in said[PAGE]
    assert "status 410, gone" in said[BACK]
    assert "status 200, back" in said[BACK]
