"""Stored pages by their URL: what the crawl in a directory last fetched, also while it runs."""

from __future__ import annotations

import shutil
import tempfile
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Lock
from typing import Self

import msgspec

from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.payloads import Payloads
from gossamer.config import load
from gossamer.fetch.decode import decoded
from gossamer.frontier.reader import FrontierReader
from gossamer.model import Locator, Page
from gossamer.model.media_type import content_type_of
from gossamer.model.post import known_as
from gossamer.store import Capture, Captures, Place, Record, RecordFiles, StorePosition, directories_of, places_at

_FRESH = 1.0  # seconds: the crawl commits once a second


class StoredPage(msgspec.Struct, frozen=True):
    """A response as it was stored. `body` has transfer and content encodings taken off."""

    url: str
    status: int
    headers: list[tuple[str, str]]
    body: bytes
    content_type: str | None
    fetched_at: float
    locator: Locator
    digest: bytes  # SHA-1 of the payload as sent
    revisit: bool = False  # the payload was stored before, with another page or visit
    truncated: str = ""  # why the end is missing: length, time, disconnect
    head: bytes = b""  # status line and header lines as sent
    checked_at: float = 0.0  # when it was last found to be so: later than `fetched_at` where it had not changed


class PageReader:
    """For any number of threads. Takes no lock of the crawl's, and sees what is committed, a second later at most.

    Invariant: the payload given has the digest that the record names.
    """

    def __init__(self, home: Path, clock: Callable[[], float] = time.monotonic) -> None:
        directory = CrawlDir(home)
        directory.check_readable()
        self._warc = directory.warc
        self._most = load(directory.settings, resumed=True).fetch.max_body
        self._clock = clock
        self._lock = Lock()
        self._refreshing = Lock()
        scratch = tempfile.mkdtemp(prefix="gossamer-")
        self._clean = weakref.finalize(self, shutil.rmtree, scratch, ignore_errors=True)  # also of one that is let go
        try:
            self._frontier = FrontierReader(directory.frontier, Path(scratch))
        except BaseException:
            self._clean()
            raise
        self._refreshed = clock()
        self._files = RecordFiles([self._warc], self._most)
        self._payloads = Payloads(self._files, self._places)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        with self._lock:
            self._files.close()
            self._frontier.close()
            self._clean()

    def by_url(self, url: str) -> StoredPage | None:
        """The last response stored for this URL, whatever its status; None where there is none."""
        known = known_as(url)
        if known is None:
            return None
        with self._lock:
            self._refresh()
            visit = self._frontier.visit(known)
            found = None if visit is None or visit.stored is None else self._payloads.read(visit.stored)
        if visit is None or visit.stored is None or found is None or found[1] is None:
            return None
        return stored_page(found[0], found[1], visit.stored, self._most, visit.fetched_at)

    def by_place(self, place: Locator) -> StoredPage | None:
        """The response at this place."""
        with self._lock:
            self._refresh()
            found = self._payloads.read(place)
        return None if found is None or found[1] is None else stored_page(found[0], found[1], place, self._most)

    def as_sent(self, place: Locator) -> tuple[int, bytes, bytes] | None:
        """Return status, head and body of the response at this place, with the encodings in which it was sent."""
        with self._lock:
            self._refresh()
            found = self._payloads.read(place)
        return None if found is None or found[1] is None else (found[0].status, found[0].head, found[1])

    def captures(self) -> Iterator[Capture]:
        """Yield every capture that is committed, in the order of storing."""
        with self._lock:
            self._refresh()
            committed = self._position()
        return Captures(self._warc).after({}, committed)

    @property
    def frontier(self) -> FrontierReader:
        """As of a second ago at most. While one thread makes it so, the others read on."""
        now = self._clock()
        if now - self._refreshed >= _FRESH and self._refreshing.acquire(blocking=False):
            try:
                self._frontier.refresh()
                self._refreshed = now
            finally:
                self._refreshing.release()
        return self._frontier

    def _refresh(self) -> None:
        _ = self.frontier
        self._files.directories = list(directories_of(self._warc, self._position()).values())

    def _position(self) -> StorePosition:
        stored = self._frontier.meta("store")
        return StorePosition() if stored is None else msgspec.msgpack.decode(stored, type=StorePosition)

    def _places(self, refers_to: tuple[str, float], digest: bytes) -> Iterator[Locator]:
        """Mostly where the URL is stored now; or else in an older capture of it, which its moment leads to. Only if the
        clock was put back all lines must be looked through.
        """
        visit = self._frontier.visit(refers_to[0])
        if visit is not None and visit.stored is not None:
            yield visit.stored
        ends = {name: Place(end.file, end.cdxj) for name, end in self._position().writers.items()}
        yield from places_at(self._warc, ends, refers_to, digest)
        yield from Captures(self._warc).places_of(refers_to[0], ends, digest)


def stored_page(record: Record, raw: bytes, place: Locator, most: int, checked_at: float = 0.0) -> StoredPage:
    headers = Page(record.url, record.status, record.head, b"", b"", 0.0, 0.0, "").headers
    return StoredPage(
        record.url,
        record.status,
        headers,
        decoded(record.head, raw, most).body,
        content_type_of(record.head),
        record.fetched_at,
        place,
        record.digest,
        record.refers_to is not None,
        record.truncated,
        record.head,
        max(checked_at, record.fetched_at),
    )
