"""What the crawl measures, for Prometheus."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response
from fastapi.responses import PlainTextResponse

from gossamer.agent import Progress
from gossamer.agent.metrics import about
from gossamer.service.callers import local_or_key
from gossamer.service.crawl import Crawl
from gossamer.service.metrics import MEDIA_TYPE, exposition
from gossamer.service.problems import Problem, described
from gossamer.service.routes.parts import view_of

router = APIRouter(tags=["watching"], dependencies=[Depends(local_or_key)])

_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"description": "In Prometheus' text format.", "content": {"text/plain": {"schema": {"type": "string"}}}},
    **described(),
}


@router.get("/metrics", response_class=PlainTextResponse, responses=_ANSWERS)
def metrics(view: Annotated[Crawl, Depends(view_of)]) -> Response:
    """As of the crawl's last commit."""
    try:
        found = view.metrics()
    except Problem:  # there is no crawl yet, which is no fault
        found = list(about(Progress(running=False)))
    return Response(exposition(found), media_type=MEDIA_TYPE)
