"""What unit tests share."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from searched import NOW, Finder

from gossamer.index import Entry, IndexWriter, Search


@pytest.fixture
def indexed(tmp_path: Path) -> Iterable[Finder]:
    """Gives a search of these entries."""
    opened: list[Search] = []

    def index(*lists: list[Entry]) -> Search:
        paths = []
        for entries in lists:
            paths.append(tmp_path / f"index{len(opened)}-{len(paths)}")
            writer = IndexWriter(paths[-1], 15_000_000)
            writer.upsert(entries)
            writer.commit(b"")
            writer.close()
        opened.append(Search(paths, clock=lambda: NOW))
        return opened[-1]

    yield index
    for search in opened:
        search.close()
