"""The service over real sockets: strangers, the slow, the huge, and a clean end."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from crawling import crawl
from fastapi.responses import StreamingResponse
from serving import served

from gossamer.cli import run
from gossamer.service import limits
from gossamer.service.app import create_app
from gossamer.service.keys import KeyFile
from gossamer.service.routes import pages
from gossamer.testing import TinyWeb


def other_address() -> str:
    """One of this machine's that is not loopback; empty where there is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing
        except OSError:
            return ""
        address: str = probe.getsockname()[0]
    return "" if address.startswith(("127.", "0.")) else address


def talk(port: int, data: bytes, timeout: float = 20.0) -> bytes:
    """What comes back until the other side closes."""
    with socket.create_connection(("127.0.0.1", port), timeout) as connection:
        connection.sendall(data)
        return b"".join(iter(lambda: connection.recv(65536), b""))


# -- from another address ----------------------------------------------------------------------------------------------


@pytest.mark.skipif(not other_address(), reason="this machine has loopback addresses only")
def test_another_address_is_served_with_a_key_only(tmp_path: Path) -> None:
    with served(create_app(tmp_path, host="0.0.0.0"), "0.0.0.0") as port:
        there = f"http://{other_address()}:{port}"
        for path in ("/api/v1/search?q=x", "/healthz", "/docs", "/openapi.json"):
            assert httpx.get(there + path).status_code == 403
        key = KeyFile(tmp_path).add("anna", "search")
        assert httpx.get(f"{there}/healthz").status_code == 401
        allowed = {"Authorization": f"Bearer {key}"}
        assert httpx.get(f"{there}/api/v1/search?q=x", headers=allowed).status_code == 200
        KeyFile(tmp_path).revoke("anna")
        assert httpx.get(f"{there}/api/v1/search?q=x", headers=allowed).status_code == 401


@pytest.mark.skipif(not other_address(), reason="this machine has loopback addresses only")
def test_no_other_machine_has_all_connections(tmp_path: Path) -> None:
    key = KeyFile(tmp_path).add("anna", "search")
    with served(create_app(tmp_path, host="0.0.0.0"), "0.0.0.0") as port, ExitStack() as kept:
        idle = [socket.create_connection((other_address(), port), 20) for _ in range(limits.PEER_CONNECTIONS)]
        for connection in idle:
            kept.enter_context(connection)
        more = kept.enter_context(socket.create_connection((other_address(), port), 20))
        with suppress(ConnectionResetError):
            assert more.recv(1) == b""
        answer = httpx.get(f"http://127.0.0.1:{port}/healthz", headers={"Authorization": f"Bearer {key}"})
        assert answer.status_code == 200


def test_there_is_a_bound_on_connections_and_the_idle_make_room(tmp_path: Path) -> None:
    with served(create_app(tmp_path), most=3) as port, ExitStack() as kept:
        idle = [kept.enter_context(socket.create_connection(("127.0.0.1", port), 20)) for _ in range(3)]
        assert httpx.get(f"http://127.0.0.1:{port}/healthz").status_code == 200
        (cut,) = select.select(idle, [], [], 20)[0]
        with suppress(ConnectionResetError):
            assert cut.recv(1) == b""


def test_who_is_being_answered_makes_no_room(tmp_path: Path) -> None:
    app = create_app(tmp_path)
    begun, go_on = threading.Semaphore(0), threading.Event()

    def slow() -> None:
        begun.release()
        go_on.wait(60)

    app.add_api_route("/slow", slow)
    with served(app, most=2) as port, ExitStack() as kept:
        ask = f"GET /slow HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode()
        busy = [kept.enter_context(socket.create_connection(("127.0.0.1", port), 20)) for _ in range(2)]
        for connection in busy:
            connection.sendall(ask)
            assert begun.acquire(timeout=20)
        with suppress(ConnectionResetError):
            assert talk(port, b"") == b""
        go_on.set()
        for connection in busy:
            assert connection.recv(12) == b"HTTP/1.1 200"


def test_headers_of_a_proxy_change_nobody(tmp_path: Path) -> None:
    KeyFile(tmp_path).add("anna", "search")
    with served(create_app(tmp_path)) as port:
        said = {"X-Forwarded-For": "198.51.100.7", "X-Forwarded-Proto": "https"}
        assert httpx.get(f"http://127.0.0.1:{port}/api/v1/search?q=x", headers=said).status_code == 401


