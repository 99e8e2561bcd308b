"""URLs seen a moment ago: most links of a page were (Mercator measured 85 %)."""

from __future__ import annotations

from array import array

_BEGIN = 1 << 12


def fresh_here(table: array[int], urls: list[str]) -> list[str]:
    """Those whose hashes are not in the slots that their low bits name, each once; they are from now on."""
    mask = len(table) - 1
    # Nearly all of a page's links fall here, so that the loop below is short.
    unmet = [url for url in urls if table[hash(url) & mask] != hash(url)]
    found = []
    for url in unmet:
        mark = hash(url)
        if table[mark & mask] != mark:
            table[mark & mask] = mark
            found.append(url)
    return found


try:
    from gossamer.frontier import _recent

    fresh = _recent.fresh
except ImportError:  # no compiler was at hand when it was installed
    fresh = fresh_here


class Recent:
    """Fingerprints of URLs, 8 bytes each, every one in the one slot that its low bits name; the newer one stays.

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
        """Twice the slots. A fingerprint belongs into its old slot or into the same one of the other half: the copy
        in the wrong half is never found, and is written over in time.
        """
        self._table += self._table
        self._added = 0

    def clear(self) -> None:
        """None was met."""
        self._table = array("q", bytes(8 * len(self._table)))

    def __len__(self) -> int:
        return len(self._table)
