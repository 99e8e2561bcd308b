"""The pages that are new, have changed or are gone: the newest, for people."""

from __future__ import annotations

from typing import Final, get_args
from urllib.parse import quote, urlencode

import msgspec
from fastapi import Request
from fastapi.responses import HTMLResponse

from gossamer.agent.changes import ChangedPage, Kind, Wish
from gossamer.service.pages.frame import Reader, new_router, render
from gossamer.service.request_crawl import crawl_of

_SHOWN: Final = 100
_LONGEST_HOST: Final = 255
_KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

router = new_router()


class Row(msgspec.Struct, frozen=True):
    page: ChangedPage
    at: float
    explain: str
    copy: str


@router.get("/changes")
def changed_pages(request: Request, caller: Reader, kind: str = "", site: str = "") -> HTMLResponse:
    view = crawl_of(request)
    chosen = next((each for each in _KINDS if each == kind), None)
    host = site.strip().lower()[:_LONGEST_HOST]
    found, complete = view.newest_changes(_SHOWN, Wish(chosen, host)) if view.exists else ([], True)
    return render(
        request,
        "changes.html",
        caller,
        here="dashboard",
        exists=view.exists,
        rows=[_row(page) for page in found],
        complete=complete,
        kinds=[("all", _link("", host), chosen is None)]
        + [(each, _link(each, host), each == chosen) for each in _KINDS],
        kind=chosen or "",
        site=host,
        shown=_SHOWN,
    )


def _row(page: ChangedPage) -> Row:
    address = quote(page.url, safe="")
    return Row(page, page.fetched_at.timestamp(), f"/urls?url={address}", f"/copy?url={address}")


def _link(kind: str, site: str) -> str:
    text = urlencode([(name, value) for name, value in (("kind", kind), ("site", site)) if value])
    return f"/changes?{text}" if text else "/changes"
