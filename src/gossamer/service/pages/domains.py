"""The tree of domains (D3), one level a page."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlencode

import msgspec
from fastapi import Request
from fastapi.responses import HTMLResponse

from gossamer.index import DomainCount
from gossamer.service.crawl import Searching
from gossamer.service.pages.frame import Reader, new_router, render
from gossamer.service.request_crawl import crawl_of

PER_PAGE: Final = 200
_LONGEST: Final = 255  # characters of a name

router = new_router()


class Row(msgspec.Struct):
    name: str
    hosts: int
    pages: int
    link: str  # to the level below, where there is one
    search: str


@router.get("/domains")
def domains(request: Request, caller: Reader, under: str = "", page: str = "") -> HTMLResponse:
    under = under.strip().strip(".").lower()[:_LONGEST]
    search = crawl_of(request).search
    found = search.domains(under)
    size = _size_of(search, under) if under else search.size()
    number = int(page) if page.isdecimal() and 0 < len(page) < 7 else 1
    first = (max(1, number) - 1) * PER_PAGE
    return render(
        request,
        "domains.html",
        caller,
        here="domains",
        under=under,
        trail=_trail(under),
        hosts=size.hosts,
        pages=size.pages,
        itself=size.pages - sum(domain.pages for domain in found) if under else 0,
        rows=[_row(domain) for domain in found[first : first + PER_PAGE]],
        before=_link(under, number - 1) if first else "",
        after=_link(under, number + 1) if first + PER_PAGE < len(found) else "",
    )


def _size_of(search: Searching, under: str) -> DomainCount:
    """Of a domain with all below it: its parent knows."""
    parent = under.partition(".")[2]
    return next((domain for domain in search.domains(parent) if domain.name == under), DomainCount(under, 0, 0, False))


def _row(domain: DomainCount) -> Row:
    asked = f"{'domain' if domain.has_children else 'site'}:{domain.name}"
    return Row(
        domain.name, domain.hosts, domain.pages, _link(domain.name) if domain.has_children else "",
        "/?" + urlencode({"q": asked}),
    )  # fmt: skip


def _trail(under: str) -> list[tuple[str, str]]:
    """The way from the top to here: each name with its address, the last, which is here, without one."""
    labels = under.split(".") if under else []
    names = [".".join(labels[start:]) for start in range(len(labels) - 1, -1, -1)]
    links = [(name, _link(name) if name != under else "") for name in names]
    return [("All domains", "/domains" if under else ""), *links]


def _link(under: str, page: int = 1) -> str:
    given = {"under": under, "page": str(page) if page > 1 else ""}
    text = urlencode({name: value for name, value in given.items() if value})
    return f"/domains?{text}" if text else "/domains"
