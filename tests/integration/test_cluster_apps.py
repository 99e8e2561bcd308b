"""Applications and requests on crawls of several agents, judged by the servers' log and by what is on disk."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Event
from typing import Any, TypeVar

import pytest
from brokers import brokers
from fastapi.testclient import TestClient
from serving import client

import gossamer
from gossamer.agent import read_visits
from gossamer.agent.app_reading import read_apps
from gossamer.cli import run
from gossamer.config import HostRule, load
from gossamer.errors import GossamerError
from gossamer.model.url import host_of
from gossamer.service.keys import KeyFile
from gossamer.testing import TinyWeb
from gossamer.testing.web.message import Reply, Request, response

T = TypeVar("T")

HERE = str(Path(__file__).parent)
HOSTS = 16  # spread over the partitions of all agents


def start(*words: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "gossamer", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": HERE, **environment},
    )


def together(home: Path, web: TinyWeb, *words: str) -> list[str]:
    usual = ["--scope", "any", "--allow-private", "--connect", web.connect, "--delay", "0", "--no-index", "--json"]
    return ["crawl", *words, "--dir", str(home), *usual]


def ended(process: subprocess.Popen[str]) -> dict[str, Any]:
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    found: dict[str, Any] = json.loads(out.splitlines()[-1])
    return found


def visits(web: TinyWeb) -> Counter[str]:
    return Counter({url: n for url, n in web.log.requests_per_url().items() if not url.endswith("/robots.txt")})


def relay(*, most: int) -> Iterator[str]:
    for number in range(most + 1):
        yield f"http://h{number % HOSTS}.test/{number}"


@contextmanager
def relay_web(most: int) -> Iterator[TinyWeb]:
    with TinyWeb() as web:
        for url in relay(most=most):
            web.add_page(url)
        for host in range(HOSTS):
            web.add_page(f"http://h{host}.test/find")
        yield web


def test_what_applications_ask_for_finds_its_way_and_the_end_waits_for_the_last_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No page links to another: each is asked for because of the one before, mostly beside another agent. Before each
    hop all agents have nothing to do, before one of them for longer than it takes to see that a crawl has ended.
    """
    home, most = tmp_path / "c", 8
    with relay_web(most) as web:
        app = f"relay=sample_apps:Relay,hosts={HOSTS},most={most},forms=true,thinks=4,post=http://h[0-9]+\\.test/find"
        with start(*together(home, web, "http://h0.test/0", "--agents", "3", "--app", app)) as process:
            said = ended(process)
        sent = [arrival for arrival in web.log.arrivals if arrival.method == "POST"]
        assert visits(web) == Counter(
            [*relay(most=most), *(f"http://h{n % HOSTS}.test/find" for n in range(1, most + 1))]
        )
    assert (said["reason"], said["pages"]) == ("complete", 2 * most + 1)
    assert len(sent) == most  # each form once, by whoever had asked for it
    found = Counter(record["url"] for record in gossamer.records(home, "relay"))
    forms = [f"http://h{n % HOSTS}.test/find#__wb_method=POST&q={n - 1}" for n in range(1, most + 1)]
    assert found == Counter([*relay(most=most), *forms])
    figures = read_apps(home)["relay"]
    assert (figures.requests, figures.new, figures.left_out) == (2 * most, 2 * most, 0)
    assert (figures.started, figures.fetched, figures.pages, figures.records) == (
        2 * most,
        2 * most,
        2 * most + 1,
        2 * most + 1,
    )
    key = KeyFile(home).add("reader", "search", 1000)
    with client(home, key=key) as service:
        tagged = _until(lambda: _results(service, "relay", 4), bool)
    assert [(each["url"], each["state"], each["app"]) for each in tagged] == [
        (url, "fetched", "relay") for url in list(relay(most=most))[1:]
    ]
    assert {each["agent"] for each in tagged} == {"a1", "a2", "a3"}
    assert run(["apps", "try", f"sample_apps:Relay,hosts={HOSTS},most={most}", "--dir", str(home)]) == 0
    shown = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert Counter(each["record"]["url"] for each in shown if "record" in each) == found
    owners = [read_apps(home / "agents" / name) for name in ("a1", "a2", "a3")]
    assert all(owner["relay"].fetched for owner in owners)
    assert {json.dumps(_numbers(home / "agents" / name)) for name in ("a1", "a2", "a3")} == {'{"relay": 1}'}


