"""What a varied page has besides its sixteen links: redirects, files, missing pages, duplicates, directives."""

from __future__ import annotations

from typing import NamedTuple

from gossamer.testing.web.dice import mix
from gossamer.testing.web.paths import Section


class Extra(NamedTuple):
    """A further link. `form` is the element and attribute: a, nofollow (an `a` with rel=nofollow), img, css."""

    section: Section
    number: int
    form: str


class Directives(NamedTuple):
    """What a page says to robots in itself: `nofollow` and `noindex` are "", "meta" or "header" (X-Robots-Tag)."""

    nofollow: str
    noindex: str


NO_DIRECTIVES = Directives("", "")


def directives(seed: int, host: int, page: int, leaf: bool) -> Directives:
    """Only leaves of the tree say nofollow: obeying must not hide whole branches."""
    x = mix(seed, host, page ^ 0x3C3C)
    where = "meta" if x & 1 else "header"
    return Directives(
        where if leaf and page and x >> 8 & 15 == 0 else "",
        where if page and x >> 12 & 15 == 0 else "",
    )


def extras(seed: int, host: int, page: int, size: int, nofollow: bool, traps: bool) -> list[Extra]:
    x = mix(seed, host, page ^ 0x7E7E)
    number = (x >> 24) % size
    found = [Extra(Section.STYLE, 0, "css")]
    if x & 3 == 0:
        found.append(Extra(Section.GO, number, "a"))
    if x >> 2 & 7 == 0:
        found.append(Extra(Section.GONE, number, "a"))
    if x >> 5 & 7 == 0:
        found.append(Extra(Section.FILE, number, "a"))
    if x >> 8 & 3 == 0:
        found.append(Extra(Section.IMAGE, number, "img"))
    if x >> 10 & 15 == 0:
        found.append(Extra(Section.PRINT, page, "a"))
    if x >> 14 & 15 == 0 or page == 0:
        found.append(Extra(Section.LIST, 0, "a"))
    if nofollow:
        found.append(Extra(Section.HIDDEN, number, "a"))
    elif x >> 18 & 15 == 0:
        found.append(Extra(Section.HIDDEN, number, "nofollow"))
    if traps and (x >> 22 & 7 == 0 or page == 0):
        found.append(Extra(Section.TRAP, number, "a"))
        found.append(Extra(Section.OUT, number, "a"))
    return found
