"""The indexing process beside a crawl: started, started again, waited for, told to end."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from gossamer.agent.index_process import IndexProcess
from gossamer.agent.index_status import IndexStatus, write_status


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    (tmp_path / "index").mkdir()
    return tmp_path


def program(code: str) -> tuple[str, ...]:
    """A stand-in; the crawl's directory is its last argument."""
    return (sys.executable, "-c", f"import os, sys, time, signal\nhome = sys.argv[1]\n{code}")


def running(process: IndexProcess, until: Callable[[], bool]) -> None:
    """Beside a crawl, until something is so."""

    async def crawl() -> None:
        task = asyncio.create_task(process.keep_running())
        while not until():  # noqa: ASYNC110 - a file of another process
            await asyncio.sleep(0.01)
        task.cancel()

    asyncio.run(asyncio.wait_for(crawl(), 30))


def test_it_catches_up_when_the_crawl_lets_go(home: Path) -> None:
    code = "open(home + '/started', 'w')\nsys.stdin.read()\nopen(home + '/done', 'w')"
    notices: list[str] = []
    process = IndexProcess(home, notices.append, program(code))
    running(process, (home / "started").exists)
    assert not (home / "done").exists()
    write_status(home / "index", IndexStatus(pages=7, done=3, total=9))
    told: list[IndexStatus] = []
    status = process.finish(told.append, 0.0)
    assert (home / "done").exists()
    assert status.pages == 7
    assert notices == []
    assert process.cpu_seconds > 0


def test_one_that_dies_is_started_again_and_that_is_said_once(home: Path) -> None:
    code = "open(home + '/starts', 'a').write('x')\nprint('the disk is on fire', file=sys.stderr)\nsys.exit(3)"
    notices: list[str] = []
    process = IndexProcess(home, notices.append, program(code), rest=0.01)
    running(process, lambda: (home / "starts").exists() and len((home / "starts").read_text()) >= 3)
    assert len(notices) == 1
    assert "the indexing process ended with exit status 3 (the disk is on fire) and is started again" in notices[0]
    process.finish(lambda _: None, 1.0)
    assert len(notices) == 2
    assert "so some pages cannot be found yet" in notices[1]


@pytest.mark.parametrize(
    ("end", "cause"),
    [
        ("print('the disk is on fire', file=sys.stderr)\nsys.exit(3)", "exit status 3 (the disk is on fire)"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "signal 9 (SIGKILL)"),
    ],
)
def test_one_that_dies_at_the_end_is_told_with_cause_and_a_command_to_paste(
    tmp_path: Path, end: str, cause: str
) -> None:
    home = tmp_path / "a crawl"
    (home / "logs").mkdir(parents=True)
    (home / "logs" / "indexer.log").write_text("what an earlier one said\n")
    notices: list[str] = []
    process = IndexProcess(home, notices.append, program(end))
    process.finish(lambda _: None, 1.0)
    assert notices == [
        f"index: the indexing process ended with {cause}, so some pages cannot be found yet; pages are stored all the "
        f"same. To go on: gossamer index --dir '{home}'"
    ]


def test_one_that_cannot_be_started_is_no_reason_to_fail(home: Path) -> None:
    notices: list[str] = []
    process = IndexProcess(home, notices.append, ("/no/such/program",), rest=0.01)
    running(process, lambda: bool(notices))
    assert "the indexing process cannot be started ([Errno 2] No such file" in notices[0]
    process.stop()
    assert process.finish(lambda _: None, 1.0).pages == 0


def test_a_crawl_that_is_stopped_does_not_wait(home: Path) -> None:
    code = (
        "signal.signal(signal.SIGTERM, lambda *_: (open(home + '/committed', 'w'), os._exit(0)))\n"
        "open(home + '/started', 'w')\ntime.sleep(60)"
    )
    process = IndexProcess(home, print, program(code))
    running(process, (home / "started").exists)
    process.stop()
    assert (home / "committed").exists()


def test_ctrl_c_ends_the_waiting(home: Path) -> None:
    code = "open(home + '/started', 'w')\ntime.sleep(60)"
    notices: list[str] = []
    process = IndexProcess(home, notices.append, program(code))
    running(process, (home / "started").exists)
    told = threading.Event()

    def watch(_: IndexStatus) -> None:
        if not told.is_set():
            told.set()
            os.kill(os.getpid(), signal.SIGINT)

    process.finish(watch, 0.0)
    command = f"gossamer index --dir {home}"
    assert notices == [f"index: not caught up; the next run goes on with it, as does: {command}"]


def test_the_time_limit_of_the_run_ends_the_waiting(home: Path) -> None:
    notices: list[str] = []
    process = IndexProcess(home, notices.append, program("open(home + '/started', 'w')\ntime.sleep(600)"))
    running(process, (home / "started").exists)
    process.finish(lambda _: None, 0.1, patience=0.2)
    command = f"gossamer index --dir {home}"
    assert notices == [f"index: not caught up within the time limit; the next run goes on with it, as does: {command}"]
