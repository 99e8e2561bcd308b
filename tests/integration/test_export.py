"""Exports: what is in them is what was crawled, and a file is whole or not there."""

from __future__ import annotations

import csv
import gzip
import json
import zipfile
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from crawling import crawl
from fastwarc.warc import ArchiveIterator

from gossamer.agent import read_visits
from gossamer.cli import run
from gossamer.errors import ConfigError
from gossamer.report import export
from gossamer.report.engine import Engine, files_of
from gossamer.report.export import LINKS, URLS, export_links, export_pages, export_urls
from gossamer.report.fact import COLUMNS
from gossamer.report.making import Made
from gossamer.report.wacz import export_wacz
from gossamer.testing import TinyWeb

ROOT = Path(__file__).parents[2]


def quiet(made: Made) -> None:
    assert 0 <= made.done <= made.total


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("export") / "crawl"
    with TinyWeb() as web:
        web.add_page(
            "http://a.test/", ["/b", "/b", "/", "/moved", "http://c.test/", "/private/x"], '<title>=A,\n"é"</title>'
        )
        web.add_page("http://a.test/b", ["/"])
        web.add_page("http://c.test/", [], '<title>=A,\n"é"</title>')
        web.add_redirect("http://a.test/moved", "/b")
        web.add_robots("a.test", "User-agent: *\nDisallow: /private/\n")
        crawl(directory, ["http://a.test/"], web.connect, warc_size="2KB")
    return directory


def rows(path: Path) -> list[dict[str, Any]]:
    with Engine() as engine:
        source = files_of([path])
        names = engine.columns(f"SELECT * FROM {source}")
        return [dict(zip(names, row, strict=True)) for row in engine.rows(f"SELECT * FROM {source}")]


def test_pages(home: Path, tmp_path: Path) -> None:
    assert export_pages(home, tmp_path / "p.parquet", quiet) == 4
    found = {row["url"]: row for row in rows(tmp_path / "p.parquet")}
    assert set(found) == {visit.url for visit in read_visits(home) if visit.status}
    first = found["http://a.test/"]
    assert list(first) == [column.name for column in COLUMNS]
    assert (first["status"], first["depth"], first["host"], first["domain"]) == (200, 0, "a.test", "a.test")
    assert first["title"] == '=A, "é"'
    assert first["links"] == 4
    assert dict(zip(first["to_hosts"], first["to_counts"], strict=True)) == {"a.test": 3, "c.test": 1}
    assert first["fetched_at"].year >= 2024
    assert found["http://a.test/moved"]["redirect"] == "http://a.test/b"
    assert found["http://a.test/moved"]["links"] is None


@pytest.mark.parametrize("part", [1, 1 << 30])
def test_links(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: int) -> None:
    monkeypatch.setattr(export, "_PART", part)
    assert export_links(home, tmp_path / "l.parquet", quiet) == 6
    found = rows(tmp_path / "l.parquet")
    assert list(found[0]) == [column.name for column in LINKS]
    assert {(row["source"], row["target"], row["kind"]) for row in found} == {
        ("http://a.test/", "http://a.test/b", "link"),
        ("http://a.test/", "http://a.test/moved", "link"),
        ("http://a.test/", "http://c.test/", "link"),
        ("http://a.test/", "http://a.test/private/x", "link"),
        ("http://a.test/b", "http://a.test/", "link"),
        ("http://a.test/moved", "http://a.test/b", "redirect"),
    }


def test_urls(home: Path, tmp_path: Path) -> None:
    assert export_urls(home, tmp_path / "u.parquet", quiet) == 5
    found = {row["url"]: row for row in rows(tmp_path / "u.parquet")}
    assert list(found["http://a.test/"]) == [column.name for column in URLS]
    assert Counter(row["state"] for row in found.values()) == {"fetched": 4, "excluded": 1}
    assert found["http://a.test/private/x"]["reason"] == "robots"
    assert found["http://a.test/private/x"]["status"] is None
    assert found["http://a.test/b"]["depth"] == 1


