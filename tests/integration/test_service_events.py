"""Events over real sockets: what comes, to whom, how many at once, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from commanding import running
from crawling import crawl
from serving import client, served

from gossamer.agent.history import Sample
from gossamer.agent.progress import Progress
from gossamer.service.app import create_app
from gossamer.service.crawl_view import CrawlView
from gossamer.service.keys import KeyFile
from gossamer.service.picture import Picture, Watcher
from gossamer.service.routes.events import Teller
from gossamer.testing import SimServer, TinyWeb, World

NOW = 1_800_000_000.0
Event = tuple[str, str, Any]


@contextmanager
def listening(port: int, path: str = "/api/v1/events", key: str = "", last: str = "") -> Iterator[httpx.Response]:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    if last:
        headers["Last-Event-ID"] = last
    with httpx.stream("GET", f"http://127.0.0.1:{port}{path}", headers=headers, timeout=20) as response:
        yield response


def events(lines: Iterator[str]) -> Iterator[Event]:
    """Name, id and data of each. No test waits so long that there is nothing new."""
    name = number = ""
    for line in lines:
        assert not line.startswith(":"), "nothing came but a sign of life"
        field, _, value = line.partition(": ")
        if field == "event":
            name, number = value, ""
        elif field == "id":
            number = value
        elif field == "data":
            yield name, number, json.loads(value)


def first(response: httpx.Response, wanted: str) -> Event:
    return next(event for event in events(response.iter_lines()) if event[0] == wanted)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("events") / "c"
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/1", "/2", "/none"])
        web.add_page("http://a.test/1")
        web.add_page("http://a.test/2")
        crawl(home, ["http://a.test/"], web.connect)
    return home


def test_one_who_comes_is_told_what_was_and_what_is(home: Path) -> None:
    with served(create_app(home)) as port, listening(port) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["cache-control"] == "no-store"
        told = events(response.iter_lines())
        name, number, samples = next(told)
        assert name == "samples"
        assert float(number) == pytest.approx(samples[-1]["at"], abs=0.001)
        assert (samples[-1]["ok"], samples[-1]["refusals"], samples[-1]["queued"]) == (3, 1, 0)
        name, _, status = next(told)
        assert (name, status["pages"], status["reason"], status["running"]) == ("status", 4, "complete", False)


def test_one_who_comes_again_is_told_only_what_is_new(home: Path) -> None:
    with served(create_app(home)) as port:
        with listening(port) as response:
            number = first(response, "samples")[1]
        with listening(port, last=number) as response:
            assert next(events(response.iter_lines()))[0] == "status"
        for odd in ("nan", "-1", "1e400", "x" * 40, "0x10"):
            with listening(port, last=odd) as response:
                assert next(events(response.iter_lines()))[0] == "samples"


def test_no_sample_is_told_twice_and_none_of_long_ago() -> None:
    teller = Teller(0.0)
    samples = [Sample(NOW - 5000), Sample(NOW - 10), Sample(NOW - 5)]
    said = teller.tell(Picture(NOW, True, Progress(updated_at=NOW), samples)).decode()
    assert said.count('"at"') == 2
    assert teller.tell(Picture(NOW + 1, True, Progress(updated_at=NOW), samples)) == b""
    samples = [*samples, Sample(NOW + 1)]
    said = teller.tell(Picture(NOW + 2, True, Progress(updated_at=NOW + 1), samples)).decode()
    assert said.count('"at"') == 1
    assert "event: status" in said


def test_it_goes_on_while_the_crawl_does(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with (
        SimServer.running(World(1, 20, 50)) as web,
        running(home, [web.world.url(0)], web.connect, rate="50"),
        served(create_app(home)) as port,
        listening(port) as api,
        listening(port, "/dashboard/events") as page,
    ):
        pages = [data["pages"] for name, _, data in _some(api, 8) if name == "status"]
        assert pages == sorted(set(pages))
        assert len(pages) > 2
        boards = [data for name, _, data in _some(page, 3) if name == "board"]
        assert "sentence" in boards[0]
        assert len(boards[1]) < len(boards[0]) / 2  # then only what has changed
        assert boards[1]["asof"] != boards[0]["asof"]


def test_the_last_commit_of_a_crawl_is_seen_by_those_who_read_it_all_the_time(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with SimServer.running(World(1, 20, 50)) as web, client(home) as api:
        with running(home, [web.world.url(0)], web.connect, rate="50") as going:
            while api.get("/api/v1/status").json().get("pages", 0) < 50:
                pass
            going.control.stop()
            summary = going.end()
        status = api.get("/api/v1/status").json()
        assert (status["pages"], status["reason"], status["running"]) == (summary.pages, "stopped", False)


def _some(response: httpx.Response, number: int) -> list[Event]:
    told = events(response.iter_lines())
    return [next(told) for _ in range(number)]


def test_before_there_is_a_crawl(tmp_path: Path) -> None:
    with served(create_app(tmp_path)) as port:
        with listening(port) as response:
            assert first(response, "status")[2]["pages"] == 0
        with listening(port, "/dashboard/events") as response:
            assert first(response, "board")[2]["sentence"].startswith("There is no crawl here yet.")


# -- who, how many, until when -----------------------------------------------------------------------------------------


def test_a_key_is_needed_and_its_end_is_the_end(tmp_path: Path) -> None:
    key = KeyFile(tmp_path).add("anna", "search")
    with served(create_app(tmp_path)) as port:
        assert httpx.get(f"http://127.0.0.1:{port}/api/v1/events").status_code == 401
        assert httpx.get(f"http://127.0.0.1:{port}/dashboard/events").status_code == 303
        with listening(port, key=key) as response:
            told = events(response.iter_lines())
            assert next(told)[0] == "status"
            KeyFile(tmp_path).revoke("anna")
            KeyFile(tmp_path).add("berta", "search")
            assert list(told) == [("end", "", {"reason": "key"})]


def test_who_needed_no_key_needs_one_when_there_is_one(tmp_path: Path) -> None:
    with served(create_app(tmp_path)) as port, listening(port) as response:
        told = events(response.iter_lines())
        assert next(told)[0] == "status"
        KeyFile(tmp_path).add("anna", "search")
        assert list(told) == [("end", "", {"reason": "key"})]


def test_streams_have_places_of_their_own(tmp_path: Path) -> None:
    with served(create_app(tmp_path, at_once=1, streams_at_once=3)) as port, ExitStack() as stack:
        streams = ("/api/v1/events", "/dashboard/events", "/api/v1/events")
        told = [stack.enter_context(listening(port, path)).iter_lines() for path in streams]
        assert [next(lines) for lines in told] == ["retry: 2000"] * 3
        refused = httpx.get(f"http://127.0.0.1:{port}/api/v1/events")
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "10")
        assert "Too many listen" in refused.json()["detail"]
        assert httpx.get(f"http://127.0.0.1:{port}/docs").status_code == 200
        stack.close()
        for _ in range(200):  # that somebody has left is noticed a moment later
            with listening(port) as response:
                if response.status_code == 200:
                    break
        assert response.status_code == 200


def test_a_stream_cannot_be_asked_for_its_head(tmp_path: Path) -> None:
    with served(create_app(tmp_path)) as port:
        for path in ("/api/v1/events", "/dashboard/events"):
            assert httpx.head(f"http://127.0.0.1:{port}{path}").status_code == 405


def test_the_crawl_is_read_once_for_all_who_listen(home: Path) -> None:
    app = create_app(home)
    taken = 0
    take = app.state.watcher.picture

    def counted() -> Picture:
        nonlocal taken
        taken += 1
        found: Picture = take()
        return found

    app.state.watcher.picture = counted
    with served(app) as port, ExitStack() as stack:
        streams = [stack.enter_context(listening(port, "/dashboard/events")) for _ in range(8)]
        assert [first(stream, "board")[0] for stream in streams] == ["board"] * 8
        looked = taken
    assert 0 < looked < 8


def test_a_picture_serves_for_a_while(home: Path) -> None:
    now = 100.0
    view = CrawlView(home)
    watcher = Watcher(view, clock=lambda: now)
    one = watcher.picture()
    assert watcher.picture() is one
    now += 1.0
    other = watcher.picture()
    assert other is not one
    assert other.progress.pages == one.progress.pages == 4
    assert other.sizes["pages"] > 0
    view.close()


def test_the_service_stops_although_somebody_listens(home: Path) -> None:
    command = [sys.executable, "-m", "gossamer", "serve", "--dir", str(home), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ}) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline().partition("http://127.0.0.1:")[2].partition("/")[0])
        with listening(port) as response:
            told = events(response.iter_lines())
            assert next(told)[0] == "samples"
            process.send_signal(signal.SIGTERM)
            assert [data for name, _, data in told if name == "end"] == [{"reason": "service"}]
        assert process.wait(20) == 0
