"""Commands and starts in each other's way, half-written files, and files that somebody else has put there."""

from __future__ import annotations

import asyncio
import fcntl
import os
import stat
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
import uvloop
from commanding import WHO, Running, running
from crawling import crawl
from explaining import Small

from gossamer.agent import Control, read_progress
from gossamer.agent.agent import Agent
from gossamer.agent.audit import read_changes, record
from gossamer.agent.companion import _LONGEST_LOG, Companion
from gossamer.agent.crawl import Crawl
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.spool import Command, Spool
from gossamer.config import load
from gossamer.errors import ControlError, CrawlDirError
from gossamer.testing import TinyWeb

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")
SOMEBODY = 12345  # a user


@pytest.fixture
def ended(tmp_path: Path) -> Path:
    """The directory of a crawl of one page that has ended."""
    with TinyWeb() as web:
        web.add_page("http://a.test/")
        crawl(tmp_path / "c", ["http://a.test/"], web.connect)
    return tmp_path / "c"


# -- a start and a change ----------------------------------------------------------------------------------------------


def test_what_is_changed_while_a_crawl_starts_is_not_undone(ended: Path) -> None:
    """Its settings were read before, and are written after: `gossamer block` was told that the change will hold."""
    with TinyWeb() as web:
        for host in ("b", "c"):
            web.add_page(f"http://{host}.test/")
        config = load(ended / "gossamer.toml", {"fetch.connect": [web.connect], "fetch.rate": "50"}, resumed=True)
        starting = Crawl(config, ended, ["http://b.test/", "http://c.test/"], lambda _: None)
        assert Control(ended, WHO).block(["b.test"]).later
        uvloop.run(starting.run(signals=False))
        assert {arrival.host for arrival in web.log.arrivals} == {"c.test"}
    kept = load(ended / "gossamer.toml")
    assert kept.policy.blocklist == ("b.test",)
    assert kept.fetch.rate == 50, "what was asked for at the start holds, too"


def test_what_is_changed_while_the_frontier_is_opened_takes_effect(ended: Path) -> None:
    with TinyWeb() as web:
        web.add_page("http://b.test/")
        config = load(ended / "gossamer.toml", {"fetch.connect": [web.connect]}, resumed=True)
        starting = Crawl(config, ended, ["http://b.test/"], lambda _: None)

        def opened(agent: Agent) -> None:
            assert Control(ended, WHO, patience=0).pause().later
            threading.Thread(target=look).start()

        def look() -> None:
            control = Control(ended, WHO)
            control.checkpoint()
            paused.append(read_progress(ended).paused)
            control.stop()

        paused: list[bool] = []
        uvloop.run(starting.run(ready=opened, signals=False))
    assert paused == [True]
    assert load(ended / "gossamer.toml").agent.paused


def test_a_command_that_came_while_the_crawl_started_is_for_this_run(ended: Path) -> None:
    with TinyWeb() as web:
        web.add_page("http://b.test/")
        config = load(ended / "gossamer.toml", {"fetch.connect": [web.connect], "agent.paused": True}, resumed=True)
        starting = Crawl(config, ended, ["http://b.test/"], lambda _: None)
        summary = uvloop.run(
            starting.run(ready=lambda _: Spool(ended).send(Command("stop", WHO, 0.0)) and None, signals=False)
        )
    assert summary.reason == "stopped"


def test_the_clock_decides_nothing(ended: Path) -> None:
    """A stop for the run before, sent while the clock was an hour ahead."""
    id = Spool(ended).send(Command("stop", WHO, time.time() + 3600))
    with TinyWeb() as web:
        web.add_page("http://b.test/")
        with running(ended, ["http://b.test/"], web.connect) as going:
            assert going.end().reason == "complete"
    answer = Spool(ended).wait(id, 0, lambda: False)
    assert answer is not None
    assert (answer.ok, answer.text) == (False, "the run that it was for has ended")


def test_stop_reaches_a_supervised_crawl_that_is_just_started_again(ended: Path) -> None:
    """It had died, so that nothing ran when the operator said stop."""
    (ended / "logs" / "beside.json").write_text('{"agent": "down, is started again, died once"}')
    started: list[Running] = []
    with TinyWeb() as web:

        def start() -> None:
            started.append(Running(ended, ["http://b.test/"], web.connect, paused=True))

        threading.Timer(0.3, start).start()
        assert Control(ended, WHO).stop().text == "it has stopped"
        assert started[0].end().reason == "stopped"
    with pytest.raises(ControlError, match="none to stop"):
        Control(ended, WHO, patience=0.1).stop()


