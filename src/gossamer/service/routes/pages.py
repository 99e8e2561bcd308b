"""What is stored of a URL: the facts, and the bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import msgspec
from fastapi import APIRouter, Depends, Header, Query, Response
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send
from xxhash import xxh3_64_hexdigest

from gossamer.agent import StoredPage
from gossamer.model import VisitRecord
from gossamer.model.media_type import parse_media_type
from gossamer.service import answers, envelope
from gossamer.service.answers import PageAnswer, Place, answering, moment
from gossamer.service.callers import needs
from gossamer.service.crawl import Crawl
from gossamer.service.limits import PAGES_BYTES, Room, retry_after
from gossamer.service.problems import Problem, described
from gossamer.service.routes.parts import LONGEST_URL, known_form, view_of
from gossamer.store.warc import spelled
from gossamer.store.writer import file_name

router = APIRouter(prefix="/api/v1", tags=["pages"], dependencies=[Depends(needs("search"))])

View = Annotated[Crawl, Depends(view_of)]
Url = Annotated[str, Query(max_length=LONGEST_URL, description="The URL of a page.")]
MaxAge = Annotated[
    int | None,
    Query(ge=0, le=10**10, description="Seconds: a stored copy that is older is as good as none."),
]
IfNoneMatch = Annotated[str, Header(include_in_schema=False)]

_room = Room(PAGES_BYTES)
_KEPT = {"Cache-Control": "private, no-cache"}  # by the caller, who asks each time whether it still holds
_CHUNK = 64 << 10
# A stranger's bytes from our origin. No browser renders, runs, frames or embeds what comes so: it is a download of no
# type that anything is done with, and were it opened all the same, it would have no rights and no origin.
INERT = {
    "Content-Disposition": 'attachment; filename="{name}.bin"',
    "Content-Security-Policy": "sandbox; " + envelope.HEADERS["Content-Security-Policy"],
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Download-Options": "noopen",
    "X-Permitted-Cross-Domain-Policies": "none",
}
INERT_TYPE = "application/octet-stream"

_UNCHANGED: dict[int | str, dict[str, str]] = {304: {"description": "The caller's copy is still valid."}}


_PAGE = answering(PageAnswer, 404)
_PAGE["responses"] |= _UNCHANGED


@router.get("/pages", **_PAGE)
def page(view: View, url: Url, max_age: MaxAge = None, if_none_match: IfNoneMatch = "") -> Response:
    """What is stored of a page, and what became of its URL."""
    visit = _visit(view, url, max_age)
    encoded = msgspec.json.encode(_answer(view, visit))
    tag = f'W/"{xxh3_64_hexdigest(encoded)}"'
    if _matches(if_none_match, tag):
        return Response(status_code=304, headers={"ETag": tag, **_KEPT})
    return answers.JsonResponse(encoded, headers={"ETag": tag, **_KEPT})


@router.get(
    "/pages/content",
    response_class=Response,
    responses={
        200: {
            "description": "The bytes, without transfer and content encodings.",
            "content": {INERT_TYPE: {"schema": {"type": "string", "format": "binary"}}},
        },
        **_UNCHANGED,
        **described(404),
    },
)
def content(view: View, url: Url, max_age: MaxAge = None, if_none_match: IfNoneMatch = "") -> Response:
    """The stored bytes of a page. Its type is in X-Archived-Content-Type; no header of its server is passed on."""
    visit = _visit(view, url, max_age)
    stored = view.stored(visit)
    if stored is None:
        raise Problem(404, _nothing(visit), state=visit.state.name.lower())
    tag = f'"{stored.digest.hex()}-{len(stored.body):x}"'
    if _matches(if_none_match, tag):
        return Response(status_code=304, headers={"ETag": tag, **_KEPT})
    headers = {name: value.format(name=f"page-{stored.digest.hex()[:12]}") for name, value in INERT.items()}
    headers |= {"ETag": tag, "Content-Length": str(len(stored.body)), **_KEPT}
    if stored.content_type and stored.content_type.isascii() and stored.content_type.isprintable():
        headers["X-Archived-Content-Type"] = stored.content_type[:200]
    return _Bytes(stored.body, headers)


def _visit(view: Crawl, url: str, max_age: int | None) -> VisitRecord:
    """What the crawl knows of the URL, if it is fresh enough (D6)."""
    known = known_form(url)
    visit = view.visit(known)
    if visit is None:
        raise Problem(404, "This crawl does not know the URL. /api/v1/explain says whether it would follow it.")
    if max_age is None:
        return visit
    if visit.stored is None:
        raise Problem(404, _nothing(visit), state=visit.state.name.lower())
    age = max(0.0, view.clock() - visit.fetched_at)
    if age >= max_age:
        raise Problem(
            404,
            f"The stored copy is {age:,.0f} s old, which is more than max_age allows. Ask without max_age for it as it "
            "is, or have the crawl visit the page again: POST /api/v1/requests with this URL and a max_age, or "
            "`gossamer refresh` where the crawl is.",
            age=round(age, 3),
            max_age=max_age,
        )
    return visit


def _nothing(visit: VisitRecord) -> str:
    why = f" ({visit.reason})" if visit.reason else ""
    if visit.stored is not None:
        return "The file with the stored copy cannot be read now."
    return f"Nothing is stored of this URL: it is {visit.state.name.lower()}{why}."


def _answer(view: Crawl, visit: VisitRecord) -> PageAnswer:
    stored = view.stored(visit)
    hit = view.search.page(visit.url)
    answer = PageAnswer(
        url=visit.url,
        state=visit.state.name.lower(),
        status=visit.status or None,
        reason=visit.reason,
        depth=visit.depth,
        tries=visit.tries,
        changes=visit.changes,
        fetched_at=moment(visit.fetched_at),
        stored_at=None,
        digest=visit.digest,
        title=hit.title if hit else "",
        language=hit.language if hit else "",
        type="",
        charset="",
        length=None,
        truncated="",
        revisit=False,
        headers=[],
        stored=None,
        missing=list(view.missing),
        ended=list(view.ended),
    )
    if stored is not None:
        _add_stored(answer, stored)
    return answer


def _add_stored(answer: PageAnswer, stored: StoredPage) -> None:
    kind = parse_media_type(stored.content_type or "")
    answer.digest = spelled(stored.digest)
    answer.stored_at = moment(stored.fetched_at)
    answer.type = kind.essence if kind else ""
    answer.charset = kind.parameters.get("charset", "") if kind else ""
    answer.length = len(stored.body)
    answer.truncated = stored.truncated
    answer.revisit = stored.revisit
    answer.headers = [answers.Header(name, value) for name, value in stored.headers]
    place = stored.locator
    answer.stored = Place(file_name(place.file), place.offset, place.length)


def _matches(condition: str, tag: str) -> bool:
    """If-None-Match, compared weakly as it must be."""
    plain = tag.removeprefix("W/")
    return any(each.strip() in ("*", plain, f"W/{plain}") for each in condition[:4096].split(","))


class _Bytes(StreamingResponse):
    """A body, which has its room while it is sent."""

    def __init__(self, body: bytes, headers: dict[str, str]) -> None:
        super().__init__(_chunks(body), headers=headers, media_type=INERT_TYPE)
        self._size = len(body)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not _room.take(self._size):
            text = "Too many bytes of stored pages are being sent already. Wait, then try again."
            await Problem(503, text, retry_after(1)).response()(scope, receive, send)
            return
        try:
            await super().__call__(scope, receive, send)
        finally:
            _room.give_back(self._size)


def _chunks(body: bytes) -> Iterator[bytes]:
    for start in range(0, len(body), _CHUNK):
        yield body[start : start + _CHUNK]
