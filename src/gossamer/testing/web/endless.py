"""Places without end as real sites have them, and harmless sites that look like them: each on a host of its own.

Of every host it is known which pages a patient person would want: of a place without end its front page and the first
few pages, of a harmless site all. A crawl is judged by what it asks for besides, and by what it misses.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from typing import Final, NamedTuple

from gossamer.testing.web.dice import mix
from gossamer.testing.web.log import Arrival
from gossamer.testing.web.message import Reply, Request, response, simple_page

MOST_WASTED: Final = 60
"""Pages that a place without end may cost."""

SUFFIX: Final = ".test"
"""Of the names of hosts."""

LAST: Final = 600
"""Page of a harmless site: it has an end."""

_WANTED: Final = 1  # page of a place without end; who has seen one of them has seen them all
_OF_A_LIST: Final = 10
_NOUNS: Final = (
    "lake river stone hill meadow harbour bridge castle garden forest mirror candle winter market engine island".split()
)
_ANSWERS: Final = ("thanks!", "me, too", "no idea")
_TEMPLATE: Final = " ".join(f"{noun}{letter}" for letter in "abcde" for noun in _NOUNS)  # 80 words
_FIRST_MOMENT: Final = 1_790_000_000_000_000_000  # nanoseconds
_BETWEEN: Final = 1_000_000
_FIRST_DAY: Final = date(2026, 1, 1)
_DAYS: Final = 100_000
_IDS: Final = 1 << 64
_SPREAD: Final = 0x9E3779B97F4A7C15  # odd, so that every id is of one number
_LONGEST_NAME: Final = 20
_MOST: Final = 10**12  # pages of a place without end: nobody comes so far

Say = Callable[[int], str]  # what the page with this number says


def _noun(number: int) -> str:
    return _NOUNS[number % len(_NOUNS)]


def _three(number: int) -> str:
    """Return three words that no other page of a site has."""
    count = len(_NOUNS)
    return f"{_noun(number)} {_noun(number // count)} {_noun(number // count**2 + number)}"


def _long(number: int) -> str:
    """Return 200 words that are the same on every page, with the page's number in ten places."""
    words = [f"{noun}-{letter}" for letter in "abcdefghijkl" for noun in _NOUNS]
    return " ".join([*words, *[f"item {number}"] * 5]) + "".join(f" <p>{noun} {number}" for noun in _NOUNS[:5])


class Naming(NamedTuple):
    """How pages are named by their numbers, and numbers found by names."""

    name: Callable[[int], str]
    number: Callable[[str], int]  # may raise ValueError


def _day(number: int) -> date:
    return _FIRST_DAY + timedelta(number % _DAYS)


def _date(number: int) -> str:
    return f"{_day(number):%A %d %B %Y}"


NUMBERS: Final = Naming(str, int)
DAYS: Final = Naming(lambda number: f"{_day(number)}", lambda name: (date.fromisoformat(name) - _FIRST_DAY).days)
IDS: Final = Naming(
    lambda number: f"{number * _SPREAD % _IDS:016x}", lambda name: int(name, 16) * pow(_SPREAD, -1, _IDS) % _IDS
)
"""As programs make them: two that follow one another have nothing in common."""
MOMENTS: Final = Naming(
    lambda number: str(_FIRST_MOMENT + number * _BETWEEN + mix(number, 19) % _BETWEEN),
    lambda name: (int(name) - _FIRST_MOMENT) // _BETWEEN,
)
"""Nanoseconds, each a little after the one before."""


def _slide(number: int) -> str:
    return f'<img src="/slides/{number}.jpg">'


class Place(NamedTuple):
    """How the pages of a host are addressed, what they say, and how each leads to the next."""

    form: str  # of paths, `{}` being the name of a page
    say: Say
    naming: Naming = NUMBERS
    steps: tuple[int, ...] = (1,)  # from a page to those that it links to, where it does not branch
    branches: int = 0  # pages to which every page leads, as in a tree; 0: it leads on by `steps`
    refresh: str = ""  # "0" or "5": seconds until a page sends its reader on; "header": at once, in the head
    hidden: bool = False  # its links have no words, only a picture that all pages share


