"""A crawl that is started again when it dies, and whose companions go on meanwhile."""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from crawling import crawl

from gossamer.agent import Control, read_progress
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.supervisor import Supervisor, on_leash, read_beside
from gossamer.cli.supervised import again
from gossamer.config import AgentConfig, Config
from gossamer.errors import SupervisorError
from gossamer.testing import SimServer, TinyWeb, World
from gossamer.testing.web import MemoryLog

_LINES = """
import os, signal, sys
runs = open(sys.argv[1], "a+"); runs.write("x"); runs.flush(); runs.seek(0); run = len(runs.read())
"""


def supervised(home: Path, script: str, notices: list[str] | None = None) -> tuple[int, bytes]:
    """A supervisor of a program that knows which start of it this is."""

    async def run() -> tuple[int, bytes]:
        command = [sys.executable, "-c", _LINES + script, str(home / "runs")]
        said = notices if notices is not None else []
        return await Supervisor(home, lambda after: command, (), said.append, rest=0.001).run()

    return asyncio.run(run())


def runs(home: Path) -> int:
    return len((home / "runs").read_text())


# -- the supervisor alone ----------------------------------------------------------------------------------------------


def test_who_dies_is_started_again(tmp_path: Path) -> None:
    notices: list[str] = []
    script = "os.kill(os.getpid(), 9) if run == 1 else sys.exit(1) if run == 2 else print('done')"
    assert supervised(tmp_path, script, notices) == (0, b"done\n")
    assert ["signal 9" in notices[0], "exit status 1" in notices[1], len(notices)] == [True, True, 2]


@pytest.mark.parametrize("status", [0, 2, 130])
def test_who_has_ended_is_not(tmp_path: Path, status: int) -> None:
    assert supervised(tmp_path, f"sys.exit({status})") == (status, b"")
    assert runs(tmp_path) == 1


def test_who_dies_again_and_again_is_given_up(tmp_path: Path) -> None:
    with pytest.raises(SupervisorError, match="10 times in a row"):
        supervised(tmp_path, "sys.exit(1)")
    assert runs(tmp_path) == 10


def test_a_signal_is_handed_on_and_ends_it(tmp_path: Path) -> None:
    script = f"os.kill({os.getpid()}, signal.SIGTERM); signal.signal(15, lambda *_: sys.exit(130)); signal.pause()"
    # Whether it comes before or after the program is ready for it, nobody starts it again.
    assert supervised(tmp_path, script)[0] in (130, -15)
    assert runs(tmp_path) == 1


def test_only_a_child_of_a_supervisor_is_on_a_leash() -> None:
    assert not on_leash()


def test_a_later_start_goes_on_with_what_is_in_force(tmp_path: Path) -> None:
    home = tmp_path / "c"
    assert again(["http://a.test/", "-"], home, 5.0) == []
    directory = CrawlDir(home)
    directory.take()
    directory.save(Config(agent=AgentConfig(max_pages=70, time_limit=60.0)))
    directory.release()
    assert again(["http://a.test/", "-"], home, 5.0) == [
        "crawl", "http://a.test/", "--dir", str(home), "--max-pages", "70", "--time-limit", "55.000s",
    ]  # fmt: skip
    assert again([], home, 99.0)[-1] == "0.001s"


# -- a crawl -----------------------------------------------------------------------------------------------------------


