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
from gossamer.frontier.keys import META, pack_history, partition_prefix, read_visit
from gossamer.index import Entry, IndexWriter
from gossamer.model import Page, State
from gossamer.store import CommittedNote, Store, StorePosition, payload_digest


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


def append(
    home: Path,
    url: str,
    status: int,
    body: str,
    change: str = "",
    same_as: tuple[bytes, tuple[str, float]] | None = None,
) -> tuple[bytes, tuple[str, float]]:
    """One more capture, committed as the crawl does it; gives what another one may be the `same_as`: the digest, URL
    and moment of the record with the payload. The visit is as the crawl would have settled it.
    """
    database = Database(home / "frontier", 8 << 20)
    position = msgspec.msgpack.decode(database.visit(META + b"store") or b"", type=StorePosition)
    store = Store(home / "warc", load(home / "gossamer.toml").store, position, "test")
    head = b"HTTP/1.1 %d X\r\nContent-Type: text/html\r\n\r\n" % status
    raw = body.encode()
    page = Page(url, status, head, raw, raw, 1.8e9 + position.writers[""].cdxj, 0.0, "", content_type="text/html")
    digest, refers_to = same_as or (payload_digest(raw), None)
    stored = store.append(page, digest, refers_to, change)
    position = store.sync()
    _settle(database, page, stored, digest, change)
    database.visits[META + b"store"] = msgspec.msgpack.encode(position)
    database.commit()
    database.close()
    store.close()
    note = CommittedNote(home / "warc")
    note.write(position)
    note.close()
    return same_as or (digest, (url, page.fetched_at))


def _settle(database: Database, page: Page, stored: tuple[int, int, int], digest: bytes, change: str) -> None:
    """What has not changed stays where it is stored, and has been looked at."""
    for partition in range(256):
        for key, value in database.scan_visits(partition_prefix(partition) + b"v"):
            known = read_visit(key, value)
            if known.url == page.url:
                status, place = page.status, stored
                if change == "same" and known.stored is not None:
                    status, place = known.status, msgspec.structs.astuple(known.stored)
                    digest = bytes.fromhex(known.digest)
                database.visits[key] = pack_history(
                    State.FETCHED, known.depth, status, page.fetched_at, 1, place, digest
                )
                return
