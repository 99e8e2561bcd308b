"""Facts made while the crawl goes on: the same as at once, out of the way of everybody else."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from commanding import running
from crawling import crawl

from gossamer.cli import run as command_line
from gossamer.report import following, making, shelf
from gossamer.report.beside import FactProcess
from gossamer.report.engine import Engine, files_of
from gossamer.report.following import FactFollower
from gossamer.report.report import make_facts, make_report
from gossamer.report.shelf import Shelf
from gossamer.testing import SimServer, World
from gossamer.testing.web import MemoryLog

WORLD = World(9, 3, 30, "plain")


def rows(home: Path) -> list[tuple[object, ...]]:
    found = Shelf(home / "facts")
    with Engine() as engine:
        return engine.rows(f'SELECT * FROM {files_of(found.paths(found.read()))} ORDER BY file, "offset"')


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with SimServer.running(WORLD) as server:
        crawl(tmp_path / "c", [WORLD.url(0)], server.connect)
    return tmp_path / "c"


def test_turn_by_turn_they_are_the_same_as_at_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "BATCH", 7)
    waited: list[float] = []

    def wait(seconds: float) -> bool:
        waited.append(seconds)
        return seconds == following.LOOK_EVERY

    made = FactFollower(home, turn=0.0).follow(wait)
    in_turns = rows(home)
    assert len(waited) == -(-made // 7), "a batch each turn, and others may come in between"
    for path in (home / "facts").iterdir():
        path.unlink()
    assert make_facts(home, processes=0) == made == len(in_turns)
    assert rows(home) == in_turns


def test_beside_a_crawl(tmp_path: Path) -> None:
    """It catches up whenever it looks, and a report after it has nothing left to read."""
    home = tmp_path / "c"
    with SimServer.running(WORLD) as server:
        assert isinstance(server.log, MemoryLog)
        with running(home, [WORLD.url(0)], server.connect, rate="300", commit_interval="20ms") as going:
            assert server.log.wait_for(20, 30)
            going.control.checkpoint()
            first = FactFollower(home).follow(lambda seconds: True)
            assert first > 0
            going.end()
    FactFollower(home).follow(lambda seconds: seconds == following.LOOK_EVERY)
    told: list[int] = []
    report = make_report(home, lambda made: told.append(made.captures))
    assert told == [0], "everything was there"
    assert report.behind == 0
    assert report.totals["pages"] == report.totals["fetched"] > 0


def test_a_report_takes_its_turn_and_makes_the_rest(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who writes for a moment is waited for."""
    taken, let_go = threading.Event(), threading.Event()

    def hold() -> None:
        with Shelf(home / "facts").taken() as ours:
            assert ours
            taken.set()
            let_go.wait(30)

    holder = threading.Thread(target=hold)
    holder.start()
    assert taken.wait(30)
    threading.Timer(0.3, let_go.set).start()
    report = make_report(home)
    holder.join()
    assert report.behind == 0
    assert report.totals["pages"] > 0


def test_while_a_report_writes_it_only_waits(home: Path) -> None:
    with Shelf(home / "facts").taken() as ours:
        assert ours
        waited: list[float] = []
        assert FactFollower(home).follow(lambda seconds: bool(waited.append(seconds)) or len(waited) > 2) == 0
    assert waited == [following._PAUSE] * 3


def test_files_that_were_merged_stay_for_those_who_read_them(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A report goes over the files many times, and others write meanwhile."""
    monkeypatch.setattr(making, "BATCH", 5)
    monkeypatch.setattr(making, "_FILE", 5)
    make_facts(home, processes=0)
    now = [1e9]
    clocked = Shelf(home / "facts", lambda: now[0])
    before = clocked.read()
    with Engine() as engine:
        empty = home / "facts" / "lines"
        empty.write_bytes(b"")
        monkeypatch.setattr(shelf, "_MOST_SMALL", 1)
        clocked.add(engine, empty, 0, before.places)
        after = clocked.read()
        old = [path for path in clocked.paths(before) if path not in clocked.paths(after)]
        assert old
        clocked.sweep()
        assert engine.row(f"SELECT count(*) FROM {files_of(clocked.paths(before))}")[0] == before.rows
        now[0] += shelf._STILL_READ
        clocked.sweep()
    assert not any(path.exists() for path in old)
    assert after.rows == before.rows


def test_on_its_leash_it_ends_with_the_crawl(home: Path) -> None:
    notices: list[str] = []
    process = FactProcess(home, notices.append)
    process._start()
    assert process._process is not None
    process._let_go()
    assert process._process.wait(60) == 0
    assert (home / "logs" / "facts.log").read_text() == ""


def test_following_is_for_facts_only(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line(["report", "--follow", "--dir", str(home)]) == 2
    assert "give --facts, too" in capsys.readouterr().err


def test_a_directory_without_a_crawl_is_named(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gossamer", "report", "--facts", "--follow", "--dir", str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2
    assert "is not a crawl" in ended.stderr
