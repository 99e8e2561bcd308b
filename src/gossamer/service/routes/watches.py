"""Standing queries: listed and followed by whoever may search, added and removed by admins."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from gossamer.service import watching
from gossamer.service.answers import answering, json_answer
from gossamer.service.callers import Caller, needs
from gossamer.service.orders import WatchOrder
from gossamer.service.watch_answers import (
    HitsAnswer,
    WatchAdded,
    WatchesAnswer,
    WatchRemoved,
    hit_entry,
    watch_entry,
)

router = APIRouter(prefix="/api/v1", tags=["watches"])

Reader = Annotated[Caller, Depends(needs("search"))]
Admin = Annotated[Caller, Depends(needs("admin"))]
Name = Annotated[str, Path(max_length=64, description="The id of a watch, or its name.")]
_CURSOR: Final = r"^[0-9]{0,18}$"
Cursor = Annotated[str, Query(max_length=18, pattern=_CURSOR, description="`next` of the answer before.")]


@router.get("/watches", **answering(WatchesAnswer))
def watches(
    request: Request,
    caller: Reader,
    limit: Annotated[int, Query(ge=1, le=100, description="Watches at most.")] = 100,
    cursor: Cursor = "",
) -> Response:
    """The watches in the order in which they were added, and how each fares."""
    with watching.watches(request) as book:
        known = book.all() if book is not None else []
        left = [watch for watch in known if watch.number > int(cursor or 0)]
        whole = caller.role == "admin"
        entries = [watch_entry(watch, book.tally(watch), whole) for watch in left[:limit]] if book else []
    following = str(left[limit - 1].number) if len(left) > limit else ""
    return json_answer(WatchesAnswer(entries, len(known), following))


@router.post("/watches", **answering(WatchAdded, 409, 413))
def add_watch(request: Request, caller: Admin, order: WatchOrder) -> Response:
    """Have a query remembered, and pages that match it told to a webhook."""
    made, secret = watching.add(
        request, caller, order.query, order.webhook, order.name, order.notify_earlier, order.crawl
    )
    with watching.watches(request) as book:
        assert book is not None
        return json_answer(WatchAdded(watch_entry(made, book.tally(made), whole=True), secret))


@router.delete("/watches/{id}", **answering(WatchRemoved, 404, 409))
def remove_watch(request: Request, caller: Admin, id: Name) -> Response:
    """Forget a watch and what matched it."""
    found = watching.remove(request, caller, id)
    return json_answer(WatchRemoved(found.id, found.name))


@router.get("/watches/{id}/hits", **answering(HitsAnswer, 404))
def watch_hits(
    request: Request,
    caller: Reader,
    id: Name,
    limit: Annotated[int, Query(ge=1, le=1000, description="Hits at most.")] = 100,
    cursor: Cursor = "",
    newest: Annotated[bool, Query(description="The newest first.")] = False,
) -> Response:
    """The pages that matched, in the order in which they were found. Ask again with `next`, now where `more` is true
    and later where it is false, and each comes once.
    """
    at = int(cursor or 0)
    with watching.watches(request) as book:
        watch = watching.known(book, id)
        assert book is not None
        found = book.hits(watch, at, limit + 1) if newest else book.hits_after(watch, at, limit + 1)
    hits, more = found[:limit], len(found) > limit
    following = str(hits[-1].number) if hits else cursor
    return json_answer(HitsAnswer([hit_entry(hit) for hit in hits], following if more or not newest else "", more))