def test_shares_hold_over_all_agents(tmp_path: Path) -> None:
    """2 : 1 : 1 of two applications and links, by the arrivals at the servers while all have work."""
    home, pages = tmp_path / "c", {"a": 700, "b": 400, "l": 400}
    with TinyWeb() as web:
        for kind, number in pages.items():
            for page in range(number):
                web.add_page(f"http://h{page % HOSTS}.test/{kind}/{page}")
        web.add_page("http://s.test/", [f"http://h{page % HOSTS}.test/l/{page}" for page in range(pages["l"])])
        all_queued = Event()

        def robots(_: Request) -> Reply:
            """Until all have asked for their pages no host is open: some processes take longer to start than others."""

            def parts() -> Iterator[bytes | float]:
                while not all_queued.is_set():
                    yield 0.05
                yield response(404, "text/plain", b"")

            return Reply(parts(), status=404)

        for host in range(HOSTS):
            web.add_handler(f"http://h{host}.test/robots.txt", robots)
        words = together(home, web, "http://s.test/", "--agents", "2", "--rate", "400")
        for name, share in (("a", 2), ("b", 1)):
            words += [
                "--app",
                f"{name}=sample_apps:Asker,share={share},letter={name},hosts={HOSTS},pages={pages[name]}",
            ]
        with start(*words) as process:
            _until(lambda: queued(home), lambda found: found == pages)
            all_queued.set()
            said = ended(process)
        arrivals = [(each.host, each.path[1:2]) for each in web.log.arrivals if len(each.path.split("/")) == 3]
        assert set(visits(web).values()) == {1}
    assert (said["reason"], said["pages"]) == ("complete", sum(pages.values()) + 1)
    found: Counter[str] = Counter()
    for name in ("a1", "a2"):
        hosts = {host_of(visit.url) for visit in read_visits(home / "agents" / name)}
        kinds = [kind for host, kind in arrivals if host in hosts]
        kinds = kinds[max(kinds.index(kind) for kind in "abl") + 60 :]  # what they were behind for is made up for
        found += Counter(kinds[: min(_last(kinds, kind) for kind in "abl") - 10])
    assert found.total() >= 300, found
    for kind, share in (("a", 0.5), ("b", 0.25), ("l", 0.25)):
        assert found[kind] / found.total() == pytest.approx(share, rel=0.1), found
    figures = read_apps(home)
    for name in "ab":
        assert (figures[name].requests, figures[name].new, figures[name].records) == (
            2 * pages[name],
            pages[name],
            pages[name],
        )


def queued(home: Path) -> Counter[str]:
    """How many pages of each letter the agents know of."""
    found: Counter[str] = Counter()
    for name in ("a1", "a2"):
        with suppress(GossamerError):  # it has not begun yet
            found += Counter(visit.url.split("/")[3] for visit in read_visits(home / "agents" / name))
    del found[""]
    return found


def test_an_agent_that_is_killed_loses_no_request_and_repeats_no_record(tmp_path: Path) -> None:
    home, most = tmp_path / "c", 14
    with relay_web(most) as web:
        app = f"relay=sample_apps:Relay,hosts={HOSTS},most={most}"
        with start(*together(home, web, "http://h0.test/0", "--agents", "2", "--app", app)) as process:
            assert web.log.wait_for(10, 60)
            os.kill(int((home / "agents" / "a2" / "lock").read_text()), signal.SIGKILL)
            said = ended(process)
        asked = visits(web)
    assert said["reason"] == "complete"
    assert set(asked) == set(relay(most=most))
    assert asked.total() <= most + 3  # what was in flight, or not committed
    assert Counter(record["url"] for record in gossamer.records(home, "relay")) == Counter(relay(most=most))
    figures = read_apps(home)["relay"]
    assert (figures.new, figures.pages, figures.records) == (most, most + 1, most + 1)


