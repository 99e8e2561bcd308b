"""Endless places, as real sites have them: each page says little, and links to more of its kind under new URLs.

Everything is computed from the address. Finite truth does not exist for them.
"""

from __future__ import annotations

import calendar
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import quote_from_bytes

import xxhash

from gossamer.testing.web.paths import (
    BASKET,
    CALENDAR,
    CART,
    DEEP,
    LOGIN,
    LOST,
    MORE,
    SHOP,
    WILD,
    WILD_HOST,
    Resource,
    Section,
)

_ALL = (1 << 64) - 1
_DIRECTORIES = (b"docs/", b"files/", b"archive/", b"old/")
_FACETS = (
    (b"color", (b"red", b"green", b"blue", b"black", b"white", b"grey")),
    (b"size", (b"s", b"m", b"l", b"xl")),
    (b"brand", (b"amber", b"birch", b"cedar", b"dune", b"elm", b"fern", b"glen", b"heath")),
    (b"price", (b"0-50", b"50-100", b"100-200", b"200-500")),
    (b"rating", (b"1", b"2", b"3", b"4", b"5")),
    (b"sort", (b"name", b"price", b"new")),
    (b"view", (b"grid", b"list")),
)


class TrapPage(NamedTuple):
    title: bytes
    text: bytes
    links: list[bytes]  # as written: paths, relative ones, and hosts (`//name/`)


def trap_entrance(page: int, name: bytes) -> bytes:
    """Where a page's link into a trap goes; `name` is its host's."""
    number = _hash(b"%d" % page)
    entrances = (
        CALENDAR + b"%d/%d/" % (2018 + page % 9, 1 + page % 12),
        CART + b"sid=%016x&item=%d" % (number, page),
        DEEP + _DIRECTORIES[0],
        BASKET + b"%016x" % number,
        SHOP + b"color=red",
        MORE + b"1/",
        LOST,
        LOGIN + b"/account",
        WILD_HOST % (number, name, page),
    )
    return entrances[page % len(entrances)]


def trap_page(resource: Resource, name: bytes) -> TrapPage:
    """What a trap shows. `name` is that of the host, whatever it was asked for by."""
    assert resource.section is Section.TRAP
    path = resource.path
    for beginning, make in _KINDS.items():
        if path.startswith(beginning):
            return make(path, name)
    raise AssertionError(f"{path!r} is no trap")


def _calendar(path: bytes, _: bytes) -> TrapPage:
    """A month, or a day of it. Before and after every month there is another."""
    numbers = [int(part) for part in path.split(b"/")[2:5] if part.isdigit() and len(part) < 10]
    year, month, day = (numbers + [2020, 1, 0][len(numbers) :])[:3]
    place = year * 12 + min(max(month, 1), 12) - 1
    near = [CALENDAR + b"%d/%d/" % (other // 12, other % 12 + 1) for other in (place - 1, place + 1, place + 12)]
    title = f"{calendar.month_name[place % 12 + 1]} {place // 12}".encode()
    if day:
        return TrapPage(b"%d %b" % (day, title), b"No events on this day.", near[:2])
    days = [CALENDAR + b"%d/%d/%d" % (place // 12, place % 12 + 1, number) for number in (1, 10, 20)]
    return TrapPage(title, b"No events this month.", near + days)


def _cart(path: bytes, _: bytes) -> TrapPage:
    links = [CART + b"sid=%016x&item=%d" % (number, turn) for turn, number in enumerate(_numbers(path, 8))]
    return TrapPage(b"Your cart", b"Your cart is empty.", links)


def _basket(path: bytes, _: bytes) -> TrapPage:
    """A session id under a name that no list has."""
    return TrapPage(b"Your basket", b"Your basket is empty.", [BASKET + b"%016x" % one for one in _numbers(path, 8)])


def _deep(path: bytes, _: bytes) -> TrapPage:
    """A directory with a link to itself."""
    here = path[: path.rfind(b"/") + 1]
    return TrapPage(b"Index of " + here[:200], b"Name, last modified, size", [here + entry for entry in _DIRECTORIES])


def _shop(path: bytes, _: bytes) -> TrapPage:
    """A list of goods that can be narrowed down in every way, one after the other, in any order."""
    chosen = dict(pair.split(b"=", 1) for pair in path[len(SHOP) :].split(b"&") if b"=" in pair)
    links = []
    for facet, values in _FACETS:
        for value in values:
            if chosen.get(facet) != value:
                links.append(SHOP + b"&".join(b"%b=%b" % pair for pair in {**chosen, facet: value}.items()))
    return TrapPage(b"All goods", b"Nothing was found. Change your choice.", links)


def _more(path: bytes, _: bytes) -> TrapPage:
    here = path if path.endswith(b"/") else path + b"/"
    last = here.rstrip(b"/").rpartition(b"/")[2]
    number = int(last) if last.isdigit() and len(last) < 10 else 0
    return TrapPage(b"More", b"There is more.", [here + b"%d/" % (number + step) for step in (1, 2)])


def _lost(_: bytes, __: bytes) -> TrapPage:
    """A missing page that says it is there, with links that should begin with a slash."""
    return TrapPage(b"Page not found", b"We are sorry.", [b"help/", b"help/contact.html", b"search/"])


def _login(path: bytes, _: bytes) -> TrapPage:
    back = quote_from_bytes(path, safe="").encode()
    return TrapPage(b"Log in", b"Please log in to go on.", [LOGIN + back, LOGIN + b"/account"])


def _wild(path: bytes, name: bytes) -> TrapPage:
    """A domain that answers for every name below it."""
    links = [WILD_HOST % (number, name, number & 0xFFFF_FFFF) for number in _numbers(path, 4)]
    return TrapPage(b"Welcome", b"This site is being built.", links)


_KINDS: dict[bytes, Callable[[bytes, bytes], TrapPage]] = {
    CALENDAR: _calendar,
    CART: _cart,
    DEEP: _deep,
    BASKET: _basket,
    SHOP: _shop,
    MORE: _more,
    LOST: _lost,
    LOGIN: _login,
    WILD: _wild,
}


def _hash(data: bytes) -> int:
    return int(xxhash.xxh3_64_intdigest(data))


def _numbers(path: bytes, count: int) -> list[int]:
    first = _hash(path)
    return [(first + turn) & _ALL for turn in range(count)]