def test_who_only_looks_keeps_no_crawl_from_starting(ended: Path) -> None:
    """`in_use` has the lock for a moment. A supervisor, which asks all the time, would take the refusal for an end."""
    looking = open(ended / "lock", encoding="ascii")  # noqa: SIM115 - closed by the timer
    fcntl.flock(looking, fcntl.LOCK_SH)
    threading.Timer(0.2, looking.close).start()
    directory = CrawlDir(ended)
    directory.take()
    assert directory.in_use()
    with pytest.raises(CrawlDirError, match=f"in use by another process .pid {os.getpid()}"):
        CrawlDir(ended).take()
    directory.release()


# -- commands that do harm ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "about",
    [
        {"urls": ["http://b.test/"], "priority": -1},
        {"urls": ["http://b.test/"], "priority": 300},
        {"urls": [7]},
        {"urls": ["http://b.test/\x00\ud7ff", "x" * 100_000]},
    ],
    ids=str,
)
def test_a_command_that_no_crawl_can_do_ends_neither_the_crawl_nor_the_next_command(
    ended: Path, about: dict[str, object]
) -> None:
    Spool(ended).send(Command("seeds", WHO, 0.0, about))
    with TinyWeb() as web, running(ended, ["http://b.test/"], web.connect, paused=True) as going:
        assert going.control.checkpoint().ok
        going.control.stop()
        assert going.end().reason == "stopped"
    assert Spool(ended).ids() == []


def test_an_answer_that_cannot_be_written_stops_nothing(ended: Path) -> None:
    """The disk may be full: whoever asked does not hear of it, and the command is not done again."""
    spool = Spool(ended)
    id = spool.send(Command("retry", WHO, 0.0, {"host": ""}))
    (spool.path / f"{id}.answer.new" / "full").mkdir(parents=True)
    with TinyWeb() as web, running(ended, ["http://b.test/"], web.connect, paused=True) as going:
        for _ in range(3):
            assert going.control.checkpoint().ok
        going.control.stop()
    assert spool.ids() == []
    assert [change.what for change in read_changes(ended)].count("retry") == 1


def test_what_cannot_be_removed_is_not_done_again(ended: Path) -> None:
    spool = Spool(ended)
    spool.send(Command("retry", WHO, 0.0, {"host": ""}))
    (spool.path / "0.json" / "x").mkdir(parents=True)
    with TinyWeb() as web, running(ended, ["http://b.test/"], web.connect, paused=True) as going:
        for _ in range(3):
            assert going.control.checkpoint().ok
        going.control.stop()
    assert [change.what for change in read_changes(ended)].count("retry") == 1


