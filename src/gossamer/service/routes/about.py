"""The service described: for programs and for people."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse

from gossamer.service.answers import json_answer
from gossamer.service.callers import needs
from gossamer.service.description import STYLE_SOURCE, describe, page

router = APIRouter(include_in_schema=False, dependencies=[Depends(needs("search"))])


@router.get("/openapi.json")
async def openapi(request: Request) -> Response:
    return json_answer(describe(request.app))


@router.get("/docs")
async def docs(request: Request) -> Response:
    policy = (
        f"default-src 'none'; style-src {STYLE_SOURCE}; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    )
    return HTMLResponse(page(describe(request.app)), headers={"Content-Security-Policy": policy})
