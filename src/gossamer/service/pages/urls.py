"""One URL: what became of it and why, how it was each time, and what is known of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from http import HTTPStatus
from typing import Final
from urllib.parse import quote, urlencode

from fastapi import Request
from fastapi.responses import HTMLResponse

from gossamer.agent import Explanation, numbers
from gossamer.errors import SeedError
from gossamer.frontier.outlook import Outlook
from gossamer.index import Hit
from gossamer.model.url import host_of
from gossamer.service.pages.controls import controls
from gossamer.service.pages.frame import Reader, new_router, render
from gossamer.service.pages.hosts import link_to
from gossamer.service.pages.timeline import Event, marks
from gossamer.service.problems import Problem
from gossamer.service.request_crawl import crawl_of
from gossamer.service.routes.parts import LONGEST_URL
from gossamer.store import Capture

_SHOWN: Final = 50  # captures in the table
_CHANGES: Final = {
    "same": "unchanged",
    "changed": "changed",
    "gone": "gone",
    "new": "back",
}  # other bytes may say the same

router = new_router()


@router.get("/urls")
def url_page(request: Request, caller: Reader, url: str = "") -> HTMLResponse:
    view = crawl_of(request)
    text = url.strip()[:LONGEST_URL]
    if not text:
        return render(request, "urls.html", caller, here="hosts", url="", said=None)
    try:
        said = view.explain(text)
    except SeedError as error:
        raise Problem(404, str(error)) from error
    captures, complete = view.history(said.url) if said.known else ([], True)
    events = _events(captures)
    host = host_of(said.url)
    return render(
        request,
        "urls.html",
        caller,
        here="hosts",
        url=said.url,
        said=said,
        facts=list(_facts(said, view.search.page(said.url))),
        events=events[:_SHOWN],
        marks=marks(events),
        captures=len(captures),
        complete=complete,
        copy=f"/copy?url={quote(said.url, safe='')}" if said.visit and said.visit.stored else "",
        host=host,
        host_link=link_to(host),
        search="/?" + urlencode({"q": f"site:{host}"}),
        **controls(request, caller),
    )


def _events(captures: Sequence[Capture]) -> list[Event]:
    """Of captures from the newest to the oldest: each changed or not, beside the one before it."""
    found = []
    for place, capture in enumerate(captures):
        before = captures[place + 1] if place + 1 < len(captures) else None
        changed = "first" if before is None else "changed" if capture.digest != before.digest else "unchanged"
        changed = _CHANGES.get(capture.change, changed)
        found.append(Event(capture.fetched_at, capture.status, f"status {capture.status}, {changed}", "", changed))
    return found


def _facts(said: Explanation, hit: Hit | None) -> Iterator[tuple[str, str]]:
    visit = said.visit
    if visit is None:
        return
    yield "State", visit.state.name.lower()
    if visit.status:
        yield "Status", f"{visit.status} {_phrase(visit.status)}".strip()
    if visit.reason:
        yield "Reason", visit.reason
    yield "Depth", f"{visit.depth:,} {'link' if visit.depth == 1 else 'links'} from a seed"
    if visit.tries:
        yield "Tries", f"{visit.tries:,}"
    if visit.fetched_at:
        yield "Last visit", numbers.moment(visit.fetched_at)
    if visit.changes:
        yield "Seen changed", f"{visit.changes:,} {'time' if visit.changes == 1 else 'times'}"
    yield from _again(said.outlook, said.due)
    if hit is not None:
        yield "Title", hit.title
        yield "Language", hit.language or "unknown"
        yield "Type", hit.type
        if hit.same:
            yield "Same content", f"{hit.same:,} other URLs"
    for name, value in (("ETag", visit.etag), ("Last-Modified", visit.last_modified), ("Digest", visit.digest)):
        if value:
            yield name, value
    if visit.stored is not None:
        place = visit.stored
        yield "Stored", f"{numbers.size(place.length)} in file {place.file}, at byte {place.offset:,}"


def _again(outlook: Outlook | None, due: float) -> Iterator[tuple[str, str]]:
    if outlook is None:
        return
    if outlook.is_page:
        yield "Changes", f"about every {numbers.about(outlook.changes_every)}, by estimate"
        if not outlook.missing:
            yield "Fresh", f"{numbers.share(outlook.freshness, 1)} likely"
    if due:
        yield "Interval", f"about {numbers.about(outlook.interval)} between visits"
        yield "Due", numbers.moment(due)
    elif not outlook.due:
        yield "Due", "waits in the queue of its host"


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
