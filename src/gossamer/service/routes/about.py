"""The service described for programs."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request, Response

from gossamer.service.answers import json_answer
from gossamer.service.callers import needs
from gossamer.service.description import describe

router = APIRouter(include_in_schema=False, dependencies=[Depends(needs("search"))])


@router.get("/openapi.json")
async def openapi(request: Request) -> Response:
    return json_answer(describe(request.app))
