"""Contents that were met before, told in memory from those that are new, as most are: the disk need not be asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from gossamer.frontier.database import Database

_LINE: Final = 64  # bytes: what a processor reads at once
_BITS: Final = 6  # of a line, for each key
_TABLE: Final = 2 << 20  # bytes
_MOST_TABLES: Final = 8
_ROOM: Final = _TABLE * 8 // 10  # keys of a table: with ten bits each it takes one new key in a hundred for an old one
_AT_ONCE: Final = 20_000  # keys read from disk between two commits: some 10 ms


def mark_here(table: bytearray, keys: Iterable[bytes]) -> None:
    """Set the bits of some keys. The first four bytes of a key name a line, those up to the twelfth bits of it."""
    lines = len(table) // _LINE
    for key in keys:
        start, bits = _place(key, lines)
        for bit in bits:
            table[start + bit // 8] |= 1 << bit % 8


def marked_here(tables: Sequence[bytearray], keys: Iterable[bytes]) -> bool:
    """Whether one of the keys has all of its bits in one of the tables, which are equally large."""
    for key in keys:
        start, bits = _place(key, len(tables[0]) // _LINE)
        for table in tables:
            if all(table[start + bit // 8] >> bit % 8 & 1 for bit in bits):
                return True
    return False


def _place(key: bytes, lines: int) -> tuple[int, list[int]]:
    if len(key) < 12:
        raise ValueError("a key has at least twelve bytes")
    bits = int.from_bytes(key[4:12], "little")
    return int.from_bytes(key[:4], "little") % lines * _LINE, [bits >> 9 * nth & 511 for nth in range(_BITS)]


try:
    from gossamer.frontier import _contents

    mark, marked = _contents.mark, _contents.marked
except ImportError:  # no compiler was at hand when it was installed
    mark, marked = mark_here, marked_here


class Contents:
    """Keys of contents, which are hashes, in tables of bits. One table follows the other as the crawl grows, up to
    16 MB; beyond that more and more of what is new has to be asked of the disk.

    Invariant: nothing that was added, or that the database has, is called new.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._tables = [bytearray(_TABLE)]
        self._room = _ROOM  # in the last of them
        self._read: bytes | None = b""  # up to here what earlier runs have met; None: all of it
        self.read_on()

    def are_new(self, keys: tuple[bytes, ...]) -> bool:
        """Whether none of these was met; if not, the database knows."""
        return self._read is None and not marked(self._tables, keys)

    def add(self, keys: Sequence[bytes]) -> None:
        if self._room <= 0 and len(self._tables) < _MOST_TABLES:
            self._tables.append(bytearray(_TABLE))
            self._room = _ROOM
        self._room -= len(keys)
        mark(self._tables[-1], keys)

    def read_on(self) -> None:
        """Some more of what earlier runs have met. While there is any left, nothing is called new."""
        if self._read is not None:
            found = self._database.payload_keys(self._read, _AT_ONCE)
            self._read = found[-1] if len(found) == _AT_ONCE else None
            self.add(found)