def test_a_kind_that_fails_in_a_way_nobody_thought_of_is_answered(ended: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gossamer.agent.commands import Commands

    async def broken(self: Commands, about: object) -> object:
        raise KeyError("oh")

    monkeypatch.setattr(Commands, "_retry", broken)
    with TinyWeb() as web, running(ended, ["http://b.test/"], web.connect, paused=True) as going:
        with pytest.raises(ControlError, match="retry failed: KeyError: 'oh'"):
            going.control.retry()
        assert going.control.checkpoint().ok
        going.control.stop()


# -- files of others ---------------------------------------------------------------------------------------------------


def test_the_spool_is_for_its_owner_alone_though_it_was_opened_to_all(ended: Path) -> None:
    spool = Spool(ended)
    spool.send(Command("stop", WHO, 0.0))
    spool.path.chmod(0o777)
    spool.tidy(time.time())
    assert stat.S_IMODE(spool.path.stat().st_mode) == 0o700


@AS_ROOT
def test_a_command_of_somebody_else_is_not_done(ended: Path) -> None:
    spool = Spool(ended)
    id = spool.send(Command("stop", WHO, 0.0))
    os.chown(spool.path / f"{id}.json", SOMEBODY, SOMEBODY)
    assert spool.waiting() == []
    answer = spool.wait(id, 0, lambda: False)
    assert answer is not None
    assert "not from the owner of the crawl" in answer.text


def test_a_command_that_is_a_link_or_a_pipe_is_not_read(ended: Path, tmp_path: Path) -> None:
    spool = Spool(ended)
    id = spool.send(Command("stop", WHO, 0.0))
    (spool.path / f"{id}.json").rename(tmp_path / "elsewhere.json")
    (spool.path / "1.json").symlink_to(tmp_path / "elsewhere.json")
    os.mkfifo(spool.path / "2.json")
    assert spool.waiting() == []
    assert spool.ids() == []
    assert (tmp_path / "elsewhere.json").exists()


@AS_ROOT
@pytest.mark.parametrize("place", ["control/lock", "logs/audit.jsonl", "gossamer.toml.new"])
def test_root_at_work_in_the_directory_of_another_follows_no_link(ended: Path, tmp_path: Path, place: str) -> None:
    """Who owns the directory could have anything given to them otherwise."""
    precious = tmp_path / "precious"
    precious.write_text("root's")
    Control(ended, "root").pause()
    for path in (ended, *ended.rglob("*")):
        os.chown(path, SOMEBODY, SOMEBODY)
    (ended / place).unlink(missing_ok=True)
    (ended / place).symlink_to(precious)
    with suppress(ControlError):  # or it is done all the same
        Control(ended, "root").resume()
    assert (precious.stat().st_uid, precious.read_text()) == (0, "root's")


@AS_ROOT
def test_what_root_writes_belongs_to_the_owner(ended: Path) -> None:
    for path in (ended, *ended.rglob("*")):
        os.chown(path, SOMEBODY, SOMEBODY)
    for path in (ended / "logs").iterdir():
        path.unlink()
    (ended / "logs").rmdir()
    Control(ended, "root").block(["b.test"])
    Control(ended, "root").retry()
    found = {path.relative_to(ended).as_posix(): path.stat().st_uid for path in ended.rglob("*")}
    assert set(found.values()) == {SOMEBODY}, found


# -- the audit log -----------------------------------------------------------------------------------------------------


def test_half_a_line_takes_no_other_with_it(ended: Path) -> None:
    logs = ended / "logs"
    record(logs, WHO, "first")
    with open(logs / "audit.jsonl", "ab") as file:
        file.write(b'{"at": "2026-01-01T00:0')
    record(logs, WHO, "second")
    assert [change.what for change in read_changes(ended)] == ["first", "second"]


def test_only_the_end_of_a_long_log_is_read(ended: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gossamer.agent.audit._BLOCK", 100)
    for number in range(50):
        record(ended / "logs", WHO, f"change {number}")
    assert [change.what for change in read_changes(ended, 3)] == ["change 47", "change 48", "change 49"]
    assert len(read_changes(ended)) == 50
    monkeypatch.setattr("gossamer.agent.audit._MOST_READ", 1000)
    assert 1 < len(read_changes(ended)) < 50


def test_a_change_that_cannot_be_made_is_said_not_to_be(ended: Path) -> None:
    (ended / "gossamer.toml.new" / "in the way").mkdir(parents=True)
    before = (ended / "gossamer.toml").read_text()
    with pytest.raises(ControlError, match=r"gossamer\.toml cannot be written"):
        Control(ended, WHO).pause()
    assert (ended / "gossamer.toml").read_text() == before
    assert [change.what for change in read_changes(ended)] == ["pause", "pause failed"]


def test_nothing_is_changed_that_the_audit_log_cannot_say(ended: Path) -> None:
    (ended / "logs" / "audit.jsonl").mkdir()
    before = (ended / "gossamer.toml").read_text()
    with pytest.raises(ControlError, match=r"audit\.jsonl cannot be written"):
        Control(ended, WHO).pause()
    assert (ended / "gossamer.toml").read_text() == before


# -- bounds ------------------------------------------------------------------------------------------------------------


def test_hosts_are_gone_over_in_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All hosts of a domain are in one partition: a step must not take all of them, while the crawl waits."""
    monkeypatch.setattr("gossamer.frontier.review._AT_ONCE", 4)
    names = {f"h{number}.a.test" for number in range(30)}
    small = Small(tmp_path)
    small.frontier.add([f"http://{name}/" for name in sorted(names)], 1, 4)
    small.frontier.commit({})
    steps = list(small.frontier.review.hosts("a.test"))
    assert {name for step in steps for name in step} == names
    assert max(map(len, steps)) <= 4


def test_the_log_of_a_process_that_runs_for_weeks_stays_short(tmp_path: Path) -> None:
    """It is trimmed while it runs, not only when it is started again."""
    chatty = f"""
import sys, time
line = "x" * 999 + chr(10)
for _ in range({3 * _LONGEST_LOG // 1000}):
    sys.stderr.write(line)
open({str(tmp_path / "said")!r}, "w").close()
sys.stdin.read()
"""
    companion = Companion([sys.executable, "-c", chatty], tmp_path / "chatty.log", lambda _: None)

    async def watch() -> None:
        keeping = asyncio.create_task(companion.keep_running())
        until = time.monotonic() + 30
        while not (tmp_path / "said").exists() or (tmp_path / "chatty.log").stat().st_size > _LONGEST_LOG:
            assert time.monotonic() < until, "it grows"
            await asyncio.sleep(0.02)
        keeping.cancel()

    asyncio.run(watch())
    companion.stop()
    assert companion._deaths == 0
    assert (tmp_path / "chatty.log.1").stat().st_size > _LONGEST_LOG
