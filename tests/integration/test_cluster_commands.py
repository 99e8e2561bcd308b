"""`gossamer cluster` and `gossamer agent` against a real broker."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest
from brokers import brokers, emptied, linked

from gossamer.agent.broker_file import read_broker, save_broker
from gossamer.agent.progress import Progress, Summary
from gossamer.agent.together import read_written
from gossamer.cli import run
from gossamer.cluster.broker import Broker, open_keys
from gossamer.cluster.leader import Leader
from gossamer.cluster.lease import Terms
from gossamer.cluster.members import Members
from gossamer.cluster.nats_log import NatsLog
from gossamer.cluster.nats_overview import AgentView, Overview, overview
from gossamer.cluster.ownership import Ownership
from gossamer.cluster.server import Server
from gossamer.cluster.session import Session
from gossamer.cluster.shared import read_end
from gossamer.errors import ClusterError


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Server]]:
    with brokers(tmp_path_factory.mktemp("nats"), 1) as found:
        yield found


@pytest.fixture
def home(servers: list[Server], tmp_path: Path) -> Path:
    """A directory that knows the broker, which knows of nothing."""

    async def empty() -> None:
        async with emptied(servers):
            pass

    asyncio.run(empty())
    save_broker(broker(servers), tmp_path)
    return tmp_path


def broker(servers: list[Server]) -> Broker:
    credentials = servers[0].credentials
    return Broker(addresses=(servers[0].address,), user=credentials.user, password=credentials.password)


def settings(home: Path, text: str = "", name: str = "crawl.toml") -> str:
    file = home / name
    file.write_text(text, encoding="utf-8")
    return str(file)


def cluster(home: Path, *words: str) -> int:
    return run(["cluster", words[0], "--dir", str(home), *words[1:]])


def status(home: Path, capsys: pytest.CaptureFixture[str]) -> Overview:
    capsys.readouterr()
    assert cluster(home, "status", "--json") == 0
    return msgspec.json.decode(capsys.readouterr().out, type=Overview)


# -- settings ----------------------------------------------------------------------------------------------------------


def test_before_there_is_a_crawl_commands_say_how_to_make_one(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cluster(home, "status") == 0
    assert "gossamer cluster config FILE.toml" in capsys.readouterr().out
    for words in (["config"], ["rebalance"], ["stop"], ["resume"]):
        assert cluster(home, *words) == 1
        assert "gossamer cluster config FILE.toml" in capsys.readouterr().err
    assert run(["agent", "--dir", str(home / "a"), "--name", "a"]) == 2


def test_the_first_settings_make_the_crawl_and_later_ones_are_versions(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = '[frontier]\npartitions = 8\n[partitions]\n".edu" = "a"\n'
    assert cluster(home, "config", settings(home, text)) == 0
    assert "The crawl is made, with 8 partitions." in capsys.readouterr().out
    found = status(home, capsys)
    assert (found.partitions, found.free, found.pins, found.settings) == (16, 16, 1, 1)
    assert cluster(home, "config", settings(home, text + "[policy]\ndelay = 3\n")) == 0
    assert "Version 2 holds" in capsys.readouterr().out
    assert cluster(home, "config", settings(home, text + "[policy]\ndelay = 3\n")) == 0
    assert "already, in version 2" in capsys.readouterr().out
    assert cluster(home, "config") == 0
    printed = capsys.readouterr().out
    assert printed.startswith("# Version 2, by ")
    assert 'delay = "3s"' in printed
    assert '".edu" = "a"' in printed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[frontier]\npartitions = 9\n", "the crawl was made with 8"),
        ('[frontier]\npartitions = 8\n[partitions]\n".edu" = "a"\n', "pins stay as they were"),
        ("[polcy]\ndelay = 3\n", "unknown section 'polcy'"),
        ("[frontier]\npartitions = 65000\n", "a crawl has 1 to"),
    ],
)
def test_what_cannot_be_changed_is_refused(
    home: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    assert cluster(home, "config", settings(home, "[frontier]\npartitions = 8\n")) == 0
    assert cluster(home, "config", settings(home, text, "next.toml")) == 2
    assert message in capsys.readouterr().err
    assert status(home, capsys).settings == 1


def test_a_pin_that_cuts_a_domain_makes_no_crawl(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cluster(home, "config", settings(home, '[partitions]\n"www.example.org" = "a"\n')) == 2
    assert "stays together" in capsys.readouterr().err
    assert status(home, capsys).partitions == 0


def test_a_crawl_is_stopped_and_may_go_on(servers: list[Server], home: Path) -> None:
    async def end() -> Any:
        async with linked(servers) as link:
            return await read_end(await open_keys(link))

    assert cluster(home, "config", settings(home)) == 0
    assert cluster(home, "stop") == 0
    assert asyncio.run(end()).reason == "stopped"
    assert cluster(home, "resume") == 0
    assert asyncio.run(end()) is None


# -- agents ------------------------------------------------------------------------------------------------------------


def test_agents_are_shown_and_drained(servers: list[Server], home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cluster(home, "config", settings(home, "[frontier]\npartitions = 8\n")) == 0

    async def work() -> tuple[Overview, Overview, str, str]:
        async with linked(servers) as link:
            keys, terms = await open_keys(link), Terms()
            one = await Session.open(keys, "one", terms)
            members = await Members.open(keys, terms)
            leader = Leader(keys, members, one, 8)
            assert await leader.leads()
            await members.look(1.0)
            assert await leader.plan()
            log = await NatsLog.open(link, 8)
            ownership = Ownership(log, members, one)
            held = [await ownership.take(partition) for partition in range(8)]
            await log.send(3, b"urls")
            assert held[3] is not None
            await log.append(3, held[3].token, b"done")
            first = await overview(link)
            with pytest.raises(ClusterError, match="start another one first"):
                await drain(link, keys, "one")
            with pytest.raises(ClusterError, match="no agent nobody; known are one"):
                await drain(link, keys, "nobody")
            two = await Session.open(keys, "two", terms)
            waiting = asyncio.create_task(drain(link, keys, "one"))
            for holding in held:
                assert holding is not None
                await ownership.give_up(holding)
            said = await waiting
            second = await overview(link)
            await two.end()
            await members.close()
            return first, second, said, (await overview(link)).agents[1].state

    async def drain(link: Any, keys: Any, name: str) -> str:
        from gossamer.cli.cluster import _drain

        return await _drain(link, keys, name, False)

    first, second, said, later = asyncio.run(work())
    (one,) = first.agents
    assert (one.name, one.state, one.partitions, one.planned, one.log) == ("one", "working", 8, 8, 2)
    assert (first.leader, first.free, first.end, first.plan > 0) == ("one", 0, "", True)
    assert [stream.name for stream in first.streams] == ["keys", "U00"]
    assert said == "one has no partitions and may be stopped."
    assert [(each.name, each.partitions, each.draining) for each in second.agents] == [
        ("one", 0, True), ("two", 0, False),
    ]  # fmt: skip
    assert second.free == 8
    assert later == "ended"
    capsys.readouterr()
    assert cluster(home, "status") == 0
    shown = capsys.readouterr().out
    assert "leader    one" in shown
    assert any(line.startswith("one") and "draining" in line for line in shown.splitlines())
    assert cluster(home, "drain", "one", "--undo") == 0
    assert not status(home, capsys).agents[0].draining
    assert cluster(home, "rebalance") == 0
    assert "asked to plan again" in capsys.readouterr().out


def test_what_was_not_heard_of_for_a_lease_is_silent() -> None:
    from gossamer.cluster.nats_overview import _agent
    from gossamer.cluster.session import Beat, Told

    states = [
        _agent("a", Beat("s", 1, told=Told(idle)), age, None).state for idle, age in ((False, 1), (True, 1), (True, 7))
    ]
    assert states == ["working", "idle", "silent"]


def test_the_view_of_nobody() -> None:
    from gossamer.cli.cluster import status_text

    found = Overview(id="x", partitions=8, free=8, agents=[AgentView("a", "ended")], end="max_pages")
    assert "ended: the limit of pages is reached" in status_text(found)


@pytest.mark.parametrize("words", [["status"], ["config"], ["drain", "a"]])
def test_a_broker_must_be_named(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["cluster", *words]) == 2
    assert "give the broker's address" in capsys.readouterr().err
    assert run(["cluster", *words, "--dir", str(tmp_path)]) == 2
    assert "has no cluster.json" in capsys.readouterr().err
    assert run(["cluster", *words, "--cluster", "nats://127.0.0.1:9"]) == 1
    assert "no broker answers at nats://127.0.0.1:9 (TimeoutError): is it running" in capsys.readouterr().err


# -- gossamer agent ----------------------------------------------------------------------------------------------------


class Joined:
    """Stands for `join` and keeps what it was given."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        self.given: dict[str, Any] = {}

    def __call__(self, home: Path, broker: Broker, name: str, seeds: Any, **more: Any) -> Summary:
        self.given = {"home": home, "broker": broker, "name": name, "seeds": list(seeds), **more}
        more["watch"](Progress(pages=2, queued=7, pid=3))
        return Summary(pages=3, reason=self.reason)


