"""Entries to search, for tests of the index."""

from __future__ import annotations

from collections.abc import Callable

from gossamer.index import Answer, Entry, Search

NOW = 1_700_000_000.0
DAY = 86_400
Finder = Callable[..., Search]


def page(name: str, body: str = "", **more: object) -> Entry:
    url = name if "://" in name else f"https://a.test/{name}"
    return Entry(url, NOW - DAY, body=body, **{"language": "en"} | more)  # type: ignore[arg-type]


def names(answer: Answer) -> list[str]:
    return [hit.url.rpartition("/")[2] for hit in answer.results]


def all_pages(search: Search, query: str, limit: int, **more: str) -> list[str]:
    """The URLs of all results, page by page."""
    urls: list[str] = []
    cursor = ""
    while True:
        answer = search.answer(query, limit=limit, cursor=cursor, **more)  # type: ignore[arg-type]
        assert len(answer.results) <= limit
        urls += [hit.url for hit in answer.results]
        cursor = answer.next
        if not cursor:
            return urls
