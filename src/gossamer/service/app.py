"""The service of one crawl, put together."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from fastapi import FastAPI

from gossamer import __version__
from gossamer.service.callers import Gate
from gossamer.service.keys import KeyRing
from gossamer.service.problems import answer_with_problems
from gossamer.service.routes import health
from gossamer.service.sessions import Sessions


def create_app(home: Path, *, host: str = "127.0.0.1", origins: Iterable[str] = ()) -> FastAPI:
    """The service of the crawl in `home`, which may not have begun yet.

    `host` is where it listens; `origins` are addresses under which a proxy publishes it (https://search.example.org).
    """
    app = FastAPI(title="Gossamer", version=__version__, docs_url=None, redoc_url=None, openapi_url=None)
    keys = KeyRing(home)
    app.state.home = home
    app.state.gate = Gate(keys, Sessions(keys))
    app.state.origins = {
        address.partition("://")[2].lower(): address.partition("://")[0].lower() for address in origins
    }
    answer_with_problems(app)
    app.include_router(health.router)
    return app
