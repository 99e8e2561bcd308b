"""What applications poll for: new, changed and gone pages, each once, whatever happens in between."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import changing
import pytest
from changing import PAGES, found
from crawling import crawl
from fastapi.testclient import TestClient
from serving import client

from gossamer.agent import Control
from gossamer.agent.changes import read_moment
from gossamer.cli import run
from gossamer.testing import TinyWeb

PROBLEM = "application/problem+json"


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("changes") / "c"
    changing.make(home)
    return home


@pytest.fixture
def home(crawled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(crawled, tmp_path / "c"))


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    (tmp_path / "scratch").mkdir()
    return tmp_path / "scratch"


def ask(api: TestClient, **query: Any) -> dict[str, Any]:
    answer = api.get("/api/v1/changes", params=query)
    assert answer.status_code == 200, answer.text
    said: dict[str, Any] = answer.json()
    return said


def told(said: dict[str, Any]) -> list[tuple[str, str]]:
    return [(each["url"], each["change"]) for each in said["changes"]]


def polled(api: TestClient, **query: Any) -> Iterator[tuple[str, str]]:
    cursor, more = "", True
    while more:
        said = ask(api, **query, cursor=cursor)
        yield from told(said)
        cursor, more = said["next"], said["more"]


def test_a_first_crawl_has_new_pages_and_nothing_that_is_none(home: Path) -> None:
    with client(home) as api:
        said = ask(api)
        assert sorted(told(said)) == [(url, "new") for url in PAGES]
        assert not said["more"]
        first = said["changes"][0]
        assert first["url"] == "http://a.test/"
        assert first["status"] == 200
        assert first["content_type"].startswith("text/html")
        assert first["digest"].startswith("sha1:")
        assert first["fetched_at"].endswith("Z")
        again = ask(api, cursor=said["next"])
        assert (again["changes"], again["next"], again["more"]) == ([], said["next"], False)


def test_what_comes_later_is_told_once_also_to_a_service_that_was_started_again(home: Path, scratch: Path) -> None:
    with client(home) as api:
        cursor = ask(api)["next"]
    found(
        home, scratch, ("http://a.test/1", "changed"), ("http://a.test/2", "same"), ("http://b.test/", "gone"),
        ("http://a.test/2", "odd"),
    )  # fmt: skip
    with client(home) as api:
        said = ask(api, cursor=cursor)
        assert told(said) == [("http://a.test/1", "changed"), ("http://b.test/", "gone")]
        assert ask(api, cursor=said["next"])["changes"] == []
        found(home, scratch, ("http://b.test/", "new"))
    with client(home) as api:
        assert told(ask(api, cursor=said["next"])) == [("http://b.test/", "new")]


@pytest.mark.parametrize("limit", [1, 2, 3, 1000])
def test_parts_of_any_size_make_the_same_list(home: Path, scratch: Path, limit: int) -> None:
    changes = [(PAGES[number % 4], ("changed", "same", "gone", "new")[number * 7 % 4]) for number in range(50)]
    found(home, scratch, *changes)
    with client(home) as api:
        whole = list(polled(api, limit=limit))
    assert whole[4:] == [each for each in changes if each[1] != "same"]
    assert len(whole[:4]) == len({url for url, _ in whole[:4]}) == 4


def test_only_one_host_or_one_kind(home: Path, scratch: Path) -> None:
    found(home, scratch, ("http://a.test/1", "changed"), ("http://b.test/", "gone"), ("http://b.test/", "new"))
    with client(home) as api:
        assert list(polled(api, kind="gone")) == [("http://b.test/", "gone")]
        assert list(polled(api, site="B.test")) == [("http://b.test/", kind) for kind in ("new", "gone", "new")]
        assert list(polled(api, site="b.test", kind="changed")) == []
        assert api.get("/api/v1/changes?kind=same").status_code == 422


def test_since_a_moment(home: Path, scratch: Path) -> None:
    first = found(home, scratch, ("http://a.test/1", "changed"))
    second = found(home, scratch, ("http://a.test/2", "changed"), ("http://a.test/1", "changed"), at=first + 1000)
    found(home, scratch, ("http://b.test/", "changed"), at=second - 5)  # a little late
    later = [("http://a.test/2", "changed"), ("http://a.test/1", "changed")]
    moment = datetime.fromtimestamp(int(second), UTC)
    spellings = (str(second), moment.isoformat(), moment.isoformat().replace("+00:00", "Z"), moment.isoformat()[:19])
    with client(home) as api:
        for spelling in spellings:
            assert told(ask(api, since=spelling)) == later
        plus = f"/api/v1/changes?since={moment.isoformat()}"  # the plus sign of the zone not escaped
        assert told(api.get(plus).json()) == later
        part = ask(api, since=second, limit=1)
        assert told(part) == later[:1]
        assert told(ask(api, cursor=part["next"])) == later[1:]  # its since holds on
        assert told(ask(api, since=first)) == [("http://a.test/1", "changed"), *later, ("http://b.test/", "changed")]
        assert ask(api, since=second + 1)["changes"] == []
        for wrong in ("yesterday", "-1", "nan", "1e99", "2026-13-01", "9" * 39):
            answer = api.get("/api/v1/changes", params={"since": wrong})
            assert (answer.status_code, answer.headers["content-type"]) == (422, PROBLEM)
            assert answer.json()["detail"].startswith("since: ")


def test_a_cursor_that_is_none(home: Path) -> None:
    with client(home) as api:
        good = ask(api)["next"]
        flipped = [f"{good[:at]}{'B' if good[at] == 'A' else 'A'}{good[at + 1 :]}" for at in range(len(good) - 1)]
        for wrong in ("x", "AAAA", "é", good[:-1], good[::-1], good.swapcase(), "A" * 4000, *flipped):
            answer = api.get("/api/v1/changes", params={"cursor": wrong})
            assert (answer.status_code, answer.headers["content-type"]) == (422, PROBLEM)


def test_a_cursor_of_what_is_no_longer_there_says_how_to_go_on(home: Path, scratch: Path, tmp_path: Path) -> None:
    with client(home) as api:
        cursor = ask(api)["next"]
    other = tmp_path / "other"
    changing.make(other)
    with client(other) as api:
        answer = api.get("/api/v1/changes", params={"cursor": cursor})
        assert (answer.status_code, answer.headers["content-type"]) == (410, PROBLEM)
        since = answer.json()["detail"].partition("since=")[2].partition(" ")[0]
        assert read_moment(since) > 0
        assert api.get("/api/v1/changes", params={"since": since}).status_code == 200
    for path in (home / "warc").iterdir():
        path.unlink()
    with client(home) as api:
        assert api.get("/api/v1/changes", params={"cursor": cursor}).status_code == 410


def test_several_directories(home: Path, scratch: Path, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    with client(home) as api:
        cursor = ask(api)["next"]
    first = found(home, scratch, ("http://a.test/1", "changed"))
    found(home, scratch, ("http://a.test/2", "changed"), at=first + 10, directory=disk)
    found(home, scratch, ("http://b.test/", "changed"), at=first + 20)
    expected = ["http://a.test/1", "http://a.test/2", "http://b.test/"]
    with client(home) as api:
        assert [url for url, _ in told(ask(api, cursor=cursor))] == expected
        one = ask(api, cursor=cursor, limit=1)
        two = ask(api, cursor=one["next"], limit=1)
        assert str(disk) not in two["next"]
        found(home, scratch, ("http://a.test/", "gone"), at=first + 5, directory=disk)  # earlier, but told later
    with client(home) as api:
        rest = told(ask(api, cursor=two["next"]))
    assert [url for url, _ in (*told(one), *told(two), *rest)] == [*expected[:2], "http://a.test/", "http://b.test/"]


def test_hosts_that_nobody_may_see_are_not_told(home: Path, scratch: Path) -> None:
    found(home, scratch, ("http://a.test/1", "gone"), ("http://b.test/", "changed"))
    with client(home) as api:
        assert len(list(polled(api))) == 6
        Control(home, "test").block(["a.test/1"])
        assert ("http://a.test/1", "gone") not in list(polled(api))
        assert len(list(polled(api))) == 4
        Control(home, "test").block(["b.test"])
        assert {url for url, _ in polled(api)} == {"http://a.test/", "http://a.test/2"}


def test_a_page_to_which_a_robots_txt_leads_is_told_once(home: Path) -> None:
    with TinyWeb() as web:
        web.add_redirect("http://c.test/robots.txt", "http://a.test/1")
        web.add_page("http://a.test/1", body=b"<p>one")
        web.add_page("http://c.test/")
        crawl(home, ["http://c.test/"], web.connect)
        assert "http://a.test/1" in [arrival.url for arrival in web.log.arrivals]
    with client(home) as api:
        assert sorted(polled(api)) == [(url, "new") for url in (*PAGES, "http://c.test/")]


def test_an_answer_comes_in_time_however_much_is_the_same(
    home: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gossamer.agent.changes._LOOK", 10)
    monkeypatch.setattr("gossamer.agent.changes._SECONDS", -1.0)  # over at the first look
    found(home, scratch, *[("http://a.test/1", "same")] * 95, ("http://a.test/2", "gone"))
    with client(home) as api:
        said = ask(api, kind="gone")
        assert (said["changes"], said["more"]) == ([], True)
        assert list(polled(api, kind="gone")) == [("http://a.test/2", "gone")]


def test_before_there_is_a_crawl(tmp_path: Path) -> None:
    with client(tmp_path) as api:
        assert api.get("/api/v1/changes").status_code == 404


# -- the command -------------------------------------------------------------------------------------------------------


def test_the_command_says_the_same(home: Path, scratch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    at = found(home, scratch, ("http://a.test/1", "changed"), ("http://b.test/", "gone"))
    assert run(["changes", "--dir", str(home), "--since", str(at), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert told(said) == [("http://a.test/1", "changed"), ("http://b.test/", "gone")]
    with client(home) as api:
        assert {**said, "missing": [], "ended": []} == ask(api, since=at)
    assert run(["changes", "--dir", str(home), "--since", str(at), "-n", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[3:] == ["changed", "200", "http://a.test/1"]
    assert "--cursor" in lines[1]
    assert run(["changes", "--dir", str(home), "--cursor", lines[1].split()[-1]]) == 0
    assert [line.split()[3] for line in capsys.readouterr().out.splitlines()[:-1]] == ["gone"]


def test_the_command_says_what_is_wrong(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for wrong in (["--since", "soon"], ["--kind", "same"], ["--cursor", "x"], ["-n", "0"]):
        assert run(["changes", "--dir", str(home), *wrong]) == 2
        assert wrong[0] in capsys.readouterr().err