@pytest.mark.parametrize(("reason", "exit_status"), [("complete", 0), ("stopped", 130)])
def test_an_agent_joins_with_what_holds_for_its_machine(
    home: Path,
    servers: list[Server],
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
    reason: str,
    exit_status: int,
) -> None:
    assert cluster(home, "config", settings(home, "[index]\non = false\n")) == 0
    joined, module = Joined(reason), ModuleType("joined")
    module.join = joined  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "gossamer.agent.joined", module)
    monkeypatch.setattr("gossamer.agent.ward.on_leash", lambda: True)
    monkeypatch.setattr("gossamer.agent.ward.obey_leash", lambda: None)
    known = broker(servers)
    monkeypatch.setenv("GOSSAMER_CLUSTER", "nats://127.0.0.1:9")  # for its supervisor, which has written down another
    own = settings(home, '[frontier]\nmemory = "128MiB"\n', "own.toml")
    place = home / "agent"
    (place / "logs").mkdir(parents=True)
    capfdbinary.readouterr()
    save_broker(msgspec.structs.replace(known, name="x"), place)
    words = ["agent", "http://a.test/", "--dir", str(place)]
    words += ["--connections", "9", "--config", own, "--checkpoints", "/c", "--weight", "2"]
    assert run(words) == exit_status
    given = joined.given
    assert (given["home"], given["name"], given["seeds"], given["weight"]) == (place, "x", ["http://a.test/"], 2.0)
    assert given["local"] == {
        "frontier.memory": 128 * 1024**2, "fetch.connections": "9", "cluster.checkpoints": "/c",
    }  # fmt: skip
    assert given["index"] is None
    assert given["broker"] == read_broker(place)
    whole = msgspec.msgpack.decode(capfdbinary.readouterr().out, type=Progress)
    assert (whole.pages, whole.queued, whole.running, whole.reason) == (3, 7, False, reason)
    assert read_written(place) == whole


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--name", "No"], "is no name of an agent"),
        ([], "--name: give this agent a name"),
        (["--name", "a", "--connections", "many"], "--connections: 'many' is not"),
        (["--name", "a", "@nothere"], "cannot be read"),
    ],
)
def test_wrong_usage_of_an_agent(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "a"
    assert run(["agent", "--cluster", "nats://127.0.0.1:9", "--dir", str(place), *words]) == 2
    assert message in capsys.readouterr().err
    assert not place.exists()


def test_directories_that_are_no_agents(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["agent", "--cluster", "nats://127.0.0.1:9", "--name", "a", "--dir"]
    (tmp_path / "one" / "frontier").mkdir(parents=True)
    assert run([*words, str(tmp_path / "one")]) == 2
    assert "is a crawl of its own" in capsys.readouterr().err
    (tmp_path / "many" / "agents").mkdir(parents=True)
    assert run([*words, str(tmp_path / "many")]) == 2
    assert "give --dir one of" in capsys.readouterr().err
    (tmp_path / "else").mkdir()
    (tmp_path / "else" / "file").touch()
    assert run([*words, str(tmp_path / "else")]) == 2
    assert "is not a crawl" in capsys.readouterr().err
