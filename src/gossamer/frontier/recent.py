"""URLs seen a moment ago: most links of a page were (Mercator measured 85 %)."""

from __future__ import annotations

from array import array

_BEGIN = 1 << 16
_ROW = 8  # marks: as many as a processor reads at once


def fresh_here(table: array[int], urls: list[str]) -> list[str]:
    """Those whose hashes are not in the rows that their low bits name, each once; they are from now on, instead of the
    one that has been in its row for longest.
    """
    row = min(_ROW, len(table))
    mask = len(table) // row - 1
    found = []
    for url in urls:
        mark = hash(url)
        start = (mark & mask) * row
        if mark not in (marks := table[start : start + row]):
            marks.insert(0, mark)
            marks.pop()
            table[start : start + row] = marks
            found.append(url)
    return found


try:
    from gossamer.frontier import _recent

    fresh = _recent.fresh
except ImportError:  # no compiler was at hand when it was installed
    fresh = fresh_here


class Recent:
    """Fingerprints of URLs, 8 bytes each, every one in the row of slots that its low bits name; the newest stay.

    Invariant: the table has a power of two of slots and never more than `limit` (but one). Answering "fresh" for a
    known URL is allowed (the database decides then); answering "known" for a new one happens only when two 64-bit
    hashes are the same.
    """

    __slots__ = ("_added", "_limit", "_table")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._table = array("q", bytes(8 * max(1, min(_BEGIN, 1 << (limit.bit_length() - 1 if limit else 0)))))
        self._added = 0

    def fresh(self, urls: list[str]) -> list[str]:
        """Those of `urls` not met lately, each once; they count as met from now on."""
        found = fresh(self._table, urls)
        self._added += len(found)
        if self._added > len(self._table) >> 1 and 2 * len(self._table) <= self._limit:
            self._grow()
        return found

    def _grow(self) -> None:
        """Twice the slots. A fingerprint belongs into its old row or into the same one of the other half: the copy
        in the wrong half is never found, and is written over in time.
        """
        self._table += self._table

    def clear(self) -> None:
        """None was met."""
        if self._added:  # partitions come many at a time
            self._table = array("q", bytes(8 * len(self._table)))
            self._added = 0

    def __len__(self) -> int:
        return len(self._table)
