"""The program as its users start it: in processes of its own, against a simulated web, judged from outside."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gossamer.testing import SimServer, TinyWeb, World, reachable
from gossamer.testing.web import MemoryLog

GOSSAMER = [sys.executable, "-m", "gossamer"]


def start(*arguments: str, **more: object) -> subprocess.Popen[str]:
    return subprocess.Popen([*GOSSAMER, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)  # type: ignore[call-overload,no-any-return]


def gossamer(*arguments: str, status: int = 0) -> tuple[str, str]:
    with start(*arguments) as process:
        out, err = process.communicate(timeout=120)
    assert process.returncode == status, err
    assert "Traceback" not in err
    return out, err


def crawl_of(server: SimServer, home: Path, *more: str) -> list[str]:
    return [
        "crawl", server.world.url(0), "--dir", str(home), "--scope", "any", "--allow-private", "--connect",
        server.connect, "--delay", "0", "--no-index", "--json", *more,
    ]  # fmt: skip


def fetched(home: Path) -> list[str]:
    out, _ = gossamer("urls", "--dir", str(home), "--state", "fetched")
    return [json.loads(line)["url"] for line in out.splitlines()]


def captures(home: Path) -> Counter[str]:
    return Counter(
        json.loads(line.split(" ", 2)[2])["url"]
        for file in (home / "warc").glob("*.cdxj")
        for line in file.read_text().splitlines()
        if not line.split(" ")[0].endswith(")/robots.txt")
    )


def truth(world: World) -> set[str]:
    return {url for url, outcome in reachable(world, [world.url(0)]).items() if outcome.fetched}


def test_a_seed_whose_host_no_server_can_have_is_refused(tmp_path: Path) -> None:
    _, said = gossamer("crawl", "http://a..b/", "http://-/", "--dir", str(tmp_path / "c"), status=2)
    assert "the host name a..b has an empty part" in said
    assert "the last part of the host name - begins or ends with a hyphen" in said
    assert not (tmp_path / "c").exists()


@contextmanager
def web(world: World) -> Iterator[SimServer]:
    with SimServer.running(world) as server:
        yield server


def test_a_crawl_from_start_to_finish(tmp_path: Path) -> None:
    world = World(2, 12, 20, "plain")
    home = tmp_path / "c"
    with web(world) as server:
        out, err = gossamer(*crawl_of(server, home))
    summary = json.loads(out.splitlines()[-1])
    expected = truth(world)
    assert set(fetched(home)) == expected
    assert summary["pages"] == summary["ok"] == len(expected)
    assert summary["reason"] == "complete"
    assert summary["hosts"] == 12
    assert summary["faults"] == 0
    assert summary["cpu_seconds"] > 0
    assert "--delay 0" in err
    warcs = [str(path) for path in (home / "warc").glob("*.warc.gz")]
    subprocess.run([sys.executable, "-m", "warcio.cli", "check", *warcs], check=True, capture_output=True)
    for warc in warcs:
        checked = [Path(sys.executable).with_name("fastwarc"), "check", "--verify-payloads", warc]
        subprocess.run(checked, check=True, capture_output=True)
    status, _ = gossamer("status", "--dir", str(home), "--json")
    assert json.loads(status)["pages"] == len(expected)


def test_killed_again_and_again_it_loses_and_repeats_nothing(tmp_path: Path) -> None:
    world = World(4, 30, 100, "plain")
    home = tmp_path / "c"
    kills = 0
    with web(world) as server:
        command = crawl_of(server, home, "--connections", "32", "--max-pages", "2900")
        for pages in range(300, 2700, 400):
            with start(*command, stdin=subprocess.DEVNULL) as process:
                wait_for(server, pages)
                process.kill()
                process.communicate()
            kills += 1
        out, _ = gossamer(*command)
        assert json.loads(out.splitlines()[-1])["pages"] == 2900, "limits hold across kills"
        gossamer(*crawl_of(server, home, "--connections", "32"))
        requests = server.log.requests_per_url()
    expected = truth(world)
    assert set(fetched(home)) == expected
    assert captures(home) == Counter(expected), "every page once"
    again = sum(count - 1 for url, count in requests.items() if not url.endswith("/robots.txt"))
    # At most what was done since the last commit, a second's worth, and what was in flight.
    assert again <= kills * (400 + 32)


def wait_for(server: SimServer, requests: int) -> None:
    assert isinstance(server.log, MemoryLog)
    assert server.log.wait_for(requests, timeout=60), f"{len(server.log.arrivals)} of {requests} requests came"


def test_delays_hold_across_a_kill(tmp_path: Path) -> None:
    world = World(4, 8, 8, "plain")
    home = tmp_path / "c"
    with web(world) as server:
        command = [part if part != "0" else "0.3" for part in crawl_of(server, home)]
        for requests in (10, 25):
            with start(*command) as process:
                wait_for(server, requests)
                process.kill()
                process.communicate()
        gossamer(*command)
        gaps = {host: server.log.min_gap(host) for host in server.log.by_host()}
    assert len(gaps) == 8
    assert min(gaps.values()) >= 0.3
    assert set(fetched(home)) == truth(world)


def test_a_domain_rests_across_a_kill(tmp_path: Path) -> None:
    """Also for hosts that nobody had visited before it."""
    settings = tmp_path / "given.toml"
    settings.write_text('[policy]\ndelay = "100ms"\ndomain_delay = "2s"\n')
    with TinyWeb() as web:
        command = ["crawl", "http://www.big.test/", *(f"http://h{number}.big.test/" for number in range(8))]
        command += ["--dir", str(tmp_path / "c"), "--config", str(settings), "--connect", web.connect]
        command += ["--allow-private", "--no-index"]
        for requests in (2, 3):
            with start(*command) as process:
                assert web.log.wait_for(requests, timeout=60)
                process.kill()
                process.communicate()
        times = [arrival.time for arrival in web.log.arrivals]
    assert times[2] - times[1] >= 2


def test_ctrl_c_stops_cleanly_and_says_how_to_go_on(tmp_path: Path) -> None:
    world = World(4, 10, 400, "plain")
    home = tmp_path / "c"
    with web(world) as server:
        command = crawl_of(server, home, "--rate", "200")
        with start(*command) as process:
            wait_for(server, 50)
            process.send_signal(signal.SIGINT)
            began = time.monotonic()
            out, err = process.communicate(timeout=30)
            assert time.monotonic() - began < 5
        assert process.returncode == 130
        summary = json.loads(out.splitlines()[-1])
        assert summary["reason"] == "stopped"
        assert f"--dir {home}" in err
        assert len(fetched(home)) == summary["pages"] == sum(captures(home).values())
        gossamer(*command[:-2], "--rate", "0", "--max-pages", str(summary["pages"] + 10))
        assert set(server.log.requests_per_url().values()) == {1}


def test_reading_and_a_second_crawl_beside_a_running_one(tmp_path: Path) -> None:
    world = World(4, 5, 300, "plain")
    home = tmp_path / "c"
    with web(world) as server, start(*crawl_of(server, home, "--rate", "100")) as process:
        wait_for(server, 150)
        assert fetched(home)
        status = json.loads(gossamer("status", "--dir", str(home), "--json")[0])
        assert status["running"] is True
        _, err = gossamer(*crawl_of(server, home), status=2)
        assert "in use by another process" in err
        assert str(process.pid) in err
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
    assert process.returncode == 130


def test_bad_directories_and_seeds_are_one_clear_sentence(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "letter").write_text("dear")
    for arguments, words in [
        (["crawl", "http://a.test/", "--dir", str(other)], "is not a crawl"),
        (["crawl", "ftp://a.test/", "--dir", str(tmp_path / "new")], "ftp"),
        (["crawl", "--dir", str(tmp_path / "new")], "SEED"),
        (["crawl", "http://a.test/", "--dir", str(tmp_path / "new"), "--delay", "soon"], "--delay"),
        (["urls", "--dir", str(other)], "is not a crawl"),
        (["status", "--dir", str(tmp_path / "new")], "is not a crawl"),
    ]:
        out, err = gossamer(*arguments, status=2)
        assert words in err
        assert out == ""
    assert os.listdir(other) == ["letter"]
    assert not (tmp_path / "new").exists()


def test_a_directory_moved_elsewhere_goes_on(tmp_path: Path) -> None:
    world = World(4, 5, 30, "plain")
    with web(world) as server:
        gossamer(*crawl_of(server, tmp_path / "c", "--max-pages", "40"))
        shutil.move(tmp_path / "c", tmp_path / "d")
        gossamer(*crawl_of(server, tmp_path / "d"))
        assert set(server.log.requests_per_url().values()) == {1}
    assert set(fetched(tmp_path / "d")) == truth(world)
