"""Two agents on two machines, as far as they know: nothing but a broker in common. The service is that of one."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import agents
import msgspec
import pytest
from answering import answering, beat, broker_of, joined, key, saying
from brokers import brokers
from fastapi.testclient import TestClient
from serving import client

from gossamer.agent.answer_process import COMMAND
from gossamer.agent.audit import read_changes
from gossamer.agent.broker_file import save_broker
from gossamer.agent.held import HELD, Held
from gossamer.cli import run
from gossamer.cluster.broker import Broker
from gossamer.cluster.nats_questions import NatsQuestions
from gossamer.cluster.server import Server
from gossamer.cluster.session import Over
from gossamer.config import load
from gossamer.errors import UnavailableError
from gossamer.frontier.database import Database
from gossamer.frontier.keys import META
from gossamer.model import State, VisitRecord
from gossamer.model.domain import partition_of
from gossamer.report import figures
from gossamer.report.figures import TOPIC, FactsAnswerer
from gossamer.report.others import others_of
from gossamer.report.report import make_report
from gossamer.service import agents as asking
from gossamer.service import questions
from gossamer.service.answerer import packed, unpacked
from gossamer.service.cluster_search import older_versions
from gossamer.service.cluster_view import ClusterView
from gossamer.service.keys import KeyFile
from gossamer.service.questions import AskProgress


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with brokers(tmp_path_factory.mktemp("broker"), 1) as [found]:
        yield found


@pytest.fixture(scope="module")
def homes(server: Server, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    first, second = tmp_path_factory.mktemp("here") / "one", tmp_path_factory.mktemp("there") / "two"
    agents.make(first, second)
    hold(first, "a.test")
    hold(second, "b.test", "c.test", "d.test")
    joined(server, first, "a1")
    joined(server, second, "a2")
    return first, second


def hold(home: Path, *domains: str) -> None:
    """As the commits of an agent say which partitions it has."""
    partitions = [partition_of(domain, 256) for domain in domains]
    database = Database(home / "frontier", 8 << 20)
    held = Held(dict.fromkeys(partitions, 0), dict.fromkeys(partitions, 1))
    database.visits[META + HELD.encode()] = msgspec.msgpack.encode(held)
    database.commit()
    database.close()


@pytest.fixture(scope="module")
def other(homes: tuple[Path, Path]) -> Iterator[None]:
    """a2 answers; a1 is where the service is."""
    facts = FactsAnswerer(homes[1])
    with answering(homes[1], {TOPIC: facts.answer}):
        yield
    facts.close()


@pytest.fixture(scope="module")
def api(homes: tuple[Path, Path], other: None) -> Iterator[TestClient]:
    with client(homes[0]) as found:
        yield found


def get(api: TestClient, path: str, **params: Any) -> Any:
    answer = api.get(f"/api/v1/{path}", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


# -- reading -----------------------------------------------------------------------------------------------------------


def test_search(api: TestClient) -> None:
    found = get(api, "search", q="silk")
    assert {hit["url"] for hit in found["results"]} == {"http://a.test/", "http://a.test/more", "http://b.test/"}
    assert found["total"] == 3
    assert found["missing"] == []
    assert dict(found["facets"]["site"][0]) == {"value": "a.test", "pages": 2}
    scores = [hit["score"] for hit in found["results"]]
    assert scores == sorted(scores, reverse=True)
    assert found["domains"] == []
    (top,) = get(api, "search", q="silk", domains=True)["domains"]
    assert (top["name"], top["hosts"], top["pages"]) == ("test", 2, 3)
    assert {each["name"]: each["pages"] for each in top["domains"]} == {"a.test": 2, "b.test": 1}


def test_a_page_that_two_have_stored_comes_once(api: TestClient, homes: tuple[Path, Path]) -> None:
    [hit] = get(api, "search", q="trees")["results"]
    with client(homes[1]) as theirs:
        assert hit["fetched_at"] == get(theirs, "search", q="trees", site="c.test")["results"][0]["fetched_at"]


def test_a_page_that_two_have_stored_is_counted_once(api: TestClient) -> None:
    found = get(api, "search", q="web")
    assert (found["total"], len(found["results"])) == (2, 2)
    assert found["facets"]["site"] == [{"value": "c.test", "pages": 1}, {"value": "d.test", "pages": 1}]
    assert get(api, "search", q="trees")["total"] == 1


def test_what_a_page_said_before_it_moved_is_not_found(api: TestClient) -> None:
    assert get(api, "search", q="fence")["total"] == 1
    found = get(api, "search", q="trees -fence")
    assert (found["total"], found["results"]) == (0, [])


def test_of_versions_the_newest_stays_and_of_equal_ones_that_of_the_first() -> None:
    versions = {"b": {1: 10, 2: 20, 3: 5}, "a": {1: 10, 2: 19}, "c": {2: 1}}
    assert older_versions(versions) == {"b": frozenset({1}), "a": frozenset({2}), "c": frozenset({2})}


def test_results_come_in_parts_that_follow_each_other(api: TestClient) -> None:
    whole = [hit["url"] for hit in get(api, "search", q="silk OR web")["results"]]
    urls: list[str] = []
    cursor = ""
    for _ in range(len(whole)):
        found = get(api, "search", q="silk OR web", limit=2, cursor=cursor)
        urls += [hit["url"] for hit in found["results"]]
        cursor = found["next"]
        if not cursor:
            break
    assert urls == whole
    assert not cursor


@pytest.mark.parametrize("wrong", [{"q": '"silk'}, {"q": "silk", "cursor": "x"}, {"q": "silk", "cursor": "kgEB"}])
def test_what_is_asked_wrongly(api: TestClient, wrong: dict[str, str]) -> None:
    answer = api.get("/api/v1/search", params=wrong)
    assert answer.status_code == 422
    assert {"why", "position"} <= answer.json().keys()


def test_status_and_health(api: TestClient) -> None:
    found = get(api, "status")
    assert found["pages"] == 7
    assert found["index"]["pages"] == 6
    assert found["missing"] == []
    health = api.get("/healthz").json()
    assert (health["status"], health["index"], health["missing"]) == ("ok", "complete", [])


def test_hosts(api: TestClient) -> None:
    whole = get(api, "hosts", sort="name")
    assert [host["name"] for host in whole["hosts"]] == ["a.test", "b.test", "c.test", "d.test"]
    names: list[str] = []
    cursor = ""
    while not names or cursor:
        part = get(api, "hosts", sort="pages", limit=1, cursor=cursor)
        names += [host["name"] for host in part["hosts"]]
        cursor = part["next"]
    assert names == ["a.test", "b.test", "c.test", "d.test"]
    assert api.get("/api/v1/hosts", params={"cursor": "x"}).status_code == 422


def test_explain_from_the_one_that_knows(api: TestClient) -> None:
    for url in ("http://a.test/more", "http://b.test/"):
        assert get(api, "explain", url=url)["known"] is True
    assert "does not know it" in get(api, "explain", url="http://e.test/")["sentence"]
    assert api.get("/api/v1/explain", params={"url": "no url"}).status_code == 422


def test_pages(api: TestClient) -> None:
    for url in ("http://a.test/", "http://b.test/"):
        assert get(api, "pages", url=url)["title"] == ("Alpha" if "a.test" in url else "Beta")
        assert b"silk" in api.get("/api/v1/pages/content", params={"url": url}).content
    assert api.get("/api/v1/pages", params={"url": "http://e.test/"}).status_code == 404


def test_content_comes_in_pieces(api: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = api.get("/api/v1/pages/content", params={"url": "http://b.test/"})
    monkeypatch.setattr(questions, "PIECE", 7)
    assert api.get("/api/v1/pages/content", params={"url": "http://b.test/"}).content == whole.content
    assert len(whole.content) > 21


def test_what_was_stored_before_its_partition_moved(api: TestClient, homes: tuple[Path, Path]) -> None:
    view: ClusterView = api.app.state.view.asked()  # type: ignore[attr-defined]
    page = view.stored(VisitRecord("http://d.test/", State.FETCHED, 0, 200))
    assert page is not None
    assert b"window" in page.body
    assert view.stored(VisitRecord("http://e.test/", State.FETCHED, 0, 200)) is None


def test_changes(api: TestClient) -> None:
    whole = get(api, "changes")
    assert sorted(page["url"] for page in whole["changes"]) == sorted(
        ["http://a.test/", "http://a.test/more", "http://b.test/", "http://c.test/", "http://c.test/", "http://d.test/"]
    )
    urls, cursor, more = [], "", True
    while more:
        part = get(api, "changes", limit=1, cursor=cursor)
        urls += [page["url"] for page in part["changes"]]
        cursor, more = part["next"], part["more"]
    assert urls == [page["url"] for page in whole["changes"]]
    assert api.get("/api/v1/changes", params={"cursor": "x"}).status_code == 422


def test_domains_and_metrics(api: TestClient) -> None:
    [top] = get(api, "domains")["domains"]
    assert (top["name"], top["pages"]) == ("test", 6)
    assert {each["name"] for each in get(api, "domains", under="test")["domains"]} == {
        "a.test", "b.test", "c.test", "d.test"
    }  # fmt: skip
    metrics = api.get("/metrics").text
    assert 'gossamer_pages_total{status="200"} 6.0' in metrics
    assert 'gossamer_agents{state="answering"} 2.0' in metrics


def test_people_see_all_of_it(api: TestClient) -> None:
    page = api.get("/dashboard").text
    assert ">a1<" in page
    assert ">a2<" in page
    assert "Beta" in api.get("/", params={"q": "second"}).text
    assert "b.test" in api.get("/hosts").text
    assert "status 200" in api.get("/hosts/b.test").text
    assert "first" in api.get("/urls", params={"url": "http://c.test/"}).text  # stored by both
    assert "b.test" in api.get("/changes").text
    assert api.get("/copy/content", params={"url": "http://b.test/"}).status_code == 200
    for path in ("/dashboard", "/", "/hosts"):
        assert "Without" not in api.get(path).text


def test_one_machine(homes: tuple[Path, Path], tmp_path: Path) -> None:
    """Directories that are all here are read, without a broker."""
    home = tmp_path / "c"
    for path, name in zip(homes, ("a1", "a2"), strict=True):
        shutil.copytree(path, home / "agents" / name, ignore=shutil.ignore_patterns("cluster.json", "facts"))
    shutil.copy(homes[0] / "gossamer.toml", home)
    with client(home) as api:
        assert get(api, "search", q="silk")["total"] == 3
        assert get(api, "status")["pages"] == 7
        page = api.get("/dashboard").text
        assert ">a2<" in page
        assert get(api, "changes")["missing"] == []


def test_report(homes: tuple[Path, Path], other: None, monkeypatch: pytest.MonkeyPatch) -> None:
    notices: list[str] = []
    monkeypatch.setattr(figures, "_PIECE", 1000)
    for _ in range(2):  # the second time the files are here
        others, missing = others_of(homes[0], notices.append)
        report = make_report(homes[0], processes=0, others=others, missing=missing)
        assert {row["host"]: row["pages"] for row in report.as_json()["tables"]["hosts"]} == {
            "a.test": 2, "b.test": 1, "c.test": 1, "d.test": 2
        }  # fmt: skip
        assert report.totals["fetched"] == 6
        assert report.as_json()["missing"] == []
        monkeypatch.setattr(FactsAnswerer, "_piece", lambda *_: b"")
    assert notices == []


@pytest.mark.parametrize(
    "name", ["../keys.json", "facts-000001.parquet/../../keys.json", "facts-999999.parquet", "", "/etc/passwd"]
)
def test_only_facts_are_given(homes: tuple[Path, Path], name: str) -> None:
    question = msgspec.msgpack.encode({"type": "AskPiece", "name": name, "start": 0})
    assert FactsAnswerer(homes[1]).answer(question) == b""


def test_the_command_line_asks_everybody(
    homes: tuple[Path, Path], other: None, capsys: pytest.CaptureFixture[str]
) -> None:
    def said(*arguments: str) -> Any:
        assert run([*arguments, "--json", "--dir", str(homes[0])]) == 0
        return json.loads(capsys.readouterr().out)

    assert said("search", "silk")["total"] == 3
    assert said("status")["pages"] == 7
    assert said("explain", "http://b.test/")["known"] is True
    assert len(said("changes")["changes"]) == 6
    assert said("limits", "--rate", "9")["ok"] is True
    assert load(homes[1] / "gossamer.toml").fetch.rate == 9  # a2 lives, and a1 does not run


# -- those who do not answer -------------------------------------------------------------------------------------------


@pytest.fixture
def third(server: Server) -> Iterator[str]:
    """An agent that is known to all until the test is over."""
    beat(server, "a3")
    yield "a3"
    beat(server, "a3", Over.ENDED)


async def garbage(question: bytes) -> bytes:
    return b"a" + question


async def silence(question: bytes) -> bytes:
    return await asyncio.get_running_loop().create_future()


@pytest.mark.parametrize("answer", [None, garbage, silence])
def test_who_does_not_answer_is_named(
    homes: tuple[Path, Path], other: None, server: Server, third: str, answer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "PATIENCE", 0.5)
    with client(homes[0]) as api:
        if answer is None:
            check_named(api, third)
            check_named_everywhere(api, third)
        else:
            with saying(server, third, answer):
                check_named(api, third)


def check_named(api: TestClient, name: str) -> None:
    found = get(api, "search", q="silk")
    assert found["total"] == 3
    assert found["missing"] == [name]
    assert f"Without {name}: it does not answer." in api.get("/hosts").text


def check_named_everywhere(api: TestClient, name: str) -> None:
    assert get(api, "status")["missing"] == [name]
    assert get(api, "changes")["missing"] == [name]
    assert get(api, "changes")["more"] is True  # it may have more when it answers again
    page = api.get("/dashboard").text
    assert "does not answer" in page
    assert api.get("/healthz").json()["status"] == "degraded"


def test_who_has_ended_is_named_quietly(
    homes: tuple[Path, Path], other: None, server: Server, third: str, capsys: pytest.CaptureFixture[str]
) -> None:
    beat(server, third, Over.ENDED)
    with client(homes[0]) as api:
        for path, asked in (("search", {"q": "silk"}), ("status", {}), ("changes", {}), ("hosts", {}), ("domains", {})):
            found = get(api, path, **asked)
            assert (found["missing"], found["ended"]) == ([], [third]), path
        assert get(api, "changes")["more"] is False, "nothing is waited for"
        health = api.get("/healthz").json()
        assert (health["status"], health["ended"]) == ("ok", [third])
        page = api.get("/hosts").text
        assert "Without a3, which has ended." in page
        assert "does not answer" not in page
        assert "has ended" in api.get("/dashboard").text
        assert 'gossamer_agents{state="ended"} 1.0' in api.get("/metrics").text
        assert run(["search", "silk", "--dir", str(homes[0])]) == 0
        assert "without a3, ended: gossamer answer, on its machine" in capsys.readouterr().err
        beat(server, third, Over.REVOKED)  # by others, as it was not heard of
    with client(homes[0]) as api:
        assert get(api, "search", q="silk")["missing"] == [third]
        assert run(["search", "silk", "--dir", str(homes[0])]) == 0
        assert "without a3: no answer came" in capsys.readouterr().err


def test_who_has_ended_and_is_answered_for_is_asked(homes: tuple[Path, Path], other: None, server: Server) -> None:
    beat(server, "a2", Over.ENDED)
    try:
        with client(homes[0]) as api:
            found = get(api, "search", q="silk")
            assert (found["total"], found["missing"], "a2" in found["ended"]) == (3, [], False)
    finally:
        beat(server, "a2")


def test_no_broker(homes: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """The agent's own directory is read, and what is missing is said."""

    async def refuse(*_: object) -> None:
        raise UnavailableError("no broker answers")

    monkeypatch.setattr(Broker, "connect", refuse)
    notices: list[str] = []
    assert others_of(homes[0], notices.append) == ([], ["(broker)"])
    assert "this agent alone" in notices[0]
    with client(homes[0]) as api:
        found = get(api, "search", q="silk")
        assert (found["total"], found["missing"]) == (2, ["(broker)"])
        assert get(api, "status")["missing"] == ["(broker)"]


