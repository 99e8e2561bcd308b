"""What a search gives back."""

from __future__ import annotations

import msgspec


class Hit(msgspec.Struct):
    """A page that was found. `snippet` is HTML: escaped text with `<mark>` around what matched."""

    url: str
    title: str
    snippet: str
    score: float
    fetched_at: float
    language: str
    type: str
    host: str
    description: str = ""
    same: int = 0  # other URLs that match and have the same payload; they are not shown
    why: list[tuple[str, float]] = []  # what the score is made of


class FoundDomain(msgspec.Struct):
    """A domain with results: `pages` of it and all below it, on so many `hosts`, `own` of the host of that very name.
    `domains` are the largest directly below it.
    """

    name: str
    hosts: int
    pages: int
    own: int = 0
    domains: list[FoundDomain] = []


class Answer(msgspec.Struct):
    """`total` and `facets` count the results that all pages of the answer have together; if more than 10,000 pages
    match, those count as well for which another with the same payload is shown. `next` is the cursor of what follows,
    or empty.
    """

    total: int
    results: list[Hit]
    next: str
    seconds: float
    query: str  # as it was understood
    facets: dict[str, list[tuple[str, int]]]  # site, language, date
    domains: list[FoundDomain] = []  # where they were asked for


class IndexSize(msgspec.Struct):
    pages: int
    hosts: int
    newest: float  # when the page fetched last was fetched; 0 if there is none


class DomainCount(msgspec.Struct):
    """A domain directly below another: what it and all below it have."""

    name: str
    hosts: int
    pages: int
    has_children: bool
