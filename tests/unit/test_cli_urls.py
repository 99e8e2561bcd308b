from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer import agent
from gossamer.agent.progress import Progress
from gossamer.cli import run
from gossamer.cli.urls import write_lines
from gossamer.errors import CrawlDirError
from gossamer.model import State, VisitRecord

RECORDS = [
    VisitRecord("https://a.example/", State.FETCHED, 0, 200, 1_700_000_000.25, 1, changes=3, due=1_700_000_100.0),
    VisitRecord("https://a.example/ü", State.QUEUED, 1),
    VisitRecord("https://a.example/x", State.DEAD, 2, 0, 1_700_000_001.0, 4, "timeout"),
    VisitRecord("https://b.example/", State.EXCLUDED, 1, reason="scope"),
]


def test_lines() -> None:
    out = io.BytesIO()
    write_lines(RECORDS, out)
    assert [json.loads(line) for line in out.getvalue().splitlines()] == [
        {
            "url": "https://a.example/",
            "state": "fetched",
            "status": 200,
            "depth": 0,
            "fetched_at": "2023-11-14T22:13:20.250000Z",
            "tries": 1,
            "reason": None,
            "due": "2023-11-14T22:15:00Z",
            "changes": 3,
        },
        {
            "url": "https://a.example/ü",
            "state": "queued",
            "status": None,
            "depth": 1,
            "fetched_at": None,
            "tries": 0,
            "reason": None,
            "due": None,
            "changes": 0,
        },
        {
            "url": "https://a.example/x",
            "state": "dead",
            "status": None,
            "depth": 2,
            "fetched_at": "2023-11-14T22:13:21Z",
            "tries": 4,
            "reason": "timeout",
            "due": None,
            "changes": 0,
        },
        {
            "url": "https://b.example/",
            "state": "excluded",
            "status": None,
            "depth": 1,
            "fetched_at": None,
            "tries": 0,
            "reason": "scope",
            "due": None,
            "changes": 0,
        },
    ]


def test_records_are_written_while_they_are_read() -> None:
    """A crawl's URLs need not fit in memory."""
    out = io.BytesIO()
    seen: list[int] = []

    def records() -> Iterator[VisitRecord]:
        for number in range(10_000):
            seen.append(out.tell())
            yield VisitRecord(f"https://a.example/{number}", State.QUEUED, 0)

    write_lines(records(), out)
    assert seen[0] == 0
    assert 0 < seen[-1] < out.tell()
    assert out.getvalue().count(b"\n") == 10_000


@pytest.mark.parametrize(("arguments", "wanted"), [([], None), (["--state", "dead"], State.DEAD)])
def test_the_state_is_passed_on(
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
    arguments: list[str],
    wanted: State | None,
) -> None:
    asked: list[tuple[Path, State | None]] = []

    def read_visits(home: Path, state: State | None) -> Iterator[VisitRecord]:
        asked.append((home, state))
        return iter(RECORDS[:1])

    monkeypatch.setattr(agent, "read_visits", read_visits, raising=False)
    assert run(["urls", "--dir", "d", *arguments]) == 0
    assert asked == [(Path("d"), wanted)]
    assert capfdbinary.readouterr().out.count(b"\n") == 1


def test_a_reader_that_leaves_is_no_error() -> None:
    code = """
import sys
from gossamer import agent
from gossamer.cli import main
from gossamer.model import State, VisitRecord

record = VisitRecord("https://a.example", State.QUEUED, 0)
agent.read_visits = lambda home, state: (record for _ in range(10**6))
sys.argv = ["gossamer", "urls", "--dir", "d"]
main()
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        os.read(process.stdout.fileno(), 10)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_status_of_what_is_no_crawl(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def read_progress(home: Path) -> Progress:
        raise CrawlDirError(f"{home} holds no crawl")

    monkeypatch.setattr(agent, "read_progress", read_progress, raising=False)
    assert run(["status", "--dir", "d"]) == 2
    assert capsys.readouterr().err == "gossamer: d holds no crawl\n"


def test_status_for_people_and_programs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(pages=1234, ok=1200, urls=9000, hosts=3, pid=77, pages_per_s=4112.0, limit="Limited by CPU.")
    monkeypatch.setattr(agent, "read_progress", lambda home: progress, raising=False)
    assert run(["status", "--dir", "d"]) == 0
    out = capsys.readouterr().out
    assert "d: running for 0 s, process 77" in out
    assert "1,234 (1,200 ok, 34 other)" in out
    assert "4,112/s now" in out
    assert "Limited by CPU." in out
    assert run(["status", "--dir", "d", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pages_per_s"] == 4112.0


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("complete", "d: complete"),
        ("stopped", "d: stopped on request"),
        ("", "the last run ended without a clean stop"),
    ],
)
def test_status_of_a_crawl_that_ended(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], reason: str, text: str
) -> None:
    progress = Progress(pages=5, running=False, reason=reason, limit="Limited by CPU.")
    monkeypatch.setattr(agent, "read_progress", lambda home: progress, raising=False)
    assert run(["status", "--dir", "d"]) == 0
    out = capsys.readouterr().out
    assert text in out
    assert "Limited by" not in out
