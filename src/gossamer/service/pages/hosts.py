"""The hosts of a crawl: all of them in a list, and each on a page that says how it stands and why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, get_args
from urllib.parse import quote, urlencode

import msgspec
from fastapi import Request
from fastapi.responses import HTMLResponse

from gossamer.agent import numbers
from gossamer.agent.case import Case
from gossamer.agent.left_out import FAULTS
from gossamer.agent.waiting import host_sentence
from gossamer.config import load
from gossamer.errors import SeedError
from gossamer.frontier.outlook import HostEstimate
from gossamer.frontier.reader import HostCounts, HostView
from gossamer.model import VisitRecord
from gossamer.rules.policy import Policy
from gossamer.service.host_list import Order
from gossamer.service.host_visits import HostVisits, visits_of
from gossamer.service.pages.controls import controls
from gossamer.service.pages.frame import Reader, crawl_of, new_router, render
from gossamer.service.pages.timeline import Event, marks
from gossamer.service.problems import Problem

PER_PAGE: Final = 100
_SHOWN: Final = 30  # visits in the table
_RULES: Final = 200  # of a robots.txt
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
    part = view.hosts.part(order, "", PER_PAGE, cursor, wanted)
    config = load(view.directory.settings, resumed=True)
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
        case = view.case(name[:_LONGEST])
    except SeedError as error:
        raise Problem(404, str(error)) from error
    if case.host is None:
        raise Problem(404, f"This crawl does not know the host {case.name}: no page fetched so far links there.")
    visits = visits_of(view.frontier().visits_of(case.name), case.now)
    fresh = view.freshness([case.name]).get(case.name)
    events = [_event(visit) for visit in visits.last]
    return render(
        request,
        "host.html",
        caller,
        here="hosts",
        host=case.host,
        sentence=host_sentence(case),
        facts=[*_facts(case, case.host), *_fresh(case.host, fresh, visits)],
        rules=list(_rules(case)),
        visits=visits,
        events=events[:_SHOWN],
        marks=marks(events),
        ends=list(_ends(visits)),
        blocked=case.blocked_by,
        priority=next((rule.priority for rule in case.config.hosts if rule.pattern == case.name), None),
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
    why = f" ({host.trouble.replace('_', ' ')})" if host.trouble else ""
    if policy.manners(host.name).blocked:
        state = "blocked"
    elif host.mirror_of:
        state = f"mirror of {host.mirror_of}"
    elif policy.is_down(host.failures):
        state = f"down{why}, tried again {rest}"
    elif host.failures:
        state = f"fails{why}, tried again {rest}"
    elif host.queued:
        state = f"next visit {rest}"
    else:
        state = "nothing waits"
    share = "" if fresh is None else numbers.share(fresh.freshness, 1)
    return Row(host, link_to(host.name), state, bool(host.failures), share)


def _facts(case: Case, host: HostView) -> Iterator[tuple[str, str]]:
    yield "Pages", f"{host.pages:,}"
    yield "Queued", f"{host.queued:,}"
    yield "Delay", _delay(case, host)
    if host.due > case.now:
        yield "Next visit", f"in {numbers.span(host.due - case.now)}"
    if host.failures:
        why = f": {_fault(host.trouble)}" if host.trouble else ""
        yield "Failures", f"{host.failures:,} in a row{why}"
        longest = numbers.span(case.config.policy.max_retry_wait)
        yield "Back-off", f"down after {case.policy.max_tries} failures; its rest doubles with each, {longest} at most"
    yield "Robots", _robots(case, host)
    manners = case.policy.manners(case.name)
    yield "Connections", f"{manners.connections:,} at a time"
    if manners.max_pages:
        yield "Pages at most", f"{manners.max_pages:,}"
    if host.mirror_of:
        yield "Mirror of", host.mirror_of
    for place, barren in list(host.barren.items())[:5]:
        yield (
            "Repeats itself",
            f"{place}: {barren.row:,} {'page' if barren.row == 1 else 'pages'} in a row brought nothing new",
        )


def _fresh(host: HostView, fresh: HostEstimate | None, visits: HostVisits) -> Iterator[tuple[str, str]]:
    if fresh is None:
        return
    age = f"; mean age {numbers.span(fresh.age)}" if fresh.age >= 1 else ""
    yield "Fresh", f"{numbers.share(fresh.freshness, 1)} of {fresh.pages:,} copies, by estimate{age}"
    of = "" if visits.complete else f" (of the first {visits.looked:,})"
    yield "Visited again", f"{visits.again:,} URLs{of}, {visits.changed:,} of them seen changed"
    yield "Due", f"{visits.overdue:,} by now, {host.revisits:,} of them queued"


def _delay(case: Case, host: HostView) -> str:
    """Its length, and where it comes from."""
    manners = case.policy.manners(case.name)
    usual = case.config.policy.delay
    if host.crawl_delay and host.crawl_delay > manners.delay:
        capped = host.crawl_delay > manners.max_crawl_delay
        most = f", of which {manners.max_crawl_delay:g} s are granted (policy.max_crawl_delay)" if capped else ""
        source = f"its robots.txt asks for {host.crawl_delay:g} s{most}"
    elif manners.delay != usual:
        source = "a table for it in gossamer.toml"
    else:
        source = "the crawl's (policy.delay)"
    added = f"; {host.added_delay:g} s of it since it said that it is busy" if host.added_delay else ""
    slow = f"; at least {manners.delay_factor:g} x the time that its response took" if manners.delay_factor else ""
    return f"{host.delay:.3g} s: {source}{added}{slow}"


def _robots(case: Case, host: HostView) -> str:
    if not host.robots_known:
        failing = f"; it cannot be had since {numbers.moment(host.robots_failing)}" if host.robots_failing else ""
        return f"not known yet, it comes before the first page{failing}"
    until = f"holds until {numbers.moment(host.robots_until)}"
    if case.rules is None or not case.rules.patterns:
        return f"nothing is forbidden; {until}"
    number = len(case.rules.patterns)
    return f"{number:,} {'rule' if number == 1 else 'rules'} for this crawler; {until}"


def _rules(case: Case) -> Iterator[str]:
    if case.rules is None:
        return
    for pattern, allows in list(case.rules.patterns.items())[:_RULES]:
        yield f"{'Allow' if allows else 'Disallow'}: {pattern}"
    if case.rules.crawl_delay is not None:
        yield f"Crawl-delay: {case.rules.crawl_delay:g}"
    for sitemap in case.rules.sitemaps[:_RULES]:
        yield f"Sitemap: {sitemap}"


def _fault(reason: str) -> str:
    return FAULTS.get(reason, reason.replace("_", " "))


def _event(visit: VisitRecord) -> Event:
    words = f"status {visit.status}" if visit.status else _fault(visit.reason)
    changed = f"changed {visit.changes} times" if visit.changes > 1 else "changed once" if visit.changes else ""
    return Event(visit.fetched_at, visit.status, words, visit.url, changed)


def _ends(visits: HostVisits) -> Iterator[tuple[str, str, int]]:
    """State, what exactly, how many."""
    for status, number in sorted(visits.statuses.items()):
        yield "fetched", f"status {status}", number
    for (state, reason), number in visits.reasons.most_common(50):
        if state != "fetched":
            yield state, _fault(reason), number
    if visits.states["queued"]:
        yield "queued", "", visits.states["queued"]
