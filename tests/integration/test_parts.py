"""A crawl of two agents on one machine, read as one."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from gzip import decompress
from pathlib import Path
from typing import Any

import agents
import msgspec
import pytest

from gossamer.agent import read_progress, read_visits
from gossamer.agent.changes_together import read_cursors, write_cursors
from gossamer.agent.explain import explain
from gossamer.agent.held import HELD, Held
from gossamer.agent.parts import parts
from gossamer.agent.progress import Progress
from gossamer.cli import run
from gossamer.config import Config, FrontierConfig, PolicyConfig
from gossamer.errors import CrawlDirError, CursorError
from gossamer.frontier import Frontier
from gossamer.report.engine import Engine
from gossamer.report.fact import COLUMNS
from gossamer.report.report import make_report
from gossamer.report.site import make_site
from gossamer.report.views import open_facts
from gossamer.rules.policy import Policy
from gossamer.rules.scope import Scope
from gossamer.rules.territory import Territory

SEEN = {
    "http://a.test/": "fetched",
    "http://a.test/more": "fetched",
    "http://b.test/": "fetched",
    "http://c.test/": "fetched",
    "http://d.test/gone": "fetched",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("parts") / "c"
    agents.make_home(home)
    return home


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    """What a command prints, as JSON."""
    capsys.readouterr()
    assert run(arguments) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def homes(home: Path) -> list[Path]:
    return [part.home for part in parts(home)]


def test_parts(home: Path, tmp_path: Path) -> None:
    assert [part.home.name for part in parts(home)] == ["a1", "a2"]
    assert [part.home for part in parts(home / "agents" / "a1")] == [home / "agents" / "a1"]
    for name in ("a10", "a2", "a1"):
        (tmp_path / "agents" / name).mkdir(parents=True)
        (tmp_path / "agents" / name / "gossamer.toml").touch()
    (tmp_path / "agents" / "lost+found").mkdir()
    assert [part.home.name for part in parts(tmp_path)] == ["a1", "a2", "a10"]
    with pytest.raises(CrawlDirError, match="not begun"):
        read_visits(tmp_path)


def test_urls_once_as_the_agent_that_has_them_knows_them(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = said(capsys, "urls", "--dir", str(home))
    assert sorted(each["url"] for each in found) == sorted(SEEN)
    whole, *each = ({visit.url: visit.digest for visit in read_visits(path)} for path in (home, *homes(home)))
    assert each[0]["http://c.test/"] != each[1]["http://c.test/"] == whole["http://c.test/"]


def test_status(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    each = [read_progress(part.home) for part in parts(home)]
    [found] = said(capsys, "status", "--json", "--dir", str(home))
    assert found["pages"] == sum(one.pages for one in each) == 7
    assert not found["running"]
    assert run(["status", "--dir", str(home)]) == 0
    assert "7" in capsys.readouterr().out


def test_search(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [found] = said(capsys, "search", "silk", "--json", "--dir", str(home))
    assert found["total"] == 3
    assert {hit["url"] for hit in found["results"]} == {"http://a.test/", "http://a.test/more", "http://b.test/"}
    [found] = said(capsys, "search", "trees", "--json", "--dir", str(home))
    assert [hit["url"] for hit in found["results"]] == ["http://c.test/"]


@pytest.mark.parametrize(("url", "known"), [("http://a.test/more", True), ("http://b.test/", True), ("e.test", False)])
def test_explain(home: Path, url: str, known: bool) -> None:
    found = explain(home, url)
    assert found.known is known
    assert (found.host is not None) is known


def test_changes_come_once_and_in_parts(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """d.test was stored by an agent that does not know it any more."""
    pages = [*SEEN, "http://d.test/", "http://c.test/"]
    pages.remove("http://d.test/gone")  # a 404
    [whole] = said(capsys, "changes", "--json", "--dir", str(home))
    assert sorted(each["url"] for each in whole["changes"]) == sorted(pages)
    assert whole["more"] is False
    found: list[str] = []
    cursor, more = "", True
    while more:
        [part] = said(capsys, "changes", "--json", "-n", "2", "--cursor", cursor, "--dir", str(home))
        assert len(part["changes"]) <= 2
        found += [each["url"] for each in part["changes"]]
        cursor, more = part["next"], part["more"]
    assert found == [each["url"] for each in whole["changes"]]
    [part] = said(capsys, "changes", "--json", "--cursor", cursor, "--dir", str(home))
    assert part["changes"] == []


@pytest.mark.parametrize("cursor", ["", "~", "~AA", "~" + "A" * 3000, "x", write_cursors(0.0, {})[1:]])
def test_a_cursor_that_is_none(cursor: str) -> None:
    with pytest.raises(CursorError):
        read_cursors(cursor)


def test_report(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = make_report(home, processes=0)
    assert report.totals["pages"] == 6  # c.test once, as it was seen last; d.test, which only the store knows of; a 404
    assert report.totals["urls"] == len(SEEN)
    assert report.behind == 0
    hosts = {row["host"]: row["pages"] for row in report.as_json()["tables"]["hosts"]}
    assert hosts == {"a.test": 2, "b.test": 1, "c.test": 1, "d.test": 2}
    terms = make_site(home, "b.test", processes=0).as_json()["tables"]["terms"]
    assert "second" in {row["term"] for row in terms}


def rows(capsys: pytest.CaptureFixture[str], home: Path, what: str, out: Path) -> list[dict[str, Any]]:
    assert run(["export", what, "--dir", str(home), "--out", str(out)]) == 0
    capsys.readouterr()
    return [json.loads(line) for line in out.read_text().splitlines()]


def test_export(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found: Sequence[dict[str, Any]] = rows(capsys, home, "--urls", tmp_path / "urls.jsonl")
    assert {each["url"]: each["state"] for each in found} == SEEN
    found = rows(capsys, home, "--parquet", tmp_path / "pages.jsonl")
    assert sorted(each["url"] for each in found) == sorted([*SEEN, "http://d.test/"])
    found = rows(capsys, home, "--links", tmp_path / "links.jsonl")
    assert [(each["source"], each["target"]) for each in found] == [("http://a.test/", "http://a.test/more")]


def test_archive(home: Path, tmp_path: Path) -> None:
    """Agents number their files alike."""
    out = tmp_path / "c.wacz"
    assert run(["export", "--wacz", "--dir", str(home), "--out", str(out)]) == 0
    with zipfile.ZipFile(out) as zipped:
        stored = [name.removeprefix("archive/") for name in zipped.namelist() if name.startswith("archive/")]
        lines = decompress(zipped.read("indexes/index.cdx.gz")).decode().splitlines()
    assert len(stored) == len(set(stored)) == 2
    assert {json.loads(line.split(" ", 2)[2])["filename"] for line in lines} == set(stored)


def test_index(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["index", "--dir", str(home)]) == 0
    assert "6 pages can be searched" in capsys.readouterr().out
    assert run(["index", "--follow", "--dir", str(home)]) == 2
    assert "agents" in capsys.readouterr().err


def test_agents_number_their_files_alike(tmp_path: Path) -> None:
    """A page that is outdated lies where another agent has one that is not, or the same as it is now."""
    places = {
        "a": [("http://u.test/", 1.0, 100), ("http://w.test/", 1.0, 300)],
        "b": [("http://u.test/", 2.0, 50), ("http://v.test/", 2.0, 100), ("http://w.test/", 2.0, 300)],
    }
    with Engine() as engine:
        for name, pages in places.items():
            rows = [
                {"url": url, "kind": "page", "fetched_at": at, "file": 0, "offset": offset} for url, at, offset in pages
            ]
            (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
            engine.copy_lines(tmp_path / name, COLUMNS, tmp_path / f"{name}.parquet")
        open_facts(engine, [tmp_path / "a.parquet", tmp_path / "b.parquet"])
        found = engine.rows("SELECT url, fetched_at FROM pages ORDER BY url")
    assert found == [("http://u.test/", 2.0), ("http://v.test/", 2.0), ("http://w.test/", 2.0)]


def test_of_two_directories_that_have_a_partition_the_one_that_held_it_later_is_right(tmp_path: Path) -> None:
    """Though the other one, which had lost it, was the last to commit."""
    urls = [f"http://{name}.test/" for name in "abc"]
    territory = Territory(16)
    places = [territory.partition(f"{name}.test") for name in "abc"]
    for name, tokens, seen in (
        ("a2", {places[0]: 7, places[1]: 8, places[2]: 1}, urls),
        ("a1", {places[0]: 3, places[1]: 9}, [*urls[:2], "http://a.test/old"]),
    ):
        at = tmp_path / "agents" / name
        at.mkdir(parents=True)
        (at / "gossamer.toml").write_text(Config().to_toml())
        frontier = Frontier(
            at / "frontier", FrontierConfig(partitions=16), Policy(PolicyConfig()), Scope("any"), None, 0.0
        )
        frontier.add(seen, 0, 4)
        progress = Progress(
            urls=len(seen), queued=len(seen), hosts=2, pages=5, updated_at=100.0 if name == "a1" else 50.0
        )
        encode = msgspec.msgpack.encode
        frontier.commit({HELD: encode(Held(tokens=tokens)), "progress": encode(progress)})
        frontier.close()
    assert sorted(visit.url for visit in read_visits(tmp_path)) == urls
    whole = read_progress(tmp_path)
    assert (whole.urls, whole.queued, whole.hosts, whole.pages) == (3, 3, 3, 10)
