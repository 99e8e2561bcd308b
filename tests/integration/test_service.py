"""The API: what is asked of a crawl, with and without one."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import asked_crawl
import pytest
from fastapi.testclient import TestClient
from serving import client

from gossamer.agent import read_progress
from gossamer.agent.explain import explain
from gossamer.cli import run
from gossamer.service.answers import SCHEMAS

PROBLEM = "application/problem+json"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("service") / "c"
    asked_crawl.make(home)
    return home


@pytest.fixture(scope="module")
def api(home: Path) -> Iterator[TestClient]:
    with client(home) as found:
        yield found


# -- search ------------------------------------------------------------------------------------------------------------


def test_search(api: TestClient) -> None:
    answer = api.get("/api/v1/search", params={"q": "words,trap"}).json()
    assert answer["total"] == 1
    result = answer["results"][0]
    assert result["url"] == "http://a.test/script"
    assert result["title"] == "Trap"
    assert result["language"] == "en"
    assert result["fetched_at"] == "2027-01-15T08:00:00Z"
    assert "<b>" not in result["snippet"]
    assert {"score", "snippet", "host", "type", "same", "why"} <= result.keys()
    assert {"seconds", "query", "facets", "next"} <= answer.keys()


def test_results_come_in_parts_that_follow_each_other(api: TestClient) -> None:
    urls: list[str] = []
    cursor = ""
    for _ in range(10):
        answer = api.get("/api/v1/search", params={"q": "silk", "limit": 7, "cursor": cursor}).json()
        assert answer["total"] == 30
        urls += [result["url"] for result in answer["results"]]
        cursor = answer["next"]
        if not cursor:
            break
    assert sorted(urls) == sorted({f"http://b.test/{number}" for number in range(30)})


def test_results_of_a_site_or_a_language(api: TestClient) -> None:
    assert api.get("/api/v1/search", params={"q": "silk", "site": "a.test"}).json()["total"] == 0
    assert api.get("/api/v1/search", params={"q": "trap", "lang": "en"}).json()["total"] == 1
    assert api.get("/api/v1/search", params={"q": "trap", "lang": "ja"}).json()["total"] == 0


def test_a_query_that_is_not_understood_is_told_where_and_why(api: TestClient) -> None:
    answer = api.get("/api/v1/search", params={"q": ""})
    assert (answer.status_code, answer.headers["content-type"]) == (422, PROBLEM)
    problem = answer.json()
    assert isinstance(problem["position"], int)
    assert problem["why"]
    assert problem["detail"]


@pytest.mark.parametrize(
    "params",
    [{"q": "x", "limit": "0"}, {"q": "x", "limit": "101"}, {"q": "x", "limit": "many"}, {}, {"q": "x" * 1001}],
)
def test_parameters_out_of_range(api: TestClient, params: dict[str, str]) -> None:
    answer = api.get("/api/v1/search", params=params)
    assert (answer.status_code, answer.headers["content-type"]) == (422, PROBLEM)
    assert answer.json()["errors"][0]["where"] in ("limit", "q")


def test_domains(api: TestClient) -> None:
    top = api.get("/api/v1/domains").json()
    assert top["under"] == ""
    assert [(each["name"], each["pages"]) for each in top["domains"]] == [("test", 31)]
    below = api.get("/api/v1/domains", params={"under": "TEST."}).json()
    assert {(each["name"], each["pages"]) for each in below["domains"]} == {("a.test", 1), ("b.test", 30)}
    assert api.get("/api/v1/domains", params={"under": "none.example"}).json()["domains"] == []


# -- pages -------------------------------------------------------------------------------------------------------------


def test_what_is_stored_of_a_page(api: TestClient) -> None:
    page = api.get("/api/v1/pages", params={"url": "HTTP://A.test:80/script#part"}).json()
    assert (page["url"], page["state"], page["status"]) == ("http://a.test/script", "fetched", 200)
    assert (page["type"], page["charset"], page["length"]) == ("text/html", "UTF-8", len(asked_crawl.SCRIPT))
    assert (page["title"], page["language"], page["depth"]) == ("Trap", "en", 1)
    assert {"name": "Set-Cookie", "value": "evil=1"} in page["headers"]
    assert page["digest"].startswith("sha1:")
    assert page["stored"]["file"] == "gossamer-00000.warc.gz"
    assert page["stored"]["length"] > 0
    assert page["fetched_at"]


def test_the_same_payload_under_another_url(api: TestClient) -> None:
    pages = [api.get("/api/v1/pages", params={"url": f"http://a.test/{path}"}).json() for path in ("script", "same")]
    assert {page["revisit"] for page in pages} == {False, True}
    assert len({page["digest"] for page in pages}) == 1
    assert api.get("/api/v1/pages/content", params={"url": "http://a.test/same"}).content == asked_crawl.SCRIPT


@pytest.mark.parametrize(
    ("path", "state", "reason"),
    [("closed", "excluded", "robots"), ("broken", "dead", "closed"), ("gone", "fetched", ""), ("moved", "fetched", "")],
)
def test_what_became_of_others(api: TestClient, path: str, state: str, reason: str) -> None:
    page = api.get("/api/v1/pages", params={"url": f"http://a.test/{path}"}).json()
    assert (page["state"], page["reason"]) == (state, reason)
    assert (page["stored"] is None) == (state != "fetched")


def test_unknown_and_impossible_urls(api: TestClient) -> None:
    for route in ("pages", "pages/content"):
        unknown = api.get(f"/api/v1/{route}", params={"url": "http://a.test/never"})
        assert (unknown.status_code, unknown.headers["content-type"]) == (404, PROBLEM)
        for url in ("", "ftp://a.test/", "\0", "javascript:alert(1)", "http://", "http://a.test:99999/"):
            assert api.get(f"/api/v1/{route}", params={"url": url}).status_code == 422, url
        assert api.get(f"/api/v1/{route}").status_code == 422
        assert api.get(f"/api/v1/{route}", params={"url": "http://a.test/" + "x" * 5000}).status_code == 422


def test_stored_bytes_are_inert(api: TestClient) -> None:
    answer = api.get("/api/v1/pages/content", params={"url": "http://a.test/script"})
    assert answer.content == asked_crawl.SCRIPT
    headers = answer.headers
    assert headers["content-type"] == "application/octet-stream"
    assert headers["content-disposition"].startswith("attachment; filename=")
    assert headers["content-disposition"].endswith('.bin"')
    assert headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert "allow-" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["content-length"] == str(len(asked_crawl.SCRIPT))
    assert headers["x-archived-content-type"] == "text/html;charset=UTF-8"
    for name in ("set-cookie", "refresh", "link"):
        assert name not in headers


def test_a_type_that_is_no_header_is_left_out(api: TestClient) -> None:
    answer = api.get("/api/v1/pages/content", params={"url": "http://a.test/odd"})
    assert answer.content == b"odd"
    assert "x-archived-content-type" not in answer.headers


def test_what_is_not_stored_has_no_content(api: TestClient) -> None:
    answer = api.get("/api/v1/pages/content", params={"url": "http://a.test/closed"})
    assert answer.status_code == 404
    assert answer.json()["state"] == "excluded"
    assert "robots" in answer.json()["detail"]


@pytest.mark.parametrize("route", ["pages", "pages/content"])
def test_asked_again_only_what_changed_is_sent(api: TestClient, route: str) -> None:
    params = {"url": "http://a.test/script"}
    first = api.get(f"/api/v1/{route}", params=params)
    tag = first.headers["etag"]
    for condition in (tag, f'"x", {tag}', "*", "W/" + tag.removeprefix("W/")):
        again = api.get(f"/api/v1/{route}", params=params, headers={"If-None-Match": condition})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert api.get(f"/api/v1/{route}", params=params, headers={"If-None-Match": '"x"'}).content == first.content


@pytest.mark.parametrize("route", ["pages", "pages/content"])
def test_copies_that_are_too_old_are_as_good_as_none(home: Path, route: str) -> None:
    now = [time.time()]
    with client(home, clock=lambda: now[0]) as api:
        params = {"url": "http://a.test/script", "max_age": "3600"}
        assert api.get(f"/api/v1/{route}", params=params).status_code == 200
        now[0] += 7200
        answer = api.get(f"/api/v1/{route}", params=params)
        assert answer.status_code == 404
        assert 7199 < answer.json()["age"] < 7500
        assert answer.json()["max_age"] == 3600
        assert api.get(f"/api/v1/{route}", params={"url": params["url"]}).status_code == 200
        assert api.get(f"/api/v1/{route}", params={**params, "max_age": "0"}).status_code == 404
        assert api.get(f"/api/v1/{route}", params={**params, "max_age": "-1"}).status_code == 422


# -- the crawl ---------------------------------------------------------------------------------------------------------


def test_status_is_that_of_the_command_line(api: TestClient, home: Path) -> None:
    status = api.get("/api/v1/status").json()
    progress = read_progress(home)
    assert (status["pages"], status["urls"], status["hosts"]) == (progress.pages, progress.urls, progress.hosts)
    assert status["reason"] == "complete"
    assert status["running"] is False
    assert (status["index"]["pages"], status["index"]["hosts"]) == (31, 2)
    assert status["index"]["newest"] == "2027-01-15T08:00:00Z"


def test_explain_is_that_of_the_command_line(api: TestClient, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = api.get("/api/v1/explain", params={"url": "http://a.test/closed"}).json()
    assert run(["explain", "http://a.test/closed", "--dir", str(home), "--json"]) == 0
    assert said == {**json.loads(capsys.readouterr().out), "missing": [], "ended": []}
    assert "robots.txt" in said["sentence"]
    assert api.get("/api/v1/explain", params={"url": "a.test"}).json()["url"] == explain(home, "a.test").url
    assert api.get("/api/v1/explain", params={"url": "ftp://x/"}).status_code == 422


def test_hosts_in_several_orders(api: TestClient) -> None:
    def names(**params: str) -> list[str]:
        return [host["name"] for host in api.get("/api/v1/hosts", params=params).json()["hosts"]]

    assert names() == ["a.test", "b.test"]
    assert names(sort="name") == ["a.test", "b.test"]
    assert names(prefix="b") == ["b.test"]
    assert names(prefix="B.T") == ["b.test"]
    assert names(prefix="c") == []
    answer = api.get("/api/v1/hosts", params={"limit": "1"}).json()
    assert (len(answer["hosts"]), answer["total"], answer["complete"]) == (1, 2, True)
    assert answer["hosts"][0]["pages"] > 3
    assert names(limit="1", cursor=answer["next"]) == ["b.test"]
    for wrong in ({"sort": "size"}, {"cursor": "x"}, {"cursor": "é"}, {"limit": "0"}):
        assert api.get("/api/v1/hosts", params=wrong).status_code == 422, wrong


def test_health(api: TestClient) -> None:
    health = api.get("/healthz").json()
    assert (health["status"], health["crawl"], health["index"]) == ("ok", "stopped", "behind")
    assert health["crawl_age"] >= 0
    assert health["index_age"] >= 0


def test_a_directory_without_a_crawl_says_so(tmp_path: Path) -> None:
    with client(tmp_path) as api:
        for path in ("status", "hosts", "explain?url=a.test", "pages?url=http://a.test/"):
            answer = api.get(f"/api/v1/{path}")
            assert (answer.status_code, answer.headers["content-type"]) == (404, PROBLEM), path
            assert "no crawl" in answer.json()["detail"]
        assert api.get("/api/v1/search?q=x").json()["total"] == 0
        assert api.get("/api/v1/domains").json()["domains"] == []
        assert api.get("/healthz").json()["crawl"] == "none"
        asked_crawl.make(tmp_path)  # while it is served
        assert api.get("/api/v1/status").json()["pages"] > 0
        assert api.get("/api/v1/search?q=silk").json()["total"] == 30


def test_a_crawl_that_cannot_be_read_is_no_fault_of_the_service(tmp_path: Path) -> None:
    (tmp_path / "frontier").mkdir()
    (tmp_path / "frontier" / "IDENTITY").write_text("x")
    (tmp_path / "gossamer.toml").write_text("# A crawl of gossamer, directory format 1.\n")
    with client(tmp_path) as api:
        answer = api.get("/api/v1/status")
        assert (answer.status_code, answer.headers["content-type"]) == (503, PROBLEM)
        assert api.get("/healthz").json()["status"] == "degraded"


# -- described ---------------------------------------------------------------------------------------------------------


def test_the_description_names_every_route_and_answer(api: TestClient) -> None:
    document = api.get("/openapi.json").json()
    asked = ("search", "domains", "pages", "pages/content", "changes", "status", "events", "hosts", "explain")
    commanded = ("control/{action}", "seeds", "limits", "blocklist", "priority", "purge", "audit", "requests")
    further = ("results", "watches", "watches/{id}", "watches/{id}/hits")
    paths = {f"/api/v1/{name}" for name in (*asked, *commanded, *further)}
    assert set(document["paths"]) == paths | {"/healthz", "/metrics"}
    for operation in [operation for path in document["paths"].values() for operation in path.values()]:
        assert operation["security"] == [{"key": []}]
        assert operation["responses"]["401"]["content"].keys() == {PROBLEM}
    text = json.dumps(document)
    for name in document["components"]["schemas"]:
        assert f'"#/components/schemas/{name}"' in text, f"{name} is described and not used"


def test_the_page_for_people_says_the_same_and_loads_nothing_from_elsewhere(api: TestClient) -> None:
    answer = api.get("/docs")
    assert answer.headers["content-type"].startswith("text/html")
    assert "default-src 'none'; script-src 'self'" in answer.headers["content-security-policy"]
    for path, methods in api.get("/openapi.json").json()["paths"].items():
        for method, operation in methods.items():
            assert f'<h2 id="{operation["operationId"]}">{method.upper()} {path}</h2>' in answer.text
            assert f'action="{path}" data-method="{method.upper()}"' in answer.text
            for parameter in operation.get("parameters", ()):
                assert f'id="{operation["operationId"]}.{parameter["name"]}"' in answer.text
    for name in re.findall(r'href="#(\w+)"', answer.text):
        assert f'id="{name}"' in answer.text
    assert all(link.startswith("/static/") for link in re.findall(r'(?:src|<link[^>]* href)="([^"]*)"', answer.text))
    assert "`" not in answer.text
    assert "<code>next</code> of the answer before" in answer.text
    assert "#/components" not in answer.text


def test_forms_of_the_description_need_no_script_where_they_read(api: TestClient) -> None:
    """A browser without scripts sends fields with a name, empty ones too: those would be refused as no numbers."""
    page = api.get("/docs").text
    forms = re.findall(
        r'<form class="stack add" action="([^"]*)" data-method="(\w+)"[^>]*?( hidden)?>(.*?)</form>', page, re.S
    )
    sent = {}
    for path, method, hidden, inside in forms:
        assert bool(hidden) == (method != "GET" or "{" in path or path.endswith("/events")), path
        if not hidden:
            named = re.findall(r' name="(\w+)" data-name="\w+" data-in="query" value="([^"]*)"( required)?', inside)
            typed = {"url": "http://a.test/"}
            sent[path] = {name: value or (required and typed.get(name, "silk")) for name, value, required in named}
    assert sent["/api/v1/search"] == {"q": "silk", "limit": "10", "cursor": "", "site": "", "lang": ""}
    for path, fields in sent.items():
        assert api.get(path, params=fields).status_code in (200, 403, 404), path


def test_answers_that_name_missing_agents_name_those_that_have_ended() -> None:
    naming = [schema for schema in SCHEMAS if "missing" in schema.__struct_fields__]
    assert len(naming) > 5
    assert [schema.__name__ for schema in naming if "ended" not in schema.__struct_fields__] == []
