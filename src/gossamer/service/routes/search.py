"""Asking the index: pages by words, domains as a tree."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from gossamer.errors import QueryError
from gossamer.service import watching
from gossamer.service.answers import (
    CrawlOffer,
    DomainEntry,
    DomainsAnswer,
    SearchAnswer,
    answering,
    json_answer,
    search_answer,
)
from gossamer.service.callers import Caller, needs
from gossamer.service.crawl import Crawl
from gossamer.service.problems import Problem
from gossamer.service.routes.parts import view_of

_admitted = needs("search")  # one for the router and the caller, so that a request counts once
router = APIRouter(prefix="/api/v1", tags=["search"], dependencies=[Depends(_admitted)])

View = Annotated[Crawl, Depends(view_of)]


@router.get("/search", **answering(SearchAnswer))
def search(
    request: Request,
    caller: Annotated[Caller, Depends(_admitted)],
    view: View,
    q: Annotated[
        str,
        Query(
            max_length=1000,
            description='Words that must all be there, with spaces or commas between; "a phrase", OR, -word, site:, '
            "domain:, lang:, title:, after:, before:.",
        ),
    ],
    limit: Annotated[int, Query(ge=1, le=100, description="Results at most.")] = 10,
    cursor: Annotated[str, Query(max_length=2000, description="`next` of the answer before.")] = "",
    site: Annotated[
        str,
        Query(max_length=255, description="Only this host, or with *.example.org this domain and all hosts below it."),
    ] = "",
    lang: Annotated[str, Query(max_length=35, description="Only this language, such as ja.")] = "",
    domains: Annotated[bool, Query(description="Also the tree of the domains that results are in.")] = False,
) -> Response:
    """Search the pages of the crawl."""
    try:
        answer = view.search.answer(q, limit=limit, cursor=cursor, site=site, language=lang, domains=domains)
    except QueryError as error:
        raise Problem(422, error.why, position=error.position, why=error.why) from error
    found = None if cursor else watching.remembered(request, caller, answer, q, site, lang)
    start = [hit.url for hit in answer.results[: watching.MOST_FROM]]
    offer = CrawlOffer(start, found.id if found is not None else "")
    return json_answer(search_answer(answer, offer, view.missing, view.ended))


@router.get("/domains", **answering(DomainsAnswer))
def domains(
    view: View,
    under: Annotated[str, Query(max_length=255, description="The domain below which to look; empty: the top.")] = "",
) -> Response:
    """The domains directly below one, with what they hold."""
    name = under.strip().strip(".").lower()
    found = view.search.domains(name)
    entries = [DomainEntry(each.name, each.hosts, each.pages, each.has_children) for each in found]
    return json_answer(DomainsAnswer(name, entries, list(view.missing), list(view.ended)))
