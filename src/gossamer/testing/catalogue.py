"""A site of records behind a search form: what no link leads to (the hidden web).

with Catalogue(records=5000) as site:
    ...  # crawl site.seed with --connect, site.connect
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from html import escape
from itertools import accumulate
from typing import Final
from urllib.parse import parse_qs, urlsplit

from gossamer.testing.web.message import Request, response, simple_page
from gossamer.testing.web.small import SmallWeb

HOST: Final = "catalogue.test"
_CONSONANTS: Final = "bdfgklmnprstvz"
_VOWELS: Final = "aeiou"
_record_path = re.compile(r"/record/(\d+)").fullmatch


class Catalogue(SmallWeb):
    """Records of some words each, the words as unequal as those of a language (Zipf). The form finds records that have
    all words asked for, in the order of their numbers, on pages of `page_size`, and no more than `most` of them.

    Invariant: equal arguments give equal records.
    """

    def __init__(
        self,
        records: int = 5000,
        *,
        words: int = 4000,
        length: int = 20,
        page_size: int = 20,
        most: int = 200,
        shown: int = 10,
        robots: str = "",
        seed: int = 1,
        post: bool = False,
    ) -> None:
        """`shown`: records that the front page links to. `post`: the form is sent with POST, and asked so only; further
        pages of its results are links.
        """
        super().__init__()
        dice = random.Random(seed)  # noqa: S311 - a simulated world
        vocabulary = _vocabulary(dice, words)
        weights = list(accumulate(1 / (rank + 10) for rank in range(words)))
        self.records = [
            tuple(dict.fromkeys(dice.choices(vocabulary, cum_weights=weights, k=length))) for _ in range(records)
        ]
        self.vocabulary = vocabulary
        self._with: dict[str, list[int]] = {}
        for number, found in enumerate(self.records):
            for word in found:
                self._with.setdefault(word, []).append(number)
        self._page_size, self._most = page_size, most
        self._shown = dice.sample(range(records), min(shown, records))
        self._robots = robots
        self._form = _POST_FORM if post else _FORM
        self._post = post
        self.sent: list[tuple[bytes, bytes]] = []  # heads and bodies of requests that were sent with POST

    @property
    def seed(self) -> str:
        return f"http://{HOST}/"

    def found(self, query: str) -> list[int]:
        """The records that the form shows for a query."""
        words = query.lower().split()
        if not words:
            return []
        hits = set.intersection(*(set(self._with.get(word, ())) for word in words))
        return sorted(hits)[: self._most]

    def coverage(self) -> list[tuple[int, int]]:
        """Queries asked and records fetched so far, at each query; and at the end."""
        queries: set[str] = set()
        fetched: set[str] = set()
        points = []
        bodies = iter([body.decode("latin-1") for _, body in self.sent])
        for arrival in self.log.arrivals:
            sent = next(bodies) if arrival.method == "POST" else ""
            if _record_path(arrival.path):
                fetched.add(arrival.path)
            elif arrival.path.startswith("/search"):
                query = parse_qs(sent or urlsplit(arrival.path).query).get("q", [""])[0]
                if query not in queries:
                    points.append((len(queries), len(fetched)))
                    queries.add(query)
        return [*points, (len(queries), len(fetched))]

    def answer(self, request: Request) -> bytes:
        parts = urlsplit(request.target.decode("latin-1"))
        given = parse_qs(parts.query)
        if request.method == b"POST":
            self.sent.append((request.head, request.body))
            if not self._post or parts.path != "/search":
                return simple_page(405, "Not allowed", "No form of this catalogue is sent there.")
            given = parse_qs(request.body.decode("latin-1"))
        if parts.path == "/":
            return _page("Catalogue", self._form + _links(f"/record/{number}" for number in self._shown))
        if parts.path == "/search":
            if self._post and request.method != b"POST" and "page" not in given:
                return simple_page(405, "Not allowed", "Send the form.")
            return self._results(given)
        if parts.path == "/robots.txt":
            return response(200, "text/plain", self._robots.encode())
        record = _record_path(parts.path)
        if record and int(record[1]) < len(self.records):
            number = int(record[1])
            return _page(f"Record {number}", f"<main><p>{' '.join(self.records[number])}.</p></main>")
        return simple_page(404, "Not found", "This catalogue has no such page.")

    def _results(self, given: dict[str, list[str]]) -> bytes:
        query = given.get("q", [""])[0]
        text = given.get("page", ["1"])[0]
        page = int(text) if text.isdigit() and len(text) < 6 else 1
        hits = self.found(query)
        shown = hits[(page - 1) * self._page_size : page * self._page_size]
        body = self._form + _links(f"/record/{number}" for number in shown)
        if page * self._page_size < len(hits):
            body += f'<a href="/search?q={escape(query)}&amp;lang=en&amp;page={page + 1}">next</a>'
        return _page(f"{len(hits)} records for {escape(query)}", body)


_FORM: Final = (
    '<form action="/search"><input type="search" name="q"><input type="hidden" name="lang" value="en">'
    '<input type="submit" value="Find"></form>'
)


_POST_FORM: Final = _FORM.replace("<form", '<form method="post"')


def _links(paths: Iterable[str]) -> str:
    return "".join(f'<p><a href="{path}">{path}</a></p>' for path in paths)


def _page(title: str, body: str) -> bytes:
    text = f"<!DOCTYPE html><title>{title}</title><h1>{title}</h1>{body}"
    return response(200, "text/html; charset=utf-8", text.encode())


def _vocabulary(dice: random.Random, words: int) -> list[str]:
    found: dict[str, None] = {}
    while len(found) < words:
        syllables = dice.choice((2, 2, 3, 3, 4))
        found["".join(dice.choice(_CONSONANTS) + dice.choice(_VOWELS) for _ in range(syllables))] = None
    return list(found)
