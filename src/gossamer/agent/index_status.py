"""How far an index is, in a small file in it."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

_NAME: Final = "indexer.json"


class IndexStatus(msgspec.Struct):
    """How far the index is, for people and for the crawl that waits for it."""

    pages: int = 0  # that can be found
    done: int = 0  # bytes of the store's lists of captures
    total: int = 0
    stale: bool = False  # pages are still to be written again with links that came later
    skipped: int = 0  # that could not be read, in this run
    taken: int = 0  # captures, in this run
    pid: int = 0
    updated_at: float = 0.0
    again: str = ""  # why it is being made again, if it is

    @property
    def caught_up(self) -> bool:
        return self.done >= self.total and not self.stale


def read_status(path: Path) -> IndexStatus | None:
    """What the process that writes the index at `path` said last."""
    try:
        return msgspec.json.decode((path / _NAME).read_bytes(), type=IndexStatus)
    except (OSError, msgspec.MsgspecError):
        return None


def status_of_all(found: Iterable[IndexStatus | None]) -> IndexStatus | None:
    """Of the indexes of several agents; None where none has one."""
    known = [status for status in found if status is not None]
    if len(known) < 2:
        return known[0] if known else None
    return IndexStatus(
        sum(status.pages for status in known),
        sum(status.done for status in known),
        sum(status.total for status in known),
        any(status.stale for status in known),
        sum(status.skipped for status in known),
        sum(status.taken for status in known),
        0,
        max(status.updated_at for status in known),
    )


def write_status(path: Path, status: IndexStatus) -> None:
    """Whole or not at all."""
    with suppress(OSError):
        fresh = path / f"{_NAME}.new"
        fresh.write_bytes(msgspec.json.encode(status))
        fresh.replace(path / _NAME)
