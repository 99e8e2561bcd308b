"""A page that is visited again and again, in the index: as it is now, whichever way the index was made."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from crawling import crawl
from indexing import append, caught_up, entries

from gossamer.agent import PageReader
from gossamer.agent.follower import rebuild
from gossamer.agent.indexing import Verdict, judge
from gossamer.agent.workers import Workers
from gossamer.index import Entry
from gossamer.model import Locator
from gossamer.store import Capture, Captures, Place, read_committed
from gossamer.testing.tinyweb import TinyWeb

HOME = "http://a.test/"
PAGE = HOME + "page"
COPY = HOME + "copy"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A crawl that knows two pages, one of which is a redirect when it is first seen."""
    with TinyWeb() as web:
        web.add_page(HOME, ["/page", "/copy"])
        web.add_page(PAGE, body="<p>first words")
        web.add_redirect(COPY, "/page")
        crawl(tmp_path / "c", [HOME], web.connect)
    return tmp_path / "c"


def rebuilt(home: Path) -> dict[str, Entry]:
    """What an index that is made again from the beginning has."""
    copy = Path(shutil.copytree(home, home.with_name("copy"), dirs_exist_ok=True))
    notices: list[str] = []
    rebuild(copy, notices.append, lambda _: None)
    assert notices == []
    return entries(copy)


def words(home: Path) -> dict[str, str]:
    return {url: entry.body for url, entry in entries(home).items() if url != HOME}


def test_a_history_of_captures(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gossamer.agent.batches._MOST_SEARCHES", 0)  # none is needed
    notices: list[str] = []
    read: list[object] = []
    give = Workers.give
    monkeypatch.setattr(Workers, "give", lambda *given: (read.extend(given[2]), give(*given))[1])

    def follows(**expected: str) -> None:
        caught_up(home, notices)
        assert ({url.removeprefix(HOME): body for url, body in words(home).items()}, notices) == (expected, [])

    follows(page="first words")
    first = append(home, PAGE, 200, "<p>second words", "changed")
    follows(page="second words")
    indexed = entries(home)[PAGE]
    read.clear()
    for status, body, same_as in ((304, "", first), (200, "<p>second words", first), (200, "<p>second words!", None)):
        append(home, PAGE, status, body, "same", same_as)
    caught_up(home, notices)
    assert read == [], "what is the same is not read"
    assert entries(home)[PAGE] == indexed
    assert rebuilt(home) == entries(home)
    append(home, COPY, 200, "", "new", first)
    follows(page="second words", copy="second words")
    other = append(home, PAGE, 200, "<p>third words", "changed")
    follows(page="third words", copy="second words")
    append(home, PAGE, 200, "<p>second words", "changed", first)  # back to what is in an older record
    follows(page="second words", copy="second words")
    append(home, PAGE, 503, "<p>out of order", "gone")
    follows(copy="second words")
    assert rebuilt(home) == entries(home)
    append(home, PAGE, 200, "<p>third words", "new", other)
    follows(page="third words", copy="second words")
    assert rebuilt(home) == entries(home)
    append(home, PAGE, 301, "", "gone")
    follows(copy="second words")


def test_a_copy_of_what_is_only_nearly_the_same(home: Path) -> None:
    notices: list[str] = []
    nearly = append(home, PAGE, 200, "<p>first words, 12:30", "same")
    append(home, COPY, 200, "", "new", nearly)
    caught_up(home, notices)
    assert (words(home), notices) == ({PAGE: "first words", COPY: "first words, 12:30"}, [])


def test_where_the_first_capture_is_not_there_any_more(home: Path) -> None:
    """Who removes old files has the page all the same, as soon as it comes with a payload."""
    first = append(home, PAGE, 200, "<p>second words", "changed")
    lines = home / "warc" / "gossamer-00000.cdxj"
    before = len(lines.read_bytes())
    append(home, PAGE, 304, "", "same", first)
    append(home, PAGE, 200, "<p>second words", "same", first)
    kept = lines.read_bytes()
    lines.write_bytes(b" " * (before - 1) + b"\n" + kept[before:])  # as if they were in a file of their own
    notices: list[str] = []
    assert (caught_up(home, notices), words(home), notices) == (0, {}, [])
    append(home, PAGE, 200, "<p>second words, again", "same")
    caught_up(home, notices)
    assert (words(home), notices) == ({PAGE: "second words, again"}, [])


def test_verdicts() -> None:
    def capture(status: int, change: str, url: str = PAGE) -> Capture:
        return Capture(url, status, "text/html", "sha1:A", 1, Locator(0, 0, 1), "", Place(), change)

    assert judge(capture(200, "")) is judge(capture(200, "new")) is judge(capture(200, "changed")) is Verdict.READ
    assert judge(capture(503, "gone")) is judge(capture(302, "gone")) is Verdict.GONE
    assert judge(capture(503, "")) is judge(capture(304, "same")) is judge(capture(304, "")) is Verdict.KEEP
    assert judge(capture(503, "gone", HOME + "robots.txt")) is Verdict.KEEP


def test_stored_copies_are_found_whatever_came_after(home: Path) -> None:
    """A record refers to one of its own past, or of another page's, that is not the one stored last."""
    first = append(home, PAGE, 200, "<p>second words", "changed")
    append(home, COPY, 200, "", "new", first)
    append(home, PAGE, 200, "<p>third words", "changed")
    caught_up(home)
    with PageReader(home) as reader:
        place = _places(home)[COPY]
        copy = reader.by_place(place)
    assert copy is not None
    assert (copy.body, copy.revisit) == (b"<p>second words", True)
    assert copy.checked_at == copy.fetched_at > 1.8e9


def _places(home: Path) -> dict[str, Locator]:
    committed = read_committed(home / "warc")
    assert committed is not None
    return {capture.url: capture.stored for capture in Captures(home / "warc").after({}, committed)}