# -- the huge ----------------------------------------------------------------------------------------------------------


def test_what_is_no_request_is_refused_in_the_same_manner(tmp_path: Path) -> None:
    with served(create_app(tmp_path)) as port:
        for data in (b"\x16\x03\x01\x02\x00\r\n\r\n", b"GET / HTTP/9\r\n\r\n", b"GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n"):
            answer = talk(port, data)
            assert answer.startswith(b"HTTP/1.1 400 ")
            assert b"application/problem+json" in answer
            assert b"x-content-type-options: nosniff" in answer.lower()


def test_a_huge_head_is_refused(tmp_path: Path) -> None:
    with served(create_app(tmp_path)) as port:
        head = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        assert talk(port, head + b"X: %b\r\n\r\n" % (b"x" * limits.HEADER_BYTES)).startswith(b"HTTP/1.1 431 ")
        assert talk(port, head + b"X: %b" % (b"x" * 3 * limits.HEADER_BYTES)).startswith(b"HTTP/1.1 400 ")
        line = b"GET /healthz?%b HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n" % (b"x" * limits.URL_BYTES)
        assert talk(port, line).startswith(b"HTTP/1.1 414 ")


def test_a_huge_body_is_refused_before_it_is_sent(tmp_path: Path) -> None:
    with served(create_app(tmp_path), patience=0.2) as port:
        head = b"POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n"
        assert talk(port, head).startswith(b"HTTP/1.1 413 ")
        chunked = b"POST /healthz HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        body = (b"1000\r\n" + b"x" * 4096 + b"\r\n") * 20
        assert talk(port, chunked + body).startswith(b"HTTP/1.1 413 ")


def test_two_ways_to_say_where_a_body_ends_are_refused(tmp_path: Path) -> None:
    with served(create_app(tmp_path), patience=0.5) as port:
        head = b"POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello"
        assert talk(port, head).startswith(b"HTTP/1.1 400 ")


# -- the slow ----------------------------------------------------------------------------------------------------------


def test_who_sends_no_whole_head_is_cut_off(tmp_path: Path) -> None:
    with served(create_app(tmp_path), patience=0.2) as port:
        assert talk(port, b"") == b""
        assert talk(port, b"GET /healthz HTTP/1.1\r\nHost: loc") == b""
        # Also after a request that was answered.
        both = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /heal"
        assert talk(port, both).count(b"HTTP/1.1") == 1


def test_one_letter_at_a_time_gains_nothing(tmp_path: Path) -> None:
    with (
        served(create_app(tmp_path), patience=0.3) as port,
        socket.create_connection(("127.0.0.1", port), 20) as connection,
    ):
        cut = threading.Event()

        def drip() -> None:
            for _ in range(2000):
                try:
                    connection.send(b"x")
                except OSError:
                    return
                if cut.wait(0.01):
                    return

        thread = threading.Thread(target=drip)
        thread.start()
        try:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nX: ")
            with suppress(ConnectionResetError):
                assert connection.recv(1) == b""
        finally:
            cut.set()
            thread.join()


