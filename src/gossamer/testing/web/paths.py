"""Paths and what is behind them, both ways: every path of a host is a section and a number.

Page 0 is `/`, the others are like `/travel/lantern-12.html`. The other sections have their own folders, so that what
a URL is can be told from its path alone.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

from gossamer.testing.web.words import NOUNS, SECTIONS

_FOLDERS = tuple(word.encode() for word in SECTIONS)
_SLUGS = tuple(word.encode() for word in NOUNS)


class Section(StrEnum):
    """What kinds of things a host has."""

    PAGE = "page"
    PRIVATE = "private"  # linked everywhere, disallowed by most robots.txt
    GO = "go"  # redirects
    LOOP = "loop"  # redirects in a circle of three
    OUT = "out"  # redirects to addresses a crawler must not connect to
    GONE = "gone"  # 404 and 410
    FILE = "files"  # PDF-like
    IMAGE = "img"
    STYLE = "style"
    PRINT = "print"  # the same bytes as the page of that number
    HIDDEN = "hidden"  # linked with nofollow only
    ARCHIVE = "archive"  # in the sitemap only
    LIST = "list"  # has a query
    TRAP = "trap"  # endless
    FEED = "feed"  # Atom: what is new on a host


class Resource(NamedTuple):
    section: Section
    number: int
    path: bytes


_FORMATS: dict[Section, bytes] = {
    Section.PRIVATE: b"/private/%d.html",
    Section.GO: b"/go/%d",
    Section.LOOP: b"/loop/%d",
    Section.OUT: b"/out/%d",
    Section.GONE: b"/gone/%d.html",
    Section.FILE: b"/files/%d.pdf",
    Section.IMAGE: b"/img/%d.png",
    Section.PRINT: b"/print/%d.html",
    Section.HIDDEN: b"/hidden/%d.html",
    Section.ARCHIVE: b"/archive/%d.html",
    Section.LIST: b"/list?page=%d",
}
_SECTION_OF = {form: section for section, form in _FORMATS.items()}
_NUMBERED = re.compile(rb"(/(?:[a-z]+/|list\?page=))(0|[1-9][0-9]{0,11})((?:\.[a-z]+)?)")
# Endless places, by what their paths begin with; `traps` has what is there.
CALENDAR, CART, DEEP, BASKET, SHOP = b"/calendar/", b"/cart?", b"/deep/", b"/basket?visit=", b"/shop?"
MORE, LOST, LOGIN, WILD = b"/more/", b"/lost/", b"/login?return=", b"/wild/"
WILD_HOST = b"//u-%x.%b" + WILD + b"%d"  # a link to one of the endless hosts below a host
_ENDLESS = (CALENDAR, CART, DEEP, BASKET, SHOP, MORE, LOST, LOGIN, WILD)
TRAPS = (*_ENDLESS, b"//")  # links into them
FEED_PATH = b"/feed.atom"


def page_path(page: int) -> bytes:
    if page == 0:
        return b"/"
    return b"/%b/%b-%d.html" % (_FOLDERS[page & 15], _SLUGS[page >> 4 & 31], page)


def page_number(path: bytes) -> int | None:
    """The page of that path, or None; the one spelling that `page_path` gives is the only one."""
    if path == b"/":
        return 0
    number = path[path.rfind(b"-") + 1 : -5]
    if not number.isdigit() or len(number) > 12:
        return None
    page = int(number)
    return page if page and page_path(page) == path else None


def path_of(section: Section, number: int) -> bytes:
    if section is Section.PAGE:
        return page_path(number)
    if section is Section.STYLE:
        return b"/style.css"
    if section is Section.FEED:
        return FEED_PATH
    return _FORMATS[section] % number


def parse_path(path: bytes) -> Resource | None:
    """What a path could be on a host that is large enough; whether it exists is the world's to say."""
    page = page_number(path)
    if page is not None:
        return Resource(Section.PAGE, page, path)
    if path.startswith(_ENDLESS):
        return Resource(Section.TRAP, 0, path)
    found = _NUMBERED.fullmatch(path)
    if found:
        section = _SECTION_OF.get(found[1] + b"%d" + found[3])
        return Resource(section, int(found[2]), path) if section else None
    if path == b"/index.html":
        return Resource(Section.PRINT, 0, path)
    if path == b"/style.css":
        return Resource(Section.STYLE, 0, path)
    if path == FEED_PATH:
        return Resource(Section.FEED, 0, path)
    return None


assert len(_FOLDERS) == 16
assert len(_SLUGS) == 32
