"""Several agents at a simulated web, as users start them: `--agents`, and `gossamer agent` at a broker."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from brokers import brokers

from gossamer.agent import read_progress
from gossamer.testing import SimServer, TinyWeb, World, reachable
from gossamer.testing.dns import TinyDNS
from gossamer.testing.web import MemoryLog

WORLD = World(3, 8, 40, "plain")
PAGES = sum(outcome.fetched for outcome in reachable(WORLD, [WORLD.url(0)]).values())


def start(*words: str, **environment: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "gossamer", *words]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment}
    )


def test_one_command_for_several_agents(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with SimServer.running(WORLD) as web:
        words = ["crawl", WORLD.url(0), "--dir", str(home), "--scope", "any", "--allow-private"]
        words += ["--connect", web.connect, "--delay", "0", "--no-index", "--json", "--agents", "2"]
        for _ in range(2):  # the second time there is nothing left to do
            with start(*words) as process:
                out, err = process.communicate(timeout=120)
            assert process.returncode == 0, err
            said = json.loads(out.splitlines()[-1])
            assert (said["pages"], said["ok"], said["reason"]) == (PAGES, PAGES, "complete"), err
        assert isinstance(web.log, MemoryLog)
        visits = {url: count for url, count in web.log.requests_per_url().items() if not url.endswith("/robots.txt")}
    assert set(visits.values()) == {1}
    assert len(visits) == PAGES
    assert {path.name for path in (home / "agents").iterdir()} == {"a1", "a2"}
    assert list((home / "warc").glob("a*-*.warc.gz"))
    with start("cluster", "status", "--dir", str(home)) as process:
        out, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert f"no crawl runs in {home}, and its broker runs with it: gossamer crawl --dir {home} goes on" in err


def test_pages_in_a_directory_that_is_lost_are_missed(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with SimServer.running(WORLD) as web:
        words = ["crawl", WORLD.url(0), "--dir", str(home), "--scope", "any", "--allow-private", "--connect"]
        words += [web.connect, "--delay", "0", "--no-index", "--json", "--agents", "2"]

        def crawled() -> tuple[dict[str, Any], str]:
            with start(*words) as process:
                out, err = process.communicate(timeout=120)
            said: dict[str, Any] = json.loads(out.splitlines()[-1])
            return said, err

        said, err = crawled()
        assert said["lost"] == {}
        assert "complete: every URL" in err
        pages = read_progress(home / "agents" / "a2").pages
        assert 0 < pages < PAGES
        shutil.rmtree(home / "agents" / "a2")
        for _ in range(2):  # it is not forgotten
            said, err = crawled()
            assert said["lost"] == {"a2": pages}
            assert f"ended: {pages} pages of the agent a2 are not at hand; start it with its directory, or go" in err


def test_agents_whose_seeds_were_all_refused_or_failed_end_with_1(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with TinyDNS() as dns:
        file = tmp_path / "settings.toml"
        file.write_text(f'[policy]\nretry_wait = "10ms"\n[fetch]\ndns = ["{dns.address}"]\n')
        words = ["crawl", "http://nobody.test/", "http://127.0.0.9:8080/", "--dir", str(home), "--config", str(file)]
        with start(*words, "--no-index", "--json", "--agents", "2") as process:
            out, err = process.communicate(timeout=120)
    assert process.returncode == 1, err
    said = json.loads(out.splitlines()[-1])
    assert (said["pages"], said["excluded"], said["hosts_left"], said["reason"]) == (0, 1, {"dns": 1}, "complete")
    assert "seed http://nobody.test/ was not visited: nobody.test could not be found in DNS; it is tried again" in err
    assert "seed http://127.0.0.9:8080/ was not visited: the address of 127.0.0.9:8080 may not be connected to" in err
    assert "ended: no page was stored, 1 of 2 hosts could not be reached (1 could not be found in DNS); run" in err


@pytest.mark.slow
def test_agents_judge_again_what_settings_excluded_wherever_it_has_moved(tmp_path: Path) -> None:
    home, hosts = tmp_path / "c", [f"http://h{number}.test" for number in range(12)]
    with TinyWeb() as web:
        for host in hosts:
            web.add_page(f"{host}/", [f"{other}/" for other in hosts] + [f"{host}/old"])
            web.add_page(f"{host}/old")

        def crawled(*more: str) -> dict[str, Any]:
            words = ["crawl", f"{hosts[0]}/", "--dir", str(home), "--scope", "any", "--allow-private", "--no-index"]
            with start(*words, "--connect", web.connect, "--delay", "0", "--json", *more) as process:
                out, err = process.communicate(timeout=120)
            assert process.returncode == 0, err
            said: dict[str, Any] = json.loads(out.splitlines()[-1])
            return said

        first = crawled("--agents", "3", "--exclude", "/old$")
        assert (first["pages"], first["excluded"]) == (12, 12)
        second = crawled("--agents", "2", "--exclude", "/new$")  # one that has excluded a part takes part no more
        assert (second["pages"], second["excluded"]) == (24, 0)
        assert set(web.log.requests_per_url().values()) == {1}


def test_agents_whose_supervisor_is_killed_stop_cleanly_and_the_next_goes_on(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with SimServer.running(WORLD) as web:
        assert isinstance(web.log, MemoryLog)
        words = ["crawl", WORLD.url(0), "--dir", str(home), "--scope", "any", "--allow-private"]
        words += ["--connect", web.connect, "--no-index", "--json", "--agents", "2", "--delay"]
        with start(*words, "50ms") as process:
            assert web.log.wait_for(40, 60)
            agents = [os.pidfd_open(int((home / "agents" / name / "lock").read_text())) for name in ("a1", "a2")]
            process.kill()
            for agent in agents:
                assert select.select([agent], [], [], 30)[0]
                os.close(agent)
        stopped = [read_progress(home / "agents" / name) for name in ("a1", "a2")]
        assert [(each.running, each.reason) for each in stopped] == [(False, "stopped")] * 2
        with start(*words, "0") as process:
            out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert json.loads(out.splitlines()[-1])["pages"] == PAGES


def test_agents_come_and_go(tmp_path: Path) -> None:
    """Two join at a broker; one is told to leave in the middle, and the other one ends the crawl."""
    with SimServer.running(WORLD) as web, brokers(tmp_path / "nats", 1) as (server,), ExitStack() as ending:
        assert isinstance(web.log, MemoryLog)
        file = tmp_path / "crawl.toml"
        file.write_text(
            f'[fetch]\nallow_private = true\nconnect = ["{web.connect}"]\n[policy]\ndelay = "50ms"\n'
            "[index]\non = false\n"
            f'[scope]\nscope = "any"\n[frontier]\npartitions = 16\n[cluster]\ncheckpoints = "{tmp_path}/checkpoints"\n'
        )
        known = {
            "GOSSAMER_CLUSTER": server.address.replace("//", f"//{server.credentials.user}@"),
            "GOSSAMER_CLUSTER_PASSWORD": server.credentials.password,
        }
        with start("cluster", "config", str(file), **known) as process:
            assert process.wait(60) == 0
        agents = {}
        for name in ("one", "two"):
            words = ["agent", "--name", name, "--dir", str(tmp_path / name), "--json"]
            agents[name] = ending.enter_context(start(*words, *([WORLD.url(0)] if name == "one" else []), **known))
            ending.callback(agents[name].kill)
        assert web.log.wait_for(30, 60)
        agents["two"].send_signal(signal.SIGTERM)
        out, err = agents["two"].communicate(timeout=60)
        assert agents["two"].returncode == 130, err
        left = json.loads(out.splitlines()[-1])["pages"]
        out, err = agents["one"].communicate(timeout=120)
        assert agents["one"].returncode == 0, err
        said = json.loads(out.splitlines()[-1])
    assert said["reason"] == "complete"
    # What was in flight when it left may have been visited once more; nothing is missing.
    assert PAGES <= said["pages"] + left <= PAGES + 10
