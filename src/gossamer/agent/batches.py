"""Captures ahead of the index, a batch at a time: what is to be read of each, and from where."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec

from gossamer.agent.indexing import REDIRECTS, Verdict, is_robots, judge, may_be_page
from gossamer.agent.page_work import Read
from gossamer.graph.frame import moment_of
from gossamer.index.backlinks import Kept, Linked
from gossamer.model import Change, Locator, Page
from gossamer.model.media_type import content_type_of
from gossamer.model.url import normalize
from gossamer.store import Capture, Captures, Place, RecordFiles, StorePosition, directories_of, places_at

_PAGES: Final = 32  # of a batch
_BYTES: Final = 1 << 20  # of their records, packed
_PASSED: Final = 5_000  # captures of a batch, most of which need no reading
_MOST_SEARCHES: Final = 20  # through all captures, in one run


class Wanted(msgspec.Struct, gc=False):
    """What becomes of a page: it is read from there; or, if there is no place, it is gone, or leads elsewhere, or both,
    or cannot be read.
    """

    url: str
    record: Locator | None = None
    payload: Locator | None = None
    why: str = ""
    gone: bool = False
    target: str = ""  # of a redirect
    moment: int = 0  # of the capture, for the link graph
    linked: Linked = Linked()
    blocked: bool = False

    @property
    def task(self) -> Read | None:
        if self.record is None or self.payload is None:
            return None
        return Read(self.url, self.record, self.payload, self.linked, self.blocked)


class Batch(msgspec.Struct):
    """Pages in the order of their captures, and how far those reach."""

    pages: list[Wanted] = []
    places: dict[str, Place] = {}
    captures: int = 0


class Batches:
    """Invariant: each capture is in one batch, and batches come in the order of captures."""

    def __init__(self, warc: Path, most: int, kept: Callable[[str], Kept | None], same: bool = True) -> None:
        """`same`: pages that have not changed are read, too, where nothing is kept of them."""
        self._captures = Captures(warc)
        self._warc = warc
        self._files = RecordFiles([warc], most)
        self._kept = kept
        self._same = same
        self._ahead: dict[str, Locator] = {}  # payloads of pages that are in a batch and not in the index yet
        self._searches = 0
        self.places: dict[str, Place] = {}

    @property
    def directories(self) -> list[str]:
        return list(map(str, self._files.directories))

    def check(self, places: dict[str, Place], committed: StorePosition) -> dict[str, Place]:
        """From where to go on, if those are the places reached."""
        self.places = self._captures.checked(places, committed)
        return dict(self.places)

    def sizes(self, places: dict[str, Place], committed: StorePosition) -> tuple[int, int]:
        return self._captures.sizes(places, committed)

    def after(self, committed: StorePosition) -> Iterator[Batch]:
        """Of all captures up to there that are in none yet."""
        self._files.directories = list(directories_of(self._warc, committed).values())
        captures = self._captures.after(self.places, committed)
        while (batch := self._next(captures)).captures:
            yield batch

    def _next(self, captures: Iterator[Capture]) -> Batch:
        batch = Batch()
        size = reads = 0
        for capture in islice(captures, _PASSED):
            self.places[capture.directory] = batch.places[capture.directory] = capture.after
            batch.captures += 1
            verdict = judge(capture)
            target = self._target(capture) if capture.status in REDIRECTS else ""
            moment = moment_of(capture.fetched_at, capture.stored.offset)
            if verdict is Verdict.GONE or target:
                gone = verdict is Verdict.GONE
                batch.pages.append(Wanted(capture.url, gone=gone, target=target, moment=moment))
            elif verdict is Verdict.READ and (wanted := self._wanted(capture)) is not None:
                wanted.moment = moment
                batch.pages.append(wanted)
                size += capture.stored.length
                reads += 1
                if reads >= _PAGES or size >= _BYTES:
                    break
        return batch

    def _target(self, capture: Capture) -> str:
        """Where a redirect leads."""
        record = None if is_robots(capture) else self._files.read(capture.stored)
        if record is None or record.url != capture.url:
            return ""
        location = Page(record.url, record.status, record.head, b"", b"", 0.0, 0.0, "").header("location")
        return normalize(location, record.url) or "" if location else ""

    def _wanted(self, capture: Capture) -> Wanted | None:
        place = capture.stored
        if capture.change == Change.SAME and (not self._same or self._knows(capture.url)):
            return None
        if not capture.is_revisit:
            self._ahead[capture.url] = place
            return Wanted(capture.url, place, place)
        record = self._files.read(place)
        if record is None or record.refers_to is None:
            return Wanted(capture.url, place, place)
        if not may_be_page(content_type_of(record.head)):
            return None
        url = record.refers_to[0]
        for payload in self._places_of(record.refers_to, record.digest):
            first = self._files.read(payload)
            if first is not None and first.refers_to is None and first.digest == record.digest:
                self._ahead[capture.url] = payload
                return Wanted(capture.url, place, payload)
        if capture.change == Change.SAME:
            return None  # nor is what it is the same as
        return Wanted(capture.url, why=f"the payload it shares with {url[:500]} is not there")

    def _places_of(self, refers_to: tuple[str, float], digest: bytes) -> Iterator[Locator]:
        """Pages come in order, so the first one has been met; if it was fetched again since, its moment leads to the
        older capture. Only if the clock was put back that is looked for among all, which is slow and not done often.
        """
        url = refers_to[0]
        if url in self._ahead:
            yield self._ahead[url]
        kept = self._kept(url)
        if kept is not None and kept.digest == digest:
            yield kept.payload
        yield from places_at(self._warc, self.places, refers_to, digest)
        if self._searches < _MOST_SEARCHES:
            self._searches += 1
            yield from self._captures.places_of(url, self.places, digest)

    def _knows(self, url: str) -> bool:
        """Not if what came before it is not stored any more."""
        return url in self._ahead or self._kept(url) is not None

    def landed(self, page: Wanted) -> None:
        """What is known of it is in the index now."""
        if page.payload is not None and self._ahead.get(page.url) == page.payload:
            del self._ahead[page.url]

    def close(self) -> None:
        self._files.close()
