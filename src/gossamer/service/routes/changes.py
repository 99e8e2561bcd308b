"""What is new since somebody asked last."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response

from gossamer.agent.changes import MOST, Kind, Wish, read_moment
from gossamer.errors import CursorError
from gossamer.service.answers import ChangesFound, answering, json_answer
from gossamer.service.callers import needs
from gossamer.service.crawl import Crawl
from gossamer.service.problems import Problem
from gossamer.service.routes.parts import view_of

router = APIRouter(prefix="/api/v1", tags=["pages"], dependencies=[Depends(needs("search"))])


@router.get("/changes", **answering(ChangesFound, 404, 410))
def changes(
    view: Annotated[Crawl, Depends(view_of)],
    since: Annotated[
        str,
        Query(max_length=40, description="Only what was fetched since: a time in ISO 8601, or seconds since 1970."),
    ] = "",
    limit: Annotated[int, Query(ge=1, le=MOST, description="Changes at most.")] = 100,
    cursor: Annotated[
        str, Query(max_length=6000, description="`next` of the answer before, whose `since` holds on.")
    ] = "",
    site: Annotated[str, Query(max_length=255, description="Only this host.")] = "",
    kind: Annotated[Kind | None, Query(description="Only these.")] = None,
) -> Response:
    """New, changed and gone pages in the order in which they were found. Ask again with `next`, now where `more` is
    true and later where it is false, and each comes once.
    """
    try:
        begin = read_moment(since) if since else 0.0
    except ValueError as error:
        raise Problem(422, f"since: {error}") from None
    try:
        part = view.changes(cursor, begin, limit, Wish(kind, site.strip().lower()))
    except CursorError as error:
        raise Problem(410 if error.stale else 422, f"cursor: {error}") from error
    return json_answer(ChangesFound(part.changes, part.next, part.more, list(view.missing), list(view.ended)))
