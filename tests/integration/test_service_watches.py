"""Watches over HTTP: who may see and change what, hits page by page, and the pages for people."""

from __future__ import annotations

import re
import shutil
from html import unescape
from pathlib import Path

import pytest
from crawling import crawl
from fastapi.testclient import TestClient
from indexing import append, caught_up
from serving import ELSEWHERE, client

from gossamer.agent.audit import read_changes
from gossamer.agent.spool import Spool
from gossamer.agent.watching.book import WatchBook
from gossamer.service.keys import KeyFile
from gossamer.testing import Receiver, TinyWeb

HOME = "http://a.test/"
WEBHOOK = "https://hooks.example.org/services/T0/very-secret"
API = "/api/v1/watches"


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("watches") / "c"
    with TinyWeb() as web:
        web.add_page(HOME, [f"/{number}" for number in range(7)], "<title>Start</title>")
        for number in range(7):
            body = f"<title>Page {number}</title><p>silk <script>alert(1)</script>&lt;b&gt; number {number}"
            web.add_page(f"{HOME}{number}", body=body)
        crawl(home, [HOME], web.connect)
    caught_up(home)
    return home


@pytest.fixture
def home(ready: Path, tmp_path: Path) -> Path:
    return shutil.copytree(ready, tmp_path / "c")