# -- commands ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def admin(homes: tuple[Path, Path], other: None) -> Iterator[TestClient]:
    key = KeyFile(homes[0]).add("ops", "admin", 1000)
    with client(homes[0], key=key) as found:
        yield found
    KeyFile(homes[0]).revoke("ops")


def test_settings_are_changed_at_one_living_agent(admin: TestClient, homes: tuple[Path, Path], server: Server) -> None:
    """Nobody is at work in the service's own directory, so that the other one is told."""
    assert admin.put("/api/v1/limits", json={"rate": 7}).json()["rate"] == 7
    assert load(homes[1] / "gossamer.toml").fetch.rate == 7
    assert load(homes[0] / "gossamer.toml").fetch.rate != 7
    assert read_changes(homes[1])[-1].who == "key ops"
    assert admin.get("/api/v1/limits").json()["rate"] == 7
    assert admin.post("/api/v1/blocklist", json={"pattern": "x.test"}).json()["patterns"] == ["x.test"]
    assert admin.delete("/api/v1/blocklist", params={"pattern": "x.test"}).json()["patterns"] == []
    refused = admin.delete("/api/v1/blocklist", params={"pattern": "x.test"})
    assert (refused.status_code, "not on the blocklist" in refused.json()["detail"]) == (409, True)
    assert admin.put("/api/v1/limits", json={"schedule": [{"from": "x"}]}).status_code == 422
    assert admin.post("/api/v1/seeds", json={"urls": ["http://f.test/"]}).json()["later"] is True
    assert admin.post("/api/v1/control/checkpoint").status_code == 200
    assert admin.put("/api/v1/priority", json={"host": "b.test", "priority": 0}).status_code == 200
    assert load(homes[1] / "gossamer.toml").hosts[0].priority == 0
    assert "limits" in {change["what"] for change in admin.get("/api/v1/audit").json()["changes"]}


