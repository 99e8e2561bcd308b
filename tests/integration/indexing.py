"""Crawls that are indexed in this process, and what their index holds, for tests."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec

from gossamer.agent import read_visits
from gossamer.agent.follower import Follower
from gossamer.config import load
from gossamer.frontier.database import Database
from gossamer.frontier.keys import META
from gossamer.index import Entry, IndexWriter
from gossamer.model import Page, State
from gossamer.store import CommittedNote, Store, StorePosition


def caught_up(home: Path, notices: list[str] | None = None, **more: Any) -> int:
    """Bring the index up to date; gives the number of pages in it."""
    follower = Follower(home, [].append if notices is None else notices.append, **more)
    try:
        return follower.catch_up().pages
    finally:
        follower.close()


def entries(home: Path, path: Path | None = None) -> dict[str, Entry]:
    """What the index has of every URL that the crawl knows."""
    writer = IndexWriter(path or home / "index", 15_000_000)
    try:
        found = {visit.url: writer.entry(visit.url) for visit in read_visits(home, State.FETCHED)}
    finally:
        writer.close()
    return {url: entry for url, entry in found.items() if entry is not None}


def reader(code: str, cpu: float = 60.0) -> tuple[str, ...]:
    """A process that reads pages, to each of which this happens first; `url` and `body` are its own. It has so many
    seconds of CPU for a page.
    """
    program = f"""
import os, signal, time
from gossamer.agent import indexing, page_worker
parse = indexing.parse
def odd(body, url, *more):
    {code}
    return parse(body, url, *more)
indexing.parse = odd
page_worker.CPU_SECONDS = {cpu}
page_worker.main()
"""
    return (sys.executable, "-c", program)


def append(home: Path, url: str, status: int, body: str) -> None:
    """One more capture, committed as the crawl does it."""
    database = Database(home / "frontier", 8 << 20)
    position = msgspec.msgpack.decode(database.visit(META + b"store") or b"", type=StorePosition)
    store = Store(home / "warc", load(home / "gossamer.toml").store, position, "test")
    head = b"HTTP/1.1 %d X\r\nContent-Type: text/html\r\n\r\n" % status
    raw = body.encode()
    store.append(
        Page(url, status, head, raw, raw, 1.8e9 + position.writers[""].cdxj, 0.0, "", content_type="text/html")
    )
    position = store.sync()
    database.visits[META + b"store"] = msgspec.msgpack.encode(position)
    database.commit()
    database.close()
    store.close()
    note = CommittedNote(home / "warc")
    note.write(position)
    note.close()
