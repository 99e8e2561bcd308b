"""What happens in the crawl, as it happens."""

from __future__ import annotations

import time
from typing import Annotated, Any, Final

import msgspec
from fastapi import APIRouter, Depends, Header, Request

from gossamer.service.callers import Caller, needs
from gossamer.service.live import MEDIA_TYPE, EventStream, Live, event, stream
from gossamer.service.picture import Picture
from gossamer.service.problems import described

LONGEST: Final = 900.0  # seconds of history that are told to one who comes

router = APIRouter(prefix="/api/v1", tags=["crawl"])

_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events: `samples` (a list of totals at one moment each), `status` (as "
        "/api/v1/status without the index) after each commit, `end` (the reason, after which nothing comes).",
        "content": {MEDIA_TYPE: {"schema": {"type": "string"}}},
    },
    **described(),
}


class Teller:
    """Says of each picture what is new since the one before. Invariant: no sample is told twice."""

    def __init__(self, since: float) -> None:
        self._since = since
        self._status: tuple[float, bool] | None = None

    def tell(self, picture: Picture) -> bytes:
        said = b""
        fresh = [sample for sample in picture.samples if sample.at > max(self._since, picture.at - LONGEST)]
        if fresh:
            self._since = fresh[-1].at
            said += event("samples", [msgspec.structs.asdict(sample) for sample in fresh], repr(self._since))
        status = picture.progress.updated_at, picture.progress.running
        if status != self._status:
            self._status = status
            said += event("status", picture.progress)
        return said


@router.get("/events", response_class=EventStream, responses=_ANSWERS)
async def events(
    request: Request,
    caller: Annotated[Caller, Depends(needs("search"))],
    last_event_id: Annotated[
        str, Header(max_length=40, description="Of the last event that came: only what is newer is told.")
    ] = "",
) -> EventStream:
    """A stream that goes on while the crawl and its service do. One who comes is told the samples of the last fifteen
    minutes first, or those since `Last-Event-ID`.
    """
    live: Live = request.app.state.live
    teller = Teller(_moment(last_event_id))
    return EventStream(stream(live, request.app.state.gate, caller, teller.tell, time.monotonic))


def _moment(number: str) -> float:
    """0 where it is none of ours."""
    try:
        found = float(number)
    except ValueError:
        return 0.0
    return found if 0 < found < 1e12 else 0.0
