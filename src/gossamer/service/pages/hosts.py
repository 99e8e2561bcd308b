"""The hosts of a crawl: all of them in a list, and each on a page that says how it stands and why."""

from __future__ import annotations

from typing import Final, get_args
from urllib.parse import quote, urlencode

import msgspec
from fastapi import Request
from fastapi.responses import HTMLResponse

from gossamer.agent import numbers
from gossamer.errors import SeedError
from gossamer.frontier.outlook import HostEstimate
from gossamer.frontier.reader import HostCounts
from gossamer.model import VisitRecord
from gossamer.rules.policy import Policy
from gossamer.service.host_account import fault_words
from gossamer.service.host_list import Order
from gossamer.service.host_tables import said
from gossamer.service.pages.controls import controls
from gossamer.service.pages.frame import Reader, new_router, render
from gossamer.service.pages.timeline import Event, marks
from gossamer.service.problems import Problem
from gossamer.service.request_crawl import crawl_of

PER_PAGE: Final = 100
_SHOWN: Final = 30  # visits in the table
_LONGEST: Final = 300  # characters of a name
_ORDERS: Final = (("name", "Host"), ("pages", "Pages"), ("queued", "Queued"), ("failures", "Failures"))

router = new_router()


class Row(msgspec.Struct, frozen=True):
    host: HostCounts
    link: str
    state: str
    bad: bool
    fresh: str  # the share of its copies that are what it shows; empty where that is not known


@router.get("/hosts")
def hosts(request: Request, caller: Reader, sort: str = "pages", name: str = "", cursor: str = "") -> HTMLResponse:
    view = crawl_of(request)
    order: Order = sort if sort in get_args(Order) else "pages"  # type: ignore[assignment]
    wanted = name.strip().lower()[:_LONGEST]
    part = view.hosts(order, "", PER_PAGE, cursor, wanted)
    config = view.config()
    policy, now = Policy(config.policy, config.hosts, config.urls), view.clock()
    fresh = view.freshness(host.name for host in part.hosts)
    return render(
        request,
        "hosts.html",
        caller,
        here="hosts",
        rows=[_row(host, policy, now, fresh.get(host.name)) for host in part.hosts],
        keeps_fresh=config.fresh.keep_fresh,
        total=part.total,
        complete=part.complete,
        order=order,
        name=wanted,
        orders=[(key, called, _list(key, wanted)) for key, called in _ORDERS],
        first=_list(order, wanted) if cursor else "",
        after=_list(order, wanted, part.next) if part.next else "",
    )


@router.get("/hosts/{name}")
def host(request: Request, caller: Reader, name: str) -> HTMLResponse:
    view = crawl_of(request)
    try:
        found = view.host(name[:_LONGEST])
    except SeedError as error:
        raise Problem(404, str(error)) from error
    if found.host is None:
        raise Problem(404, f"This crawl does not know the host {found.name}: no page fetched so far links there.")
    events = [_event(visit) for visit in found.last]
    return render(
        request,
        "host.html",
        caller,
        here="hosts",
        host=found.host,
        sentence=found.sentence,
        facts=found.facts,
        rules=found.rules,
        visits=found,
        events=events[:_SHOWN],
        marks=marks(events),
        ends=found.ends,
        blocked=found.blocked,
        priority=found.priority,
        **controls(request, caller),
    )


def link_to(name: str) -> str:
    return f"/hosts/{quote(name, safe='')}"


def _list(order: str, name: str, cursor: str = "") -> str:
    given = {"sort": order if order != "pages" else "", "name": name, "cursor": cursor}
    text = urlencode({key: value for key, value in given.items() if value})
    return f"/hosts?{text}" if text else "/hosts"


def _row(host: HostCounts, policy: Policy, now: float, fresh: HostEstimate | None) -> Row:
    rest = f"in {numbers.span(host.due - now)}" if host.due > now else "now"
    why = f" ({said(host.trouble)})" if host.trouble else ""
    if policy.manners(host.name).blocked:
        state = "blocked"
    elif host.mirror_of:
        state = f"mirror of {host.mirror_of}"
    elif policy.is_down(host.failures):
        state = f"down{why}, tried again {rest}"
    elif host.failures:
        state = f"failing{why}, tried again {rest}"
    elif host.queued:
        state = f"next visit {rest}"
    else:
        state = "nothing queued"
    share = "" if fresh is None else numbers.share(fresh.freshness, 1)
    return Row(host, link_to(host.name), state, bool(host.failures), share)


def _event(visit: VisitRecord) -> Event:
    words = f"status {visit.status}" if visit.status else fault_words(visit.reason)
    changed = f"changed {visit.changes} times" if visit.changes > 1 else "changed once" if visit.changes else ""
    return Event(visit.fetched_at, visit.status, words, visit.url, changed)