ENDLESS: Final[dict[str, Place]] = {
    # Calendars and counters: pages of a few words, one onward.
    "few-words": Place("/day/{}", lambda number: f"day {number} no events"),
    "parameter": Place("/show?day={}", lambda number: f"<h1>Day {number}</h1>No events."),
    "number-alone": Place("/day/{}", str),
    "date": Place("/day/{}", lambda number: f"{_date(number)}: no events"),
    "name-with-number": Place("/day-{}.html", lambda number: f"day {number} no events"),
    "directory": Place("/day/{}/", lambda number: f"day {number} no events"),
    "eighty-words": Place("/day/{}", lambda number: f"{_TEMPLATE} {number}"),
    "day-by-date": Place(
        "/calendar/{}",
        lambda number: f"<h1>{_date(number)}</h1>Nothing is planned.",
        DAYS,
        steps=(-1, 1, 7),
    ),
    # Items that differ in their number alone.
    "items": Place("/item/{}", lambda number: f"<h1>Item {number}</h1><p>This is item {number} of our shop."),
    "items-of-many-words": Place("/item/{}", lambda number: f"<h1>Item {number}</h1>" + _long(number)),
    "items-by-parameter": Place("/shop?item={}&view=full", lambda number: f"<title>Item {number}</title>Item {number}"),
    "item-tree": Place("/item/{}", lambda number: f"<h1>Item {number}</h1>See also:", branches=3),
    "pages-after-the-last": Place("/list?page={}", lambda number: f"Page {number}. Nothing more was found."),
    "items-by-id": Place("/item/{}", lambda _: "<h1>An item</h1><p>Nothing is known of it.", IDS),
    # Pages that send their reader on, and say nothing.
    "refresh-to-moment": Place("/?{}", lambda _: "", MOMENTS, refresh="0"),
    "refresh-to-moment-slowly": Place("/?{}", lambda _: "", MOMENTS, refresh="5"),
    "refresh-in-head": Place("/at?t={}", lambda _: "", MOMENTS, refresh="header"),
    "refresh-to-id": Place("/wait/{}", lambda _: "", IDS, refresh="0"),
    "refresh-with-words": Place("/wait/{}", lambda _: "One moment, please.", IDS, refresh="0"),
    # No words at all, or hardly any.
    "moments": Place("/at/{}", lambda number: f"{MOMENTS.name(number + 7)[:13]} ms"),
    "pictures-for-words": Place("/next/{}", lambda _: "", hidden=True),
    "pictures-for-words-by-id": Place("/next/{}", lambda _: "", IDS, hidden=True),
}
"""Places without end, by the names of their hosts."""

CHAINS: Final[dict[str, Place]] = {
    "captions": Place("/photo/{}", lambda number: f'<img src="/of/{number}.jpg"> {_three(number)}'),
    "no-captions": Place("/photo/{}", lambda number: f'Photo {number} <img src="/of/{number}.jpg">'),
    "wordless-gallery": Place("/photo/{}", lambda number: f'<img src="/of/{number}.jpg">', hidden=True),
    "drawings": Place(
        "/chart/{}", lambda number: f'<svg><path d="M0 0L{number} {number * 7 % 31}"/></svg>', hidden=True
    ),
    "slide-show": Place("/slide/{}", _slide, refresh="5"),
    "slide-show-with-captions": Place("/slide/{}", lambda number: _slide(number) + _three(number), refresh="5"),
    "dictionary": Place("/word/{}", lambda number: f"<h1>{_noun(number)}{number}</h1> noun: a {_noun(number // 7)}"),
    "prices": Place("/lot/{}", lambda number: f"Lot {number}: {100 + number * 37 % 900} EUR"),
    "parts": Place("/part-{}.html", _three),
    "articles-by-id": Place("/a/{}", lambda number: f"<h1>{_three(number)}</h1><p>{_three(number + 5)}", IDS),
}
"""Harmless sites whose pages lead from one to the next."""

LISTED: Final[dict[str, Place]] = {
    "forum": Place("/post/{}", lambda number: f"{_noun(number // 5)}: {_ANSWERS[number % len(_ANSWERS)]}"),
    "same-posts": Place("/post/{}", lambda number: f"post {number}: thanks!"),
    "goods": Place("/item/{}", _three),
}
"""Harmless sites with lists at /page/1, /page/2 and so on, which lead to their pages by numbers alone."""

_ALL: Final = ENDLESS | CHAINS | LISTED


