"""Freshness on the dashboard, and the newest changes as a page."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import changing
import pytest
from changing import found, kept_fresh
from serving import client

from gossamer.agent.history import Sample
from gossamer.agent.progress import Progress
from gossamer.service.pages.board import board
from gossamer.service.pages.choice import Choice
from gossamer.service.picture import Picture

NOW = 1_800_000_000.0
FIELDS = {
    "revisits": 1234, "revisits_changed": 120, "revisits_unmodified": 800, "gone": 12, "due": 45, "freshness": 0.937,
    "age": 7380.0,
}  # fmt: skip


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("changed") / "c"
    changing.make(home)
    return home


@pytest.fixture
def home(crawled: Path, tmp_path: Path) -> Path:
    (tmp_path / "scratch").mkdir()
    return Path(shutil.copytree(crawled, tmp_path / "c"))


def rows(html: str) -> list[tuple[str, str]]:
    """What, and of which page."""
    found = re.findall(r'title="[^"]*">(http[^<]*)</a></td><td class="moment(?: bad)?">(\w+)</td>', html)
    return [(what, url) for url, what in found]


def test_the_dashboard_has_it_where_pages_are_visited_again(home: Path) -> None:
    with client(home) as pages:
        assert re.search(r'data-live="fresh@hidden" hidden>', pages.get("/dashboard").text)
    kept_fresh(home, **FIELDS)
    with client(home) as pages:
        html = pages.get("/dashboard").text
        said = pages.get("/api/v1/status").json()
        measured = pages.get("/metrics").text
    assert re.search(r'data-live="fresh@hidden">', html)
    for name, text in {
        "fresh": "93 %", "fresh.more": "mean age 2 h 3 min", "revisits": "1,234", "changed": "120", "due": "45",
        "revisits.more": "800 unmodified (304)", "changed.more": "9.7 % of these visits", "due.more": "12 found gone",
    }.items():  # fmt: skip
        assert f'data-live="{name}">{text}<' in html, name
    assert 'href="/changes"' in html
    assert said | FIELDS | {"keep_fresh": True} == said
    for line in (
        'gossamer_revisits_total{found="changed"} 120.0', 'gossamer_revisits_total{found="unmodified"} 800.0',
        'gossamer_revisits_total{found="same"} 314.0', "gossamer_gone_total 12.0", "gossamer_due 45.0",
        "gossamer_keep_fresh 1.0", "gossamer_freshness_ratio 0.937", "gossamer_age_seconds 7380.0",
    ):  # fmt: skip
        assert f"\n{line}\n" in measured, line


def test_nobody_estimates_what_is_not_looked_at(home: Path) -> None:
    with client(home) as pages:
        measured = pages.get("/metrics").text
    assert "\ngossamer_keep_fresh 0.0\n" in measured
    assert "gossamer_freshness_ratio" not in measured


def test_curves_say_what_was_found_when() -> None:
    samples = [
        Sample(NOW - 600, ok=100, revisits=0, freshness=1.0),
        Sample(NOW - 300, ok=160, revisits=0, freshness=0.5),  # 60 new
        # 40 visits to known pages: 10 with 304, 5 gone, 25 with a body, of these 10 changed; and 5 new ones
        Sample(NOW, ok=190, revisits=40, unmodified=10, gone=5, changed=10, freshness=0.75),
    ]
    picture = Picture(NOW, True, Progress(updated_at=NOW, keep_fresh=True, freshness=0.75), samples)
    found = board(picture, Choice(range="all"))
    assert found["fresh.curve@d"].startswith("M0 400")
    assert found["found.top"] == "800/h"
    assert (found["found.new"], found["found.changed"], found["found.gone"]) == ("60/h", "120/h", "60/h")
    hidden = board(Picture(NOW, True, Progress(updated_at=NOW), samples), Choice(range="all"))
    assert hidden["fresh@hidden"]
    assert hidden["fresh.curve@d"] == hidden["found.new@d"] == ""
    assert hidden.keys() == found.keys()


def test_the_newest_changes_come_first_each_with_its_ways_on(home: Path, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    first = found(home, scratch, ("http://a.test/1", "changed"), ("http://a.test/2", "same"))
    found(home, scratch, ("http://b.test/", "gone"), status=404, at=first + 10)
    with client(home) as pages:
        html = pages.get("/changes").text
        assert rows(html)[:2] == [("gone", "http://b.test/"), ("changed", "http://a.test/1")]
        assert len(rows(html)) == 6
        assert 'href="/urls?url=http%3A%2F%2Fa.test%2F1"' in html
        assert 'href="/copy?url=http%3A%2F%2Fa.test%2F1"' in html
        for address in re.findall(r'href="(/(?:urls|copy)[^"]*)"', html):
            assert pages.get(address).status_code == 200
        assert rows(pages.get("/changes?kind=gone").text) == [("gone", "http://b.test/")]
        assert {url for _, url in rows(pages.get("/changes?site=b.test").text)} == {"http://b.test/"}
        assert "There are none of these." in pages.get("/changes?site=c.test&kind=new").text
        assert len(rows(pages.get("/changes?kind=%22%3E%3Cscript%3E").text)) == 6
        odd = pages.get("/changes", params={"site": '"><script>'}).text
        assert "<script>" not in odd
    assert '<a href="/changes?kind=gone">Gone</a>' in html


def test_no_more_than_a_hundred(home: Path, tmp_path: Path) -> None:
    found(home, tmp_path / "scratch", *[("http://a.test/1", "changed")] * 150)
    with client(home) as pages:
        html = pages.get("/changes").text
    assert len(rows(html)) == 100
    assert "The newest 100." in html


def test_before_a_crawl(tmp_path: Path) -> None:
    with client(tmp_path) as pages:
        answer = pages.get("/changes")
    assert answer.status_code == 200
    assert "There is no crawl in this directory yet." in answer.text
