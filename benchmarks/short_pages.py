"""Places without end whose pages have a few words, and real sites of pages as short: each on a host of its own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from datetime import date, timedelta

from gossamer.testing import TinyWeb
from gossamer.testing.web.message import Reply, Request, response

MOST = 60
"""Pages that a place without end may cost."""

_LAST = 600  # page of a site that has an end
_OF_A_LIST = 10
_NOUNS = (
    "lake river stone hill meadow harbour bridge castle garden forest mirror candle winter market engine island".split()
)
_ANSWERS = ("thanks!", "me, too", "no idea")
_TEMPLATE = " ".join(f"{noun}{letter}" for letter in "abcde" for noun in _NOUNS)  # 80 words
_numbers = re.compile(r"[0-9]+")

Say = Callable[[int], str]  # what the page with this number says


def _noun(number: int) -> str:
    return _NOUNS[number % len(_NOUNS)]


def _three(number: int) -> str:
    """No two pages of a site have the same three words."""
    count = len(_NOUNS)
    return f"{_noun(number)} {_noun(number // count)} {_noun(number // count**2 + number)}"


def _date(number: int) -> str:
    return f"{date(2026, 1, 1) + timedelta(number):%A %d %B %Y}"


# Where the pages are, `{}` being the number, and what they say.
_ENDLESS: dict[str, tuple[str, Say]] = {
    "few-words": ("/day/{}", lambda number: f"day {number} no events"),
    "parameter": ("/show?day={}", lambda number: f"<h1>Day {number}</h1>No events."),
    "number-alone": ("/day/{}", str),
    "date": ("/day/{}", lambda number: f"{_date(number)}: no events"),
    "name-with-number": ("/day-{}.html", lambda number: f"day {number} no events"),
    "directory": ("/day/{}/", lambda number: f"day {number} no events"),
    "eighty-words": ("/day/{}", lambda number: f"{_TEMPLATE} {number}"),
}
_CHAINS: dict[str, tuple[str, Say]] = {
    "captions": ("/photo/{}", lambda number: f'<img src="/of/{number}.jpg"> {_three(number)}'),
    "no-captions": ("/photo/{}", lambda number: f'Photo {number} <img src="/of/{number}.jpg">'),
    "dictionary": ("/word/{}", lambda number: f"<h1>{_noun(number)}{number}</h1> noun: a {_noun(number // 7)}"),
    "prices": ("/lot/{}", lambda number: f"Lot {number}: {100 + number * 37 % 900} EUR"),
    "parts": ("/part-{}.html", _three),
}
_LISTED: dict[str, tuple[str, Say]] = {
    "forum": ("/post/{}", lambda number: f"{_noun(number // 5)}: {_ANSWERS[number % len(_ANSWERS)]}"),
    "same-posts": ("/post/{}", lambda number: f"post {number}: thanks!"),
    "items": ("/item/{}", _three),
}
"""Pages that lists lead to, with numbers for titles; the lists are /page/1, /page/2 and so on."""


class ShortPages(TinyWeb):
    """All of these, at / of few-words.test and so on."""

    def answer(self, request: Request) -> bytes | Reply:
        name, path = request.host.decode().partition(".")[0], request.target.decode()
        body = "" if path == "/robots.txt" else page_of(name, path)
        return response(200, "text/html", body.encode()) if body else super().answer(request)

    def asked(self) -> dict[str, Counter[str]]:
        """How often each path of each host was asked for."""
        found: dict[str, Counter[str]] = {}
        for arrival in self.log.arrivals:
            if arrival.path != "/robots.txt":
                found.setdefault(arrival.host, Counter())[arrival.path] += 1
        return found


def seeds() -> list[str]:
    return [f"http://{name}.test/" for name in (*_ENDLESS, *_CHAINS, *_LISTED)]


def page_of(name: str, path: str) -> str:
    """The page under a path of a host; empty where there is none."""
    form, say = (_ENDLESS | _CHAINS | _LISTED)[name]
    lists = name in _LISTED
    if path == "/":
        return f"Welcome to {name}. " + _link("/page/1" if lists else form.format(1), "begin")
    found = _numbers.search(path)
    number = int(found[0]) if found is not None else 0
    last = _LAST // _OF_A_LIST if path.startswith("/page/") else _LAST
    if number < 1 or (number > last and name not in _ENDLESS):
        return ""
    onward = (
        "" if number == last and name not in _ENDLESS else _link(path.replace(str(number), str(number + 1)), "next")
    )
    if lists and path == f"/page/{number}":
        items = range((number - 1) * _OF_A_LIST + 1, number * _OF_A_LIST + 1)
        return f"Page {number} " + "".join(_link(form.format(item), f"No. {item}") for item in items) + onward
    return say(number) + " " + onward if path == form.format(number) else ""


def costs(asked: dict[str, Counter[str]]) -> dict[str, int]:
    """The pages of each place without end that were asked for."""
    return {name: len(asked.get(f"{name}.test", ())) for name in _ENDLESS}


def missing(asked: dict[str, Counter[str]]) -> dict[str, set[str]]:
    """Of each real site the pages that were not."""
    found = {}
    for name, (form, _) in (_CHAINS | _LISTED).items():
        pages = {"/", *(form.format(number) for number in range(1, _LAST + 1))}
        if name in _LISTED:
            pages.update(f"/page/{number}" for number in range(1, _LAST // _OF_A_LIST + 1))
        found[name] = pages - set(asked.get(f"{name}.test", ()))
    return found


def _link(path: str, words: str) -> str:
    return f'<a href="{path}">{words}</a> '
