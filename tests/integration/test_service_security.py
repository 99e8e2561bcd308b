"""Who is let in, from where, how often; and what no answer is without."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI, Request, Response
from fastapi.testclient import TestClient
from serving import ELSEWHERE, client
from starlette.routing import Route

from gossamer.service import envelope, limits
from gossamer.service.app import create_app
from gossamer.service.callers import Gate
from gossamer.service.keys import KeyFile, KeyRing
from gossamer.service.sessions import Sessions, cookie_name

PROBLEM = "application/problem+json"
# What answers without a key from anywhere, where there are keys: one logs in there, and it should look so.
OPEN = ("/login", "/static/")
# What people look at leads them to the login.
API = ("/api/", "/openapi.json", "/healthz", "/metrics")  # all else is for people


def paths(home: Path) -> dict[str, set[str]]:
    """Every route there is, with something in the place of its variables, and by which methods."""
    found: dict[str, set[str]] = {}
    for route in _routes(create_app(home)):
        found.setdefault(route.path.replace("{", "").replace("}", ""), set()).update(route.methods or ())
    return found


def _routes(app: FastAPI) -> Iterator[Route]:
    pending = list(app.routes)
    while pending:
        route = pending.pop()
        if isinstance(route, Route):
            yield route
        else:
            pending += getattr(getattr(route, "original_router", route), "routes", [])


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


# -- no route is forgotten ---------------------------------------------------------------------------------------------


def test_there_are_routes(tmp_path: Path) -> None:
    assert {"/api/v1/search", "/api/v1/pages/content", "/healthz", "/openapi.json", "/docs"} <= set(paths(tmp_path))


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_every_route_is_refused_to_strangers(tmp_path: Path, method: str) -> None:
    asked = {"q": "x", "url": "http://a.test/"}
    with client(tmp_path, ELSEWHERE) as api:
        for path in paths(tmp_path):
            assert api.request(method, path, params=asked).status_code == 403, path  # without keys: everything
        KeyFile(tmp_path).add("anna", "search")
        for path, methods in paths(tmp_path).items():
            answer = api.request(method, path, params=asked)
            if path.startswith(OPEN):
                continue
            asks_stream = path.endswith("/events") and method == "HEAD"  # it has no end, and no head alone
            if (method.replace("HEAD", "GET")) not in methods or asks_stream:
                assert answer.status_code in (401, 405), path  # by another route, perhaps
            elif not path.startswith(API) and (method != "POST" or path == "/logout"):
                assert answer.status_code == 303, path
                assert answer.headers["location"].startswith("/login"), path
            elif not path.startswith(API):  # a form that somebody else made up
                assert answer.status_code == 401, path
                assert answer.headers["content-type"].startswith("text/html")
            else:
                assert answer.status_code == 401, path
                assert answer.headers["content-type"] == PROBLEM


def test_with_keys_loopback_needs_one_too_but_for_health(tmp_path: Path) -> None:
    key = KeyFile(tmp_path).add("anna", "search")
    with client(tmp_path) as api:
        for path, methods in paths(tmp_path).items():
            if "GET" in methods and not path.startswith(OPEN):
                refused = api.get(path, params={"q": "x", "url": "http://a.test/"}).status_code in (401, 303)
                assert refused == (path not in ("/healthz", "/metrics")), path
        assert api.get("/api/v1/search?q=x", headers=bearer(key)).status_code == 200


def test_a_key_that_is_not_known_is_refused_even_where_none_is_needed(tmp_path: Path) -> None:
    key = KeyFile(tmp_path).add("anna", "search")
    with client(tmp_path) as api:
        for path in ("/healthz", "/metrics"):
            assert api.get(path, headers=bearer("gsm_guess")).status_code == 401
            assert api.get(path, headers=bearer(key)).status_code == 200
            assert api.get(path).status_code == 200


def test_where_a_proxy_publishes_the_service_numbers_need_a_key_from_this_machine_too(tmp_path: Path) -> None:
    with client(tmp_path, origins=["https://search.example.org"]) as api:
        assert api.get("/metrics").status_code == 200, "there are no keys yet: this machine reads everything"
        key = KeyFile(tmp_path).add("anna", "search")
        for path in ("/healthz", "/metrics"):  # as a proxy asks that says nothing of itself
            assert api.get(path).status_code == 401
            assert api.get(path, headers=bearer(key)).status_code == 200


def test_a_key_opens_from_anywhere(tmp_path: Path) -> None:
    key = KeyFile(tmp_path).add("anna", "search")
    with client(tmp_path, ELSEWHERE, key) as api:
        assert api.get("/api/v1/search?q=x").status_code == 200
        assert api.get("/healthz").status_code == 200


# -- keys --------------------------------------------------------------------------------------------------------------


def test_a_revoked_key_is_refused_on_the_next_request(tmp_path: Path) -> None:
    file = KeyFile(tmp_path)
    key, _ = file.add("anna", "search"), file.add("bert", "search")
    with client(tmp_path, ELSEWHERE, key) as api:
        assert api.get("/api/v1/search?q=x").status_code == 200
        file.revoke("anna")
        answer = api.get("/api/v1/search?q=x")
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("Bearer")
        again = file.add("anna", "search")
        assert api.get("/api/v1/search?q=x").status_code == 401
        assert api.get("/api/v1/search?q=x", headers=bearer(again)).status_code == 200


def test_the_last_key_revoked_is_refused_on_loopback_too(tmp_path: Path) -> None:
    file = KeyFile(tmp_path)
    key = file.add("anna", "search")
    with client(tmp_path) as api:
        file.revoke("anna")
        assert api.get("/api/v1/search?q=x", headers=bearer(key)).status_code == 401
        assert api.get("/api/v1/search?q=x").status_code == 200


@pytest.mark.parametrize(
    "given",
    ["", "Bearer", "Bearer ", "Basic {}", "{}", "Bearer {}x", "Bearer {} x", "Token {}", "Bearer gsm_", "bearer  x"],
)
def test_what_is_no_key(tmp_path: Path, given: str) -> None:
    key = KeyFile(tmp_path).add("anna", "search")
    with client(tmp_path) as api:
        answer = api.get("/api/v1/search?q=x", headers={"Authorization": given.format(key)})
        assert answer.status_code == 401
        assert key not in answer.text


def test_two_authorizations_are_none(tmp_path: Path) -> None:
    key = KeyFile(tmp_path).add("anna", "search")
    with client(tmp_path) as api:
        both = [("Authorization", f"Bearer {key}"), ("Authorization", "Bearer x")]
        assert api.get("/api/v1/search?q=x", headers=both).status_code == 401


def test_keys_that_cannot_be_read_let_nobody_in(tmp_path: Path) -> None:
    key = KeyFile(tmp_path).add("anna", "search")
    (tmp_path / "keys.json").write_text("{")
    with client(tmp_path) as api:
        for headers in ({}, bearer(key)):
            answer = api.get("/api/v1/search?q=x", headers=headers)
            assert (answer.status_code, answer.headers["content-type"]) == (503, PROBLEM)
    with client(tmp_path, ELSEWHERE) as api:
        assert {api.get(path).status_code for path in paths(tmp_path)} == {503}


def test_a_role_holds(tmp_path: Path) -> None:
    from fastapi import Depends

    from gossamer.service.callers import needs

    app = create_app(tmp_path)
    app.add_api_route("/change", lambda: Response(), methods=["POST"], dependencies=[Depends(needs("admin"))])
    file = KeyFile(tmp_path)
    with TestClient(app, "http://localhost", client=("127.0.0.1", 1)) as api:
        assert api.post("/change").status_code == 403  # without keys: to read only
        search, admin = file.add("anna", "search"), file.add("bert", "admin")
        assert api.post("/change", headers=bearer(search)).status_code == 403
        assert api.post("/change", headers=bearer(admin)).status_code == 200
        assert api.get("/api/v1/search?q=x", headers=bearer(admin)).status_code == 200


# -- how often ---------------------------------------------------------------------------------------------------------


def test_a_key_has_its_rate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = KeyFile(tmp_path)
    slow, usual = file.add("slow", "search", 0.5), file.add("usual", "search")
    now = [0.0]
    monkeypatch.setattr("gossamer.service.app.Gate", lambda keys, sessions: Gate(keys, sessions, lambda: now[0]))
    with client(tmp_path, ELSEWHERE) as api:
        assert api.get("/healthz", headers=bearer(slow)).status_code == 200
        answer = api.get("/healthz", headers=bearer(slow))
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "2")
        assert answer.headers["content-type"] == PROBLEM
        assert api.get("/healthz", headers=bearer(usual)).status_code == 200
        now[0] += 2
        assert api.get("/healthz", headers=bearer(slow)).status_code == 200
        statuses = [api.get("/healthz", headers=bearer(usual)).status_code for _ in range(150)]
        assert statuses.count(200) == limits.KEY_RATE * limits.BURST_SECONDS


def test_wrong_keys_soon_cost_a_wait_and_lock_nobody_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = KeyFile(tmp_path).add("anna", "search")
    monkeypatch.setattr("gossamer.service.app.Gate", lambda keys, sessions: Gate(keys, sessions, lambda: 0.0))
    with client(tmp_path, ELSEWHERE) as api:
        statuses = [api.get("/healthz", headers=bearer("gsm_guess")).status_code for _ in range(12)]
        assert statuses == [401] * limits.FAILURE_BURST + [429] * 2
        assert api.get("/healthz", headers=bearer(key)).status_code == 200


def test_a_network_of_addresses_counts_as_one_peer(tmp_path: Path) -> None:
    keys = KeyRing(tmp_path)
    gate = Gate(keys, Sessions(keys), lambda: 0.0)
    seen = []
    for number in range(20):
        with pytest.raises(Exception, match="key") as refused:
            gate.shown("Bearer x", f"2001:db8::{number:x}")
        seen.append(refused.value.status)  # type: ignore[attr-defined]
    assert seen.count(429) == 20 - limits.FAILURE_BURST


# -- sessions ----------------------------------------------------------------------------------------------------------


def test_a_session_is_as_good_as_its_key(tmp_path: Path) -> None:
    file = KeyFile(tmp_path)
    file.add("anna", "search")
    file.add("bert", "search")
    with client(tmp_path, ELSEWHERE) as api:
        gate: Gate = api.app.state.gate  # type: ignore[attr-defined]
        cookie = {"Cookie": f"{cookie_name(False)}={gate.sessions.make(gate.keys.all()[0])}"}
        assert api.get("/api/v1/search?q=x", headers=cookie).status_code == 200
        foreign = {**cookie, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
        assert api.get("/api/v1/search?q=x", headers=foreign).status_code == 403
        file.revoke("anna")
        assert api.get("/api/v1/search?q=x", headers=cookie).status_code == 401
        assert api.get("/api/v1/search?q=x", headers={"Cookie": f"{cookie_name(False)}=x.y.z"}).status_code == 401


# -- browsers and proxies ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "localhost.evil.example", "", "a b"])
def test_other_names_are_refused(tmp_path: Path, host: str) -> None:
    with client(tmp_path) as api:
        for path in ("/api/v1/search?q=x", "/healthz", "/nothing"):
            answer = api.get(path, headers={"Host": host})
            assert (answer.status_code, answer.headers["content-type"]) == (421, PROBLEM)


def test_names_a_proxy_gives_are_known(tmp_path: Path) -> None:
    with client(tmp_path, origins=["https://search.example.org"]) as api:
        assert api.get("/healthz", headers={"Host": "search.example.org"}).status_code == 200


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "X-Real-IP", "Via", "X-Forwarded-Host"])
def test_what_came_through_a_proxy_is_not_local(tmp_path: Path, header: str) -> None:
    with client(tmp_path) as api:
        assert api.get("/api/v1/search?q=x", headers={header: "127.0.0.1"}).status_code == 403
        assert api.get("/healthz", headers={header: "127.0.0.1"}).status_code == 403
    with client(tmp_path, ELSEWHERE) as api:  # and no header makes one local
        assert api.get("/api/v1/search?q=x", headers={header: "127.0.0.1"}).status_code == 403


def test_no_other_site_is_told_anything(tmp_path: Path) -> None:
    with client(tmp_path) as api:
        origin = {"Origin": "http://evil.example"}
        answer = api.get("/api/v1/search?q=x", headers=origin)
        assert not [name for name in answer.headers if name.startswith("access-control")]
        preflight = api.options(
            "/api/v1/search", headers={**origin, "Access-Control-Request-Method": "GET", "Sec-Fetch-Site": "cross-site"}
        )
        assert preflight.status_code in (403, 405)
        assert not [name for name in preflight.headers if name.startswith("access-control")]
        assert api.post("/api/v1/search", headers=origin).status_code == 403


# -- what surrounds every answer ---------------------------------------------------------------------------------------


def test_every_answer_has_the_headers_that_keep_browsers_calm(tmp_path: Path) -> None:
    app = create_app(tmp_path)

    def bug() -> Response:
        raise RuntimeError("a secret")

    app.add_api_route("/bug", bug)
    with TestClient(app, "http://localhost", client=("127.0.0.1", 1)) as api:
        ending = [path for path in paths(tmp_path) if not path.endswith("/events")]  # streams have no end
        asked = [api.get(path, params={"q": "x"}) for path in [*ending, "/nothing", "/bug", "/api/v1/search/"]]
        asked += [api.post("/healthz"), api.get("/healthz", headers={"Host": "evil"}), api.get("/" + "x" * 9000)]
        asked += [api.head("/healthz"), api.post("/healthz", content=b"x" * (limits.BODY_BYTES + 1))]
        assert {answer.status_code for answer in asked} >= {200, 404, 405, 413, 414, 421, 422, 500}
        for answer in asked:
            for name in envelope.HEADERS:
                assert name in answer.headers, (answer.url, name)
            assert "a secret" not in answer.text
            assert "server" not in answer.headers


def test_every_get_can_be_asked_for_its_head(tmp_path: Path) -> None:
    with client(tmp_path) as api:
        whole, head = api.get("/api/v1/domains"), api.head("/api/v1/domains")
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["content-length"] == whole.headers["content-length"]


def test_sizes_are_bounded(tmp_path: Path) -> None:
    with client(tmp_path) as api:
        assert api.get("/healthz?" + "x" * limits.URL_BYTES).status_code == 414
        assert api.get("/healthz", headers={"X": "x" * limits.HEADER_BYTES}).status_code == 431
        assert api.get("/healthz", headers={"Content-Length": "9" * 30}).status_code == 413
        endless = api.request("GET", "/healthz", content=(b"x" * 1000 for _ in range(1000)))
        assert endless.status_code == 413


def test_an_answer_begins_in_time_or_is_a_refusal(tmp_path: Path) -> None:
    import threading

    app = create_app(tmp_path, seconds=0.3, at_once=2)
    go = threading.Event()

    def slow(request: Request) -> Response:
        go.wait(20)
        return Response(b"late")

    app.add_api_route("/slow", slow)
    with TestClient(app, "http://localhost", client=("127.0.0.1", 1)) as api:
        try:
            for _ in range(2):
                answer = api.get("/slow")
                assert (answer.status_code, answer.headers["content-type"]) == (503, PROBLEM)
                assert "given up" in answer.json()["detail"]
            # Their threads go on, and count until they end.
            full = api.get("/healthz")
            assert (full.status_code, full.headers["retry-after"]) == (503, "1")
            assert "at once" in full.json()["detail"]
        finally:
            go.set()
        for _ in range(1000):
            if api.get("/api/v1/domains").status_code == 200:
                break
            time.sleep(0.01)  # until their threads have ended
        else:
            pytest.fail("what was given up keeps its place for ever")
