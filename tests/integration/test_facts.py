"""Facts are made once, from wherever the last run ended or was killed, beside a crawl that goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from crawling import crawl

from gossamer.report import making
from gossamer.report.engine import Engine, files_of
from gossamer.report.fact import COLUMNS, Fact
from gossamer.report.making import Made, catch_up
from gossamer.report.report import make_facts, make_report
from gossamer.report.shelf import Shelf
from gossamer.report.source import CrawlSource
from gossamer.report.workers import Workers
from gossamer.testing import SimServer, TinyWeb, World

WORLD = World(5, 6, 30, "realistic", faults=0.0)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("facts") / "c"
    with SimServer.running(WORLD) as server:
        crawl(home, [WORLD.url(0)], server.connect)
    return home


@pytest.fixture(scope="module")
def scratch(crawled: Path) -> list[tuple[Any, ...]]:
    """All facts, made in one go."""
    make_facts(crawled)
    return facts(crawled)


@pytest.fixture
def copy(crawled: Path, tmp_path: Path) -> Path:
    """The same crawl without facts."""
    home = tmp_path / "copy"
    home.mkdir()
    for path in crawled.iterdir():
        if path.name != "facts":
            (home / path.name).symlink_to(path)
    return home


def facts(home: Path) -> list[tuple[Any, ...]]:
    shelf = Shelf(home / "facts")
    with Engine() as engine:
        return engine.rows(f'SELECT * FROM {files_of(shelf.paths(shelf.read()))} ORDER BY file, "offset"')


def quiet(made: Made) -> None:
    pass


def test_columns_are_the_fields() -> None:
    assert tuple(column.name for column in COLUMNS) == Fact.__struct_fields__


def test_every_capture_has_one_fact(crawled: Path, scratch: list[tuple[Any, ...]]) -> None:
    lines = sum(len(path.read_text().splitlines()) for path in (crawled / "warc").glob("*.cdxj"))
    assert len(scratch) == lines == len({row[-3:-1] for row in scratch})
    assert make_facts(crawled) == 0, "there is nothing new"


@pytest.mark.parametrize("processes", [0, 2])
def test_piece_by_piece_is_the_same(
    copy: Path, scratch: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch, processes: int
) -> None:
    monkeypatch.setattr(making, "BATCH", 7)
    monkeypatch.setattr(making, "_FILE", 20)
    assert make_facts(copy, processes=processes) == len(scratch)
    assert facts(copy) == scratch
    shelf = Shelf(copy / "facts")
    files = shelf.read().files
    assert 1 < len(files) <= 12, "small files are merged"
    assert sum(file.rows for file in files) == len(scratch)


def test_the_rest_of_a_crawl_that_went_on(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with SimServer.running(WORLD) as server:
        for pages in ("20", "45", "60"):
            crawl(home, [WORLD.url(0)], server.connect, max_pages=pages)
            assert make_report(home).totals["pages"] == int(pages)
    together = facts(home)
    for path in (home / "facts").iterdir():
        path.unlink()
    make_facts(home)
    assert facts(home) == together


def test_pages_fetched_again_count_once(tmp_path: Path) -> None:
    """Their facts are those of the last visit."""
    home = tmp_path / "c"
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/x"])
        web.add_page("http://a.test/x", body="old")
        crawl(home, ["http://a.test/"], web.connect)
    make_facts(home)
    shelf = Shelf(home / "facts")
    manifest = shelf.read()
    with Engine() as engine:
        later = tmp_path / "later.jsonl"
        again = "SELECT * REPLACE (fetched_at + 9 AS fetched_at, 404 AS status, file + 1 AS file) FROM"
        engine.copy(f"{again} {files_of(shelf.paths(manifest))} WHERE url = 'http://a.test/x'", later, ".jsonl")
        shelf.add(engine, later, 1, manifest.places)
    report = make_report(home)
    assert {row[0]: row[2] for row in report.tables["status_codes"].rows} == {200: 1, 404: 1}
    assert report.totals["pages"] == 2
    assert report.totals["captures"] == 4
    assert sum(report.tables["speed"].column("pages")) == 3, "visits are visits"


# -- killed ------------------------------------------------------------------------------------------------------------

KILLING = """
import os, signal, sys
from pathlib import Path
from gossamer.report import engine, making, shelf
from gossamer.report.report import make_facts

