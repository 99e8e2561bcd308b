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

from gossamer.agent.watching.watch import Watch
from gossamer.errors import QueryError
from gossamer.index import Answer, FoundDomain
from gossamer.index.facets import SPANS, start_of
from gossamer.index.tree import largest
from gossamer.service import watching
from gossamer.service.callers import Caller
from gossamer.service.pages import words
from gossamer.service.pages.controls import controls
from gossamer.service.pages.frame import Reader, new_router, render
from gossamer.service.request_crawl import crawl_of

PER_PAGE: Final = 10
LONGEST: Final = 1000  # characters of a query
_EXAMPLES: Final = 5
_MOST_BEFORE: Final = 2000  # characters of cursors that lead back
_MOST_ROWS: Final = 8  # of a facet
_MOST_BRANCHES: Final = 20  # domains, on all levels together
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


class Branch(msgspec.Struct):
    """A domain in the tree of results. `itself`: only the host of that very name is meant."""

    name: str
    pages: int
    link: str
    chosen: bool
    itself: bool
    below: list[Branch]


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
    remembered: Watch | None = None
    if asked.query:
        try:
            answer = search.answer(
                asked.query, limit=PER_PAGE, cursor=asked.cursor, site=asked.site, language=asked.language, domains=True
            )
        except QueryError as found:
            error = found
    if template == "search.html" and answer is not None and not asked.cursor:  # half a word is nothing to remember
        remembered = watching.remembered(request, caller, answer, asked.query, asked.site, asked.language)
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
        tree=(tree := _tree(answer, asked)),
        outside=answer.total - _covered(tree) if answer and tree else 0,
        facets=_facets(answer, asked, time.time()),
        before=asked.previous(),
        after=asked.following(answer.next) if answer else None,
        watching=asked.watching and answer is not None and not answer.results,
        watch=asked.link(watching=True),
        unwatch=asked.link(),
        keep=_keep(asked),
        remembered=remembered,
        crawl_from=asked.link().replace("/", "/crawl-from", 1),
    )


@router.get("/crawl-from")
def crawl_from(request: Request, caller: Reader, asked: Question) -> HTMLResponse:
    """The pages of a search from which the crawl would go on, to be agreed to."""
    try:
        hits = crawl_of(request).search.answer(
            asked.query, limit=watching.MOST_FROM, site=asked.site, language=asked.language
        ).results  # fmt: skip
    except QueryError:
        hits = []
    text = watching.whole_query(asked.query, asked.site, asked.language)
    known = controls(request, caller)
    return render(request, "crawl_from.html", caller, here="search", asked=text, back=asked.link(), hits=hits, **known)


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
    return "/watches?" + urlencode({"q": watching.whole_query(asked.query, asked.site, asked.language)[:LONGEST]})


def _chosen(asked: Asked) -> list[tuple[str, str, str]]:
    """What is kept to beside the query, each with the way to let go of it."""
    chosen = []
    if asked.site:
        chosen.append(("site", asked.site, asked.link(site="")))
    if asked.language:
        chosen.append(("language", asked.language, asked.link(language="")))
    return chosen


def _tree(answer: Answer | None, asked: Asked) -> list[Branch]:
    """The domains of the results, each with the way to keep to it; a host alone is no choice."""
    if answer is None:
        return []
    kept = asked.site.lower()
    found = largest([_shortened(domain, kept.removeprefix("*.")) for domain in answer.domains], _MOST_BRANCHES)
    return [_branch(domain, asked, kept) for domain in found] if kept or sum(each.hosts for each in found) > 1 else []


def _shortened(domain: FoundDomain, kept: str) -> FoundDomain:
    """Without the domains on the way that have but one below them, unless what is kept to is there."""
    while len(domain.domains) == 1 and domain.domains[0].pages == domain.pages and not _is_in(kept, domain.name):
        domain = domain.domains[0]
    below = [_shortened(each, kept) for each in domain.domains]
    return msgspec.structs.replace(domain, domains=below)


def _is_in(host: str, domain: str) -> bool:
    return host == domain or host.endswith("." + domain)


def _branch(domain: FoundDomain, asked: Asked, kept: str) -> Branch:
    several = domain.hosts > 1

    def branch(site: str, pages: int, itself: bool, below: list[Branch]) -> Branch:
        chosen = site == kept
        return Branch(domain.name, pages, asked.link(site="" if chosen else site), chosen, itself, below)

    others = [each for each in domain.domains if not each.name.startswith(domain.name + ":")]
    if domain.own and others:  # then the host itself, on all its ports, is a choice beside those below it
        below = [_branch(each, asked, kept) for each in others]
        ports = sum(each.pages for each in domain.domains) - sum(each.pages for each in others)
        below.append(branch(domain.name, domain.own + ports, True, []))
    else:
        below = [_branch(each, asked, kept) for each in domain.domains]
    return branch(f"*.{domain.name}" if several else domain.name, domain.pages, False, below)


def _covered(tree: list[Branch]) -> int:
    """How many results are of the hosts and domains at the ends of the tree."""
    return sum(_covered(branch.below) if branch.below else branch.pages for branch in tree)


def _facets(answer: Answer | None, asked: Asked, now: float) -> list[tuple[str, list[tuple[str, int, str, bool]]]]:
    """Name, then rows: what it is called, how many, where it leads, whether it is chosen."""
    if answer is None:
        return []
    facets = []
    kept = asked.language
    rows = [
        (value, number, asked.link(language="" if value == kept else value), value == kept)
        for value, number in answer.facets.get("language", [])[:_MOST_ROWS]
    ]
    if len(rows) > 1 or kept:  # one alone is no choice
        facets.append(("Language", rows))
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
