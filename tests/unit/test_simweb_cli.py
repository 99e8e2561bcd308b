"""`gossamer simweb` as people and scripts use it."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gossamer.cli import run
from gossamer.testing import World, reachable

COMMAND = [sys.executable, "-c", "import sys; from gossamer.cli import run; sys.exit(run(sys.argv[1:]))", "simweb"]


@contextmanager
def simweb(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """The running command and what it said until it was ready."""
    process = subprocess.Popen([*COMMAND, "--port", "0", *arguments], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process:
        try:
            lines = [process.stdout.readline()]
            while lines[-1] and "Ctrl-C" not in lines[-1]:
                lines.append(process.stdout.readline())
            yield process, lines
        finally:
            process.kill()


def test_it_says_where_it_is_and_how_to_crawl_it() -> None:
    with simweb("--hosts", "3", "--pages", "5") as (process, lines):
        said = "".join(lines)
        port = int(re.findall(r"http://127\.0\.0\.1:(\d+)/", said)[0])
        url = World(hosts=3, pages=5).url(0)
        assert f"Seed URL: {url}\n" in said
        assert f"gossamer crawl {url} --dir crawl --scope any --connect '*=127.0.0.1:{port}' --allow-private\n" in said
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        connection.request("GET", "/", headers={"Host": url.split("/")[2]})
        assert b"h0p0" in connection.getresponse().read()
        connection.close()
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_the_log_is_whole_when_it_stops(tmp_path: Path, stop: signal.Signals) -> None:
    log = tmp_path / "arrivals.jsonl"
    with simweb("--hosts", "3", "--pages", "5", "--log", str(log)) as (process, lines):
        port = int(re.findall(r"http://127\.0\.0\.1:(\d+)/", lines[0])[0])
        host = World(hosts=3, pages=5).names.name(1)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        for path in ("/robots.txt", "/", "/none"):
            connection.request("GET", path, headers={"Host": host, "User-Agent": "tester/1"})
            connection.getresponse().read()
        connection.request("HEAD", "/", headers={"Host": host, "User-Agent": "tester/1", "If-None-Match": '"x"'})
        connection.getresponse().read()
        connection.close()
        process.send_signal(stop)
        assert process.wait(20) == 0
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(entry["host"], entry["path"], entry["status"]) for entry in entries] == [
        (host, "/robots.txt", 200),
        (host, "/", 200),
        (host, "/none", 404),
        (host, "/", 200),
    ]
    assert [entry["conditional"] for entry in entries] == [False, False, False, True]
    assert 5_000 < entries[1]["bytes"] < 15_000
    assert 50 < entries[3]["bytes"] < 200
    assert all(abs(entry["wall"] - entry["time"]) < 5 for entry in entries)
    fields = "address bytes conditional connection host method path status time user_agent wall"
    assert {" ".join(sorted(entry)) for entry in entries} == {fields}
    assert {entry["address"] for entry in entries} == {"127.0.0.1"}
    assert {(entry["user_agent"], entry["connection"]) for entry in entries} == {("tester/1", 1)}
    assert [entry["method"] for entry in entries] == ["GET", "GET", "GET", "HEAD"]
    assert entries[0]["time"] <= entries[1]["time"] <= entries[2]["time"]


def test_a_changing_web_is_served(tmp_path: Path) -> None:
    log = tmp_path / "arrivals.jsonl"
    options = ("--hosts", "3", "--pages", "5", "--profile", "changing", "--log", str(log))
    with simweb(*options) as (process, lines):
        assert "(changing, seed 1)" in lines[0]
        port = int(re.findall(r"http://127\.0\.0\.1:(\d+)/", lines[0])[0])
        host = World(hosts=3, pages=5).names.name(0)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        connection.request("GET", "/", headers={"Host": host})
        first = connection.getresponse()
        assert b"feed.atom" in first.read()
        connection.request("GET", "/", headers={"Host": host, "If-Modified-Since": first.headers["Last-Modified"]})
        assert connection.getresponse().status == 304
        connection.close()
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(entry["status"], entry["conditional"]) for entry in entries] == [(200, False), (304, True)]
    assert entries[0]["bytes"] > 20 * entries[1]["bytes"] > 0


def test_list_prints_what_a_crawl_must_fetch(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simweb", "--list", "--hosts", "4", "--pages", "6"]) == 0
    world = World(hosts=4, pages=6)
    truth = reachable(world, [world.url(0)])
    assert capsys.readouterr().out.splitlines() == [url for url, expected in truth.items() if expected.fetched]


def test_list_takes_scope_depth_seeds_and_tells_outcomes(capsys: pytest.CaptureFixture[str]) -> None:
    world = World(seed=4, hosts=9, pages=30, profile="realistic", faults=0.3)
    start = world.url(5)
    options = ["--seed", "4", "--hosts", "9", "--pages", "30", "--profile", "realistic", "--faults", "0.3"]
    options += ["--seed-url", start, "--scope", "domain", "--max-depth", "2", "--json"]
    assert run(["simweb", "--list", *options]) == 0
    printed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    truth = reachable(world, [start], scope="domain", max_depth=2)
    assert printed == [{"url": url, **expected._asdict()} for url, expected in truth.items()]


def test_a_port_in_use_is_one_sentence_and_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert run(["simweb", "--port", str(port)]) == 2
    said = capsys.readouterr().err
    assert f"Port {port} on 127.0.0.1 is in use: choose another with --port" in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--hosts", "0"], "between 1 and 1,000,000,000 hosts"),
        (["--faults", "2"], "between 0 and 1, not 2"),
        (["--profile", "nice"], "realistic"),
        (["--list", "--seed-url", "http://example.org/"], "no URL of this simulated web"),
        (["--log", "/no/such/folder/log"], "cannot be written"),
    ],
)
def test_wrong_usage_is_said_clearly(options: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simweb", "--port", "0", *options]) == 2
    assert words in capsys.readouterr().err