def test_other_kinds_of_files(home: Path, tmp_path: Path) -> None:
    export_urls(home, tmp_path / "u.csv", quiet)
    export_urls(home, tmp_path / "u.jsonl.gz", quiet)
    lines = (tmp_path / "u.csv").read_text().splitlines()
    assert lines[0] == ",".join(column.name for column in URLS)
    assert len(lines) == 6
    objects = [json.loads(line) for line in gzip.decompress((tmp_path / "u.jsonl.gz").read_bytes()).splitlines()]
    assert {row["url"] for row in objects} == {visit.url for visit in read_visits(home)}


def test_no_text_of_the_web_is_a_formula_of_a_spreadsheet(home: Path, tmp_path: Path) -> None:
    export_pages(home, tmp_path / "p.csv", quiet, 1)
    export_pages(home, tmp_path / "p.jsonl", quiet, 1)
    with open(tmp_path / "p.csv", newline="") as file:
        titles = {row["url"]: row["title"] for row in csv.DictReader(file)}
    assert titles["http://a.test/"] == '\'=A, "é"'
    exact = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    assert {row["title"] for row in exact if row["url"] == "http://a.test/"} == {'=A, "é"'}


def test_a_file_that_cannot_be_written(home: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"\.parquet"):
        export_urls(home, tmp_path / "u.xls", quiet)
    with pytest.raises(ConfigError, match="directory"):
        export_urls(home, tmp_path / "no" / "u.csv", quiet)
    with pytest.raises(ConfigError, match=r"\.wacz"):
        export_wacz(home, tmp_path / "a.zip", quiet)


def test_what_fails_leaves_what_was_there(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any) -> Iterator[bytes]:
        yield b'{"url": "http://a.test/"}\n'
        raise KeyboardInterrupt

    out = tmp_path / "u.parquet"
    out.write_text("before")
    monkeypatch.setattr(export, "_lines", failing)
    with pytest.raises(KeyboardInterrupt):
        export_urls(home, out, quiet)
    assert out.read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["u.parquet"]


# -- WACZ --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def wacz(home: Path, tmp_path: Path) -> Iterator[zipfile.ZipFile]:
    assert export_wacz(home, tmp_path / "c.wacz", quiet) == 3
    with zipfile.ZipFile(tmp_path / "c.wacz") as file:
        yield file


def test_wacz_describes_what_it_holds(wacz: zipfile.ZipFile, home: Path) -> None:
    description = json.loads(wacz.read("datapackage.json"))
    assert description["profile"] == "data-package"
    assert description["wacz_version"] == "1.1.1"
    assert description["mainPageURL"] == "http://a.test/"
    resources = {one["path"]: one for one in description["resources"]}
    assert set(wacz.namelist()) == {*resources, "datapackage.json", "datapackage-digest.json"}
    for path, resource in resources.items():
        data = wacz.read(path)
        assert (resource["bytes"], resource["hash"]) == (len(data), f"sha256:{sha256(data).hexdigest()}")
    digest = json.loads(wacz.read("datapackage-digest.json"))
    assert digest["hash"] == f"sha256:{sha256(wacz.read('datapackage.json')).hexdigest()}"
    assert {info.compress_type for info in wacz.infolist()} == {zipfile.ZIP_STORED}
    stored = {f"archive/{path.name}" for path in (home / "warc").glob("*.warc.gz")}
    assert len(stored) > 1
    assert stored == {path for path in resources if path.startswith("archive/")}


def test_wacz_lists_its_pages(wacz: zipfile.ZipFile) -> None:
    first, *pages = [json.loads(line) for line in wacz.read("pages/pages.jsonl").splitlines()]
    assert first["format"] == "json-pages-1.0"
    assert pages[0]["url"] == "http://a.test/"
    assert {page["url"] for page in pages} == {"http://a.test/", "http://a.test/b", "http://c.test/"}
    assert pages[0]["title"] == '=A, "é"'
    assert pages[0]["ts"].endswith("Z")
    assert len({page["id"] for page in pages}) == 3


