"""What the crawl does, whom it visits, and why."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Response

from gossamer.agent import Explanation, Progress
from gossamer.agent.results import Result
from gossamer.errors import CursorError, SeedError
from gossamer.frontier.outlook import HostEstimate
from gossamer.frontier.reader import HostCounts
from gossamer.service.answers import (
    Explained,
    HostEntry,
    HostsAnswer,
    IndexState,
    RequestResult,
    ResultsAnswer,
    Status,
    answering,
    json_answer,
    moment,
)
from gossamer.service.callers import needs
from gossamer.service.crawl import Crawl
from gossamer.service.host_list import Order
from gossamer.service.problems import Problem
from gossamer.service.routes.parts import LONGEST_URL, view_of

router = APIRouter(prefix="/api/v1", tags=["crawl"], dependencies=[Depends(needs("search"))])

View = Annotated[Crawl, Depends(view_of)]


@router.get("/status", **answering(Status, 404))
def status(view: View) -> Response:
    """What the crawl does or did, as of its last commit."""
    progress = view.progress()
    size = view.search.size()
    state = IndexState(size.pages, size.hosts, moment(size.newest), moment(view.index_age().written_at))
    fields = {name: getattr(progress, name) for name in Progress.__struct_fields__}
    return json_answer(Status(**fields, index=state, missing=list(view.missing), ended=list(view.ended)))


@router.get("/hosts", **answering(HostsAnswer, 404))
def hosts(
    view: View,
    sort: Annotated[Order, Query(description="Most pages, queued URLs or failures first, or names.")] = "pages",
    prefix: Annotated[str, Query(max_length=255, description="Only names that begin so.")] = "",
    limit: Annotated[int, Query(ge=1, le=1000, description="Hosts at most.")] = 100,
    cursor: Annotated[str, Query(max_length=2000, description="`next` of the answer before.")] = "",
) -> Response:
    """The hosts that the crawl knows."""
    part = view.hosts(sort, prefix.lower(), limit, cursor)
    fresh = view.freshness(host.name for host in part.hosts)
    entries = [_entry(host, fresh.get(host.name)) for host in part.hosts]
    return json_answer(HostsAnswer(entries, part.total, part.complete, part.next, list(view.missing), list(view.ended)))


@router.get("/results", **answering(ResultsAnswer, 404, 409))
def results(
    view: View,
    tag: Annotated[str, Query(min_length=1, max_length=100, description="With which the requests were made.")],
    limit: Annotated[int, Query(ge=1, le=1000, description="Requests at most.")] = 100,
    cursor: Annotated[str, Query(max_length=20_000, description="`next` of the answer before.")] = "",
) -> Response:
    """What became of the requests with a tag, in the order of asking."""
    try:
        part = view.results(tag, cursor, limit)
    except CursorError as error:
        raise Problem(422, str(error)) from error
    return json_answer(ResultsAnswer(list(map(_result, part.results)), part.next, list(view.missing), list(view.ended)))


def _result(found: Result) -> RequestResult:
    stored = found.stored
    return RequestResult(
        found.url,
        found.app,
        moment(found.asked_at),
        found.state.name.lower(),
        found.status,
        moment(found.fetched_at),
        found.reason,
        "/api/v1/pages/content?" + urlencode({"url": found.url}) if found.kept else "",
        None if stored is None else stored.file,
        None if stored is None else stored.offset,
        None if stored is None else stored.length,
        found.agent,
    )


def _entry(host: HostCounts, fresh: HostEstimate | None) -> HostEntry:
    return HostEntry(
        host.name,
        host.pages,
        host.queued,
        host.failures,
        moment(host.due),
        host.mirror_of,
        host.revisits,
        None if fresh is None else fresh.freshness,
        None if fresh is None else fresh.age,
    )


@router.get("/explain", **answering(Explained, 404))
def explain(
    view: View, url: Annotated[str, Query(max_length=LONGEST_URL, description="A URL, or the name of a host.")]
) -> Response:
    """What is known of a URL or host, what it waits for, and why; as `gossamer explain --json` says it."""
    try:
        found = view.explain(url)
    except SeedError as error:
        raise Problem(422, f"url: {error}") from error
    fields = {name: getattr(found, name) for name in Explanation.__struct_fields__}
    return json_answer(Explained(**fields, missing=list(view.missing), ended=list(view.ended)))
