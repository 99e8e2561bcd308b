"""The crawl as one request asks it."""

from __future__ import annotations

from fastapi import Request

from gossamer.service.crawl import Crawl
from gossamer.service.served import Served


def crawl_of(request: Request) -> Crawl:
    """The same each time: who did not answer is noted in it, until all is said."""
    found: Crawl | None = getattr(request.state, "crawl", None)
    if found is None:
        whole: Served = request.app.state.view
        found = request.state.crawl = whole.asked()
    return found
