"""Where a page is stored."""

from __future__ import annotations

import msgspec


class Locator(msgspec.Struct, frozen=True, gc=False):
    """A record in the WARC file of this number: one gzip member at `offset`, `length` bytes long."""

    file: int
    offset: int
    length: int
