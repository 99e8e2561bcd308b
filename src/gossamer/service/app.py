"""The service of one crawl, put together."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio.to_thread
from fastapi import FastAPI

from gossamer import __version__
from gossamer.service import limits
from gossamer.service.callers import Gate
from gossamer.service.envelope import Envelope
from gossamer.service.keys import KeyRing
from gossamer.service.live import Live
from gossamer.service.origin import Names
from gossamer.service.pages import ROUTERS
from gossamer.service.pages.frame import answer_browsers
from gossamer.service.pages.outcomes import Outcomes
from gossamer.service.picture import Watcher
from gossamer.service.problems import answer_with_problems
from gossamer.service.report_maker import ReportMaker
from gossamer.service.routes import about, changes, control, crawl, events, health, metrics, pages, search, watches
from gossamer.service.served import Served
from gossamer.service.sessions import Sessions

_DESCRIPTION = (
    "Ask what a crawl has found and what it does, and command it. Every request needs a key, sent as "
    "`Authorization: Bearer KEY`, unless there are no keys yet: then this machine may read without one. Errors are "
    "answered in problem+json (RFC 9457)."
)


def create_app(
    home: Path,
    *,
    host: str = "127.0.0.1",
    origins: Iterable[str] = (),
    clock: Callable[[], float] = time.time,
    seconds: float = limits.REQUEST_SECONDS,
    at_once: int = limits.REQUESTS_AT_ONCE,
    streams_at_once: int = limits.STREAMS_AT_ONCE,
) -> FastAPI:
    """The service of the crawl in `home`, which may not have begun yet.

    `host` is where it listens; `origins` are addresses under which a proxy publishes it (https://search.example.org).
    Routes find in `app.state`: `view` (the crawl), `watcher` and `live` (what it does now, once and as it happens),
    `gate` (who may ask), `names` (what this service is called), `outcomes` (what became of commands),
    `report` (who makes one).
    """
    app = FastAPI(
        title="Gossamer",
        version=__version__,
        description=_DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        lifespan=_lifespan,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,  # what clients call it
    )
    keys = KeyRing(home)
    app.state.view = Served(home, clock)
    app.state.watcher = watcher = Watcher(app.state.view)
    app.state.live = Live(watcher)
    app.state.gate = gate = Gate(keys, Sessions(keys))
    app.state.names = names = Names(host, origins)
    app.state.outcomes = Outcomes()
    app.state.report = ReportMaker(home)
    answer_with_problems(app)
    answer_browsers(app)
    for part in (search, pages, changes, watches, crawl, events, control, health, metrics, about):
        app.include_router(part.router)
    for router in ROUTERS:
        app.include_router(router)
    app.add_middleware(
        Envelope, names=names, gate=gate, seconds=seconds, at_once=at_once, streams_at_once=streams_at_once
    )
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    anyio.to_thread.current_default_thread_limiter().total_tokens = limits.THREADS
    view: Served = app.state.view
    opening = asyncio.create_task(anyio.to_thread.run_sync(view.open))
    yield
    app.state.live.end()
    app.state.report.close()
    await opening
    view.close()
