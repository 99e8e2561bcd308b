"""Frames to numbers: every page of the graph has one, and of each only its last capture counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from gossamer.graph.edges import distinct
from gossamer.graph.frame import GONE, REDIRECT, Frame
from gossamer.graph.log import Held

Numbers = NDArray[np.uint32]
Watch = Callable[[int, int], None]
"""So many frames of how many are done."""

_AT_ONCE: Final = 4_000_000  # hashes gathered before they are put in order
_MOST_PAGES: Final = 0xFFFF_FFF0
_HOPS: Final = 32  # of redirects, doubled each time


class Counted:
    """One frame with numbers of the whole graph: of its URLs, and of its pages with how many targets each has."""

    __slots__ = ("counts", "moments", "numbers", "sources", "targets")

    def __init__(self, frame: Frame, numbers: Numbers) -> None:
        counts = np.frombuffer(frame.counts, "<u4")
        self.numbers = numbers
        self.sources = numbers[np.frombuffer(frame.sources, "<u4")]
        self.moments = np.frombuffer(frame.moments, "<u8")
        self.counts = counts
        self.targets = numbers[places_of(frame)]


def lengths_of(counts: Numbers) -> NDArray[np.int64]:
    return np.where(counts >= GONE, counts == REDIRECT, counts).astype(np.int64)


def places_of(frame: Frame) -> NDArray[np.int64]:
    """Of all targets, page by page, the place among the frame's URLs: what is on disk are differences."""
    lengths = lengths_of(np.frombuffer(frame.counts, "<u4"))
    sums = np.cumsum(np.frombuffer(frame.targets, "<u4"), dtype=np.int64)
    before = np.concatenate(([0], sums))[np.cumsum(lengths) - lengths]
    places: NDArray[np.int64] = sums - np.repeat(before, lengths)
    return places


class Numbering:
    """All URLs of the graph. Invariant: a page's number is the place of its hash among all, in order.

    In memory are a few numbers a page. What belongs to frames is on disk, in `scratch`.
    """

    def __init__(self, frames: Sequence[Held], scratch: Path, watch: Watch = lambda done, total: None) -> None:
        self._frames = frames
        self._watch = watch
        self._path = scratch / "numbers"
        self._sizes: list[int] = []
        self.keys = self._gathered(scratch / "hashes")
        self.hosts: list[str] = []
        self.host_of: Numbers = np.zeros(len(self.keys), np.uint32)
        self.stored = np.zeros(len(self.keys), bool)
        self.goes_to: Numbers = np.arange(len(self.keys), dtype=np.uint32)
        """Of a redirect the page that it leads to in the end; of others themselves."""
        self._newest = np.zeros(len(self.keys), np.uint64)
        self._number(scratch / "hashes")
        self._follow_redirects()

    def __len__(self) -> int:
        return len(self.keys)

    def _gathered(self, path: Path) -> NDArray[np.uint64]:
        """The hashes of all URLs, in order, each once; those of each frame go to the disk on the way."""
        keys = np.empty(0, np.uint64)
        waiting: list[NDArray[np.uint64]] = []
        with open(path, "wb") as out:
            for number, held in enumerate(self._frames):
                urls = held.read().urls
                hashes = np.fromiter(map(xxh3_64_intdigest, urls), np.uint64, len(urls))
                hashes.tofile(out)
                self._sizes.append(len(urls))
                waiting.append(hashes)
                if sum(map(len, waiting)) >= _AT_ONCE:
                    keys, waiting = distinct(np.concatenate([keys, *waiting])), []
                self._watch(number + 1, 3 * len(self._frames))
        keys = distinct(np.concatenate([keys, *waiting]))
        if len(keys) > _MOST_PAGES:
            raise ValueError(f"more than {_MOST_PAGES:,} pages")
        return keys

    def _number(self, path: Path) -> None:
        """Second time over: numbers for hashes, hosts of URLs, and the last capture of each page."""
        hosts: dict[bytes, int] = {}
        known = np.zeros(len(self.keys), bool)
        with open(path, "rb") as hashes, open(self._path, "wb") as out:
            for number, held in enumerate(self._frames):
                found = np.fromfile(hashes, np.uint64, self._sizes[number])
                order = np.argsort(found)
                numbers = np.empty(len(found), np.uint32)
                numbers[order] = np.searchsorted(self.keys, found[order])
                numbers.tofile(out)
                frame = held.read()
                fresh = np.flatnonzero(~known[numbers])
                known[numbers] = True
                self.host_of[numbers[fresh]] = _numbered_hosts(frame.urls, fresh, hosts)
                counted = Counted(frame, numbers)
                np.maximum.at(self._newest, counted.sources, counted.moments)
                self._watch(len(self._frames) + number + 1, 3 * len(self._frames))
        path.unlink()
        self.hosts = [name.decode("ascii", "replace") for name in hosts]

    def frames(self, step: int | None = None) -> Iterator[tuple[Frame, Counted]]:
        """Every frame with its numbers; `step` says for which of three times over this counts as progress."""
        with open(self._path, "rb") as file:
            for number, held in enumerate(self._frames):
                frame = held.read()
                yield frame, Counted(frame, np.fromfile(file, np.uint32, self._sizes[number]))
                if step is not None:
                    self._watch(step * len(self._frames) + number + 1, 3 * len(self._frames))

    def last_captures(self, counted: Counted, taken: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which pages of a frame are here as they were seen last. `taken` are pages that were met before: the same
        capture may be there twice.
        """
        good = (self._newest[counted.sources] == counted.moments) & ~taken[counted.sources]
        first = np.zeros(len(good), bool)
        places = np.flatnonzero(good)
        first[places[np.unique(counted.sources[places], return_index=True)[1]]] = True
        taken[counted.sources[first]] = True
        return first

    def _follow_redirects(self) -> None:
        """Chains are followed to their end. Redirects that lead in a circle lead nowhere: they are pages."""
        taken = np.zeros(len(self.keys), bool)
        goes_to = self.goes_to
        for _, counted in self.frames():
            last = self.last_captures(counted, taken)
            self.stored[counted.sources[last & (counted.counts < GONE)]] = True
            lengths = lengths_of(counted.counts)
            redirects = last & (counted.counts == REDIRECT)
            firsts = np.cumsum(lengths) - lengths
            goes_to[counted.sources[redirects]] = counted.targets[firsts[redirects]]
        own = np.arange(len(goes_to), dtype=np.uint32)
        step = goes_to.copy()
        for _ in range(_HOPS):
            after = step[step]
            if np.array_equal(after, step):
                break
            step = after
        # What is no page by now never comes to one: a circle, or what leads into it.
        ends = goes_to[step] == step
        self.goes_to = np.where(ends, step, own)


def _numbered_hosts(urls: list[bytes], fresh: NDArray[np.int64], hosts: dict[bytes, int]) -> list[int]:
    names = (urls[place].split(b"/", 3)[2] for place in fresh.tolist())
    return [hosts.setdefault(name, len(hosts)) for name in names]