def test_every_capture_is_found_through_the_index(
    wacz: zipfile.ZipFile, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gossamer.report.wacz._BLOCK", 2)
    export_wacz(home, tmp_path / "blocks.wacz", quiet)
    with zipfile.ZipFile(tmp_path / "blocks.wacz") as file:
        packed = file.read("indexes/index.cdx.gz")
        meta, *blocks = file.read("indexes/index.idx").splitlines()
        assert meta.startswith(b"!meta 0 ")
        assert len(blocks) > 2
        lines = []
        for block in blocks:
            key, stamp, place = block.split(b" ", 2)
            found = json.loads(place)
            data = packed[found["offset"] : found["offset"] + found["length"]]
            assert found["digest"] == f"sha256:{sha256(data).hexdigest()}"
            part = gzip.decompress(data).splitlines()
            assert part[0].startswith(key + b" " + stamp)
            lines += part
        assert lines == sorted(lines)
        for line in lines:
            found = json.loads(line.split(b" ", 2)[2])
            archive = file.read(f"archive/{found['filename']}")
            start = int(found["offset"])
            record = next(iter(ArchiveIterator(BytesIO(archive[start : start + int(found["length"])]))))
            assert record.headers["WARC-Target-URI"] == found["url"]
    assert gzip.decompress(wacz.read("indexes/index.cdx.gz")).splitlines() == lines


def test_only_what_is_committed(home: Path, tmp_path: Path) -> None:
    """A crawl that runs writes on behind the last commit."""
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in home.iterdir():
        if path.name not in ("warc", "facts"):
            (copy / path.name).symlink_to(path)
    (copy / "warc").mkdir()
    for path in (home / "warc").iterdir():
        (copy / "warc" / path.name).write_bytes(path.read_bytes())
    for last in (max((copy / "warc").glob("*.warc.gz")), max((copy / "warc").glob("*.cdxj"))):
        with open(last, "ab") as file:
            file.write(b"half a rec")
    export_wacz(copy, tmp_path / "c.wacz", quiet)
    with zipfile.ZipFile(tmp_path / "c.wacz") as file:
        for path in (home / "warc").glob("*.warc.gz"):
            assert file.read(f"archive/{path.name}") == path.read_bytes()
        assert b"half a rec" not in gzip.decompress(file.read("indexes/index.cdx.gz"))


# -- the command -------------------------------------------------------------------------------------------------------


def test_commands(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for flag, name in (
        ("--parquet", "crawl-pages.parquet"),
        ("--links", "crawl-links.parquet"),
        ("--urls", "crawl-urls.parquet"),
        ("--wacz", "crawl.wacz"),
    ):
        assert run(["export", "--dir", str(home), flag]) == 0
        assert (tmp_path / name).is_file()
    assert "6 links in crawl-links.parquet" in capsys.readouterr().err
    assert run(["export", "--dir", str(home)]) == 2
    assert "--parquet" in capsys.readouterr().err
    assert run(["export", "--dir", str(tmp_path), "--urls"]) == 2


def test_report_commands(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "--dir", str(home)]) == 0
    assert "4 pages from 2 hosts of 2 domains" in capsys.readouterr().out
    assert run(["report", "--dir", str(home), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["format"] == 1
    assert found["totals"]["pages"] == 4
    assert run(["report", "--dir", str(home), "--out", str(tmp_path / "r.html")]) == 0
    assert (tmp_path / "r.html").read_text().startswith("<!DOCTYPE html>")
    assert capsys.readouterr().out == ""
    assert run(["report", "--dir", str(home), "--host", "a.test", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["totals"]["pages"] == 3
    assert run(["report", "--dir", str(home), "--host", "a.test"]) == 0
    assert "Linked from" not in capsys.readouterr().out
    assert run(["report", "--dir", str(home), "--facts"]) == 0
    assert run(["report", "--dir", str(home), "--host", "no.test"]) == 2
    assert run(["report", "--dir", str(home), "--out", str(tmp_path / "r.txt")]) == 2
    assert run(["report", "--dir", str(home), "--out", str(tmp_path / "no" / "r.html")]) == 2


# -- the documentation -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [COLUMNS, LINKS, URLS], ids=["pages", "links", "urls"])
def test_columns_are_documented(columns: Any) -> None:
    text = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    for column in columns:
        assert f"| `{column.name}` | {column.type} | {column.meaning} |" in text


def test_tables_and_totals_are_documented(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["report", "--dir", str(home), "--json"])
    found = json.loads(capsys.readouterr().out)
    text = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    for name in (*found["tables"], *found["totals"], *found):
        assert f"`{name}`" in text, name
    run(["report", "--dir", str(home), "--host", "a.test", "--json"])
    found = json.loads(capsys.readouterr().out)
    for name in (*found["tables"], *found["totals"]):
        assert f"`{name}`" in text, name
