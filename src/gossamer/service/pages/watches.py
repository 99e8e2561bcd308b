"""Queries that stand: what matched them last, how their calls fare, and a form for one more."""

from __future__ import annotations

from typing import Annotated, Final
from urllib.parse import quote

import msgspec
from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from gossamer.agent.watching.book import WatchBook
from gossamer.agent.watching.watch import Tally, Watch, WatchHit
from gossamer.service import watching
from gossamer.service.callers import Caller, needs
from gossamer.service.pages.forms import Fields, check_token
from gossamer.service.pages.frame import Reader, new_router, render
from gossamer.service.problems import Problem
from gossamer.service.watch_answers import place_of

Admin = Annotated[Caller, Depends(needs("admin"))]

_PER_PAGE: Final = 20
_NEWEST: Final = 3  # hits of each
_OF_ONE: Final = 50  # hits, where one watch is looked at
_LONGEST: Final = 1000

router = new_router()


class Row(msgspec.Struct):
    watch: Watch
    tally: Tally
    hits: list[WatchHit]
    webhook: str
    link: str
    search: str


class Made(msgspec.Struct):
    """The watch that was just added; its secret is shown this once."""

    watch: Watch
    secret: str


@router.get("/watches")
def watches_page(request: Request, caller: Reader, q: str = "", page: str = "") -> HTMLResponse:
    return _page(request, caller, {"query": q[:_LONGEST]}, number=page)


@router.get("/watches/{id}")
def watch_page(request: Request, caller: Reader, id: str, before: str = "") -> HTMLResponse:
    at = int(before) if before.isdecimal() and len(before) < 19 else 0
    with watching.watches(request) as book:
        found = book.find(id) if book is not None else None
        if found is None or book is None:
            raise Problem(404, "There is no such watch, or it was removed.")
        row = _row(book, found, caller, _OF_ONE + 1, at)
    more = len(row.hits) > _OF_ONE
    row.hits = row.hits[:_OF_ONE]
    after = f"{row.link}?before={row.hits[-1].number}" if more else None
    return render(
        request, "watch.html", caller, here="watches", row=row, after=after, first=row.link if at else None,
        admin=caller.operates,
    )  # fmt: skip


@router.post("/watches")
def add_watch(request: Request, caller: Admin, given: Fields) -> HTMLResponse:
    """The page again, with what was added: where it leads to is not said twice, nor is its secret."""
    check_token(request, caller, given)
    kept = {name: given.get(name, "").strip() for name in ("query", "webhook", "name", "crawl")}
    try:
        made, secret = watching.add(
            request, caller, kept["query"], kept["webhook"], kept["name"], False, bool(kept["crawl"])
        )
    except Problem as problem:
        return _page(request, caller, kept, wrong=problem.detail, status=problem.status)
    return _page(request, caller, {}, made=Made(made, secret))


@router.post("/watches/{id}/remove")
def remove_watch(request: Request, caller: Admin, id: str, given: Fields) -> Response:
    check_token(request, caller, given)
    if given.get("sure", "") == "yes":
        watching.remove(request, caller, id)
        return RedirectResponse("/watches", 303)
    with watching.watches(request) as book:
        found = watching.known(book, id)
        assert book is not None
        row = _row(book, found, caller, 1)
    return render(request, "watch_sure.html", caller, here="watches", row=row)


def _page(
    request: Request,
    caller: Caller,
    kept: dict[str, str],
    *,
    number: str = "",
    made: Made | None = None,
    wrong: str = "",
    status: int = 200,
) -> HTMLResponse:
    at = max(1, int(number)) if number.isdecimal() and len(number) < 7 else 1
    with watching.watches(request) as book:
        known = book.all()[::-1] if book is not None else []
        some = known[(at - 1) * _PER_PAGE : at * _PER_PAGE]
        rows = [_row(book, watch, caller, _NEWEST) for watch in some] if book is not None else []
    return render(
        request,
        "watches.html",
        caller,
        status=status,
        here="watches",
        rows=rows,
        total=len(known),
        made=made,
        wrong=wrong,
        kept={"query": "", "webhook": "", "name": "", "crawl": "", **kept},
        admin=caller.operates,
        home=str(watching.home_of(request)),
        longest=_LONGEST,
        before=f"/watches?page={at - 1}" if at > 1 else None,
        after=f"/watches?page={at + 1}" if len(known) > at * _PER_PAGE else None,
    )


def _row(book: WatchBook, watch: Watch, caller: Caller, most: int, before: int = 0) -> Row:
    shown = watch.webhook if caller.role == "admin" else place_of(watch.webhook)
    search = f"/?q={quote(watch.query, safe='')}"
    return Row(watch, book.tally(watch), book.hits(watch, before, most), shown, f"/watches/{watch.id}", search)
