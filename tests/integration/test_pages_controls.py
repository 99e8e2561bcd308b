"""The crawl operated from a page: who may, what is said before, what is done, what is said after."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from commanding import running
from crawling import crawl
from fastapi.testclient import TestClient
from httpx import Response
from serving import client

from gossamer.agent.audit import read_changes
from gossamer.agent.spool import Spool
from gossamer.config import load
from gossamer.service.keys import KeyFile
from gossamer.service.pages.actions import ACTIONS
from gossamer.testing import SimServer, TinyWeb, World

EVERY = {
    "limits": {"rate": "7", "rate_was": "0"},
    "schedule": {"schedule": "Sun pause"},
    "block": {"pattern": "b.test"},
    "unblock": {"pattern": "old.test"},
    "seeds": {"urls": "http://n.test/\nnonsense:"},
    "refresh": {"urls": "http://a.test/2"},
    "priority": {"host": "a.test", "priority": "0"},
    "retry": {"host": "a.test"},
    "rejudge": {},
    "purge": {"host": "a.test", "again": "a.test"},
    "pause": {},
    "resume": {},
    "checkpoint": {},
    "stop": {},
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/2"])
        web.add_page("http://a.test/2")
        crawl(tmp_path / "c", ["http://a.test/"], web.connect, blocklist=["old.test"])
    return tmp_path / "c"


def token_of(answer: Response) -> str:
    found = re.search(r'name="token" value="([^"]+)"', answer.text)
    assert found, answer.text
    return found[1]


def log_in(pages: TestClient, home: Path, role: str = "admin") -> str:
    """Gives the token of the forms."""
    key = KeyFile(home).add(f"my-{role}", role, 1000)  # type: ignore[arg-type]
    token = token_of(pages.get("/login"))
    assert pages.post("/login", data={"token": token, "key": key}).status_code == 303
    return token_of(pages.get("/controls"))


@pytest.fixture
def pages(home: Path) -> Iterator[TestClient]:
    with client(home) as found:
        yield found


@pytest.fixture
def token(pages: TestClient, home: Path) -> str:
    return log_in(pages, home)


def said(answer: Response) -> str:
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", answer.text)))


def do(pages: TestClient, token: str, action: str, **given: str) -> str:
    """As a form does that was agreed to; gives what the page says of it."""
    answer = pages.post(f"/controls/{action}", data={"token": token, "sure": "yes", "back": "/controls", **given})
    assert answer.status_code == 303, answer.text
    page = pages.get(answer.headers["location"])
    found = re.search(r'class="note will[^>]*>(.*?)</p>', page.text, re.S)
    assert found, page.text
    return unescape(re.sub(r"<[^>]*>", "", found[1])).strip()


# -- who may -----------------------------------------------------------------------------------------------------------


def test_every_control_is_tried() -> None:
    assert EVERY.keys() == ACTIONS.keys()


@pytest.mark.parametrize("action", ACTIONS)
def test_only_the_form_of_an_admin_is_obeyed(home: Path, pages: TestClient, action: str) -> None:
    before = (home / "gossamer.toml").read_bytes()
    given = {"sure": "yes", **EVERY[action]}
    assert pages.post(f"/controls/{action}", data=given).status_code == 403  # no keys at all: to read only
    token = log_in(pages, home, "search")
    assert pages.post(f"/controls/{action}", data={"token": token, **given}).status_code == 403
    assert pages.post(f"/controls/before/{action}", data={"token": token, **given}).status_code == 403
    token = log_in(pages, home, "admin")
    for wrong in ({}, {"token": ""}, {"token": token[:-1] + "x"}):
        assert pages.post(f"/controls/{action}", data={**wrong, **given}).status_code == 403
        assert pages.post(f"/controls/before/{action}", data={**wrong, **given}).status_code == 403
    elsewhere = {"Origin": "https://evil.test", "Sec-Fetch-Site": "cross-site"}
    assert pages.post(f"/controls/{action}", data={"token": token, **given}, headers=elsewhere).status_code == 403
    assert (home / "gossamer.toml").read_bytes() == before
    assert read_changes(home) == []
    assert Spool(home).waiting() == []


def test_others_see_what_holds_and_how_to_get_a_key(home: Path, pages: TestClient) -> None:
    page = pages.get("/controls")
    assert page.status_code == 200
    assert "Delay0s" in said(page)
    assert "gossamer keys add NAME --role admin" in said(page)
    assert "/controls/" not in page.text
    assert "old.test" not in page.text


# -- before and after --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("action", [name for name, action in ACTIONS.items() if action.asks])
def test_nothing_is_done_before_it_is_agreed_to(home: Path, pages: TestClient, token: str, action: str) -> None:
    before = (home / "gossamer.toml").read_bytes()
    asked = pages.post(f"/controls/{action}", data={"token": token, "back": "/controls", **EVERY[action]})
    assert asked.status_code == 200
    foretold = pages.post(f"/controls/before/{action}", data={"token": token, **EVERY[action]})
    assert said(foretold).strip() in said(asked)
    assert (home / "gossamer.toml").read_bytes() == before
    assert read_changes(home) == []
    assert Spool(home).waiting() == []


def test_a_change_is_made_and_told(home: Path, pages: TestClient, token: str) -> None:
    assert "Speed: in effect; no crawl runs" in do(pages, token, "limits", **EVERY["limits"])
    assert load(home / "gossamer.toml").fetch.rate == 7
    assert [(change.who, change.what) for change in read_changes(home)] == [("key my-admin", "limits")]
    page = said(pages.get("/controls"))
    assert "key my-admin" in page


def test_what_others_changed_meanwhile_stays(home: Path, pages: TestClient, token: str) -> None:
    do(pages, token, "limits", rate="5", rate_was="0")
    do(pages, token, "limits", rate="0", rate_was="0", delay="3s", delay_was="0s")  # from a form of before
    config = load(home / "gossamer.toml")
    assert (config.fetch.rate, config.policy.delay) == (5, 3)


def test_what_is_wrong_is_said_and_changes_nothing(home: Path, pages: TestClient, token: str) -> None:
    for action, given, why in (
        ("limits", {"rate": "fast"}, "--rate"),
        ("schedule", {"schedule": "sometimes"}, "hours such as"),
        ("block", {"pattern": "a b"}, "is not"),
        ("seeds", {"urls": "nonsense:"}, "nonsense"),
        ("priority", {"host": "a.test", "priority": "12"}, "0 (first) to 9 (last)"),
        ("purge", {"host": "", "again": ""}, "name of a host"),
    ):
        before = pages.post(f"/controls/before/{action}", data={"token": token, **given})
        assert "bad" in before.text
        assert why in said(before)
        assert why in do(pages, token, action, **given)
    assert read_changes(home) == []
    assert pages.post("/controls/dance", data={"token": token}).status_code == 404


def test_a_purge_needs_the_name_again(home: Path, pages: TestClient, token: str) -> None:
    given = {"token": token, "sure": "yes", "host": "a.test", "back": "/controls"}
    for again in ("", "b.test"):
        asked = pages.post("/controls/purge", data={**given, "again": again})
        assert asked.status_code == 200
        assert "not the same name" in said(asked)
    assert read_changes(home) == []
    assert "this is done when it is started again" in do(pages, token, "purge", host="a.test", again="a.test")


def test_forms_lead_back_to_our_own_pages_only(pages: TestClient, token: str) -> None:
    for back, lead in (("https://evil.test/", "/?done="), ("//evil.test", "/?done="), ("/hosts?sort=name", "&done=")):
        answer = pages.post("/controls/pause", data={"token": token, "back": back})
        assert lead in answer.headers["location"]
        assert "evil" not in answer.headers["location"]


def test_an_outcome_is_for_who_asked(home: Path, pages: TestClient, token: str) -> None:
    lead = pages.post("/controls/pause", data={"token": token, "back": "/controls"}).headers["location"]
    assert "it is paused" in pages.get(lead).text
    log_in(pages, home, "search")
    assert "it is paused" not in pages.get(lead).text
    assert "it is paused" not in pages.get("/controls?done=").text


def test_a_running_crawl(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with (
        SimServer.running(World(1, 20, 50)) as web,
        running(home, [web.world.url(0)], web.connect, rate="20") as going,
        client(home) as pages,
    ):
        token = log_in(pages, home)
        assert re.fullmatch(r"Speed: in effect, after \d+ ms .*", do(pages, token, "limits", rate="500", rate_was="20"))
        assert do(pages, token, "pause").startswith("Pause: it is paused, after")
        assert "Resume" in pages.get("/controls").text
        assert do(pages, token, "block", pattern="h3.test").startswith("Block: blocked, after")
        assert "pages are durable" in do(pages, token, "checkpoint")
        assert do(pages, token, "resume").startswith("Resume: it goes on, after")
        assert "1 new seeds" in do(pages, token, "seeds", urls="http://other.test/", priority="0")
        assert do(pages, token, "stop").startswith("Stop: the crawl stops")
        assert going.end().reason == "stopped"


def test_before_a_crawl_has_begun(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with client(home) as pages:
        assert "There is no crawl" in said(pages.get("/controls"))
        token = log_in(pages, home)
        assert "There is no crawl" in do(pages, token, "pause")
        assert "There is no crawl" in said(pages.post("/controls/before/stop", data={"token": token}))


def test_settings_that_cannot_be_read_are_told(home: Path, pages: TestClient, token: str) -> None:
    (home / "gossamer.toml").write_text("[fetch]\nrate = fast\n")
    for path in ("/controls", "/dashboard"):
        page = pages.get(path)
        assert page.status_code == 200
        assert "settings cannot be read" in said(page)
    assert "bad" in pages.post("/controls/before/pause", data={"token": token}).text


def test_what_is_too_much_is_refused(pages: TestClient, token: str) -> None:
    for given in ({"pattern": "a" * 5000}, {"pattern": "\n".join(["a.test"] * 1001)}):
        assert "are taken at a time" in said(pages.post("/controls/before/block", data={"token": token, **given}))
    many = {f"field{number}": "x" for number in range(50)}
    assert pages.post("/controls/pause", data={"token": token, **many}).status_code == 403  # none of it is read


def test_hours_are_painted_and_written(pages: TestClient, token: str) -> None:
    def strip(**given: str) -> Response:
        return pages.post("/controls/hours", data={"token": token, **given})

    page = strip(schedule="Sun pause", paint="0123456 8 17", caps="rate=5")
    assert set(unescape(page.text.partition('data-lines="')[2].partition('"')[0]).splitlines()) == {
        "08:00-18:00 rate=5",
        "Sun 00:00-08:00 pause",
        "Sun 18:00-24:00 pause",
    }
    assert "In a week" in said(page)
    assert page.text.count("<svg") == 2
    assert strip(schedule="", each="1").text.count("<svg") == 7
    for wrong in (
        {"schedule": "sometimes"},
        {"paint": "9 1 2", "caps": "pause"},
        {"paint": "1", "caps": "pause"},
        {"paint": "1 a b", "caps": "pause"},
        {"paint": "1 5 99", "caps": "pause"},
        {"paint": "1 1 2", "caps": "dance"},
    ):
        assert 'class="will bad"' in strip(**{"schedule": "", **wrong}).text
