"""What the store has of a page that is visited again, for the crawl that is still writing to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from gossamer.fetch.decode import decoded
from gossamer.model import Locator, Page

if TYPE_CHECKING:
    from gossamer.agent.payloads import Payloads
    from gossamer.store import RecordFiles


class EarlierCopy(msgspec.Struct, frozen=True):
    """A page as it was stored. A record that says that nothing has changed refers to `refers_to`, with `digest`."""

    status: int
    digest: bytes  # of the payload, SHA-1
    refers_to: tuple[str, float]  # URL and moment of the record with the payload, which may be another page's
    content_type: str | None
    body: bytes | None  # without encodings; None where it is not there, or was not asked for


class Earlier:
    """Invariant: changes nothing and never fails. What is not on disk (yet, or any more) is as if it had never been."""

    def __init__(
        self, directories: Iterable[Path], most: int, stored: Callable[[str], Locator | None] = lambda url: None
    ) -> None:
        """`most`: bytes of a body. `stored`: where the last response of a URL is; asked when a page that was the same
        as another is to be given with its body.
        """
        self._directories = directories
        self._most = most
        self._stored = stored
        self._opened: tuple[RecordFiles, Payloads] | None = None

    def _open(self) -> tuple[RecordFiles, Payloads]:
        from gossamer.agent.payloads import Payloads  # what reads the store, which most crawls never do
        from gossamer.store import RecordFiles

        files = RecordFiles(self._directories, self._most)
        return files, Payloads(files, self._places)

    def read(self, stored: Locator, with_body: bool = True) -> EarlierCopy | None:
        """The copy at this place; None where it cannot be read."""
        from gossamer.model.media_type import content_type_of

        files, payloads = self._opened = self._opened or self._open()
        record = files.read(stored)
        if record is None or not record.digest:
            return None
        raw = payloads.of(record) if with_body else None
        body = None if raw is None else decoded(record.head, raw, self._most).body
        refers_to = record.refers_to or (record.url, record.fetched_at)
        return EarlierCopy(record.status, record.digest, refers_to, content_type_of(record.head), body)

    def page(self, stored: Locator) -> Page | None:
        """The response at this place as it came; None where it cannot be read."""
        from gossamer.model.media_type import content_type_of

        files, payloads = self._opened = self._opened or self._open()
        record = files.read(stored)
        raw = None if record is None else payloads.of(record)
        if record is None or raw is None:
            return None
        return Page(
            record.url, record.status, record.head, raw, decoded(record.head, raw, self._most).body, record.fetched_at,
            0.0, record.address, content_type=content_type_of(record.head),
        )  # fmt: skip

    def close(self) -> None:
        if self._opened is not None:
            self._opened[0].close()

    def _places(self, refers_to: tuple[str, float], _: bytes) -> Iterator[Locator]:
        """To look further would take longer than a visit may."""
        place = self._stored(refers_to[0])
        if place is not None:
            yield place
