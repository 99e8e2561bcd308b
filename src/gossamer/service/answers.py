"""What is answered, as JSON: one struct for each kind of answer, from which the OpenAPI document is made, too.

`missing` are the agents of a crawl of several that did not answer: what is said is without what they know. So it is of
those that have `ended`, unless somebody answers for their directories.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

import msgspec
from fastapi.responses import JSONResponse, Response

from gossamer.agent import Explanation, Progress
from gossamer.agent.changes import ChangesPart
from gossamer.index import Answer, FoundDomain, Hit
from gossamer.service import command_answers, watch_answers
from gossamer.service.problems import ProblemDocument, described

Moment = Annotated[datetime, msgspec.Meta(tz=True)]


class JsonResponse(JSONResponse):
    """For what is JSON already."""

    def render(self, content: bytes) -> bytes:
        return content


class ScorePart(msgspec.Struct):
    part: str
    score: float


class FacetCount(msgspec.Struct):
    value: str
    pages: int


class SearchResult(msgspec.Struct):
    """A page that was found. `snippet` is HTML: escaped text with `<mark>` around what matched."""

    url: str
    title: str
    snippet: str
    score: float
    fetched_at: Moment | None
    language: str
    type: str
    host: str
    description: str
    same: int
    why: list[ScorePart]


class CrawlOffer(msgspec.Struct):
    """From which of these results the crawl would go on: give the URLs to `POST /api/v1/seeds` with `links`. Where
    nothing was found, `watch` is the id of the watch by which the query is remembered, if it is.
    """

    start: list[str] = msgspec.field(name="from", default_factory=list)
    watch: str = ""


class SearchAnswer(msgspec.Struct):
    """`total` results in all. `next` is the cursor of the results that follow, empty where there are none. `domains` is
    the tree of the domains of all results, where it was asked for: the 100 largest of all levels.
    """

    total: int
    results: list[SearchResult]
    next: str
    seconds: float
    query: str
    facets: dict[str, list[FacetCount]]
    domains: list[FoundDomain] = []
    crawl: CrawlOffer = msgspec.field(default_factory=CrawlOffer)
    missing: list[str] = []
    ended: list[str] = []


class IndexState(msgspec.Struct):
    """`newest`: when the page fetched last of those indexed was fetched."""

    pages: int
    hosts: int
    newest: Moment | None
    written_at: Moment | None


class Status(Progress):
    """What the crawl does or did, as `gossamer status --json` says it, and what its index holds."""

    index: IndexState | None = None
    missing: list[str] = msgspec.field(default_factory=list)
    ended: list[str] = msgspec.field(default_factory=list)


class Explained(Explanation):
    """What is known of a URL or host, what it waits for, and why."""

    missing: list[str] = msgspec.field(default_factory=list)
    ended: list[str] = msgspec.field(default_factory=list)


class ChangesFound(ChangesPart):
    """`next` is the cursor of what comes after these, now or later; where `more` is false, that is nothing yet."""

    missing: list[str] = msgspec.field(default_factory=list)
    ended: list[str] = msgspec.field(default_factory=list)


class Header(msgspec.Struct):
    name: str
    value: str


class Place(msgspec.Struct):
    """The record in a WARC file: one gzip member."""

    file: str
    offset: int
    length: int


class PageAnswer(msgspec.Struct):
    """What is known of a URL, and of its stored copy where there is one."""

    url: str
    state: str
    status: int | None
    reason: str
    depth: int
    tries: int
    changes: int
    fetched_at: Moment | None
    stored_at: Moment | None
    digest: str
    title: str
    language: str
    type: str
    charset: str
    length: int | None
    truncated: str
    revisit: bool
    headers: list[Header]
    stored: Place | None
    missing: list[str] = []
    ended: list[str] = []


class HostEntry(msgspec.Struct):
    """`revisits` of those queued were visited before. `freshness` (share of copies that are what the host shows) and
    `age` (mean seconds since they stopped being that) are estimates, and null where pages are not visited again.
    """

    name: str
    pages: int
    queued: int
    failures: int
    due: Moment | None
    mirror_of: str
    revisits: int
    freshness: float | None
    age: float | None


class HostsAnswer(msgspec.Struct):
    """`total` hosts are known; where `complete` is false, they are so many that only some were looked at."""

    hosts: list[HostEntry]
    total: int
    complete: bool
    next: str
    missing: list[str] = []
    ended: list[str] = []


class DomainEntry(msgspec.Struct):
    """A domain: what it and all below it have. `children`: there are domains below it."""

    name: str
    hosts: int
    pages: int
    children: bool


class DomainsAnswer(msgspec.Struct):
    under: str
    domains: list[DomainEntry]
    missing: list[str] = []
    ended: list[str] = []


class Health(msgspec.Struct):
    """`crawl` and `index` say how they are; their ages are seconds since they were last written."""

    status: str
    crawl: str
    crawl_age: float | None
    index: str
    index_age: float | None
    missing: list[str] = []
    ended: list[str] = []


class RequestResult(msgspec.Struct):
    """A request, and how its URL stands now: `queued`, `fetched`, `dead` or `excluded`, with the `reason` of the last
    two. `content` leads to the stored bytes, where there are some; `file`, `offset` and `length` say where in WARC,
    among several agents in the files of `agent`.
    """

    url: str
    app: str
    asked_at: Moment | None
    state: str
    status: int
    fetched_at: Moment | None
    reason: str
    content: str
    file: int | None
    offset: int | None
    length: int | None
    agent: str


class ResultsAnswer(msgspec.Struct):
    """In the order of asking. `next` is the cursor of those that follow; empty where there are none yet. What those
    were asked who are `missing` is not in it, nor what became of their URLs.
    """

    results: list[RequestResult]
    next: str
    missing: list[str] = []
    ended: list[str] = []


SCHEMAS = (
    ProblemDocument,
    SearchAnswer,
    Status,
    PageAnswer,
    ChangesFound,
    HostsAnswer,
    DomainsAnswer,
    Explained,
    ResultsAnswer,
    Health,
    *command_answers.SCHEMAS,
    *watch_answers.SCHEMAS,
)


def json_answer(answer: object, headers: dict[str, str] | None = None) -> Response:
    return JsonResponse(msgspec.json.encode(answer), headers=headers)


def answering(kind: type[Any], *problems: int) -> dict[str, Any]:
    """What a route says of its answers: that with 200 it is of this kind, and what else there may be."""
    found = {"description": "Found.", "content": {"application/json": {"schema": {"$ref": schema_name(kind)}}}}
    return {"response_class": JsonResponse, "responses": {200: found, **described(*problems)}}


def schema_name(kind: type[Any]) -> str:
    return f"#/components/schemas/{kind.__name__}"


def moment(seconds: float) -> datetime | None:
    """None for 0, which is never."""
    return datetime.fromtimestamp(seconds, UTC) if seconds else None


def search_answer(
    answer: Answer, offer: CrawlOffer, missing: Sequence[str] = (), ended: Sequence[str] = ()
) -> SearchAnswer:
    return SearchAnswer(
        answer.total,
        [search_result(hit) for hit in answer.results],
        answer.next,
        answer.seconds,
        answer.query,
        {name: [FacetCount(value, pages) for value, pages in counts] for name, counts in answer.facets.items()},
        answer.domains,
        offer,
        list(missing),
        list(ended),
    )


def search_result(hit: Hit) -> SearchResult:
    return SearchResult(
        hit.url,
        hit.title,
        hit.snippet,
        hit.score,
        moment(hit.fetched_at),
        hit.language,
        hit.type,
        hit.host,
        hit.description,
        hit.same,
        [ScorePart(part, score) for part, score in hit.why],
    )