def test_stop_ends_the_crawl_for_all(admin: TestClient, server: Server) -> None:
    assert admin.post("/api/v1/control/stop").status_code == 200
    ended = key(server, "end")
    assert ended is not None
    assert b'"stopped"' in (ended.value or b"")


# -- several at once ---------------------------------------------------------------------------------------------------


def test_many_ask_at_once(api: TestClient) -> None:
    found: list[int] = []

    def ask() -> None:
        found.append(get(api, "search", q="silk")["total"])

    threads = [threading.Thread(target=ask) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert found == [3] * 12


# -- the process beside an agent ---------------------------------------------------------------------------------------


def test_the_process_beside_an_agent(server: Server, homes: tuple[Path, Path], tmp_path: Path) -> None:
    """It answers until the agent, which holds its input, has ended."""
    home = tmp_path / "a"
    shutil.copytree(homes[1], home)
    save_broker(broker_of(server, "beside"), home)
    question = packed(AskProgress())

    async def asked() -> dict[str, bytes]:
        link = await broker_of(server).connect()
        try:
            for _ in range(300):
                if found := await NatsQuestions(link).ask({"beside": question}, lambda name: 20.0):
                    return found
                await asyncio.sleep(0.1)
        finally:
            await link.close()
        return {}

    with subprocess.Popen([*COMMAND, str(home)], stdin=subprocess.PIPE) as process:
        said = asyncio.run(asked())
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(20) == 0
    assert unpacked(AskProgress(), said["beside"]).pages == 3
