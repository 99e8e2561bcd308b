"""The report as a page: the one that was made last, in a frame of its own, and how far the next one is."""

from __future__ import annotations

import re
from typing import Final

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from gossamer.service.pages.forms import Fields, check_token
from gossamer.service.pages.frame import Reader, new_router, render
from gossamer.service.problems import Problem
from gossamer.service.report_maker import ReportMaker
from gossamer.service.request_crawl import crawl_of

# The page stands alone and brings its policy; this repeats it, takes its origin from it, and lets it be framed by us.
_SANDBOX: Final = "allow-scripts allow-downloads allow-popups"
_CSP: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src {script}; base-uri 'none'; form-action 'none'; "
    f"frame-ancestors 'self'; sandbox {_SANDBOX}"
)
_HEAD: Final = 2000  # characters in which its policy stands
_MOST: Final = 64 << 20  # bytes of a report
_script = re.compile(r"'sha256-[A-Za-z0-9+/=]{44}'").search

router = new_router()


@router.get("/report")
def report_page(request: Request, caller: Reader) -> HTMLResponse:
    maker = _maker(request)
    exists = crawl_of(request).exists
    state = maker.state()
    if exists and not state.made_at and not state.making and not state.failed:
        maker.make()
        state = maker.state()
    return render(request, "report.html", caller, here="report", exists=exists, state=state, sandbox=_SANDBOX)


@router.post("/report")
def make_report(request: Request, caller: Reader, given: Fields) -> Response:
    """Reading what is stored, and so for every reader; one is made at a time."""
    if caller.session:
        check_token(request, caller, given)
    if not crawl_of(request).exists:
        raise Problem(404, "There is no crawl in the directory of this service yet.")
    _maker(request).make()
    return RedirectResponse("/report", 303)


@router.get("/report/content")
def content(request: Request, caller: Reader) -> Response:
    path = _maker(request).state().path
    try:
        if path.stat().st_size > _MOST:
            raise Problem(404, f"The report is too long to be shown here. It is in {path}.")
        page = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        raise Problem(404, "There is no report yet.") from None
    found = _script(page, 0, _HEAD)
    headers = {"Content-Security-Policy": _CSP.format(script=found[0] if found else "'none'")}
    return HTMLResponse(page, headers={**headers, "X-Frame-Options": "SAMEORIGIN"})


def _maker(request: Request) -> ReportMaker:
    found: ReportMaker = request.app.state.report
    return found
