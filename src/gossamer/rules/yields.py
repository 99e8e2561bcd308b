"""Places of a host that bring nothing new (K16): found by what their pages yield, whatever their URLs look like.

A *place* is a directory of the host, or a program called with parameters. A page is *barren* when it says what another
one has said: the same, or nearly the same as one of its place shortly before. URLs found on it are *suspect*, and those
that lead from any page further into what it is part of. When the last pages of a place were all barren, what is queued
there is visited after everything else of the host (LAST); then suspect URLs are not visited at all but stay queued
(ASIDE), and in the end no others either.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import msgspec

REPEATS: Final = "repeats"
"""Why a host has URLs waiting that are not visited: they, or all of it, only repeat what is known."""

LAST_AFTER: Final = 3
ASIDE_AFTER: Final = 6
"""Barren pages in a row. Among 30,000 pages of documentation, neighbours by name, the longest row was 3."""

CLOSED_AFTER: Final = 1000
"""The same, for URLs that pages with something to say have linked to."""

NEAR: Final = 3
"""Bits, of 64, in which the fingerprints of nearly equal pages may differ."""

FIRST_LOOK: Final = 8
"""Pages of a host before anything is compared."""

MOST_PLACES: Final = 32
"""Of a host."""

MOST_BRANCHES: Final = 32
"""Of a host. Debian's documentation of Apache has ten, one for each language."""

_ELSEWHERE: Final = "*"
_REMEMBERED: Final = 4  # fingerprints of a place
_SIZES_DIFFER: Final = 32  # sizes of nearly equal pages differ by less than a 32nd, and these bytes
_A_FEW_BYTES: Final = 64

_RELIEF: Final = 2  # barren pages that one page with something new makes up for
_FIRST_OF_TWO: Final = frozenset((1, *(2 * 4**turn for turn in range(1, 20))))  # 1, 8, 32, 128 ...
_OF_TWO: Final = frozenset((*_FIRST_OF_TWO, *(number + 1 for number in _FIRST_OF_TWO)))
_UNSUSPECTED: Final = 32  # pages of a place before others than suspect ones are compared


class Standing(IntEnum):
    GOOD = 0
    LAST = 1
    ASIDE = 2


def is_near(one: int, other: int) -> bool:
    return (one ^ other).bit_count() <= NEAR


class Barren(msgspec.Struct):
    """What is remembered of a place that brings nothing new."""

    row: int  # barren pages, less two for each that was not
    page: str  # the last of them
    like: str  # the page that it repeats

    def standing(self, suspect: bool, closed_after: int = CLOSED_AFTER) -> Standing:
        """Of a URL in that place."""
        if self.row < LAST_AFTER:
            return Standing.GOOD
        return Standing.LAST if self.row < (ASIDE_AFTER if suspect else closed_after) else Standing.ASIDE


class _Place:
    __slots__ = ("marks", "pages", "size", "suspects")

    def __init__(self) -> None:
        self.pages = 0
        self.suspects = 0  # pages that were suspect, which are not among the others
        self.size = 0  # of the last page that was looked at
        self.marks: list[tuple[int, int, str]] = []  # of the last pages that were looked at, and which those are


class Yields:
    """What the places of a host bring, or the hosts of domains: each domain is a place then, and the first page of each
    of its hosts a page of it.

    Invariants: `barren` has exactly the places of which more was barren lately than new. At most `most` places are
    watched each by itself; the others are one.

    To look at every page would cost too much. Pages 32 and 33 of a place are compared, 128 and 129, 512 and 513 …;
    of suspect ones also 1 and 2, 8 and 9; and every page of a place in `barren`.
    """

    __slots__ = ("_branches", "_closed_after", "_most", "_places", "barren")

    def __init__(
        self, barren: dict[str, Barren] | None = None, most: int = MOST_PLACES, closed_after: int = CLOSED_AFTER
    ) -> None:
        self.barren: dict[str, Barren] = barren or {}
        self._places: dict[str, _Place] = {}
        self._branches: set[str] = set()
        self._most = most
        self._closed_after = closed_after

    def pages(self, place: str) -> int:
        """Those that were new and not suspect."""
        seen = self._places.get(self._name(place))
        return 0 if seen is None else seen.pages

    def standing(self, place: str, suspect: bool) -> Standing:
        found = self.barren.get(self._name(place)) if self.barren else None
        return Standing.GOOD if found is None else found.standing(suspect, self._closed_after)

    def looks(self, place: str, size: int, suspect: bool) -> bool:
        """Whether a new page of this size is to be looked at; `saw` must be told its fingerprint then."""
        known = self._places.get(place)
        if known is not None and not suspect and not self.barren:  # as most often
            known.pages += 1
            if known.pages not in _OF_TWO:
                return False
            known.pages -= 1
        name = self._name(place)
        seen = self._place(name)
        if suspect:
            number = seen.suspects = seen.suspects + 1
        else:
            number = seen.pages = seen.pages + 1
        if name in self.barren or (number in _FIRST_OF_TWO and (suspect or number >= _UNSUSPECTED)):
            return True
        if number - 1 not in _FIRST_OF_TWO or not seen.marks:
            return False
        return abs(size - seen.size) <= size // _SIZES_DIFFER + _A_FEW_BYTES

    def saw(self, place: str, page: str, size: int, mark: int, outline: int = 0, suspect: bool = True) -> Barren | None:
        """The fingerprint and the outline (0: it has none) of a page that `looks` asked for; gives what is known of its
        place if it is barren.

        Short pages of one outline may be real all the same. They speak against their place while only such pages lead
        to them, and for it when others do.
        """
        name = self._name(place)
        seen = self._place(name)
        seen.size = size
        like = next((other for known, _, other in reversed(seen.marks) if mark and is_near(known, mark)), None)
        if like is None and outline and (suspect or name not in self.barren):
            like = next((other for _, drawn, other in reversed(seen.marks) if drawn == outline), None)
        if like is None:
            self._relieve(name)
            seen.marks = [*seen.marks[1 - _REMEMBERED :], (mark, outline, page)]
            return None
        return self._count(name, page, like)

    def repeats(self, place: str, page: str, size: int, like: str) -> Barren:
        """A page says exactly what another one has said."""
        name = self._name(place)
        self._place(name).size = size
        return self._count(name, page, like)

    def is_branch(self, name: str) -> bool:
        """Return whether a directory of this name ("" is none) may have the pages of another one and be no worse for
        that, as languages and versions do where they have nothing of their own. A host may have only so many.
        """
        if not name or (name not in self._branches and len(self._branches) >= MOST_BRANCHES):
            return False
        self._branches.add(name)
        return True

    def _relieve(self, name: str) -> None:
        """A page brought something new."""
        found = self.barren.get(name)
        if found is not None:
            found.row -= _RELIEF
            if found.row <= 0:
                del self.barren[name]

    def _count(self, name: str, page: str, like: str) -> Barren:
        row = self.barren[name].row if name in self.barren else 0
        found = self.barren[name] = Barren(row + 1, page, like)
        return found

    def _name(self, place: str) -> str:
        if place in self._places or len(self._places) < self._most or place in self.barren:
            return place
        return _ELSEWHERE

    def _place(self, name: str) -> _Place:
        seen = self._places.get(name)
        if seen is None:
            seen = self._places[name] = _Place()
        return seen
