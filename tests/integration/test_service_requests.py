"""Pages asked for over HTTP, and what became of them by their tags."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commanding import running
from crawling import crawl
from serving import client

from gossamer.agent.spool import Spool
from gossamer.service.keys import KeyFile
from gossamer.testing import TinyWeb

REQUESTS = "/api/v1/requests"
RESULTS = "/api/v1/results"


@pytest.fixture
def web() -> Iterator[TinyWeb]:
    with TinyWeb() as found:
        found.add_page("http://a.test/")
        for page in range(12):
            found.add_page(f"http://a.test/{page}")
        found.add_robots("a.test", "User-agent: *\nDisallow: /7\n")
        yield found


@pytest.fixture
def home(tmp_path: Path, web: TinyWeb) -> Path:
    crawl(tmp_path / "c", ["http://a.test/"], web.connect)
    return tmp_path / "c"


def asked(*pages: object, tag: str = "t", **more: Any) -> dict[str, Any]:
    return {"requests": [{"url": f"http://a.test/{page}", "tag": tag} for page in pages], **more}


def listed(home: Path, key: str, tag: str = "t", limit: int = 100) -> list[dict[str, Any]]:
    """All parts of the list, one after the other."""
    found: list[dict[str, Any]] = []
    with client(home, key=key) as service:
        cursor = ""
        for _ in range(100):
            part = service.get(RESULTS, params={"tag": tag, "limit": limit, "cursor": cursor}).json()
            found += part["results"]
            cursor = part["next"]
            if not cursor:
                return found
    raise AssertionError("the list has no end")


def test_what_was_asked_for_is_fetched_and_found_by_its_tag(home: Path, web: TinyWeb) -> None:
    key = KeyFile(home).add("ops", "admin", 1000)
    with client(home, key=key) as service:
        answer = service.post(REQUESTS, json=asked(1, 2, 7, "lost", tag="first")).json()
        assert answer["later"]
        service.post(REQUESTS, json=asked(1, 3, tag="second"))
    crawl(home, [], web.connect)
    first = listed(home, key, "first")
    assert [(each["url"], each["state"], each["status"], each["reason"]) for each in first] == [
        ("http://a.test/1", "fetched", 200, ""),
        ("http://a.test/2", "fetched", 200, ""),
        ("http://a.test/7", "excluded", 0, "robots"),
        ("http://a.test/lost", "fetched", 404, ""),
    ]
    assert [each["url"] for each in listed(home, key, "second")] == ["http://a.test/1", "http://a.test/3"]
    assert listed(home, key, "third") == []
    with client(home, key=key) as service:
        copy = service.get(first[0]["content"])
        assert copy.status_code == 200
        assert b"http://a.test/1" in copy.content
    assert first[2]["content"] == ""
    assert web.log.requests_per_url()["http://a.test/1"] == 1


def test_a_cursor_is_exact_whatever_is_asked_for_meanwhile(home: Path, web: TinyWeb) -> None:
    key = KeyFile(home).add("ops", "admin", 1000)
    with running(home, [], web.connect, keep_fresh=True) as going, client(home, key=key) as service:
        answer = service.post(REQUESTS, json=asked(*range(6))).json()
        assert (answer["new"], answer["known"], answer["left_out"]) == (6, 0, 0)
        with client(home, key=key) as newcomer:  # who has read before sees what is a second old
            first = newcomer.get(RESULTS, params={"tag": "t", "limit": 4}).json()
        assert (len(first["results"]), bool(first["next"])) == (4, True)
        service.post(REQUESTS, json=asked(*range(6, 12)))
        service.post(REQUESTS, json=asked(0, tag="other"))
        going.control.checkpoint()
        going.control.stop()
        going.end()
    second = listed(home, key, limit=3)
    assert [each["url"] for each in second] == [f"http://a.test/{page}" for page in range(12)]
    with client(home, key=key) as service:
        rest = service.get(RESULTS, params={"tag": "t", "cursor": first["next"]}).json()
    assert [each["url"] for each in rest["results"]] == [f"http://a.test/{page}" for page in range(4, 12)]
    assert rest["next"] == ""


def test_a_command_that_comes_twice_is_taken_up_once(home: Path, web: TinyWeb) -> None:
    """As after a crash between the commit and the answer."""
    key = KeyFile(home).add("ops", "admin", 1000)
    with client(home, key=key) as service:
        service.post(REQUESTS, json=asked(1, 2))
    (command,) = Spool(home).waiting()
    file = home / "control" / f"{command.id}.json"
    data = file.read_bytes()
    crawl(home, [], web.connect)
    file.write_bytes(data)
    crawl(home, [], web.connect)
    assert [each["url"] for each in listed(home, key)] == ["http://a.test/1", "http://a.test/2"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"requests": []}, 422),
        ({"requests": [{"url": "http://a.test/", "priority": 10}]}, 422),
        ({"requests": [{"url": "http://a.test/", "tag": "x" * 101}]}, 422),
        ({"requests": [{"url": "http://a.test/", "tag": "a\u0000b"}]}, 422),
        ({"requests": [{"url": "x"}] * 1001}, 422),
        ({"requests": [{"url": "http://a.test/", "colour": "red"}]}, 422),
    ],
)
def test_what_is_no_request_is_refused(home: Path, body: dict[str, Any], status: int) -> None:
    key = KeyFile(home).add("ops", "admin", 1000)
    with client(home, key=key) as service:
        assert service.post(REQUESTS, json=body).status_code == status
    assert Spool(home).ids() == []


def test_who_may_ask_and_who_may_read(home: Path) -> None:
    reader = KeyFile(home).add("reader", "search", 1000)
    with client(home, key=reader) as service:
        assert service.post(REQUESTS, json=asked(1)).status_code == 403
        assert service.get(RESULTS, params={"tag": "t"}).status_code == 200
        assert service.get(RESULTS).status_code == 422
        assert service.get(RESULTS, params={"tag": "t", "cursor": "-1"}).status_code == 422
    with client(home) as service:
        assert service.get(RESULTS, params={"tag": "t"}).status_code == 401


def test_an_application_that_there_is_not_is_told_so(home: Path, web: TinyWeb) -> None:
    key = KeyFile(home).add("ops", "admin", 1000)
    with running(home, [], web.connect, keep_fresh=True) as going, client(home, key=key) as service:
        answer = service.post(REQUESTS, json=asked(1, app="nobody"))
        assert answer.status_code == 409
        assert "no application 'nobody'" in answer.json()["detail"]
        wide = service.post(REQUESTS, json={"requests": [{"url": "ftp://a.test/"}, {"url": "http://a.test/1"}]}).json()
        assert (wide["new"], wide["left_out"]) == (1, 1)
        assert wide["refused"][0]["url"] == "ftp://a.test/"
        going.control.stop()
        going.end()
