"""Where a page is stored."""

from __future__ import annotations

import msgspec


class Locator(msgspec.Struct, frozen=True, gc=False):
    """A record in a WARC file: one gzip member at `offset`, `length` bytes long."""

    file: str
    offset: int
    length: int