def test_requests_over_http_are_found_by_their_tag_from_any_node(tmp_path: Path) -> None:
    """Asked of the service beside one agent, and what became of them of the service beside another."""
    with relay_web(40) as web, brokers(tmp_path / "nats", 1) as (server,), ExitStack() as ending:
        file = tmp_path / "crawl.toml"
        file.write_text(
            f'[fetch]\nallow_private = true\nconnect = ["{web.connect}"]\n[policy]\ndelay = "0s"\n'
            "[index]\non = false\n[fresh]\nkeep_fresh = true\n[apps.monitor]\nshare = 2\n"
            '[scope]\nscope = "any"\nexclude = ["/13$"]\n[frontier]\npartitions = 16\n'
        )
        known = {
            "GOSSAMER_CLUSTER": server.address.replace("//", f"//{server.credentials.user}@"),
            "GOSSAMER_CLUSTER_PASSWORD": server.credentials.password,
        }
        with start("cluster", "config", str(file), **known) as process:
            assert process.wait(60) == 0
        homes = {name: tmp_path / name for name in ("one", "two")}
        for name, home in homes.items():
            agent = start("agent", "--name", name, "--dir", str(home), "http://h0.test/0", **known)
            ending.callback(agent.communicate, timeout=60)
            ending.callback(agent.kill)
        assert web.log.wait_for(2, 60)
        keys = {name: KeyFile(home).add("ops", "admin", 100_000) for name, home in homes.items()}
        urls = list(relay(most=20))
        with client(homes["one"], key=keys["one"]) as one, client(homes["two"], key=keys["two"]) as two:
            answer = _until(lambda: _posted(one, urls[:14], "t", app="monitor"), lambda found: found["running"])
            assert (answer["left_out"], answer["refused"][0]["url"]) == (1, urls[13])
            assert answer["new"] + answer["known"] == 13
            assert 0 < answer["handed_over"] < 13
            _posted(two, urls[14:], "t")
            asked = [url for url in urls if url != urls[13]]
            found = _until(
                lambda: _results(one, "t", 6), lambda found: [each["state"] for each in found] == ["fetched"] * 20
            )
            assert [each["url"] for each in found] == asked
            assert {each["app"] for each in found[:13]} == {"monitor"}
            assert {each["agent"] for each in found} == {"one", "two"}
            theirs = _until(lambda: _results(two, "t", 100), lambda found: len(found) == 20)
            assert [each["url"] for each in theirs] == asked
            for each in (found[1], found[2], found[3]):
                assert each["url"].encode() in two.get(each["content"]).content
            assert two.get("/api/v1/results", params={"tag": "t", "cursor": "7"}).status_code == 422
            apps = _until(
                lambda: two.get("/api/v1/status").json()["apps"], lambda apps: apps["monitor"]["fetched"] > 11
            )
            # The seed was known before.
            assert (apps["monitor"]["requests"], apps["monitor"]["new"], apps["monitor"]["share"]) == (14, 12, 2.0)
        assert set(visits(web).values()) == {1}
        assert len(visits(web)) == 20


def _posted(service: TestClient, urls: list[str], tag: str, **more: Any) -> dict[str, Any]:
    body = {"requests": [{"url": url, "tag": tag} for url in urls], **more}
    answer = service.post("/api/v1/requests", json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def _results(service: TestClient, tag: str, limit: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor = ""
    for _ in range(20):
        part = service.get("/api/v1/results", params={"tag": tag, "limit": limit, "cursor": cursor}).json()
        if part["missing"]:  # one that had no time to answer: ask again
            return []
        found += part["results"]
        cursor = part["next"]
        if not cursor:
            return found
    raise AssertionError("the list has no end")


def _until(ask: Callable[[], T], good: Callable[[T], bool]) -> T:
    """What other processes do takes its time."""
    until = time.monotonic() + 30
    while not good(found := ask()):
        assert time.monotonic() < until, found
        time.sleep(0.1)
    return found


def _last(kinds: list[str], kind: str) -> int:
    return max(place for place, each in enumerate(kinds) if each == kind)


def _numbers(home: Path) -> dict[str, int]:
    from gossamer.agent.asked import ASKED, read_book
    from gossamer.agent.parts import opened

    with opened(home) as (part,):
        book = read_book(part.frontier.meta(ASKED))
    return {name: party.number for name, party in book.parties.items() if name not in ("links", "recrawl")}


def test_what_an_application_wishes_for_a_host_holds_at_all_agents(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with TinyWeb() as web:
        for page in range(5):
            web.add_page(f"http://a.test/{page}")
        words = together(home, web, "http://a.test/0", "--agents", "2", "--app", "sample_apps:Patient,most=4")
        with start(*words) as process:
            ended(process)
        begun = [arrival.time for arrival in web.log.arrivals if arrival.path.strip("/").isdecimal()]
    assert len(begun) == 5
    assert begun[4] - begun[3] > 0.29, "the agent that visits has heard of it by then"
    for each in (home, home / "agents" / "a1", home / "agents" / "a2"):
        assert load(each / "gossamer.toml").hosts == (HostRule("a.test", delay=0.3, timeout=30.0, by="patient"),)