def keys(home: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Headers of one who may ask, and of an admin."""
    file = KeyFile(home)
    found = [file.add(name, role, 1000) for name, role in (("anna", "search"), ("bert", "admin"))]
    return {"Authorization": f"Bearer {found[0]}"}, {"Authorization": f"Bearer {found[1]}"}


def test_added_listed_followed_and_removed(home: Path) -> None:
    search, admin = keys(home)
    with client(home, ELSEWHERE) as api:
        assert api.get(API, headers=search).json() == {"watches": [], "total": 0, "next": ""}
        assert not (home / "watches").exists(), "looking makes nothing"
        made = api.post(API, headers=admin, json={"query": "silk", "name": "cloth", "webhook": WEBHOOK}).json()
        assert made["secret"].startswith("whsec_")
        assert made["watch"]["webhook"] == WEBHOOK
        identity = made["watch"]["id"]
        caught_up(home)
        [seen] = api.get(API, headers=search).json()["watches"]
        assert (seen["hits"], seen["earlier"], seen["taken_up"]) == (7, 7, True)
        assert seen["webhook"] == "https://hooks.example.org/"
        assert api.get(API, headers=admin).json()["watches"][0]["webhook"] == WEBHOOK
        for headers in (search, admin):
            assert made["secret"] not in api.get(API, headers=headers).text
        first = api.get(f"{API}/{identity}/hits?limit=5", headers=search).json()
        assert (len(first["hits"]), first["more"]) == (5, True)
        rest = api.get(f"{API}/cloth/hits?cursor={first['next']}", headers=search).json()
        assert (len(rest["hits"]), rest["more"]) == (2, False)
        assert len({hit["id"] for hit in first["hits"] + rest["hits"]}) == 7
        hit = first["hits"][0]
        assert "&lt;b&gt;" in hit["snippet"]
        assert "<mark>silk</mark>" in hit["snippet"]
        append(home, HOME + "new", 200, "<title>New</title><p>silk", "new")
        caught_up(home)
        later = api.get(f"{API}/{identity}/hits?cursor={rest['next']}", headers=search).json()
        assert [(each["url"], each["earlier"], each["told"]) for each in later["hits"]] == [
            (HOME + "new", False, "waiting")
        ]
        newest = api.get(f"{API}/{identity}/hits?newest=true&limit=2", headers=search).json()
        assert newest["hits"][0]["url"] == HOME + "new"
        older = api.get(f"{API}/{identity}/hits?newest=true&cursor={newest['next']}", headers=search).json()
        assert (len(older["hits"]), older["next"], older["more"]) == (6, "", False)
        assert api.delete(f"{API}/{identity}", headers=admin).json() == {"id": identity, "name": "cloth"}
        assert api.get(API, headers=search).json()["total"] == 0
        assert api.delete(f"{API}/{identity}", headers=admin).status_code == 404
        assert api.get(f"{API}/{identity}/hits", headers=search).status_code == 404
    assert [change.what for change in read_changes(home)][-2:] == ["watch add", "watch remove"]


def test_who_may_only_ask_changes_nothing(home: Path) -> None:
    search, admin = keys(home)
    with client(home, ELSEWHERE) as api:
        assert api.post(API, json={"query": "silk"}).status_code == 401
        assert api.post(API, headers=search, json={"query": "silk"}).status_code == 403
        made = api.post(API, headers=admin, json={"query": "silk"}).json()["watch"]
        assert api.delete(f"{API}/{made['id']}", headers=search).status_code == 403
        assert api.get(API).status_code == 401
        assert api.get(API, headers=search).json()["total"] == 1


@pytest.mark.parametrize(
    ("order", "why"),
    [
        ({"query": "silk OR"}, "OR needs a word"),
        ({"query": ""}, "query"),
        ({"query": "x" * 1001}, "query"),
        ({"query": "silk", "webhook": "http://169.254.169.254/"}, "private"),
        ({"query": "silk", "webhook": "gopher://x/"}, "webhook"),
        ({"query": "silk", "name": "\n"}, "name"),
        ({"query": "silk", "secret": "mine"}, "secret"),
        ({"query": ["silk"]}, "query"),
        ({}, "query"),
    ],
)
def test_what_is_wrong_is_said(home: Path, order: dict[str, object], why: str) -> None:
    _, admin = keys(home)
    with client(home, ELSEWHERE) as api:
        answer = api.post(API, headers=admin, json=order)
        assert answer.status_code == 422
        assert why in answer.json()["detail"]
        assert api.get(API, headers=admin).json()["total"] == 0


def test_cursors_that_are_none_are_refused(home: Path) -> None:
    search, admin = keys(home)
    with client(home, ELSEWHERE) as api:
        made = api.post(API, headers=admin, json={"query": "silk"}).json()["watch"]
        for cursor in ("x", "-1", "1" * 19, "1;drop table hits"):
            assert api.get(f"{API}/{made['id']}/hits", params={"cursor": cursor}, headers=search).status_code == 422
        names = [api.post(API, headers=admin, json={"query": "silk"}).json()["watch"]["name"] for _ in range(2)]
        part = api.get(f"{API}?limit=2", headers=search).json()
        assert [each["name"] for each in part["watches"]] == ["silk", names[0]]
        rest = api.get(f"{API}?cursor={part['next']}", headers=search).json()
        assert ([each["name"] for each in rest["watches"]], rest["next"], rest["total"]) == ([names[1]], "", 3)


# -- pages -------------------------------------------------------------------------------------------------------------


def token_of(text: str) -> str:
    found = re.search(r'name="token" value="([^"]+)"', text)
    assert found, text
    return found[1]


def log_in(pages: TestClient, home: Path, role: str) -> str:
    key = KeyFile(home).add(f"my-{role}", role, 1000)  # type: ignore[arg-type]
    assert pages.post("/login", data={"token": token_of(pages.get("/login").text), "key": key}).status_code == 303
    return token_of(pages.get("/watches").text)


def test_a_search_becomes_a_watch(home: Path) -> None:
    with client(home) as pages:
        token = log_in(pages, home, "admin")
        found = pages.get("/results?q=silk&site=a.test&lang=en").text
        link = re.search(r'href="([^"]+)">(?:watch this search|keep it as a watch)', found)
        assert link
        form = pages.get(unescape(link[1])).text
        assert 'value="silk site:a.test lang:en"' in form
        answer = pages.post("/watches", data={"token": token, "query": "silk", "webhook": WEBHOOK, "name": "cloth"})
        assert answer.status_code == 200
        secret = re.search(r'<pre id="secret">(whsec_[^<]+)</pre>', answer.text)
        assert secret
        assert "whsec_" not in pages.get("/watches").text
        caught_up(home)
        listed = pages.get("/watches").text
        assert "0 new, 7 earlier" in listed
        assert WEBHOOK in listed
        assert "<script>alert" not in listed
        with WatchBook(home) as book:
            [watch] = book.all()
        one = pages.get(f"/watches/{watch.id}").text
        assert one.count('class="hit"') == 7
        assert "all 7" in listed
        asked = pages.post(f"/watches/{watch.id}/remove", data={"token": token})
        assert "with its list of 7 pages" in asked.text
        gone = pages.post(f"/watches/{watch.id}/remove", data={"token": token, "sure": "yes"})
        assert gone.status_code == 303
        assert pages.get(f"/watches/{watch.id}").status_code == 404
        assert "There are no watches yet" in pages.get("/watches").text


def test_a_search_that_finds_nothing_is_remembered(home: Path) -> None:
    search, admin = keys(home)
    with client(home, ELSEWHERE) as api:
        strange = {**search, "Sec-Fetch-Site": "cross-site"}
        assert api.get("/api/v1/search?q=xylophone", headers=strange).json()["crawl"] == {"from": [], "watch": ""}
        for nothing in ("q=silk", "q=site:nowhere.test", "q=%22", "q=xylophone&cursor=x"):
            api.get(f"/api/v1/search?{nothing}", headers=search)
        assert not (home / "watches").exists()
        offer = api.get("/api/v1/search?q=xylophone&lang=en", headers=search).json()["crawl"]
        again = api.get("/api/v1/search?q=Xylophone&lang=en", headers=admin).json()["crawl"]
        assert offer == again
        [listed] = api.get(API, headers=search).json()["watches"]
        assert (listed["id"], listed["query"]) == (offer["watch"], "xylophone lang:en")
        assert (listed["crawl"], listed["remembered"]) == (True, True)
        assert [change.what for change in read_changes(home)] == []
        settings = home / "gossamer.toml"
        settings.write_text(settings.read_text().replace("[agent]\n", "[agent]\nremember = false\n", 1))
        assert api.get("/api/v1/search?q=zither", headers=search).json()["crawl"]["watch"] == ""


def test_the_search_page_says_what_is_remembered(home: Path) -> None:
    with client(home) as pages:
        assert "remembered" not in pages.get("/results?q=zith").text
        assert not (home / "watches").exists(), "half a word is none"
        text = pages.get("/?q=zither").text
        link = re.search(r'It is remembered as <a href="(/watches/w[0-9a-f]+)">zither</a>', text)
        assert link
        one = pages.get(link[1]).text
        assert "remembered for 30 days, as a search found nothing" in one
        assert "what they link to is visited next" in one
        assert "keep it as a watch" in text


def test_crawl_from_what_was_found(home: Path) -> None:
    """What it begins with is shown; who agrees to it must be an admin, with a form of the own login."""
    with client(home) as pages:
        found = pages.get("/api/v1/search?q=silk").json()
        assert found["crawl"]["from"] == [hit["url"] for hit in found["results"]]
        link = re.search(r'href="(/crawl-from[^"]+)">crawl from these', pages.get("/?q=silk&site=a.test").text)
        assert link
        said = pages.get(unescape(link[1])).text
        assert "gossamer seeds --links --priority 1 --dir" in said
        assert said.count('class="hit"') == 7
        assert "Nothing is found for" in pages.get("/crawl-from?q=zither").text
        assert pages.get("/crawl-from?q=%22").status_code == 200
        token = log_in(pages, home, "admin")
        text = pages.get(unescape(link[1])).text
        given = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', text.split("<main")[1]))
        assert given["urls"].split() == sorted(given["urls"].split(), key=found["crawl"]["from"].index)
        assert len(given["urls"].split()) == 7
        assert given["token"] == token
        form = {name: unescape(value) for name, value in given.items()}
        assert pages.post("/controls/seeds", data={**form, "token": "x"}).status_code == 403
        answer = pages.post("/controls/seeds", data=form)
        assert answer.status_code == 303
        assert "started again" in pages.get(answer.headers["location"].partition("#")[0]).text
    [command] = Spool(home).waiting()
    assert (command.kind, command.who) == ("seeds", "key my-admin")
    assert command.about == {"urls": form["urls"].split(), "priority": 1, "links": True}


def test_a_form_that_is_wrong_comes_back_with_the_reason(home: Path) -> None:
    with client(home) as pages:
        token = log_in(pages, home, "admin")
        given = {"query": 'silk "', "webhook": WEBHOOK, "name": "n"}
        answer = pages.post("/watches", data={"token": token, **given})
        assert answer.status_code == 422
        assert "never closed" in answer.text
        assert WEBHOOK in answer.text
        assert pages.post("/watches", data={"token": "other", **given}).status_code == 403
        private = pages.post("/watches", data={"token": token, "query": "silk", "webhook": "http://[fe80::1]/"})
        assert private.status_code == 422
        assert not (home / "watches").exists()


def test_who_may_only_look_sees_no_form_and_no_webhook(home: Path) -> None:
    _, admin = keys(home)
    with client(home) as pages:
        pages.post(API, headers=admin, json={"query": "silk", "webhook": WEBHOOK})
        log_in(pages, home, "search")
        text = pages.get("/watches?q=wool").text
        assert "very-secret" not in text
        assert "https://hooks.example.org/" in text
        assert 'name="query"' not in text
        assert "gossamer watch add wool" in text
        assert pages.post("/watches", data={"query": "silk"}).status_code == 403


def test_calls_that_fail_are_shown(home: Path) -> None:
    _, admin = keys(home)
    with Receiver(500) as receiver, client(home) as pages:
        order = {"query": "silk", "webhook": receiver.url, "notify_earlier": True}
        assert pages.post(API, headers=admin, json=order).status_code == 200
        caught_up(home)
        log_in(pages, home, "admin")
        text = pages.get("/watches").text
        assert "7 waiting" in text
        assert "it answers 500" in text
        assert "delivery waits" in text
