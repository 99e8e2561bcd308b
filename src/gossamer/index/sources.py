"""How many different pages link to one, in a few bytes."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Final

_MOST: Final = 24
_RANGE: Final = 1 << 32


class SourceSketch:
    """The smallest of the hashes of all pages that link to one: up to 24 pages exactly, beyond that an estimate that is
    a fifth off at most times.

    Invariant: the same page added twice counts once, and the order of adding does not matter.
    """

    __slots__ = ("_hashes",)

    def __init__(self, packed: bytes = b"") -> None:
        self._hashes = array("I", packed)

    def with_more(self, numbers: Iterable[int]) -> SourceSketch:
        """With these 32-bit hashes; itself, if that makes no difference."""
        known = self._hashes
        if len(known) == _MOST:
            last = known[-1]
            numbers = [number for number in numbers if number < last]
        more = set(numbers).difference(known)
        if not more:
            return self
        sketch = SourceSketch()
        sketch._hashes = array("I", sorted(more.union(known))[:_MOST])
        return sketch

    def count(self) -> int:
        if len(self._hashes) < _MOST:
            return len(self._hashes)
        return max(_MOST, round((_MOST - 1) * _RANGE / (self._hashes[-1] + 1)))

    def pack(self) -> bytes:
        return self._hashes.tobytes()


def rounded(count: int) -> int:
    """Down to 1, 2, 3, 4, 6, 8, 12, 16, 24 …: a page need not be written again for every link to it."""
    if count < 4:
        return count
    half = 1 << (count.bit_length() - 1)
    return half + half // 2 if count >= half + half // 2 else half
