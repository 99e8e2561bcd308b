"""A host for people: how it stands and why, in sentences and facts that need nothing else of the crawl."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from gossamer.agent import numbers
from gossamer.agent.case import Case
from gossamer.agent.ending import FAILED
from gossamer.agent.left_out import FAULTS
from gossamer.agent.waiting import host_sentence
from gossamer.config import Pause
from gossamer.frontier.outlook import HostEstimate
from gossamer.frontier.reader import HostView
from gossamer.model import State, VisitRecord
from gossamer.model.domain import registered_domain
from gossamer.service.host_visits import HostVisits, visits_of

_RULES: Final = 200  # of a robots.txt


class HostAccount(msgspec.Struct):
    """`host` is None where the crawl does not know it; then nothing else is said. `last` are its newest visits, newest
    first; `ends` what became of its URLs: state, what exactly, how many. `complete`: all of them were looked at.
    """

    name: str
    host: HostView | None = None
    sentence: str = ""
    facts: list[tuple[str, str]] = []
    rules: list[str] = []
    states: dict[str, int] = {}
    last: list[VisitRecord] = []
    ends: list[tuple[str, str, int]] = []
    looked: int = 0
    complete: bool = True
    blocked: str = ""  # by this pattern
    priority: int | None = None


def account_of(case: Case, visits: Iterable[VisitRecord], fresh: HostEstimate | None) -> HostAccount:
    if case.host is None:
        return HostAccount(case.name)
    found = visits_of(visits, case.now)
    return HostAccount(
        case.name,
        case.host,
        host_sentence(case),
        [*_facts(case, case.host), *_fresh(case.host, fresh, found)],
        list(_rules(case)),
        {state.name.lower(): found.states[state.name.lower()] for state in State},
        found.last,
        list(_ends(found)),
        found.looked,
        found.complete,
        case.blocked_by,
        next((rule.priority for rule in case.config.hosts if rule.pattern == case.name), None),
    )


def _facts(case: Case, host: HostView) -> Iterator[tuple[str, str]]:
    yield "Pages", f"{host.pages:,}"
    yield "Queued", f"{host.queued:,}"
    yield "Delay", _delay(case, host)
    yield from _shared_delays(case, host)
    if host.due > case.now:
        yield "Next visit", f"in {numbers.span(host.due - case.now)}"
    if host.failures:
        why = f": it {FAILED[host.trouble]}" if host.trouble in FAILED else ""
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


def _shared_delays(case: Case, host: HostView) -> Iterator[tuple[str, str]]:
    """How long its domain and its address rest after a visit to it."""
    domain, manners = registered_domain(host.name), case.policy.manners(case.name)
    waiting = case.progress.waits.get(domain, 0) if case.progress.running else 0
    said = f"; {waiting:,} of its hosts wait for that" if waiting else ""
    yield "Domain", f"{_pause(manners.domain_delay, host.domain_delay)} between visits to hosts of {domain}{said}"
    yield "Address", f"{_pause(manners.address_delay, host.address_delay)} between visits to hosts at its address"


def _pause(pause: Pause, seconds: float) -> str:
    return f"{seconds:.3g} s" + (f" (1/{pause.parts:g} of its delay)" if pause.parts and seconds else "")


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


def fault_words(reason: str) -> str:
    return FAULTS.get(reason, reason.replace("_", " "))


def _ends(visits: HostVisits) -> Iterator[tuple[str, str, int]]:
    """State, what exactly, how many."""
    for status, number in sorted(visits.statuses.items()):
        yield "fetched", f"status {status}", number
    for (state, reason), number in visits.reasons.most_common(50):
        if state != "fetched":
            yield state, fault_words(reason), number
    if visits.states["queued"]:
        yield "queued", "", visits.states["queued"]
