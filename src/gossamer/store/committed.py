"""How far the store is committed, in a small file beside it, for those who follow a crawl.

The frontier's database knows it, too, and is what counts. But following a database means reading all that is written to
it, only to learn two numbers a second. The file is written after the commit, so it never says more than is durable.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from zlib import crc32

import msgspec

from gossamer.store.store import StorePosition

_NAME = "committed"
_LONGEST = 1 << 20


class CommittedNote:
    """Invariant: what is noted was durable before. A crawl never fails because of it."""

    def __init__(self, home: Path) -> None:
        self._file = -1
        with suppress(OSError):
            self._file = os.open(home / _NAME, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)

    def write(self, position: StorePosition) -> None:
        """In one call and without waiting for the disk: a reader who sees half of it knows by the checksum."""
        data = msgspec.msgpack.encode(position)
        with suppress(OSError):
            os.pwrite(self._file, crc32(data).to_bytes(4, "big") + len(data).to_bytes(4, "big") + data, 0)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def read_committed(home: Path) -> StorePosition | None:
    """The last position noted; None where there is none, or where it is just being written."""
    try:
        with open(home / _NAME, "rb") as file:
            note = file.read(_LONGEST)
    except OSError:
        return None
    data = note[8 : 8 + int.from_bytes(note[4:8], "big")]
    if len(note) < 8 or crc32(data) != int.from_bytes(note[:4], "big"):
        return None
    try:
        return msgspec.msgpack.decode(data, type=StorePosition)
    except msgspec.MsgspecError:
        return None
