"""The dashboard: what the crawl does and what limits it, as of now, and then as it goes on."""

from __future__ import annotations

import time
from typing import Final

from fastapi import Request
from fastapi.responses import HTMLResponse

from gossamer.service.host_tables import ROWS
from gossamer.service.live import EventStream, Live, event, stream
from gossamer.service.pages.board import AGENTS, DOMAINS, REASONS, STAGES, Board, board, changes
from gossamer.service.pages.charts import OUTCOMES
from gossamer.service.pages.choice import RANGES, Choice
from gossamer.service.pages.controls import controls
from gossamer.service.pages.frame import Reader, new_router, render
from gossamer.service.pages.fresh import FOUND
from gossamer.service.picture import Picture, Watcher

_CALLED: Final = dict(zip(OUTCOMES, ("2xx", "3xx", "4xx", "5xx", "fault", "excluded"), strict=True))
_FACTS: Final = {
    "Hosts": {
        "ready": "hosts.ready",
        "in their delay": "hosts.waiting",
        "waiting for their domain": "hosts.held",
        "down": "hosts.down",
        "known": "hosts.known",
    },
    "URLs": {"queued": "queued", "excluded": "excluded", "put aside": "aside", "dead": "dead"},
    "Answers": {"2xx": "status.2xx", "3xx": "status.3xx", "4xx": "status.4xx", "5xx": "status.5xx"},
    "Responses": {"mean": "latency", "95 % within": "latency.95", "under way": "flight", "repeated": "duplicates"},
    "Cache hits": {"DNS": "dns", "robots.txt": "robots"},
    "On disk": {"pages": "size.pages", "frontier": "size.frontier", "index": "size.index", "free": "size.free"},
}
_FIGURES: Final = (("pages", "Pages"), ("bytes", "Received"), ("urls", "URLs known"), ("faults", "Faults"))
_FRESH: Final = (
    ("fresh", "Fresh copies, estimated"),
    ("revisits", "Visited again"),
    ("changed", "Changed"),
    ("due", "Due now"),
)
_FILLS: Final = dict(zip(FOUND, ("ok", "redirects", "left"), strict=True))

router = new_router()


@router.get("/dashboard")
def dashboard(request: Request, caller: Reader) -> HTMLResponse:
    watcher: Watcher = request.app.state.watcher
    choice = Choice.of(request.query_params)
    watcher.look_at_hosts()
    return render(
        request,
        "dashboard.html",
        caller,
        here="dashboard",
        board=board(watcher.picture(), choice),
        choice=choice,
        ranges=RANGES,
        outcomes=[(name, _CALLED[name]) for name in OUTCOMES],
        figures=_FIGURES,
        fresh=_FRESH,
        fills=_FILLS,
        facts=_FACTS,
        stages=STAGES,
        rows=range(ROWS),
        reasons=range(REASONS),
        agents=range(AGENTS),
        domains=range(DOMAINS),
        **controls(request, caller),
    )


class Teller:
    """Says what has changed on the board. Invariant: who puts all of it in place has the board of the last picture."""

    def __init__(self, choice: Choice) -> None:
        self._choice = choice
        self._board: Board = {}

    def tell(self, picture: Picture) -> bytes:
        before, self._board = self._board, board(picture, self._choice)
        changed = changes(before, self._board)
        return event("board", changed) if changed else b""


@router.get("/dashboard/events")
async def dashboard_events(request: Request, caller: Reader) -> EventStream:
    """For the script of the page. Begins with the whole board: whoever comes again needs nothing else."""
    live: Live = request.app.state.live
    teller = Teller(Choice.of(request.query_params))
    return EventStream(stream(live, request.app.state.gate, caller, teller.tell, time.monotonic))
