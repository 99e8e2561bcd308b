"""What is alive."""

from __future__ import annotations

from typing import Annotated

import anyio.to_thread
from anyio import CapacityLimiter
from fastapi import APIRouter, Depends, Response

from gossamer.errors import GossamerError
from gossamer.service.answers import Health, answering, json_answer
from gossamer.service.callers import local_or_key
from gossamer.service.crawl import Crawl
from gossamer.service.problems import Problem
from gossamer.service.routes.parts import view_of

router = APIRouter(tags=["watching"], dependencies=[Depends(local_or_key)])

_own_threads = CapacityLimiter(2)  # so that it can be asked while all others are busy


@router.get("/healthz", **answering(Health))
async def healthz(view: Annotated[Crawl, Depends(view_of)]) -> Response:
    """That the service answers, whether the crawl runs, and how old crawl and index are."""
    return json_answer(await anyio.to_thread.run_sync(_health, view, limiter=_own_threads))


def _health(view: Crawl) -> Health:
    """`crawl` is running, stopped, none, or what keeps it from being read; `index` is complete, behind or none."""
    now = view.clock()
    index = view.index_age()
    health = Health("ok", "none", None, "none", None)
    if index.written_at:
        health.index = "complete" if index.status is not None and index.status.caught_up else "behind"
        health.index_age = max(0.0, now - index.written_at)
    try:
        progress = view.progress()
    except Problem:  # there is none yet, which is no fault
        return health
    except GossamerError as error:
        health.status, health.crawl = "degraded", str(error)
        return health
    health.missing, health.ended = list(view.missing), list(view.ended)
    if health.missing:
        health.status = "degraded"
    health.crawl = "running" if progress.running else "stopped"
    health.crawl_age = max(0.0, now - progress.updated_at) if progress.updated_at else None
    return health