@contextmanager
def crawling(home: Path, server: SimServer, *more: str) -> Iterator[subprocess.Popen[str]]:
    command = [
        "crawl", server.world.url(0), "--dir", str(home), "--scope", "any", "--allow-private", "--connect",
        server.connect, "--delay", "0", "--rate", "100", "--json", *more,
    ]  # fmt: skip
    with subprocess.Popen(
        [sys.executable, "-m", "gossamer", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def agent_of(home: Path, other_than: int = 0) -> int:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            pid = int((home / "lock").read_text() or 0)
        except (FileNotFoundError, ValueError):
            continue
        if pid and pid != other_than and CrawlDir(home).in_use():
            return pid
    raise AssertionError("no agent has the directory")


def wait_for_end(pid: int) -> None:
    process = os.pidfd_open(pid)
    assert select.select([process], [], [], 30)[0]
    os.close(process)


def test_a_killed_agent_is_back_and_goes_on_with_the_limits_in_force(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with SimServer.running(World(3, 20, 500, "plain")) as server:
        assert isinstance(server.log, MemoryLog)
        with crawling(home, server, "--supervise", "--no-index", "--max-pages", "300") as process:
            assert server.log.wait_for(40, 60)
            first = agent_of(home)
            assert first != process.pid
            Control(home, "user tester").set_limits({"rate": 1000})
            os.kill(first, signal.SIGKILL)
            assert agent_of(home, first) != first
            out, err = process.communicate(timeout=60)
    summary = json.loads(out.splitlines()[-1])
    assert (process.returncode, summary["pages"], summary["reason"]) == (0, 300, "max_pages")
    assert "supervisor: the crawl died of signal 9" in err
    assert Control(home, "user tester").limits().rate == 1000
    requests = server.log.requests_per_url()
    assert sum(count > 1 for url, count in requests.items() if not url.endswith("/robots.txt")) < 200


def test_processes_beside_it_outlive_the_agent_and_are_started_again(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with SimServer.running(World(3, 20, 500, "plain")) as server:
        assert isinstance(server.log, MemoryLog)
        with crawling(home, server, "--serve", "0", "--no-index") as process:
            assert server.log.wait_for(10, 60)
            agent = agent_of(home)
            service = process_that(home, b"serve")
            os.kill(agent, signal.SIGKILL)
            later = agent_of(home, agent)
            assert process_that(home, b"serve") == service
            os.kill(service, signal.SIGKILL)
            assert process_that(home, b"serve", other_than=service) != service
            assert agent_of(home) == later
            while "died once" not in read_beside(CrawlDir(home)).get("service", ""):
                assert process.poll() is None
            assert read_beside(CrawlDir(home))["agent"] == "running, died once"
            Control(home, "user tester").checkpoint()
            assert read_progress(home).beside["agent"] == "running, died once"
            process.terminate()
            out, err = process.communicate(timeout=60)
    assert (process.returncode, json.loads(out.splitlines()[-1])["reason"]) == (130, "stopped"), err
    assert not CrawlDir(home).in_use()
    assert read_beside(CrawlDir(home)) == {}


def process_that(home: Path, word: bytes, other_than: int = 0) -> int:
    """The process of this machine with this word and `home` among its arguments."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        for entry in Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if word in words and str(home).encode() in words and int(entry.name) != other_than:
                return int(entry.name)
    raise AssertionError(f"no process is at it: {word!r}")


def test_what_a_killed_supervisor_said_last_is_not_said_of_the_next_run(tmp_path: Path) -> None:
    with TinyWeb() as web:
        web.add_page("http://a.test/")
        (tmp_path / "c" / "logs").mkdir(parents=True)
        (tmp_path / "c" / "logs" / "beside.json").write_text('{"agent": "running", "service": "running"}')
        crawl(tmp_path / "c", ["http://a.test/"], web.connect)
    assert read_progress(tmp_path / "c").beside == {}


def test_an_agent_whose_supervisor_is_killed_stops_cleanly(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with SimServer.running(World(3, 20, 500, "plain")) as server:
        assert isinstance(server.log, MemoryLog)
        with crawling(home, server, "--supervise", "--no-index") as process:
            assert server.log.wait_for(10, 60)
            agent = agent_of(home)
            process.kill()
            wait_for_end(agent)
    progress = read_progress(home)
    assert (progress.running, progress.reason) == (False, "stopped")


def test_wrong_usage_is_said_once(tmp_path: Path) -> None:
    command = ["crawl", "http://a.test/", "--dir", str(tmp_path / "c"), "--supervise", "--no-index", "--ports", "x"]
    done = subprocess.run([sys.executable, "-m", "gossamer", *command], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr.count("gossamer:")) == (2, 1)
    seed = ["crawl", "ftp://a.test/", "--dir", str(tmp_path / "c"), "--supervise", "--no-index"]
    done = subprocess.run([sys.executable, "-m", "gossamer", *seed], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr.count("gossamer:"), "supervisor" in done.stderr) == (2, 1, False)
