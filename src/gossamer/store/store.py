"""The store: one writer for each directory (K7), each page to the one that is furthest behind its share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from gossamer.config import StoreConfig, store_directory
from gossamer.model import Page
from gossamer.store.warc import payload_digest
from gossamer.store.writer import KEYS, Position, Writer, has_old_keys, rewrite_old_keys


class StorePosition(msgspec.Struct, frozen=True):
    """How far the store had come at a commit: the highest file number, and the position in each directory."""

    last: int = -1
    writers: dict[str, Position] = {}

    def is_beyond(self, other: StorePosition) -> bool:
        """Whether anything is before this one that is not before the other."""
        return any(mine.is_beyond(other.writers.get(name, Position())) for name, mine in self.writers.items())


def _with_keys_of_today(home: Path, position: Position, notice: Callable[[str], None]) -> Position:
    """Where a directory that is no longer given cannot be written to, it stays as it is until it can."""
    if not has_old_keys(position) or not home.is_dir():
        return position
    try:
        rewrite_old_keys(home, position, notice)
    except OSError:
        return position
    return msgspec.structs.replace(position, keys=KEYS)


class Store:
    """Invariant: file numbers are unique over all directories, and a page is in exactly one of them."""

    def __init__(
        self,
        home: Path,
        config: StoreConfig,
        position: StorePosition,
        software: str,
        notice: Callable[[str], None] = lambda _: None,
    ) -> None:
        directories = {"": (home, 1.0)}
        for text in config.directories:
            path, share = store_directory(text)
            directories[str(path.absolute())] = (path, share)
        self._last = position.last
        self._writers = {
            name: Writer(
                path, config, position.writers.get(name, Position()), software, position.last, self._next_number, notice
            )
            for name, (path, _) in directories.items()
        }
        self._before = {  # directories that were given once stay known
            name: end if name in self._writers else _with_keys_of_today(Path(name), end, notice)
            for name, end in position.writers.items()
        }
        self._shares = [(self._writers[name], share) for name, (_, share) in directories.items()]

    def append(
        self, page: Page, digest: bytes | None = None, same_as: tuple[str, float] | None = None, change: str = ""
    ) -> tuple[int, int, int]:
        """Store a page; gives (file number, offset, length) of its record.

        `same_as`: the URL and moment of a page stored before with the same payload, which is not stored again. With it
        a response 304, which has no payload, is stored as what it says; `digest` is that of the payload referred to.
        `change`: how a page that was visited before compares with then.
        """
        digest = digest or payload_digest(page.raw)
        if len(self._shares) == 1:
            return self._shares[0][0].append(page, digest, same_as, change)
        open_ones = [item for item in self._shares if item[0].has_room] or self._shares
        writer, _ = min(open_ones, key=lambda item: item[0].written / item[1])
        return writer.append(page, digest, same_as, change)

    @property
    def directories(self) -> list[Path]:
        """All in which there may be WARC files."""
        own = self._writers.values()
        before = [Path(name) for name in self._before if name and name not in self._writers]
        return [*(writer.home for writer in own), *before]

    def sync(self) -> StorePosition:
        """Everything appended so far is on disk when this returns."""
        positions = {name: writer.sync() for name, writer in self._writers.items()}
        return StorePosition(self._last, {**self._before, **positions})

    def close(self) -> None:
        for writer in self._writers.values():
            writer.close()

    def _next_number(self) -> int:
        self._last += 1
        return self._last
