"""A crawl to which lines are added that visits to known pages would have made."""

from __future__ import annotations

from pathlib import Path

import msgspec
from crawling import crawl

from gossamer.agent.reading import read_progress, read_visits
from gossamer.config import FrontierConfig, PolicyConfig
from gossamer.frontier import Frontier
from gossamer.frontier.reader import FrontierReader
from gossamer.rules.policy import Policy
from gossamer.rules.scope import Scope
from gossamer.store import StorePosition
from gossamer.store.cdxj import line_here
from gossamer.store.writer import Position, cdxj_name
from gossamer.testing import TinyWeb
from gossamer.testing.web import End, Reply

PAGES = ["http://a.test/", "http://a.test/1", "http://a.test/2", "http://b.test/"]


def make(home: Path) -> None:
    """Four pages of two hosts, and of everything that is stored and no page: robots.txt, a sitemap under a name that
    says nothing, a redirect, a missing page; one that is dead.
    """
    with TinyWeb() as web:
        web.add_robots("a.test", "User-agent: *\nSitemap: http://a.test/list\n")
        sitemap = b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://a.test/2</loc></url></urlset>'
        web.add_page("http://a.test/list", body=sitemap, headers={"Content-Type": "application/xml"})
        web.add_page("http://a.test/", ["/1", "/moved", "/none", "/broken", "http://b.test/"])
        web.add_page("http://a.test/1", body=b"<p>one")
        web.add_page("http://a.test/2", body=b"<p>two")
        web.add_redirect("http://a.test/moved", "/1")
        web.add_handler("http://a.test/broken", lambda request: Reply((), End.RESET))
        web.add_page("http://b.test/", body=b"<p>one")  # the same payload: its record is a revisit
        crawl(home, ["http://a.test/"], web.connect, max_tries=1)


def position_of(home: Path, scratch: Path) -> StorePosition:
    reader = FrontierReader(home / "frontier", scratch)
    try:
        stored = reader.meta("store")
    finally:
        reader.close()
    assert stored is not None
    return msgspec.msgpack.decode(stored, type=StorePosition)


def found(
    home: Path,
    scratch: Path,
    *changes: tuple[str, str],
    status: int = 200,
    at: float | None = None,
    directory: Path | None = None,
) -> float:
    """As if visits at this moment, usually a minute after the last ones, had found these changes; gives the moment."""
    position = position_of(home, scratch)
    at = max(visit.fetched_at for visit in read_visits(home)) + 60 if at is None else at
    name, path = (str(directory), directory) if directory else ("", home / "warc")
    path.mkdir(exist_ok=True)
    end = position.writers.get(name, Position())
    last = position.last
    if end.file < 0:
        last += 1
        end = Position(last, 0, 0)
    text = ""
    for number, (url, change) in enumerate(changes):
        text += line_here((url, at, "text/html", status, number.to_bytes(20, "big"), 0, 9, change), "x")
    with (path / cdxj_name(end.file)).open("a") as file:
        file.write(text)
    position = StorePosition(last, {**position.writers, name: Position(end.file, end.warc, end.cdxj + len(text))})
    commit(home, {"store": msgspec.msgpack.encode(position)})
    return at


def commit(home: Path, notes: dict[str, bytes]) -> None:
    frontier = Frontier(home / "frontier", FrontierConfig(), Policy(PolicyConfig()), Scope("any"), None, 0.0)
    try:
        frontier.commit(notes, clean=True)
    finally:
        frontier.close()


def kept_fresh(home: Path, **fields: float) -> None:
    """The crawl's last word, as one that visits its pages again says it."""
    progress = read_progress(home)
    for name, value in {"keep_fresh": True, **fields}.items():
        setattr(progress, name, value)
    commit(home, {"progress": msgspec.msgpack.encode(progress)})
