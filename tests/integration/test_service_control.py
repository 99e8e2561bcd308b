"""The crawl commanded over HTTP, and who may; its metrics."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from changing import kept_fresh
from commanding import running
from crawling import crawl
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from prometheus_client.parser import text_string_to_metric_families
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from serving import ELSEWHERE, client, served

from gossamer.agent.audit import read_changes
from gossamer.agent.spool import Spool
from gossamer.config import load
from gossamer.service.app import create_app
from gossamer.service.description import describe
from gossamer.service.keys import KeyFile
from gossamer.testing import SimServer, TinyWeb, World

CHECKS = [not_a_server_error, content_type_conformance, response_schema_conformance, status_code_conformance]
PROBLEM = "application/problem+json"
ADMIN: list[tuple[str, str, Any]] = [
    ("POST", "/api/v1/seeds", {"urls": ["http://n.test/"], "priority": 1}),
    ("POST", "/api/v1/control/pause", None),
    ("POST", "/api/v1/control/resume", None),
    ("POST", "/api/v1/control/checkpoint", None),
    ("POST", "/api/v1/control/stop", None),
    ("POST", "/api/v1/control/retry", None),
    ("GET", "/api/v1/limits", None),
    ("PUT", "/api/v1/limits", {"rate": 5}),
    ("GET", "/api/v1/blocklist", None),
    ("POST", "/api/v1/blocklist", {"pattern": "b.test"}),
    ("DELETE", "/api/v1/blocklist", {"pattern": "b.test"}),
    ("PUT", "/api/v1/priority", {"host": "a.test", "priority": 0}),
    ("POST", "/api/v1/purge", {"host": "b.test"}),
    ("GET", "/api/v1/audit", None),
    ("POST", "/api/v1/requests", {"requests": [{"url": "http://a.test/n", "tag": "t"}]}),
    ("POST", "/api/v1/control/rejudge", None),
]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/2"])
        web.add_page("http://a.test/2")
        crawl(tmp_path / "c", ["http://a.test/"], web.connect)
    return tmp_path / "c"


@pytest.fixture
def api(home: Path) -> Iterator[TestClient]:
    key = KeyFile(home).add("ops", "admin", 1000)
    with client(home, key=key) as found:
        yield found


# -- who may -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "path", "body"), ADMIN)
def test_only_an_admin_may(home: Path, method: str, path: str, body: Any) -> None:
    before = (home / "gossamer.toml").read_bytes()
    with client(home) as nobody:  # no keys at all: this machine may read, and change nothing
        answer = nobody.request(method, path, json=body)
        assert answer.status_code == 403
        assert answer.json()["detail"] == "This needs a key with the role admin; gossamer keys add makes one."
    key = KeyFile(home).add("reader", "search", 1000)
    with client(home, key=key) as reader:
        refused = reader.request(method, path, json=body)
        assert (refused.status_code, refused.headers["content-type"]) == (403, PROBLEM)
        assert "role admin" in refused.json()["detail"]
    with client(home) as nobody:
        assert nobody.request(method, path, json=body).status_code == 401
    assert (home / "gossamer.toml").read_bytes() == before
    assert read_changes(home) == []
    assert Spool(home).waiting() == []


def test_a_page_of_another_site_cannot_command(home: Path, api: TestClient) -> None:
    del api.headers["Authorization"]
    answer = api.post("/api/v1/control/pause", headers={"Origin": "https://evil.test", "Cookie": "x=y"})
    assert answer.status_code == 403
    assert read_changes(home) == []


# -- what is answered --------------------------------------------------------------------------------------------------


def test_limits(home: Path, api: TestClient) -> None:
    assert api.get("/api/v1/limits").json()["rate"] == 0
    day = {"from": "08:00", "to": "18:00", "rate": 5, "bandwidth": 1_000_000}
    changed = api.put("/api/v1/limits", json={"rate": 20, "bandwidth": 5_000_000, "delay": 2.5, "schedule": [day]})
    assert changed.status_code == 200
    assert changed.json() == api.get("/api/v1/limits").json()
    assert changed.json() == {
        "rate": 20.0, "bandwidth": 5_000_000, "delay": 2.5, "connections": 256,
        "schedule": [{**day, "rate": 5.0, "days": "", "pause": False}],
    }  # fmt: skip
    config = load(home / "gossamer.toml")
    assert config.fetch.schedule == ("08:00-18:00 rate=5 bandwidth=1000000",)
    api.put("/api/v1/limits", json={"rate": 0})
    assert api.get("/api/v1/limits").json()["delay"] == 2.5
    assert read_changes(home)[-1].who == "key ops"


@pytest.mark.parametrize(
    "body",
    [
        {"rate": -1}, {"rate": "fast"}, {"speed": 1}, {"schedule": [{"from": "25:00"}]}, {"schedule": 7}, [], "x",
        {"schedule": [{"from": "8:00", "to": "9:00", "rate": 1, "pause": True}]}, {"connections": 0}, {"delay": 1e999},
    ],
)  # fmt: skip
def test_limits_that_are_not_understood(home: Path, api: TestClient, body: Any) -> None:
    answer = api.put("/api/v1/limits", content=json.dumps(body), headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.headers["content-type"]) == (422, PROBLEM)
    assert read_changes(home) == []


def test_the_blocklist(home: Path, api: TestClient) -> None:
    assert api.get("/api/v1/blocklist").json() == {"patterns": []}
    assert api.post("/api/v1/blocklist", json={"pattern": "b.test"}).json() == {"patterns": ["b.test"]}
    assert api.post("/api/v1/blocklist", json={"pattern": "*.c.test/x/"}).status_code == 200
    assert api.request("DELETE", "/api/v1/blocklist", json={"pattern": "b.test"}).json() == {
        "patterns": ["*.c.test/x/"]
    }
    assert api.delete("/api/v1/blocklist", params={"pattern": "*.c.test/x/"}).json() == {"patterns": []}
    assert api.delete("/api/v1/blocklist", params={"pattern": "gone.test"}).status_code == 409
    assert api.delete("/api/v1/blocklist").status_code == 422
    assert api.post("/api/v1/blocklist", json={"pattern": "a b"}).status_code == 422
    assert [change.what for change in read_changes(home)] == ["block", "block", "unblock", "unblock"]


def test_what_no_crawl_takes_up_now_is_kept(home: Path, api: TestClient) -> None:
    for method, path, body in ADMIN[:2] + ADMIN[5:6] + ADMIN[11:13] + ADMIN[-1:]:
        answer = api.request(method, path, json=body)
        assert answer.status_code == 200, answer.text
        assert (answer.json()["later"], answer.json()["running"]) == (True, False)
    assert [command.kind for command in Spool(home).waiting()] == ["seeds", "retry", "purge", "rejudge"]
    assert load(home / "gossamer.toml").agent.paused
    assert api.post("/api/v1/control/stop").status_code == 409
    assert api.post("/api/v1/control/checkpoint").status_code == 200
    assert api.post("/api/v1/control/dance").status_code == 422
    assert api.post("/api/v1/purge", json={"host": "a b"}).status_code == 422
    changes = api.get("/api/v1/audit").json()["changes"]
    assert [(change["who"], change["what"]) for change in changes] == [
        ("key ops", "purge"), ("key ops", "priority"), ("key ops", "pause"),
    ]  # fmt: skip


def test_seeds_of_a_crawl_that_runs(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with SimServer.running(World(3, 20, 500, "plain")) as server:
        with running(home, [server.world.url(0)], server.connect, rate="50"):
            key = KeyFile(home).add("ops", "admin", 1000)
            with client(home, key=key) as api:
                answer = api.post("/api/v1/seeds", json={"urls": ["http://new.test/", "ftp://x.test/"], "priority": 0})
                assert answer.status_code == 200, answer.text
                assert (answer.json()["new"], answer.json()["left_out"]) == (1, 1)
                assert answer.json()["refused"][0]["seed"] == "ftp://x.test/"
                assert api.post("/api/v1/control/pause").json() == {
                    "text": "it is paused", "running": True, "later": False,
                }  # fmt: skip
                assert api.post("/api/v1/seeds", json={"urls": ["ftp://x.test/"]}).status_code == 422
                assert api.post("/api/v1/seeds", json={"urls": []}).status_code == 422
                assert api.post("/api/v1/control/stop").status_code == 200
        assert any(arrival.host == "new.test" for arrival in server.log.arrivals)


def test_where_there_is_no_crawl_there_is_none_to_command(tmp_path: Path) -> None:
    key = KeyFile(tmp_path).add("ops", "admin", 1000)
    with client(tmp_path, key=key) as api:
        assert api.get("/api/v1/limits").status_code == 404
        assert api.post("/api/v1/control/pause").status_code == 404
    assert not (tmp_path / "control").exists()


def test_whatever_an_admin_sends_is_answered_as_the_description_says(home: Path) -> None:
    app = create_app(home)
    schema = schemathesis.openapi.from_dict(describe(app))
    operations = [found.ok() for found in schema.get_all_operations()]
    headers = {"Authorization": f"Bearer {KeyFile(home).add('fuzzer', 'admin', 100_000)}"}
    chosen = [operation for operation in operations if "control" in (operation.tags or ())]
    assert len(chosen) == 11
    statuses: Counter[int] = Counter()
    with served(app) as port:
        for operation in chosen:
            for mode in GenerationMode:

                @settings(max_examples=10, suppress_health_check=list(HealthCheck))
                @given(case=operation.as_strategy(generation_mode=mode))
                def ask(case: schemathesis.Case) -> None:
                    answer = case.call(base_url=f"http://127.0.0.1:{port}", headers=headers)
                    statuses[answer.status_code] += 1
                    case.validate_response(answer, checks=CHECKS)

                ask()
    assert {200, 409, 422} <= statuses.keys()
    load(home / "gossamer.toml")  # whatever was set can be read again


# -- metrics -----------------------------------------------------------------------------------------------------------


def test_metrics_say_what_the_crawl_committed(home: Path) -> None:
    with client(home) as api:
        answer = api.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    samples = {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }
    assert samples["gossamer_pages_total", "200"] == 2
    assert samples["gossamer_urls", "fetched"] == 2
    assert samples["gossamer_urls", "queued"] == 0
    assert samples["gossamer_running",] == 0
    assert samples["gossamer_hosts",] == 1
    assert samples["gossamer_received_bytes_total",] > 100
    assert samples["gossamer_limit", "connections"] == 256
    assert samples["gossamer_disk_free_bytes",] > 0


def test_every_metric_is_explained_and_nothing_else_is(home: Path) -> None:
    from gossamer.agent.index_status import IndexStatus, write_status

    (home / "index").mkdir(exist_ok=True)
    write_status(home / "index", IndexStatus(pages=1))
    kept_fresh(home)
    with client(home) as api:
        found = re.findall(r"^# TYPE (\S+) (\S+)$", api.get("/metrics").text, re.M)
    document = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")
    explained = re.findall(r"^\| `(gossamer_\w+)` \| (\w+) \|", document, re.M)
    assert sorted(found) == sorted(explained)


def test_metrics_without_a_crawl_and_from_elsewhere(home: Path, tmp_path: Path) -> None:
    with client(tmp_path / "none") as api:
        assert "gossamer_running 0.0" in api.get("/metrics").text
    key = KeyFile(home).add("watcher", "search", 1000)
    with client(home, peer=ELSEWHERE) as stranger:
        assert stranger.get("/metrics").status_code == 401
    with client(home, peer=ELSEWHERE, key=key) as watcher:
        assert watcher.get("/metrics").status_code == 200
    with client(home) as local:
        assert local.get("/metrics").status_code == 200