class EndlessPlaces:
    """The site that answers for all of these hosts: few-words.test and so on, each with a front page at /.

    Invariant: a page is a function of its address, and the same at any time.
    """

    def answer(self, request: Request) -> bytes | Reply:
        if request.method not in (b"GET", b"HEAD"):
            return response(405, "text/plain", b"Only GET and HEAD.\n", [("Allow", "GET, HEAD")])
        name = request.host.decode("latin-1").lower().removesuffix(":80").removesuffix(SUFFIX)
        path = request.target.decode("latin-1")
        if path == "/robots.txt" or name not in _ALL:
            return simple_page(404, "Not found", "There is nothing under this address.")
        found = _page(name, path)
        if found is None:
            return simple_page(404, "Not found", "This site has an end, and this is after it.")
        body, refresh = found
        headers = [("Refresh", refresh)] if refresh else []
        return response(200, "text/html; charset=utf-8", body.encode(), headers)


def seeds() -> list[str]:
    """Return the front pages of all hosts."""
    return [f"http://{name}{SUFFIX}/" for name in _ALL]


def wanted() -> dict[str, set[str]]:
    """Return which paths of each host a patient person would want."""
    found = {}
    for name, place in _ALL.items():
        last = _WANTED if name in ENDLESS else LAST
        pages = {"/", *(place.form.format(place.naming.name(number)) for number in range(1, last + 1))}
        if name in LISTED:
            pages.update(f"/page/{number}" for number in range(1, LAST // _OF_A_LIST + 1))
        found[name] = pages
    return found


def asked_of(arrivals: Iterable[Arrival]) -> dict[str, Counter[str]]:
    """Return how often each path of each host was asked for."""
    found: dict[str, Counter[str]] = {name: Counter() for name in _ALL}
    for arrival in arrivals:
        if arrival.path != "/robots.txt" and (name := arrival.host.removesuffix(SUFFIX)) in found:
            found[name][arrival.path] += 1
    return found


def wasted(asked: dict[str, Counter[str]]) -> dict[str, int]:
    """Return how many pages of each place without end were asked for that nobody wants."""
    return {name: len(asked[name].keys() - paths) for name, paths in wanted().items() if name in ENDLESS}


def missing(asked: dict[str, Counter[str]]) -> dict[str, set[str]]:
    """Return which pages of each host a patient person would miss."""
    return {name: paths - asked[name].keys() for name, paths in wanted().items()}


def _page(name: str, path: str) -> tuple[str, str] | None:
    """Return the page under a path of a host, and its header for a refresh; None: there is no such page."""
    place, listed, ends = _ALL[name], name in LISTED, name not in ENDLESS
    if path == "/":
        first = "/page/1" if listed else place.form.format(place.naming.name(1))
        return f"Welcome to {name}. " + _link(first, "begin"), ""
    found = re.fullmatch(r"/page/([0-9]{1,9})", path) if listed else None
    if found is not None:
        return _list(place, int(found[1]))
    number = _number_of(place, path)
    if number is None or (ends and not 1 <= number <= LAST):
        return None
    ahead = [number * place.branches + step for step in range(place.branches)] if place.branches else []
    ahead = ahead or [number + step for step in place.steps if number + step > 0]
    paths = [] if listed else [place.form.format(place.naming.name(n)) for n in ahead if not ends or n <= LAST]
    if place.refresh and paths:
        body, header = f"<title></title>{place.say(number)}", ""
        if place.refresh == "header":
            header = f"0; url={paths[0]}"
        else:
            body = f'<meta http-equiv="refresh" content="{place.refresh}; url={paths[0]}">' + body
        return body, header
    words = '<img src="/arrow.png" alt="">' if place.hidden else "next"
    return place.say(number) + " " + "".join(_link(each, words) for each in paths), ""


def _number_of(place: Place, path: str) -> int | None:
    """Return the number of the page under a path; None: there is no such page."""
    before, after = place.form.split("{}")
    name = path.removeprefix(before).removesuffix(after)
    if len(name) > _LONGEST_NAME or place.form.format(name) != path:
        return None
    try:
        number = place.naming.number(name)
    except ValueError:
        return None
    return number if 0 < number < _MOST and place.naming.name(number) == name else None


def _list(place: Place, number: int) -> tuple[str, str] | None:
    last = LAST // _OF_A_LIST
    if not 1 <= number <= last:
        return None
    items = range((number - 1) * _OF_A_LIST + 1, number * _OF_A_LIST + 1)
    onward = _link(f"/page/{number + 1}", "next") if number < last else ""
    return f"Page {number} " + "".join(_link(place.form.format(item), f"No. {item}") for item in items) + onward, ""


def _link(path: str, words: str) -> str:
    return f'<a href="{path}">{words}</a> '
