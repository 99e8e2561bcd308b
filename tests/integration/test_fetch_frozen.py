"""A process with a fetcher that is frozen beyond its lease, or killed: what its server sees of it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Self

import pytest

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nok"

# It fetches while the file is there, says what became of its visit, and begins another for each line that it is sent.
_AGENT = """
import asyncio, os, sys, time
from gossamer.config import FetchConfig
from gossamer.fetch import Fetcher, Resolver
from gossamer.model import Visit

async def main(port, lease):
    config = FetchConfig(allow_private=True, connect=(f"*=127.0.0.1:{port}",))
    fetcher = Fetcher(config, "x", ("*/*",), (), Resolver(config.connect, (), time.time), time.time)
    fetcher.fence(lambda: os.path.exists(lease))
    while sys.stdin.readline():
        fetcher.start(Visit("http://a.test/page", "a.test", 0, 0, 1))
        done = await fetcher.wait(0)
        print("started", flush=True)
        while not done and not (broken := fetcher.broken_off()):
            done = await fetcher.wait(1.0)
        print("page" if done else "broken off", flush=True)
    await fetcher.close()

asyncio.run(main(*sys.argv[1:]))
"""


class Agent:
    """Another process; `lease` is the file."""

    def __init__(self, port: int, lease: Path) -> None:
        lease.touch()
        command = [sys.executable, "-c", _AGENT, str(port), str(lease)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def start(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(b"start\n")
        self._process.stdin.flush()

    def said(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().decode().strip()

    def freeze(self) -> None:
        os.kill(self._process.pid, signal.SIGSTOP)
        assert os.WIFSTOPPED(os.waitpid(self._process.pid, os.WUNTRACED)[1])

    def thaw(self) -> None:
        os.kill(self._process.pid, signal.SIGCONT)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()


def nothing_but_a_reset(client: socket.socket) -> None:
    with client, pytest.raises(ConnectionResetError):
        raise AssertionError(client.recv(65_536))


def test_who_was_frozen_while_connecting_and_wakes_up_after_its_lease_asks_for_nothing(tmp_path: Path) -> None:
    lease = tmp_path / "lease"
    with (
        socket.create_server(("127.0.0.1", 0), backlog=0) as listener,
        socket.create_connection(listener.getsockname()) as first,  # one fills the queue: who comes next must wait
        Agent(listener.getsockname()[1], lease) as agent,
    ):
        agent.start()
        assert agent.said() == "started"
        agent.freeze()
        listener.accept()[0].close()
        client, address = listener.accept()  # the kernel has tried again, and connected for the frozen process
        assert address != first.getsockname()
        lease.unlink()
        agent.thaw()
        nothing_but_a_reset(client)
        assert agent.said() == "broken off"
        lease.touch()
        agent.start()
        assert agent.said() == "started"
        with listener.accept()[0] as client:
            assert client.recv(65_536).startswith(b"GET /page ")
            client.sendall(OK)
            assert agent.said() == "page"


def test_who_was_frozen_before_an_answer_and_wakes_up_after_its_lease_asks_for_nothing_more(tmp_path: Path) -> None:
    lease = tmp_path / "lease"
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        Agent(listener.getsockname()[1], lease) as agent,
    ):
        agent.start()
        client, _ = listener.accept()
        assert client.recv(65_536).startswith(b"GET /page ")
        agent.freeze()
        client.sendall(OK)
        lease.unlink()
        agent.thaw()
        nothing_but_a_reset(client)
        assert agent.said() == "started"
        assert agent.said() == "broken off"


def test_the_connections_of_a_killed_process_are_reset(tmp_path: Path) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        Agent(listener.getsockname()[1], tmp_path / "lease") as agent,
    ):
        agent.start()
        client, _ = listener.accept()
        assert client.recv(65_536).startswith(b"GET /page ")
        agent.kill()
        nothing_but_a_reset(client)
