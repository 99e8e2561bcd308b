"""A page as it was stored: in a frame of its own where nothing of it can act, below a bar that says what it is."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final
from urllib.parse import quote

from fastapi import Request
from fastapi.responses import HTMLResponse, Response

from gossamer.agent import StoredPage, numbers
from gossamer.model.post import known_as
from gossamer.model.url import normalize
from gossamer.parse.inert import MAX_SHOWN, inert, is_readable
from gossamer.service.callers import Caller
from gossamer.service.pages.frame import Reader, new_router, render, trouble
from gossamer.service.problems import Problem
from gossamer.service.request_crawl import crawl_of

# Two walls of the same kind, of which one would do: the frame's sandbox, and this. No script, no form, no request to
# anywhere; a click on a link leads the whole window to the stored copy of what it links to.
SANDBOX: Final = "allow-top-navigation-by-user-activation"
_CSP: Final = (
    f"sandbox {SANDBOX}; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
)
_HEADERS: Final = {"Content-Security-Policy": _CSP, "X-Frame-Options": "SAMEORIGIN"}
_CUT: Final = {"length": "it was too long", "time": "it took too long", "disconnect": "the connection broke"}

router = new_router()


@router.get("/copy")
def copy(request: Request, caller: Reader, url: str = "") -> HTMLResponse:
    address = _address(url)
    page = _stored(request, address)
    if page is None:
        return _missing(request, caller, address)
    target = _redirects_to(page)
    return render(
        request,
        "copy.html",
        caller,
        url=page.url,
        fetched_at=page.fetched_at,
        state=_state(page),
        shown=bool(page.body) and is_readable(page.body, page.content_type),
        sandbox=SANDBOX,
        content=f"/copy/content?url={quote(page.url, safe='')}",
        download=f"/api/v1/pages/content?url={quote(page.url, safe='')}",
        size=numbers.size(len(page.body)),
        type=_type(page),
        target=target,
        target_copy=_lead(target) if target else "",
    )


@router.get("/copy/content")
def content(request: Request, caller: Reader, url: str = "") -> Response:
    """For the frame alone. Always UTF-8: the encoding was found out here."""
    page = _stored(request, _address(url))
    html = inert(page.body, page.url, page.content_type, _lead) if page else None
    if html is None:
        raise Problem(404, "There is no text stored for this URL.")
    return Response(html.encode("utf-8", "replace"), headers=_HEADERS, media_type="text/html; charset=utf-8")


def _address(url: str) -> str:
    found = known_as(url)
    if found is None:
        raise Problem(404, "This is not a URL that a crawl can have fetched: it begins with http:// or https://.")
    return found


def _stored(request: Request, url: str) -> StoredPage | None:
    crawl = crawl_of(request)
    visit = crawl.visit(url)
    return None if visit is None else crawl.stored(visit)


def _missing(request: Request, caller: Caller, url: str) -> HTMLResponse:
    why = crawl_of(request).explain(url).sentence
    return trouble(request, 404, f"There is no stored copy of {url}. {why}", caller=caller, url=url)


def _lead(url: str) -> str:
    return f"/copy?url={quote(url, safe='')}"


def _type(page: StoredPage) -> str:
    return (page.content_type or "").partition(";")[0].strip().lower()


def _redirects_to(page: StoredPage) -> str | None:
    if not 300 <= page.status < 400:
        return None
    location = next((value for name, value in page.headers if name.lower() == "location"), "")
    return normalize(location, page.url) if location else None


def _state(page: StoredPage) -> str:
    try:
        phrase = f" {HTTPStatus(page.status).phrase}"
    except ValueError:
        phrase = ""
    said = [f"status {page.status}{phrase}", _type(page) or "no type", numbers.size(len(page.body))]
    if page.truncated:
        said.append(f"its end is missing: {_CUT.get(page.truncated, page.truncated)}")
    if len(page.body) > MAX_SHOWN:
        said.append(f"the first {numbers.size(MAX_SHOWN)} are shown")
    return " · ".join(said)