point, nth = sys.argv[2], int(sys.argv[3])
making.BATCH, making._FILE = 5, 10
left = nth

def die(at):
    global left
    if at == point:
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)

def around(owner, name):
    inner = getattr(owner, name)
    def wrapped(*arguments):
        die(f"before {name}")
        result = inner(*arguments)
        die(f"after {name}")
        return result
    setattr(owner, name, wrapped)

around(engine.Engine, "copy")
around(shelf.Shelf, "_write")
around(shelf.Shelf, "_merge")
around(os, "fsync")
make_facts(Path(sys.argv[1]), processes=0)
"""


@pytest.mark.parametrize(
    ("point", "nth"),
    [
        ("before copy", 1),
        ("after copy", 2),
        ("before _merge", 3),
        ("after _merge", 10),
        ("before _write", 2),
        ("after _write", 3),
        ("before fsync", 4),
        ("after fsync", 5),
    ],
)
def test_killed_in_the_middle(
    copy: Path, scratch: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch, point: str, nth: int
) -> None:
    command = [sys.executable, "-c", KILLING, str(copy), point, str(nth)]
    died = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert died.returncode == -signal.SIGKILL, f"{point} was not reached: {died.stderr}"
    done = Shelf(copy / "facts").read().rows
    monkeypatch.setattr(making, "BATCH", 7)
    assert make_facts(copy) == len(scratch) - done
    assert facts(copy) == scratch
    left = {path.name for path in (copy / "facts").iterdir() if path.name.removeprefix(".").startswith("facts-")}
    named = {file.name for file in Shelf(copy / "facts").read().files}
    assert named <= left
    make_facts(copy)
    left = {path.name for path in (copy / "facts").iterdir() if path.name.removeprefix(".").startswith("facts-")}
    assert left == named | Shelf(copy / "facts").read().merged.keys(), "what a kill leaves is swept away"


def test_a_reader_that_dies_takes_nothing_with_it(crawled: Path, scratch: list[tuple[Any, ...]]) -> None:
    with CrawlSource(crawled) as source, Workers(source.places, 2) as workers:
        wanted = [one for one, _, _ in source.wanted({})]
        batches = [wanted[start : start + 10] for start in range(0, len(wanted), 10)]

        def killing() -> Iterator[list[Any]]:
            for number, batch in enumerate(batches):
                if number == 4:
                    assert workers._pool is not None
                    os.kill(next(iter(workers._pool._processes)), signal.SIGKILL)
                yield batch

        lines = b"".join(workers.results("lines", killing())).splitlines()
    assert len(lines) == len(wanted) == len(scratch)
    assert workers.lost == 0


# -- beside others -----------------------------------------------------------------------------------------------------


def test_a_second_writer_only_reads(crawled: Path, copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gossamer.report.report._PATIENCE", 0.1)
    shelf = Shelf(copy / "facts")
    with shelf.taken() as ours:
        assert ours
        report = make_report(copy)
        assert report.totals["pages"] == 0
        assert report.behind > 0
    assert make_report(copy).behind == 0


def test_facts_of_another_version_are_made_again(copy: Path, scratch: list[tuple[Any, ...]]) -> None:
    make_facts(copy)
    manifest = copy / "facts" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"format":1', '"format":0'))
    assert make_facts(copy) == len(scratch)
    assert facts(copy) == scratch


@pytest.mark.parametrize("damage", ["", "{", '{"files": 3}', "[]"])
def test_a_damaged_manifest(copy: Path, scratch: list[tuple[Any, ...]], damage: str) -> None:
    make_facts(copy)
    (copy / "facts" / "manifest.json").write_text(damage)
    make_facts(copy)
    assert facts(copy) == scratch


def test_a_file_that_is_gone(copy: Path, scratch: list[tuple[Any, ...]]) -> None:
    make_facts(copy)
    next((copy / "facts").glob("*.parquet")).unlink()
    make_facts(copy)
    assert facts(copy) == scratch


def test_another_crawl_under_the_same_name(tmp_path: Path) -> None:
    """What was read is not what is stored now: all of it is read again."""
    pages = []
    for name, number in (("one", 9), ("two", 4)):
        with TinyWeb() as web:
            web.add_page("http://a.test/", [f"/{name}/{page}" for page in range(number)])
            crawl(tmp_path / name, ["http://a.test/"], web.connect)
        pages.append(number + 1)
    make_facts(tmp_path / "one")
    (tmp_path / "one" / "facts").rename(tmp_path / "two" / "facts")
    assert make_report(tmp_path / "two").totals["pages"] == pages[1]


def test_while_the_crawl_runs(tmp_path: Path) -> None:
    """The report is asked for from within the crawl: it takes no lock, and sees the last commit."""
    seen: list[tuple[bool, bool]] = []
    home = tmp_path / "c"

    def look(progress: Any) -> None:
        if progress.pages and progress.running and not seen:
            report = make_report(home)
            seen.append((report.running, report.totals["pages"] == report.totals["fetched"]))

    from gossamer.agent import run
    from gossamer.config import load

    with SimServer.running(WORLD) as server:
        config = load(
            None,
            {
                "policy.delay": "0",
                "scope.scope": "any",
                "fetch.allow_private": True,
                "fetch.connect": [server.connect],
                "fetch.rate": "200",
                "agent.commit_interval": "20ms",
            },
        )
        run(config, home, [WORLD.url(0)], watch=look, every=0.05)
    assert seen == [(True, True)]


def test_a_directory_that_cannot_be_written(copy: Path, scratch: list[tuple[Any, ...]]) -> None:
    (copy / "facts").write_text("in the way")
    assert make_report(copy).totals["captures"] == len(scratch)
    assert (copy / "facts").read_text() == "in the way"


def test_progress_reaches_the_end(copy: Path) -> None:
    told: list[tuple[int, int, int]] = []
    with CrawlSource(copy) as source, Engine() as engine:
        shelf = Shelf(copy / "facts")
        with shelf.taken():
            made = catch_up(
                source, shelf, engine, lambda made: told.append((made.captures, made.done, made.total)), processes=0
            )
    assert told[0][:2] == (0, 0)
    assert told[-1] == (made, told[-1][2], told[-1][2])
    assert told == sorted(told)


def _answer(answer: bytes, request: object) -> bytes:
    return answer


HOSTILE = "\x1b]0;owned\x07<script>alert(1)</script>\u202e\0\"'\\"


def test_a_web_that_means_harm(tmp_path: Path) -> None:
    """Whatever pages and headers hold, every capture has its fact, and the forms are clean."""
    from gossamer.report.html import report_page, site_page
    from gossamer.report.site import make_site
    from gossamer.report.text import report_text, site_text

    title = f'<title>{HOSTILE}</title><html lang="x\'); DROP TABLE facts; --">'.encode()
    bodies = [
        b"",
        b"\0" * 5000,
        b"<" * 50_000,
        b"\xff\xfe<a",
        title,
        b"<base href='//['><a href='http://['>",
        bytes(range(256)),
    ]
    heads = [
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nServer: \x1b[31m<b>'; DROP TABLE facts\xff\xfe\r\n",
        b'HTTP/1.1 200 OK\r\nContent-Type: text/html; charset="\xff\r\nLast-Modified: Mon, 99 Foo 99999 00:00 GMT\r\n',
        b"HTTP/1.1 299 \r\nContent-Type: text/<script>\r\nContent-Encoding: gzip\r\n",
        b"HTTP/1.1 302 Found\r\nLocation: http://[\r\nContent-Type: ;;;\r\n",
    ]
    with TinyWeb() as web:
        paths = []
        for number, head in enumerate(heads):
            for other, body in enumerate(bodies):
                answer = head + b"Content-Length: %d\r\n\r\n" % len(body) + body
                path = f"/{number}/{other}/%3Cscript%3E.%2E'%22"
                web.add_handler(f"http://a.test{path}", partial(_answer, answer))
                paths.append(path)
        web.add_page("http://a.test/", paths)
        crawl(tmp_path / "c", ["http://a.test/"], web.connect, types=["*/*"])
    report = make_report(tmp_path / "c", processes=0)
    assert report.totals["pages"] == report.totals["fetched"] >= len(paths)
    assert sum(report.tables["status_codes"].column("pages")) == report.totals["pages"]
    site = make_site(tmp_path / "c", "a.test")
    for text in (report_text(report), site_text(site)):
        assert all(line.isprintable() for line in text.splitlines())
    for page in (report_page(report), site_page(site)):
        assert "<script>alert" not in page
        assert "\x1b" not in page
        assert page.count("<script>") == 1
