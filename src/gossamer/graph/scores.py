"""Scores of pages by their URLs, from a file that is mapped into memory."""

from __future__ import annotations

import mmap
import os
import struct
import sys
from bisect import bisect_left
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gossamer.errors import DamagedError
from gossamer.graph.frame import key_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SCORES: Final = "scores.bin"
_MAGIC: Final = b"gossamer scores\x01"
_HEAD: Final = struct.Struct("<16sQQ")  # magic, pages, links


def write_scores(path: Path, keys: NDArray[np.uint64], scores: NDArray[np.float64], links: int) -> None:
    """`keys` in order. 12 bytes a page; on the disk when this returns."""
    with open(path, "wb") as file:
        file.write(_HEAD.pack(_MAGIC, len(keys), links))
        keys.astype("<u8", copy=False).tofile(file)
        scores.astype("<f4").tofile(file)
        file.flush()
        os.fsync(file.fileno())


class RankReader:
    """What `gossamer rank` has found of each page, stored or only linked to.

    Invariant: it shows one result, also when a newer one has taken its place; memory is that of the pages of the file
    that were looked at, which the system takes back when it needs them.
    """

    def __init__(self, home: Path) -> None:
        """`home` is that of the crawl. Raises FileNotFoundError where it has no ranks."""
        path = home / "rank" / SCORES
        with open(path, "rb") as file:
            self.identity = identity_of(file.fileno())
            size = os.fstat(file.fileno()).st_size
            if size < _HEAD.size:
                raise _damaged(path)
            self._map = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        magic, pages, links = _HEAD.unpack_from(self._map)
        self.pages: int = pages
        self.links: int = links
        if magic != _MAGIC or size != _HEAD.size + 12 * self.pages or sys.byteorder != "little":
            self._map.close()
            raise _damaged(path)
        middle = _HEAD.size + 8 * self.pages
        self._view = memoryview(self._map)
        self._keys = self._view[_HEAD.size : middle].cast("Q")
        self._scores = self._view[middle:].cast("f")

    def __len__(self) -> int:
        return self.pages

    @classmethod
    def of(cls, home: Path) -> RankReader | None:
        """None where the crawl has no ranks."""
        try:
            return cls(home)
        except FileNotFoundError:
            return None

    def score(self, url: str) -> float | None:
        """The PageRank of a normalised URL: all together are 1. None where nothing that was ranked links to it. A
        redirect has the score of the page it leads to.
        """
        return self.score_of(key_of(url))

    def score_of(self, key: int) -> float | None:
        at = bisect_left(self._keys, key)
        if at == self.pages or self._keys[at] != key:
            return None
        score: float = self._scores[at]
        return score

    def mean(self) -> float:
        """The score of a page if all were alike."""
        return 1.0 / max(1, self.pages)

    def worth(self, key: int) -> int | None:
        """How many average links bring as much as those to this page do. `key` may have a sign, as SQLite has it."""
        score = self.score_of(key & 0xFFFF_FFFF_FFFF_FFFF)
        return None if score is None else round(score * self.links)

    def close(self) -> None:
        self._keys.release()
        self._scores.release()
        self._view.release()
        self._map.close()


def identity_of(file: int | Path) -> tuple[int, int, int]:
    """By what one result is told from another. Raises FileNotFoundError where there is none."""
    found = os.stat(file)
    return found.st_dev, found.st_ino, found.st_mtime_ns


def _damaged(path: Path) -> DamagedError:
    return DamagedError(f"{path} is not what gossamer rank writes. Run gossamer rank again.")