def test_who_does_not_send_the_body_is_refused_in_time(tmp_path: Path) -> None:
    with served(create_app(tmp_path, seconds=1.0), patience=3.0) as port:
        answer = talk(port, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nx")
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b"given up" in answer
        assert httpx.get(f"http://127.0.0.1:{port}/healthz").status_code == 200


def test_who_does_not_take_the_answer_is_cut_off(tmp_path: Path) -> None:
    app = create_app(tmp_path, at_once=1)
    app.add_api_route("/much", lambda: StreamingResponse(b"x" * 65536 for _ in range(100_000)))
    with served(app, patience=0.3) as port:
        with socket.create_connection(("127.0.0.1", port), 20) as connection:
            connection.sendall(b"GET /much HTTP/1.1\r\nHost: localhost\r\n\r\n")
            ended = select.poll()
            ended.register(connection, 0)  # only that it is over, not that there is something to read
            assert ended.poll(20_000)
        assert httpx.get(f"http://127.0.0.1:{port}/healthz").status_code == 200  # and its place is free


def test_pages_that_nobody_takes_do_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = limits.Room(20 << 20)
    monkeypatch.setattr(pages, "_room", room)
    with TinyWeb() as web:
        web.add_page("http://a.test/", body="<p>" + "x" * (12 << 20))
        crawl(tmp_path, ["http://a.test/"], web.connect)
    path = "/api/v1/pages/content?url=http://a.test/"
    with served(create_app(tmp_path)) as port:
        with socket.socket() as reader:
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            reader.connect(("127.0.0.1", port))
            reader.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            assert reader.recv(12) == b"HTTP/1.1 200"
            busy = httpx.get(f"http://127.0.0.1:{port}{path}")
            assert (busy.status_code, busy.headers["retry-after"]) == (503, "1")
        for _ in range(200):  # until it is known that the reader is gone
            answer = httpx.get(f"http://127.0.0.1:{port}{path}")
            if answer.status_code == 200:
                break
        assert (answer.status_code, len(answer.content)) == (200, 3 + (12 << 20))


def test_slow_work_does_not_keep_others_waiting(tmp_path: Path) -> None:
    app = create_app(tmp_path, seconds=1.0)
    go = threading.Event()
    app.add_api_route("/slow", lambda: go.wait(30))
    with served(app) as port:
        address = f"http://127.0.0.1:{port}"
        statuses: list[int] = []
        asking = [
            threading.Thread(target=lambda: statuses.append(httpx.get(f"{address}/slow", timeout=20).status_code))
            for _ in range(limits.THREADS)
        ]
        try:
            for thread in asking:
                thread.start()
            for thread in asking:
                thread.join()
            assert statuses == [503] * limits.THREADS
            assert httpx.get(f"{address}/healthz").status_code == 200  # it has threads of its own
            assert httpx.get(f"{address}/api/v1/domains").status_code == 503  # all the others are taken
        finally:
            go.set()


# -- the command -------------------------------------------------------------------------------------------------------


@contextmanager
def command(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`gossamer serve` as a process, and the address it prints."""
    process = subprocess.Popen(
        [sys.executable, "-m", "gossamer", "serve", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": "error"},
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"http://\S+/", line)
        assert found, (line, process.stderr.read() if process.stderr and not found else "")
        yield process, found[0]
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_command_serves_until_it_is_stopped(tmp_path: Path, number: int) -> None:
    with command("--dir", str(tmp_path), "--port", "0") as (process, address):
        with httpx.Client() as kept:  # a connection that stays open must not keep it from ending
            assert kept.get(f"{address}healthz").json()["status"] == "ok"
            process.send_signal(number)
            _, err = process.communicate(timeout=20)
        assert (process.returncode, err) == (0, "")


def test_keys_made_beside_it_hold_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with command("--dir", str(tmp_path), "--port", "0") as (_, address):
        asked = f"{address}api/v1/search?q=x"
        assert httpx.get(asked).status_code == 200
        assert run(["keys", "add", "anna", "--role", "search", "--dir", str(tmp_path)]) == 0
        key = capsys.readouterr().out.strip()
        assert httpx.get(asked).status_code == 401
        assert httpx.get(asked, headers={"Authorization": f"Bearer {key}"}).status_code == 200
        assert run(["keys", "list", "--dir", str(tmp_path), "--json"]) == 0
        listed = capsys.readouterr().out
        assert json.loads(listed)["name"] == "anna"
        assert key not in listed
        assert run(["keys", "revoke", "anna", "--dir", str(tmp_path)]) == 0
        assert "no keys any more" in capsys.readouterr().out
        assert httpx.get(asked, headers={"Authorization": f"Bearer {key}"}).status_code == 401


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--host", "0.0.0.0"], "gossamer keys add"),
        (["--host", "no.such.host.invalid"], "no address of this machine"),
        (["--host", "198.51.100.7"], "cannot be used"),
        (["--origin", "search.example.org"], "--origin"),
        (["--port", "70000"], "70000"),
    ],
)
def test_what_cannot_be_served_is_told(
    tmp_path: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["serve", "--dir", str(tmp_path), "--port", "0", *arguments]) == 2
    assert words in capsys.readouterr().err


def test_a_port_in_use_and_a_directory_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert run(["serve", "--dir", str(tmp_path), "--port", str(taken.getsockname()[1])]) == 2
        assert "in use" in capsys.readouterr().err
    assert run(["serve", "--dir", str(tmp_path / "none")]) == 2
    assert "is not a directory" in capsys.readouterr().err


def test_wrong_keys_of_the_command_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["add", "a b", "--role", "search"], ["add", "a"], ["revoke", "a"], ["add", "a", "--role", "x"]):
        assert run(["keys", *arguments, "--dir", str(tmp_path)]) == 2
        assert capsys.readouterr().err.startswith("gossamer: ")
