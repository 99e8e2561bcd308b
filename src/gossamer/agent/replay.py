"""The newest stored response of every URL of a crawl, as it was sent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple, Self

import xxhash

from gossamer.agent.indexing import is_robots
from gossamer.agent.pages import PageReader
from gossamer.agent.parts import readable_parts
from gossamer.model import Locator
from gossamer.model.url import host_of
from gossamer.store import Capture


class Listed(NamedTuple):
    """A URL with the status of its newest response."""

    url: str
    status: int


class Replay:
    """Stored responses by their URL, those to robots.txt among them, as of the moment it was opened.

    Invariant: of a URL the response fetched last is given, with the payload that was sent; a 304, with which none was
    sent, does not count.
    """

    def __init__(self, home: Path) -> None:
        self.hosts: set[str] = set()
        self.has_tls = False  # whether any URL is https
        self.first = ""  # URL of the page that was fetched first
        self._at: dict[int, tuple[PageReader, Locator]] = {}
        with ExitStack() as opened:
            self._readers = [opened.enter_context(PageReader(part.home)) for part in readable_parts(home)]
            self._fill()
            self._close = opened.pop_all().close

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def __len__(self) -> int:
        return len(self._at)

    def _fill(self) -> None:
        newest: dict[int, int] = {}  # only needed where several agents have fetched the same
        first = None
        for reader in self._readers:
            for capture in reader.captures():
                if capture.status == 304:
                    continue
                key = _key(capture.url)
                if len(self._readers) > 1:
                    if newest.get(key, 0) > capture.fetched_at:
                        continue
                    newest[key] = capture.fetched_at
                self._at[key] = reader, capture.stored
                self.hosts.add(host_of(capture.url))
                self.has_tls = self.has_tls or capture.url.startswith("https:")
                if not is_robots(capture) and (first is None or capture.fetched_at < first.fetched_at):
                    first = capture
        self.first = first.url if first else ""

    def listed(self) -> Iterator[Listed]:
        """Every URL once, in the order in which the newest responses were stored."""
        for reader in self._readers:
            for capture in reader.captures():
                if self._is_newest(reader, capture):
                    yield Listed(capture.url, capture.status)

    def _is_newest(self, reader: PageReader, capture: Capture) -> bool:
        return self._at.get(_key(capture.url)) == (reader, capture.stored)

    def find(self, url: str) -> tuple[int, bytes, bytes] | None:
        """Return status, head and body as sent, or None where nothing is stored or its file cannot be read."""
        found = self._at.get(_key(url))
        return None if found is None else found[0].as_sent(found[1])


def _key(url: str) -> int:
    """64 bits: of ten million URLs two share a key once in 370,000 such webs."""
    return xxhash.xxh3_64_intdigest(url.encode())
