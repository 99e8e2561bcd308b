"""The search page, and its lower part alone for what is typed."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import Annotated, Any, Final
from urllib.parse import urlencode

import msgspec
from fastapi import Depends, Query, Request
from fastapi.responses import HTMLResponse

from gossamer.errors import QueryError
from gossamer.index import Answer
from gossamer.index.facets import SPANS, start_of
from gossamer.service.callers import Caller
from gossamer.service.pages import words
from gossamer.service.pages.frame import Reader, new_router, render
from gossamer.service.request_crawl import crawl_of

PER_PAGE: Final = 10
LONGEST: Final = 1000  # characters of a query
_EXAMPLES: Final = 5
_MOST_BEFORE: Final = 2000  # characters of cursors that lead back
_MOST_ROWS: Final = 8  # of a facet
_SPOKEN: Final = {"day": "today", "week": "last 7 days", "month": "last 30 days", "year": "last 365 days"}
_dated = re.compile(r"(?<!\S)(?:after|before):\S++")

router = new_router()


class Asked(msgspec.Struct, frozen=True):
    """What the address of the page says. `before` are the cursors of the pages that led here, without the first's."""

    query: str = ""
    site: str = ""
    language: str = ""
    cursor: str = ""
    before: tuple[str, ...] = ()
    page: int = 1
    watching: bool = False

    def link(self, **other: Any) -> str:
        """The address of this page with something else. Another choice begins at its first page."""
        asked = msgspec.structs.replace(self, **{"cursor": "", "before": (), "page": 1, "watching": False, **other})
        given: list[tuple[str, str]] = [("q", asked.query), ("site", asked.site), ("lang", asked.language)]
        given += [("cursor", asked.cursor), *(("before", cursor) for cursor in asked.before)]
        given += [("page", str(asked.page) if asked.page > 1 else ""), ("watch", "1" if asked.watching else "")]
        text = urlencode([(name, value) for name, value in given if value])
        return f"/?{text}" if text else "/"

    def previous(self) -> str | None:
        """The way back; after a very long way it leads to the first page."""
        if not self.cursor:
            return None
        if not self.before:
            return self.link()
        return self.link(cursor=self.before[-1], before=self.before[:-1], page=max(1, self.page - 1))

    def following(self, cursor: str) -> str | None:
        if not cursor:
            return None
        before = (*self.before, self.cursor) if self.cursor else ()
        while sum(map(len, before)) > _MOST_BEFORE:
            before = before[1:]
        return self.link(cursor=cursor, before=before, page=self.page + 1)


def _asked(
    q: str = "",
    site: str = "",
    lang: str = "",
    cursor: str = "",
    before: Annotated[list[str] | None, Query()] = None,
    page: str = "",
    watch: str = "",
) -> Asked:
    number = int(page) if page.isdecimal() and len(page) < 7 else 1
    return Asked(
        q.strip()[:LONGEST], site.strip(), lang.strip(), cursor, tuple(before or ()), max(1, number), bool(watch)
    )


Question = Annotated[Asked, Depends(_asked)]


@router.get("/")
def search_page(request: Request, caller: Reader, asked: Question) -> HTMLResponse:
    return _answered(request, caller, asked, "search.html", 422)


@router.get("/results")
def results(request: Request, caller: Reader, asked: Question) -> HTMLResponse:
    """What is below the field, for the script. Half a query is no error: most are, while one types."""
    return _answered(request, caller, asked, "answer.html", 200)


def _answered(request: Request, caller: Caller, asked: Asked, template: str, status_of_error: int) -> HTMLResponse:
    crawl = crawl_of(request)
    search = crawl.search
    answer: Answer | None = None
    error: QueryError | None = None
    if asked.query:
        try:
            answer = search.answer(
                asked.query, limit=PER_PAGE, cursor=asked.cursor, site=asked.site, language=asked.language
            )
        except QueryError as found:
            error = found
    return render(
        request,
        template,
        caller,
        status=status_of_error if error else 200,
        here="search",
        longest=LONGEST,
        query=asked.query,
        site=asked.site,
        language=asked.language,
        page=asked.page,
        answer=answer,
        error=error,
        said=_said(answer, error, crawl.missing),
        size=search.size(),
        examples=[] if asked.query else search.terms(_EXAMPLES),
        chosen=_chosen(asked),
        facets=_facets(answer, asked, time.time()),
        before=asked.previous(),
        after=asked.following(answer.next) if answer else None,
        watching=asked.watching and answer is not None and not answer.results,
        watch=asked.link(watching=True),
        unwatch=asked.link(),
        keep=_keep(asked),
    )


def _said(answer: Answer | None, error: QueryError | None, missing: Sequence[str]) -> str:
    if error is not None:
        return f"This query cannot be understood. {error.why}"
    if answer is None:
        return ""
    if not answer.results:
        return "Nothing found"
    without = f", without {', '.join(missing)}" if missing else ""
    return f"{answer.total:,} {'result' if answer.total == 1 else 'results'}, {words.took(answer.seconds)}{without}"


def _keep(asked: Asked) -> str:
    """Where the search is made one that stands: with what is kept to beside the query."""
    parts = [asked.query]
    if asked.site:
        parts.append(f"site:{asked.site}")
    if asked.language:
        parts.append(f"lang:{asked.language}")
    return "/watches?" + urlencode({"q": " ".join(parts)[:LONGEST]})


def _chosen(asked: Asked) -> list[tuple[str, str, str]]:
    """What is kept to beside the query, each with the way to let go of it."""
    chosen = []
    if asked.site:
        chosen.append(("site", asked.site, asked.link(site="")))
    if asked.language:
        chosen.append(("language", asked.language, asked.link(language="")))
    return chosen


def _facets(answer: Answer | None, asked: Asked, now: float) -> list[tuple[str, list[tuple[str, int, str, bool]]]]:
    """Name, then rows: what it is called, how many, where it leads, whether it is chosen."""
    if answer is None:
        return []
    facets = []
    for name, key in (("Site", "site"), ("Language", "language")):
        kept = getattr(asked, key)
        rows = [
            (value, number, asked.link(**{key: "" if value == kept else value}), value == kept)
            for value, number in answer.facets.get(key, [])[:_MOST_ROWS]
        ]
        if len(rows) > 1 or kept:  # one alone is no choice
            facets.append((name, rows))
    facets.append(("Fetched", _dates(answer.facets.get("date", []), asked, now)))
    return [facet for facet in facets if facet[1]]


def _dates(counts: list[tuple[str, int]], asked: Asked, now: float) -> list[tuple[str, int, str, bool]]:
    """Those that divide what was found: a span with all of it, or with what the one before it has, says nothing."""
    spans = dict(SPANS)
    total = counts[-1][1] + counts[-2][1] if len(counts) > 1 else 0
    rows, before = [], 0
    others = _dated.sub("", asked.query).strip()
    for name, number in counts:
        days = spans.get(name, max(spans.values()))
        date = time.strftime("%Y-%m-%d", time.gmtime(start_of(now, days)))
        word = f"{'after' if name in spans else 'before'}:{date}"
        chosen = word in asked.query.split()
        if chosen or (number and number != before and (number < total or name == "older")):
            rows.append(
                (_SPOKEN.get(name, name), number, asked.link(query=others if chosen else f"{others} {word}"), chosen)
            )
        before = number if name in spans else 0
    return rows
