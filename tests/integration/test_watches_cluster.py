"""Watches of agents on several machines, as far as they know: nothing but a broker in common."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import agents
import pytest
from answering import broker_of, joined
from brokers import brokers
from indexing import append, caught_up
from serving import ELSEWHERE, client

from gossamer.agent import follower
from gossamer.agent.answer_process import COMMAND
from gossamer.agent.broker_file import save_broker
from gossamer.agent.watching import teller
from gossamer.agent.watching.adding import add_watch
from gossamer.agent.watching.beside import sharing_beside
from gossamer.agent.watching.book import WatchBook, has_watches
from gossamer.agent.watching.sharing import bring_up
from gossamer.cli import run
from gossamer.cluster.broker import Broker, open_keys
from gossamer.cluster.lease import Terms
from gossamer.cluster.server import Server
from gossamer.cluster.shared import Facts, make_crawl
from gossamer.errors import ConfigError, UnavailableError
from gossamer.index import Hit, Search
from gossamer.service.keys import KeyFile
from gossamer.testing import Receiver, SimServer, World

WORLD = World(3, 30, 12, "plain")
ALL = ["http://a.test/", "http://a.test/more", "http://b.test/", "http://c.test/", "http://d.test/"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    first, second = tmp_path_factory.mktemp("here") / "m1", tmp_path_factory.mktemp("there") / "m2"
    agents.make(first, second)
    return first, second


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with brokers(tmp_path / "broker", 1) as [found]:
        yield found


@pytest.fixture
def homes(made: tuple[Path, Path], server: Server, tmp_path: Path) -> list[Path]:
    """m1 and m2 have stored pages and indexed them, and both have c.test, whose partition has moved; m3 is new."""
    found = [shutil.copytree(home, tmp_path / home.name) for home in made]
    found.append(tmp_path / "m3")
    found[2].mkdir()
    shutil.copy(found[0] / "gossamer.toml", found[2])
    for home in found:
        joined(server, home, home.name)
    return found


@pytest.fixture
def beside(homes: list[Path]) -> Iterator[None]:
    """What runs beside each agent."""
    with ExitStack() as running:
        for home in homes:
            running.enter_context(sharing_beside(home, print))
        yield


def said(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> Any:
    capsys.readouterr()
    assert run(["watch", *words]) == status
    out = capsys.readouterr().out
    return [json.loads(line) for line in out.splitlines()] if "--json" in words else out


def until(true: Callable[[], bool]) -> None:
    """What other threads and processes bring about."""
    for _ in range(1000):
        if true():
            return
        threading.Event().wait(0.02)
    raise AssertionError("it did not come to that")


def knows(home: Path, name: str, hits: int = 0, told: str = "") -> bool:
    if not has_watches(home):
        return False
    with WatchBook(home) as book:
        found = book.find(name)
        listed = book.hits(found) if found else []
        return found is not None and len(listed) >= hits and all(not told or hit.told == told for hit in listed)


def urls(home: Path, name: str) -> list[str]:
    bring_up(home)
    with WatchBook(home) as book:
        return sorted(hit.url for hit in book.hits(book.known(name), limit=1000))


def test_a_watch_is_the_whole_crawls_from_any_machine(homes: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    one, two, three = map(str, homes)
    assert run(["watch", "list", "--dir", three]) == 0
    assert not (homes[2] / "watches").exists(), "nothing is made by looking"
    [made] = said(capsys, "add", "silk OR web", "--name", "cloth", "--dir", one, "--json")
    assert [each["id"] for each in said(capsys, "list", "--dir", three, "--json")] == [made["id"]]
    assert run(["watch", "add", "wool", "--name", "cloth", "--dir", two]) == 2
    for home in homes[:2]:
        caught_up(home)
    for home in homes[:2]:
        bring_up(home)  # says what was found
    for home in homes:
        [shown] = said(capsys, "show", "cloth", "--dir", str(home), "--json")
        assert sorted(hit["url"] for hit in shown["newest"]) == ALL, "c.test is in two indexes, and a hit once"
        assert (shown["hits"], shown["earlier"], shown["taken_up"]) == (5, 5, True)
    said(capsys, "remove", "cloth", "--dir", two)
    for home in homes:
        assert said(capsys, "list", "--dir", str(home), "--json") == []


def test_over_http(homes: list[Path], beside: None) -> None:
    with ExitStack() as open_:
        apis, headers = [], []
        for home in homes:
            key = KeyFile(home).add("ops", "admin", 1000)
            headers.append({"Authorization": f"Bearer {key}"})
            apis.append(open_.enter_context(client(home, ELSEWHERE)))
        made = apis[2].post("/api/v1/watches", json={"query": "silk OR web", "name": "cloth"}, headers=headers[2])
        assert made.status_code == 200, made.text
        for home in homes[:2]:
            until(lambda home=home: knows(home, "cloth"))  # type: ignore[misc]
            caught_up(home)
        for home in homes:
            until(lambda home=home: knows(home, "cloth", 5))  # type: ignore[misc]
        lists = []
        for api, key in zip(apis, headers, strict=True):
            first = api.get("/api/v1/watches/cloth/hits?limit=3", headers=key).json()
            lists.append([hit["id"] for hit in first["hits"]])
            assert first["more"]
            rest = apis[0].get(f"/api/v1/watches/cloth/hits?cursor={first['next']}", headers=headers[0]).json()
            assert sorted(hit["url"] for hit in first["hits"] + rest["hits"]) == ALL, "a cursor holds at any machine"
            assert "5 earlier" in api.get("/watches", headers=key).text
        assert lists[0] == lists[1] == lists[2]
        assert apis[1].delete("/api/v1/watches/cloth", headers=headers[1]).status_code == 200
        answer = apis[1].delete("/api/v1/watches/cloth", headers=headers[1])
        assert answer.status_code == 404


def test_a_page_that_moved_and_is_fetched_again_is_told_once(homes: list[Path], beside: None) -> None:
    with Receiver() as receiver:
        _, secret = add_watch(homes[1], "test", "moved", webhook=receiver.url, name="moved")
        for home in homes:
            until(lambda home=home: knows(home, "moved"))  # type: ignore[misc]
        append(homes[0], "http://c.test/", 200, "<title>C</title><p>it has moved", "changed")
        caught_up(homes[0])
        assert receiver.wait(lambda calls: len(calls) == 1)
        append(homes[1], "http://c.test/", 200, "<title>C</title><p>it has moved", "changed")
        append(homes[1], "http://b.test/", 200, "<title>B</title><p>it has moved as well", "changed")
        caught_up(homes[1])
        assert receiver.wait(lambda calls: len(calls) == 2)
        assert [[hit["url"] for hit in call.hits] for call in receiver.calls] == [
            ["http://c.test/"],
            ["http://b.test/"],
        ]
        assert all(call.is_signed_with(secret) for call in receiver.calls)
    for home in homes:
        until(lambda home=home: knows(home, "moved", 2, "done"))  # type: ignore[misc]
        assert urls(home, "moved") == ["http://b.test/", "http://c.test/"]


def test_a_process_killed_in_a_call_leaves_it_to_another_machine(
    homes: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(teller, "LOST_AFTER", 1.0)
    monkeypatch.setattr(follower, "_AT_THE_END", 0.5)
    held = threading.Event()
    with Receiver() as receiver, subprocess.Popen([*COMMAND, str(homes[0])], stdin=subprocess.PIPE) as process:
        receiver.answer = lambda _: 204 if held.wait(30) else 500
        add_watch(homes[0], "test", "silk", webhook=receiver.url, name="silk", notify_earlier=True)
        caught_up(homes[0], [])
        assert receiver.wait(lambda calls: len(calls) == 1)
        process.send_signal(signal.SIGKILL)
        process.wait(20)
        held.set()
        with sharing_beside(homes[1], print):
            assert receiver.wait(lambda calls: len(calls) == 2)
            until(lambda: knows(homes[1], "silk", 2, "done"))
        first, second = receiver.calls
        assert (first.id, first.body) == (second.id, second.body)
        assert [hit["url"] for hit in first.hits] == ["http://a.test/", "http://a.test/more"]
        with sharing_beside(homes[0], print):
            assert urls(homes[0], "silk") == ["http://a.test/", "http://a.test/more"]
    assert len(receiver.calls) == 2


def test_agents_at_work_of_which_one_is_killed(tmp_path: Path, server: Server) -> None:
    """All pages match, and each is told once: also those that others fetch again, whose hits the dead one had."""
    with SimServer.running(WORLD) as web, Receiver() as receiver, ExitStack() as ending:
        (tmp_path / "crawl.toml").write_text(
            f'[fetch]\nallow_private = true\nconnect = ["{web.connect}"]\n[policy]\ndelay = "400ms"\n'
            f'[scope]\nscope = "any"\n[frontier]\npartitions = 64\n[cluster]\ncheckpoints = "{tmp_path}/checkpoints"\n'
        )
        make_crawl_at(server)
        save_broker(broker_of(server), tmp_path)
        assert run(["cluster", "config", str(tmp_path / "crawl.toml"), "--dir", str(tmp_path)]) == 0
        at_work = {}
        for name in ("one", "two", "three"):
            (tmp_path / name).mkdir()
            save_broker(broker_of(server, name), tmp_path / name)
            words = ["agent", "--dir", str(tmp_path / name), *([WORLD.url(0)] if name == "one" else [])]
            at_work[name] = ending.enter_context(
                subprocess.Popen(
                    [sys.executable, "-m", "gossamer", *words], stderr=subprocess.PIPE, start_new_session=True
                )
            )
            ending.callback(kill, at_work[name])
        until(lambda: (tmp_path / "one" / "gossamer.toml").is_file())
        add_watch(tmp_path / "one", "test", "type:html", webhook=receiver.url, name="all", notify_earlier=True)
        until(lambda: knows(tmp_path / "three", "all", 6))
        kill(at_work["three"])
        for name in ("one", "two"):
            _, err = at_work[name].communicate(timeout=120)
            assert at_work[name].returncode == 0, err
    for home in ("one", "two"):
        bring_up(tmp_path / home)
    with WatchBook(tmp_path / "two") as book:
        listed = sorted(hit.url for hit in book.hits(book.known("all"), limit=1000))
        assert {hit.told for hit in book.hits(book.known("all"), limit=1000)} == {"done"}
    found = {hit.url for name in ("one", "two") for hit in every_page(tmp_path / name)}
    assert len(found) > 50
    assert len(listed) == len(set(listed))
    assert found <= set(listed)
    told = sorted(hit["url"] for call in {call.id: call for call in receiver.calls}.values() for hit in call.hits)
    assert told == listed


def test_agents_of_one_machine_have_one_book(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with SimServer.running(WORLD) as web, Receiver() as receiver:
        words = ["crawl", WORLD.url(0), "--dir", str(home), "--scope", "any", "--allow-private", "--agents", "3"]
        command = [sys.executable, "-m", "gossamer", *words, "--connect", web.connect, "--delay", "400ms"]
        with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
            until(lambda: (home / "agents" / "a3" / "gossamer.toml").is_file())
            part = home / "agents" / "a2"  # the directory of one is the book of all
            add_watch(part, "test", "type:html", webhook=receiver.url, name="all", notify_earlier=True)
            _, err = process.communicate(timeout=120)
            assert process.returncode == 0, err
    listed = urls(home, "all")
    assert not (home / "agents" / "a2" / "watches").exists()
    assert len(listed) == len(set(listed)) > 50
    assert listed == sorted({hit.url for name in ("a1", "a2", "a3") for hit in every_page(home / "agents" / name)})
    assert sorted(hit["url"] for call in receiver.calls for hit in call.hits) == listed


def make_crawl_at(server: Server) -> None:
    """One whose agents are given up soon."""

    async def make() -> None:
        link = await broker_of(server).connect()
        await make_crawl(await open_keys(link), Facts(partitions=64, terms=Terms(lease=2.0, gap=0.5, renewal=0.4)))
        await link.close()

    asyncio.run(make())


def kill(process: subprocess.Popen[bytes]) -> None:
    """The agent and its supervisor; what runs beside them ends by itself."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def every_page(home: Path) -> list[Hit]:
    search, hits, cursor = Search([home / "index"]), [], None
    while cursor != "":
        part = search.answer("type:html", limit=100, cursor=cursor or "")
        hits += part.results
        cursor = part.next
    search.close()
    return hits


