"""Links by their targets, in order, each once; put so on disk, however many there are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

BLOCK: Final = 4_000_000
"""Links in hand at a time, about."""
_MOST_PARTS: Final = 256
_SOURCE: Final = np.uint64(0xFFFF_FFFF)
_HALF: Final = np.uint64(32)


def distinct(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Each once, in order. Sorts what it is given. (numpy's own takes four times as long, by hashes.)"""
    numbers.sort()
    if len(numbers) < 2:
        return numbers
    return numbers[np.concatenate(([True], numbers[1:] != numbers[:-1]))]


class Edges(msgspec.Struct):
    """The links to page n come from the pages `starts[n]` to `starts[n + 1]` of the file at `path`, 4 bytes each."""

    path: Path
    starts: NDArray[np.int64]
    out_degrees: NDArray[np.uint32]

    @property
    def nodes(self) -> int:
        return len(self.out_degrees)

    @property
    def links(self) -> int:
        return int(self.starts[-1])

    def blocks(self, most: int = BLOCK) -> Iterator[tuple[int, int, NDArray[np.uint32]]]:
        """From which page to which, and where the links to these come from. More than `most` links only where one page
        has more.
        """
        starts = self.starts
        with open(self.path, "rb") as file:
            first = 0
            while first < self.nodes:
                last = int(np.searchsorted(starts, starts[first] + most, "right")) - 1
                last = min(max(last, first + 1), self.nodes)
                yield first, last, np.fromfile(file, np.uint32, int(starts[last] - starts[first]))
                first = last


class EdgeSort:
    """Takes links in any order. Invariant: a link is in the part in which its target belongs."""

    def __init__(self, scratch: Path, name: str, nodes: int, block: int = BLOCK) -> None:
        self._path = scratch / name
        self._nodes = nodes
        self._block = block
        self._to = np.zeros(nodes, np.int64)
        self._file: IO[bytes] = open(self._path.with_suffix(".links"), "wb")  # noqa: SIM115 - closed by sorted
        self._links = 0

    def add(self, sources: NDArray[np.uint32], targets: NDArray[np.uint32]) -> None:
        """Links from a page to itself are left out."""
        others = sources != targets
        sources, targets = sources[others], targets[others]
        np.add.at(self._to, targets, 1)
        self._links += len(targets)
        ((targets.astype(np.uint64) << _HALF) | sources).tofile(self._file)

    def sorted(self) -> Edges:
        self._file.close()
        whole = self._path.with_suffix(".links")
        bounds = self._bounds()
        parts = [whole] if not len(bounds) else self._parted(whole, bounds)
        degrees, out_degrees = np.zeros(self._nodes, np.int64), np.zeros(self._nodes, np.uint32)
        with open(self._path, "wb") as out:
            for part in parts:
                keys = distinct(np.fromfile(part, np.uint64))
                part.unlink()
                sources = (keys & _SOURCE).astype(np.uint32)
                sources.tofile(out)
                np.add.at(out_degrees, sources, np.uint32(1))
                np.add.at(degrees, (keys >> _HALF).astype(np.int64), 1)
        whole.unlink(missing_ok=True)
        return Edges(self._path, np.concatenate(([0], np.cumsum(degrees))), out_degrees)

    def _bounds(self) -> NDArray[np.int64]:
        """Pages at which parts begin, but for the first: each with about a block of links to it."""
        most = max(self._block, -(-self._links // _MOST_PARTS))
        ends = np.cumsum(self._to)
        cuts = np.arange(most, self._links, most)
        return np.unique(np.searchsorted(ends, cuts) + 1)

    def _parted(self, whole: Path, bounds: NDArray[np.int64]) -> list[Path]:
        paths = [whole.with_suffix(f".{number}") for number in range(len(bounds) + 1)]
        with ExitStack() as opened:
            file = opened.enter_context(open(whole, "rb"))
            parts = [opened.enter_context(open(path, "wb")) for path in paths]
            while len(keys := np.fromfile(file, np.uint64, self._block)):
                places = np.searchsorted(bounds, (keys >> _HALF).astype(np.int64), "right")
                order = np.argsort(places, kind="stable")
                keys, cuts = keys[order], np.searchsorted(places[order], np.arange(len(bounds) + 2))
                for number, part in enumerate(parts):
                    keys[cuts[number] : cuts[number + 1]].tofile(part)
        return paths
