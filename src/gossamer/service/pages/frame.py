"""What all pages have in common: templates, headers, and what is shown when something is refused."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import quote

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from fastapi.routing import APIRoute
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.exceptions import HTTPException

from gossamer.errors import GossamerError
from gossamer.service.callers import Caller, needs
from gossamer.service.pages import words
from gossamer.service.pages.assets import asset
from gossamer.service.problems import Problem, of_framework
from gossamer.service.request_crawl import crawl_of

Reader = Annotated[Caller, Depends(needs("search"))]

# All of a page comes from here: no inline script, no inline style, no other origin.
CSP: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS: Final = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with none at all, browsers do not say of our forms that they are ours
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
# Cookies of a login are not sent where another site's page leads here. Our own page leads on, and then they are.
_ONCE_MORE: Final = '<!DOCTYPE html><meta http-equiv="refresh" content="0"><title>Gossamer</title>'

# The name of a page for `render`, which is its path too but for the first, and what it is called.
_MENU: Final[dict[str, str]] = {
    "search": "Search", "watches": "Watches", "domains": "Domains", "hosts": "Hosts", "dashboard": "Dashboard",
    "controls": "Controls", "report": "Report", "docs": "API",
}  # fmt: skip

_templates = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
)
_templates.globals["asset"] = asset
for _filter in (
    words.ago, words.count, words.is_web, words.iso, words.marked, words.moment, words.parts, words.path_parts,
    words.path_shown, words.prose, words.shell, words.shortened, words.took,
):  # fmt: skip
    _templates.filters[_filter.__name__] = _filter


class PageRoute(APIRoute):
    """Invariant: every answer has the headers of a page, and a refusal is a page too; without a login it is the way
    to one.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                response = await handle(request)
            except Problem as problem:
                response = _refused(request, problem)
            except RequestValidationError:
                response = _refused(request, Problem(422, "This is not an address of this service."))
            except GossamerError as error:
                response = _refused(request, Problem(503, str(error), {"Retry-After": "10"}))
            for name, value in HEADERS.items():
                response.headers.setdefault(name, value)
            return response

        return handled


def new_router() -> APIRouter:
    return APIRouter(route_class=PageRoute, default_response_class=HTMLResponse, include_in_schema=False)


def render(
    request: Request, template: str, caller: Caller | None, *, status: int = 200, here: str = "", **more: Any
) -> HTMLResponse:
    gate = request.app.state.gate
    session = caller.session if caller else ""
    common = {
        "who": caller.name if session and caller else "",
        "token": gate.sessions.form_token(session) if session else "",
        "keys": bool(gate.keys.all()),
        "here": here,
        "menu": {name: called for name, called in _MENU.items() if name != "controls" or (caller and caller.operates)},
        "missing": list(crawl_of(request).missing),
        "ended": list(crawl_of(request).ended),
        "now": time.time(),
    }
    return HTMLResponse(_templates.get_template(template).render(common | more), status)


def answer_browsers(app: FastAPI) -> None:
    """A person who asks for what is not there gets a page; programs get problem+json as everywhere."""

    async def missing(request: Request, error: Exception) -> Response:
        refusal = await of_framework(request, error)
        accepts = "text/html" in request.headers.get("accept", "")
        if not (refusal.status_code == 404 and accepts) or request.url.path.startswith("/api/"):
            return refusal
        try:
            caller = request.app.state.gate.admit(request)
        except (Problem, GossamerError):
            caller = None
        page = trouble(request, 404, f"There is nothing at {request.url.path[:200]}.", caller=caller)
        page.headers.update(HEADERS)
        return page

    app.add_exception_handler(HTTPException, missing)


def _refused(request: Request, problem: Problem) -> Response:
    if problem.status == 401 and request.method == "GET":
        if request.headers.get("sec-fetch-site") in ("cross-site", "same-site"):
            return HTMLResponse(_ONCE_MORE)
        where = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        target = "/login" if where == "/" else f"/login?next={quote(where, safe='')}"
        return RedirectResponse(target, 303)
    return trouble(request, problem.status, problem.detail, headers=problem.headers)


def trouble(
    request: Request,
    status: int,
    detail: str,
    *,
    caller: Caller | None = None,
    url: str = "",
    headers: dict[str, str] | None = None,
) -> HTMLResponse:
    title = HTTPStatus(status).phrase
    response = render(request, "trouble.html", caller, status=status, title=title, detail=detail, url=url)
    response.headers.update(headers or {})
    return response