def test_what_was_found_while_nobody_could_be_told_is_told_later(
    homes: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """`gossamer index` runs by itself; `gossamer watch deliver` says and tells what it has found."""
    with Receiver(500) as receiver:
        add_watch(homes[0], "test", "silk", webhook=receiver.url, name="silk", notify_earlier=True)
        bring_up(homes[1])
        caught_up(homes[1])
        assert urls(homes[0], "silk") == []
        assert "0 calls were taken, 1 tries failed" in said(capsys, "deliver", "--dir", str(homes[1]))
        assert urls(homes[0], "silk") == ["http://b.test/"]
        receiver.status = 204
        assert "1 call is tried again" in said(capsys, "retry", "silk", "--dir", str(homes[0]))
        assert "1 calls were taken, 0 tries failed" in said(capsys, "deliver", "--dir", str(homes[0]))
        [shown] = said(capsys, "show", "silk", "--dir", str(homes[1]), "--json")
        assert (shown["done"], shown["waiting"]) == (1, 0)


def test_watches_that_a_directory_had_before_are_everybodys(homes: list[Path]) -> None:
    broker = (homes[0] / "cluster.json").rename(homes[0] / "aside")
    add_watch(homes[0], "test", "silk", name="old")
    caught_up(homes[0])
    broker.rename(homes[0] / "cluster.json")
    bring_up(homes[0])
    assert urls(homes[2], "old") == ["http://a.test/", "http://a.test/more"]


def test_the_broker_does_not_answer(
    homes: list[Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    add_watch(homes[0], "test", "silk", name="silk")
    with pytest.raises(ConfigError, match="already"):
        add_watch(homes[1], "test", "silk", name="silk")

    async def refuse(*_: object) -> None:
        raise UnavailableError("no broker answers")

    monkeypatch.setattr(Broker, "connect", refuse)
    assert run(["watch", "add", "wool", "--dir", str(homes[0])]) == 1
    capsys.readouterr()
    assert run(["watch", "list", "--dir", str(homes[0])]) == 0
    shown = capsys.readouterr()
    assert "silk" in shown.out
    assert "as this directory heard last: no broker answers" in shown.err
    key = KeyFile(homes[0]).add("ops", "admin", 1000)
    with client(homes[0], ELSEWHERE) as api:
        answer = api.post("/api/v1/watches", json={"query": "wool"}, headers={"Authorization": f"Bearer {key}"})
        assert (answer.status_code, "Retry-After" in answer.headers) == (503, True)
        assert api.get("/api/v1/watches", headers={"Authorization": f"Bearer {key}"}).json()["total"] == 1


def test_secrets_are_in_no_answer_of_an_agent(homes: list[Path], server: Server) -> None:
    _, secret = add_watch(homes[0], "test", "silk", webhook="https://example.org/hook/secret", name="silk")
    key = KeyFile(homes[1]).add("anna", "search", 1000)
    with client(homes[1], ELSEWHERE) as api:
        for path in ("/api/v1/watches", "/watches", "/watches/silk", "/api/v1/watches/silk/hits"):
            text = api.get(path, headers={"Authorization": f"Bearer {key}"}).text
            assert secret not in text
            assert "hook/secret" not in text
    save_broker(Broker(addresses=(server.address,), name="m1"), homes[0])
    assert run(["watch", "add", "wool", "--dir", str(homes[0])]) == 1, "the broker lets nobody in without a password"
