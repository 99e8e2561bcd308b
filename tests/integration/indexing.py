"""Crawls that are indexed in this process, and what their index holds, for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gossamer.agent import read_visits
from gossamer.agent.follower import Follower
from gossamer.index import Entry, IndexWriter
from gossamer.model import State


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
