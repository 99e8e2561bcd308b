"""Known URLs asked for again: by command, over HTTP, from a page and by applications, judged by the server."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commanding import running
from crawling import crawl
from fastapi.testclient import TestClient
from serving import client
from test_applications import app, crawled
from test_keep_fresh import Page
from test_pages_controls import log_in, said

from gossamer.agent import Control, read_progress, read_visits
from gossamer.agent.explain import explain
from gossamer.agent.spool import Spool
from gossamer.cli import run
from gossamer.frontier import keys
from gossamer.frontier.database import Database
from gossamer.model import VisitRecord
from gossamer.service.keys import KeyFile
from gossamer.testing import TinyWeb
from gossamer.testing.web import End, Reply, Request

FRONT, PAGE, OTHER, DEAD = (f"http://a.test/{name}" for name in ("", "page", "other", "dead"))
REQUESTS = "/api/v1/requests"
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nok"


class Web(TinyWeb):
    """Four pages, of which one does not answer at first."""

    def __init__(self) -> None:
        super().__init__()
        self.down = True
        self.said: Reply | bytes = OK
        self.front = Page(self, FRONT, links=["/page", "/other", "/dead", "/picture"])
        self.page, self.other = Page(self, PAGE), Page(self, OTHER)
        self.add_handler(DEAD, self._dead)
        self.add_page("http://a.test/picture", headers={"Content-Type": "image/png"})

    def _dead(self, request: Request) -> Reply | bytes:
        return Reply((), End.CLOSE) if self.down else OK

    @property
    def visits(self) -> Counter[str]:
        found = self.log.requests_per_url()
        return Counter({url: count for url, count in found.items() if not url.endswith("/robots.txt")})


@pytest.fixture
def web() -> Iterator[Web]:
    with Web() as found:
        yield found


@pytest.fixture
def home(tmp_path: Path, web: Web) -> Path:
    crawl(tmp_path / "c", [FRONT], web.connect, max_tries=1, scope="host")
    return tmp_path / "c"


def visit_of(home: Path, url: str) -> VisitRecord:
    return next(visit for visit in read_visits(home) if visit.url == url)


def versions(home: Path, url: str) -> list[tuple[str, str]]:
    lines = [line for path in sorted((home / "warc").glob("*.cdxj")) for line in path.read_text().splitlines()]
    found = [json.loads(line.split(" ", 2)[2]) for line in lines]
    return [(line["status"], line.get("change", "")) for line in found if line["url"] == url]


# -- a crawl that is complete ------------------------------------------------------------------------------------------


def test_the_next_run_visits_what_was_asked_for_and_nothing_else(home: Path, web: Web) -> None:
    before = web.visits
    web.page.text = "new words"
    assert Control(home, "tester").refresh([PAGE]).later
    summary = crawl(home, [FRONT], web.connect)
    assert summary.reason == "complete"
    assert web.visits - before == Counter({PAGE: 1})
    assert versions(home, PAGE) == [("200", ""), ("200", "changed")]
    again = explain(home, PAGE).again
    assert again.startswith("It was seen changed once")
    assert again.endswith(f"It is not visited again: keep_fresh is off (gossamer crawl --dir {home} --keep-fresh).")
    crawl(home, [FRONT], web.connect)
    assert web.visits - before == Counter({PAGE: 1})


def test_a_command_that_comes_twice_is_taken_up_once(home: Path, web: Web) -> None:
    """As after a crash between the commit and the answer."""
    before = web.visits
    Control(home, "tester").refresh([PAGE])
    (command,) = Spool(home).waiting()
    file = home / "control" / f"{command.id}.json"
    data = file.read_bytes()
    for _ in range(2):
        file.write_bytes(data)
        crawl(home, [], web.connect)
    assert web.visits - before == Counter({PAGE: 1})


def test_each_is_visited_as_it_stands(home: Path, web: Web) -> None:
    """A page that is gone, one whose server fails, one that was dead, one of a type that was not wanted."""
    assert (read_progress(home).faults, visit_of(home, "http://a.test/picture").reason) == (1, "unwanted_type")
    web.page.status, web.other.status, web.down = 404, 500, False
    web.add_page("http://a.test/picture")
    Control(home, "tester").refresh([PAGE, OTHER, DEAD, "http://a.test/picture"], max_age=0)
    summary = crawl(home, [], web.connect)
    assert (summary.faults, summary.excluded, summary.urls) == (0, 0, 5)
    assert versions(home, PAGE) == [("200", ""), ("404", "gone")], "nobody would look for it once more"
    assert visit_of(home, OTHER).status == 200, "a server that fails takes no page its place"
    assert [visit_of(home, url).status for url in (DEAD, "http://a.test/picture")] == [200, 200]


# -- a crawl that runs -------------------------------------------------------------------------------------------------


def test_the_command_waits_and_says_what_came(home: Path, web: Web, capsys: pytest.CaptureFixture[str]) -> None:
    web.page.text = "new words"
    outside = "http://b.test/"
    with running(home, [], web.connect, keep_fresh=True, max_tries="1") as going:
        web.add_handler("http://a.test/broken", lambda request: web.said)
        assert run(["refresh", "http://a.test/broken", "--dir", str(home), "--wait"]) == 0
        web.said = Reply((), End.CLOSE)
        assert run(["refresh", "http://a.test/broken", "--dir", str(home), "--wait"]) == 1
        lost = capsys.readouterr().out.splitlines()
        words = ["refresh", PAGE, OTHER, DEAD, outside, "http://a.test/new", "--dir", str(home), "--wait"]
        assert run(words) == 1
        shown = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines())
        assert run(["refresh", PAGE, "--max-age", "1h", "--dir", str(home), "--wait"]) == 0
        assert capsys.readouterr().out == f"{PAGE}: fresh enough\n"
        assert run(["refresh", PAGE, "--dir", str(home), "--wait", "--json"]) == 0
        (row,) = json.loads(capsys.readouterr().out)["urls"]
        going.control.stop()
        going.end()
    assert lost == [
        "http://a.test/broken: status 200, new",
        "http://a.test/broken: no answer, the page was not to be had; its copy stays",
    ]
    assert shown[PAGE] == "status 200, changed"
    assert shown[OTHER] == "status 200, unchanged"
    assert shown[DEAD].startswith("no answer, It is dead: ")
    assert shown["http://a.test/new"] == "status 404, new"
    assert shown[outside].startswith("refused, it does not belong to the crawl (scope)")
    assert (row["result"], row["status"], row["change"], row["visited"]) == ("queued again", 200, "unchanged", True)


def test_what_robots_forbid_by_now_is_not_visited(home: Path, web: Web, capsys: pytest.CaptureFixture[str]) -> None:
    forget_robots(home)
    web.add_robots("a.test", "User-agent: *\nDisallow: /other\n")
    before = web.visits
    with running(home, [], web.connect, keep_fresh=True) as going:
        assert run(["refresh", OTHER, "--dir", str(home), "--wait"]) == 1
        going.control.stop()
        going.end()
    why = "It is not visited again for now: the robots.txt of a.test does not allow it (Disallow: /other)"
    assert capsys.readouterr().out == f"{OTHER}: not visited, {why}\n"
    assert web.visits == before
    assert visit_of(home, OTHER).status == 200


def forget_robots(home: Path) -> None:
    """As if they had been asked for a day ago."""
    database = Database(home / "frontier", 8 << 20)
    try:
        for key, value in list(database.scan_hosts(b"", b"")):
            if key[key.index(b"\0", 2) + 1 :][:1] == keys.ROBOTS:
                database.hosts[key] = keys.pack_robots(0.0, keys.read_robots(value)[1])
        database.commit()
    finally:
        database.close()


def test_nobody_is_waited_for_where_no_crawl_runs(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["refresh", OTHER, "--dir", str(home)]) == 0
    assert "No crawl runs in " in capsys.readouterr().out
    assert run(["refresh", OTHER, "--dir", str(home), "--wait"]) == 1
    assert "No crawl runs in " in capsys.readouterr().out


def test_wrong_usage_and_a_limit_that_is_reached(
    home: Path, web: Web, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["refresh", PAGE, "--max-age", "soon", "--dir", str(home)]) == 2
    assert "--max-age: 'soon' is not a duration" in capsys.readouterr().err
    assert run(["refresh", "ftp://a.test/", "--dir", str(home)]) == 2
    assert run(["refresh", "--dir", str(home)]) == 2
    limited = tmp_path / "limited"
    crawl(limited, [FRONT], web.connect, max_pages="2")
    capsys.readouterr()
    (tmp_path / "list").write_text(f"# of the crawl\n{PAGE}\n")
    assert run(["refresh", f"@{tmp_path / 'list'}", "--dir", str(limited)]) == 0
    assert "the crawl has all its 2 pages" in capsys.readouterr().err


# -- over HTTP ---------------------------------------------------------------------------------------------------------


def test_a_service_says_what_becomes_of_each(home: Path, web: Web) -> None:
    key = KeyFile(home).add("ops", "admin", 1000)
    before = web.visits
    with running(home, [], web.connect, keep_fresh=True, max_tries="1") as going, client(home, key=key) as service:
        known = [PAGE, "http://a.test/new", "ftp://a.test/", "http://b.test/"]
        answer = service.post(REQUESTS, json={"urls": known, "priority": 2, "max_age": 0, "tag": "t"}).json()
        again = service.post(REQUESTS, json={"urls": [OTHER], "max_age": 3600}).json()
        plain = service.post(REQUESTS, json={"urls": [OTHER]}).json()
        seeds = service.post("/api/v1/seeds", json={"urls": [OTHER]}).json()
        assert service.post(REQUESTS, json={"max_age": 0}).status_code == 422
        assert service.post(REQUESTS, json={"urls": [PAGE], "max_age": -1}).status_code == 422
        run(["refresh", PAGE, "--dir", str(home), "--wait"])  # behind the first
        going.control.stop()
        going.end()
        results = service.get("/api/v1/results", params={"tag": "t"}).json()["results"]
    assert [(each["url"], each["result"]) for each in answer["urls"]] == [
        (PAGE, "queued again"), ("http://a.test/new", "queued"), ("ftp://a.test/", "refused"),
        ("http://b.test/", "refused"),
    ]  # fmt: skip
    assert [bool(each["why"]) for each in answer["urls"]] == [False, False, True, True]
    assert (answer["queued_again"], answer["new"], answer["left_out"], answer["later"]) == (1, 1, 2, False)
    assert (again["urls"][0]["result"], again["fresh_enough"]) == ("fresh enough", 1)
    assert (plain["urls"][0]["result"], plain["known"]) == ("known", 1)
    assert "gossamer refresh visits pages again" in seeds["text"]
    assert (web.visits - before)[PAGE] in (1, 2)
    assert OTHER not in web.visits - before
    assert [(each["url"], each["state"]) for each in results] == [(PAGE, "fetched"), ("http://a.test/new", "fetched")]


def test_a_stale_copy_leads_to_the_way_to_a_fresh_one(home: Path, web: Web) -> None:
    key = KeyFile(home).add("ops", "admin", 1000)
    with client(home, key=key) as service:
        stale = service.get("/api/v1/pages", params={"url": PAGE, "max_age": 0})
        assert stale.status_code == 404
        assert "POST /api/v1/requests" in stale.json()["detail"]
        kept = service.post(REQUESTS, json={"urls": [PAGE], "max_age": 0}).json()
        assert (kept["later"], kept["urls"]) == (True, [{"url": PAGE, "result": "kept", "why": ""}])
    first = visit_of(home, PAGE)
    crawl(home, [], web.connect)
    assert visit_of(home, PAGE).fetched_at >= first.fetched_at
    assert versions(home, PAGE) == [("200", ""), ("200", "same")]


def test_the_page_of_a_url_has_a_button_for_admins(home: Path, web: Web) -> None:
    with client(home) as pages:
        log_in(pages, home, "search")
        assert "Visit again" not in pages.get("/urls", params={"url": PAGE}).text
    with running(home, [], web.connect, keep_fresh=True) as going, client(home) as pages:
        token = log_in(pages, home)
        shown = pages.get("/urls", params={"url": PAGE})
        assert re.search(r'action="/controls/refresh".*?value="http://a.test/page".*?Visit again', shown.text, re.S)
        done = pressed(pages, token, PAGE)
        going.control.stop()
        going.end()
    assert "Visit again: it is queued to be visited again" in done
    assert versions(home, PAGE)[1:] == [("200", "same")]


def pressed(pages: TestClient, token: str, url: str) -> str:
    given = {"token": token, "back": f"/urls?url={url}", "urls": url}
    answer = pages.post("/controls/refresh", data=given)
    assert answer.status_code == 303, answer.text
    return said(pages.get(answer.headers["location"]))


# -- applications ------------------------------------------------------------------------------------------------------


def test_an_application_has_known_pages_visited_again(home: Path, web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    before = web.visits
    web.page.text = "new words"
    rule: Any = app("again", "Again", old=[PAGE], young=[OTHER])
    summary = crawled(home, [], web, rule)
    assert summary.reason == "complete"
    assert web.visits - before == Counter({PAGE: 1})
    key = KeyFile(home).add("reader", "search", 1000)
    with client(home, key=key) as service:
        results = service.get("/api/v1/results", params={"tag": "again"}).json()["results"]
    assert [(each["url"], bool(each["content"])) for each in results] == [(PAGE, True), (OTHER, True)]
