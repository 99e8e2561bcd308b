"""The payload of a stored record, which of a revisit is in another one."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gossamer.model import Locator
from gossamer.store import Record, RecordFiles

Places = Callable[[tuple[str, float], bytes], Iterable[Locator]]
"""Where the response may be that a revisit refers to by URL and moment, and by its digest; the likeliest first."""


class Payloads:
    """Invariant: a payload that is given has the digest that its record names."""

    def __init__(self, files: RecordFiles, places: Places) -> None:
        self._files = files
        self._places = places

    def read(self, place: Locator) -> tuple[Record, bytes | None] | None:
        """The record there, and its payload, where that is to be had."""
        record = self._files.read(place)
        return None if record is None else (record, self.of(record))

    def of(self, record: Record) -> bytes | None:
        if record.refers_to is None:
            return record.raw
        for place in self._places(record.refers_to, record.digest):
            first = self._files.read(place)
            if first is not None and first.refers_to is None and first.digest == record.digest:
                return first.raw
        return None
