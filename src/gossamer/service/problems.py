"""What goes wrong is answered in problem+json (RFC 9457), whoever finds out."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import msgspec
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from gossamer.errors import GossamerError

MEDIA_TYPE = "application/problem+json"
_ALWAYS = (400, 401, 403, 414, 421, 422, 429, 431, 503)  # what every route may answer
_LONGEST = 200  # characters of what was sent that come back in a message


class ProblemDocument(msgspec.Struct):
    """What every refusal says. Some say more, in members of their own."""

    type: str
    title: str
    status: int
    detail: str


class Problem(Exception):
    """`more` are members beside the usual ones; `headers` go with the answer."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None, **more: Any) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = dict(headers or {})
        self.more = more

    def body(self) -> bytes:
        title = HTTPStatus(self.status).phrase
        said = {"type": "about:blank", "title": title, "status": self.status, "detail": self.detail, **self.more}
        return msgspec.json.encode(said)

    def response(self) -> Response:
        return Response(self.body(), self.status, {**self.headers, "Cache-Control": "no-store"}, MEDIA_TYPE)


def answer_with_problems(app: FastAPI) -> None:
    """Have the app answer its errors so; those that are bugs are for the `Envelope`."""
    app.add_exception_handler(Problem, _problem)
    app.add_exception_handler(HTTPException, of_framework)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(GossamerError, _ours)


async def _problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)
    return error.response()


async def of_framework(request: Request, error: Exception) -> Response:
    """Of the framework: no such route, or not by this method."""
    assert isinstance(error, HTTPException)
    if error.status_code == 400:
        return Problem(422, "The body is not JSON in UTF-8.").response()
    path = request.url.path[:_LONGEST]
    detail = {
        404: f"There is nothing at {path}. /docs lists what there is.",
        405: f"{path} does not answer {request.method[:20]}.",
    }
    return Problem(error.status_code, detail.get(error.status_code, str(error.detail)), error.headers).response()


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    wrong = [(".".join(map(str, each["loc"][1:])) or str(each["loc"][0]), each["msg"]) for each in error.errors()[:10]]
    detail = "; ".join(f"{where}: {why}" for where, why in wrong)
    return Problem(422, detail, errors=[{"where": where, "why": why} for where, why in wrong]).response()


async def _ours(request: Request, error: Exception) -> Response:
    """The crawl cannot be read now: damaged, of another version, being made."""
    assert isinstance(error, GossamerError)
    return Problem(503, str(error), {"Retry-After": "10"}).response()


def described(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """For the OpenAPI document: that a route may answer these, and what every route may."""
    return {
        status: {
            "description": HTTPStatus(status).phrase,
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}},
        }
        for status in sorted({*statuses, *_ALWAYS})
    }
