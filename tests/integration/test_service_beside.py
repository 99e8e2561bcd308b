"""The service beside a crawl: there while it runs, gone with it, however it ends."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from gossamer.agent.crawl_dir import CrawlDir
from gossamer.cli import run
from gossamer.testing import TinyWeb


@contextmanager
def crawling(home: Path, *more: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A crawl that takes minutes, and the address of its service."""
    with TinyWeb() as web:
        web.add_page("http://a.test/", [f"/{number}" for number in range(200)])
        command = ["crawl", "http://a.test/", "--dir", str(home), "--connect", web.connect, "--allow-private"]
        process = subprocess.Popen(
            [sys.executable, "-m", "gossamer", *command, "--serve", "0", "--no-index", "--json", *more],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stderr is not None
            found = None
            while not found:
                line = process.stderr.readline()
                assert line, "it ended without an address"
                found = re.search(r"serving .* (http://\S+/)", line)
            yield process, found[1]
        finally:
            process.kill()
            process.communicate()


def pid_of_service(home: Path) -> int:
    """From the processes of this machine: the one that serves `home`."""
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"serve" in words and str(home).encode() in words:
            return int(entry.name)
    raise AssertionError("no process serves it")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_it_is_there_while_the_crawl_is(tmp_path: Path, number: int) -> None:
    home = tmp_path / "c"
    with crawling(home) as (process, address), httpx.Client(base_url=address, timeout=30) as client:
        assert client.get("/healthz").json()["crawl"] in ("running", "none")  # asked before there was a commit
        status: dict[str, object] = {}
        while not status.get("pid"):  # until the first commit
            status = client.get("/api/v1/status").json()
        assert (status["running"], status["pid"] != process.pid) == (True, True)  # that one is its supervisor
        served = os.pidfd_open(pid_of_service(home))
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
        ended = wait_for_end(served)
        assert ended
        assert process.returncode == (130 if number == signal.SIGTERM else -number)
        assert "Traceback" not in out + err
    with pytest.raises(httpx.TransportError):
        httpx.get(f"{address}healthz")
    assert (home / "logs" / "service.log").read_text() == ""


def wait_for_end(process: int) -> bool:
    import select

    ready, _, _ = select.select([process], [], [], 20)
    os.close(process)
    return bool(ready)


def test_one_that_dies_is_started_again(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with crawling(home) as (process, address):
        assert httpx.get(f"{address}healthz", timeout=30).status_code == 200
        first = pid_of_service(home)
        os.kill(first, signal.SIGKILL)
        # The socket stays, so that this one waits for the next process.
        assert httpx.get(f"{address}healthz", timeout=30).status_code == 200
        assert pid_of_service(home) != first
        process.terminate()
        _, err = process.communicate(timeout=30)
        assert "service: its process ended" in err


@pytest.mark.parametrize("more", [[], ["--supervise"], ["--agents", "2"]])
def test_a_directory_in_use_is_told_before_its_port(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str]
) -> None:
    home = tmp_path / "c"
    owner = CrawlDir(home)
    owner.take()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert run(["crawl", "http://a.test/", "--dir", str(home), "--serve", port, *more]) == 2
    owner.release()
    err = capsys.readouterr().err
    assert f"{home} is in use by another process (pid {os.getpid()}). Wait for it, stop it, or choose" in err
    assert "--serve" not in err


def test_a_port_that_is_taken_is_told_before_anything_is_crawled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert run(["crawl", "http://a.test/", "--dir", str(tmp_path / "c"), "--serve", port]) == 2
    assert "--serve" in capsys.readouterr().err
    assert not (tmp_path / "c").exists()
    assert run(["crawl", "http://a.test/", "--dir", str(tmp_path / "c"), "--serve", "70000"]) == 2
    assert "--serve" in capsys.readouterr().err
