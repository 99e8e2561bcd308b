"""How fresh the copies of each host are: in lists, on pages, and in the report."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import pytest
from serving import client
from simulated_time import DAY, HOUR, LongCrawl
from test_keep_fresh import Page

from gossamer.cli import run
from gossamer.frontier.reader import FrontierReader
from gossamer.report.report import make_report
from gossamer.testing import FakeClock
from gossamer.testing.tinyweb import TinyWeb

START = 1_790_000_000.0
LATER = START + 20 * DAY  # when it is asked about
BUSY, QUIET = "http://busy.test/", "http://quiet.test/"


def made(home: Path, **settings: object) -> FakeClock:
    """Pages of one host change every day, those of the other never."""
    clock = FakeClock(START)
    with TinyWeb() as web:
        busy = [Page(web, f"{BUSY}{name}") for name in ("", 1, 2)]
        Page(web, QUIET)
        crawl = LongCrawl(home, web.connect, clock, fresh__min_interval="1d", fresh__max_interval="1d", **settings)
        crawl.run(*(page.text for page in busy), QUIET, seconds=HOUR)
        for day in range(12):
            for page in busy:
                page.text = f"day {day}"
            crawl.run(seconds=DAY)
    return clock


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("fresh") / "c"
    made(home)
    return home


def said(text: str) -> str:
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", text)))


def test_hosts_that_change_are_less_fresh(home: Path, tmp_path: Path) -> None:
    reader = FrontierReader(home / "frontier", tmp_path)
    try:
        now = START + 13 * DAY
        found = reader.freshness(["busy.test", "quiet.test", "unknown.test"], now)
        later = reader.freshness(["busy.test"], now + 20 * DAY)
    finally:
        reader.close()
    assert found.keys() == {"busy.test", "quiet.test"}
    assert (found["busy.test"].pages, found["quiet.test"].pages) == (3, 1)
    assert later["busy.test"].freshness < found["busy.test"].freshness < found["quiet.test"].freshness <= 1
    assert found["quiet.test"].age < found["busy.test"].age < later["busy.test"].age < 33 * DAY


def test_lists_and_pages_say_it(home: Path) -> None:
    with client(home, clock=lambda: LATER) as pages:
        hosts = {host["name"]: host for host in pages.get("/api/v1/hosts").json()["hosts"]}
        listed = pages.get("/hosts").text
        busy = said(pages.get("/hosts/busy.test").text)
        page = said(pages.get("/urls", params={"url": BUSY}).text)
        explained = pages.get("/api/v1/explain", params={"url": BUSY}).json()
    assert 0 <= hosts["busy.test"]["freshness"] < hosts["quiet.test"]["freshness"] < 1
    assert hosts["busy.test"]["age"] > hosts["quiet.test"]["age"] > 0
    assert hosts["busy.test"]["revisits"] == 0
    assert ">Fresh</th>" in listed
    assert re.search(r"quiet\.test</a>.*?<td class=\"number\">\d+ %</td></tr>", listed, re.S)
    assert re.search(r"Fresh \d+ % of 3 copies, by estimate; mean age \d+ d", busy)
    assert "Visited again 3 URLs, 3 of them seen changed" in busy
    assert "Due 3 by now, 0 of them queued" in busy
    assert "It was seen changed" in page
    assert re.search(r"Changes about every \d+ min, by estimate Fresh \d+ % likely Interval about 24 h", page), page
    assert explained["again"].startswith("It was seen changed")
    assert explained["outlook"]["cause"] == "min_interval"


def test_the_report_says_it(home: Path) -> None:
    rows = {row["host"]: row for row in make_report(home).tables["revisits_by_host"].objects()}
    assert rows.keys() == {"busy.test", "quiet.test"}
    assert 0 < rows["busy.test"]["freshness"] < rows["quiet.test"]["freshness"] < 1
    assert rows["busy.test"]["age"] > rows["quiet.test"]["age"]


def test_the_command_line_says_it(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["urls", "--dir", str(home)]) == 0
    lines = {line["url"]: line for line in map(json.loads, capsys.readouterr().out.splitlines())}
    assert list(lines[BUSY])[:7] == ["url", "state", "status", "depth", "fetched_at", "tries", "reason"]
    assert lines[BUSY]["changes"] >= 8
    assert lines[QUIET]["changes"] == 0
    assert lines[BUSY]["fetched_at"] < lines[BUSY]["due"] < "2026-10-06"
    assert run(["explain", BUSY, "--dir", str(home)]) == 0
    out = capsys.readouterr().out
    assert "It was seen changed" in out
    assert re.search(r"^due +2026-", out, re.M)


def test_where_pages_are_not_visited_again_nothing_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made(tmp_path / "c", fresh__keep_fresh=False)
    with client(tmp_path / "c", clock=lambda: LATER) as pages:
        hosts = pages.get("/api/v1/hosts").json()["hosts"]
        assert {(host["freshness"], host["age"]) for host in hosts} == {(None, None)}
        assert ">Fresh</th>" not in pages.get("/hosts").text
        assert "Visited again" not in said(pages.get("/hosts/busy.test").text)
    assert run(["urls", "--dir", str(tmp_path / "c")]) == 0
    assert {json.loads(line)["due"] for line in capsys.readouterr().out.splitlines()} == {None}
