"""What a queued URL waits for, in words: something of its own, its host, or the whole crawl."""

from __future__ import annotations

from gossamer.agent.case import Case
from gossamer.agent.ending import FAILED
from gossamer.agent.findings import REMEDY
from gossamer.agent.left_out import left_out
from gossamer.agent.numbers import span
from gossamer.agent.speed import local_time
from gossamer.config import hours
from gossamer.frontier.reader import HostView
from gossamer.model import Exclusion, Reason
from gossamer.model.domain import registered_domain
from gossamer.rules.places import place_of
from gossamer.rules.yields import Barren, Standing


def waits_for(case: Case) -> str:
    """Of a queued URL."""
    host = case.host
    if host is None:
        return " ".join(filter(None, ("It is queued.", crawl_waits(case))))
    sentence = _own_cause(case, host) or f"It is queued; its host {_host_waits(case, host)}."
    return " ".join(filter(None, (sentence, others(case, host), tried(case), crawl_waits(case))))


def host_sentence(case: Case) -> str:
    """How its host stands; empty where the crawl does not know it."""
    host = case.host
    if host is None:
        return ""
    if not host.queued:
        blocked = case.policy.manners(case.name).blocked
        listed = f" It is on the blocklist ({case.blocked_by!r}), and is not visited again." if blocked else ""
        again = " Its pages are visited again when they are due." if case.config.fresh.keep_fresh and not listed else ""
        return f"Nothing of {host.name} waits: all that is known of it was visited or left out.{listed}{again}"
    return " ".join(filter(None, (f"{host.name} {_host_waits(case, host)}.", crawl_waits(case))))


# -- what is its own ---------------------------------------------------------------------------------------------------


def _own_cause(case: Case, host: HostView) -> str:
    """What holds this URL back, and not all of its host."""
    manners = case.policy.manners(case.name)
    if manners.blocked:
        return ""
    if manners.skips and (why := _repeats(case, host)):
        return why
    reason = soon_left_out(case)
    return f"It is queued, and will be left out when its turn comes: {left_out(reason, case)}." if reason else ""


def soon_left_out(case: Case) -> str:
    """What speaks against a URL that no rule was asked about yet, or that was queued before the rule was there."""
    if case.blocked_by:
        return Exclusion.BLOCKLIST
    if case.rules is not None and not case.rules.allows(case.path):
        return Reason.ROBOTS
    most = case.policy.manners(case.name).max_pages
    if most and case.host is not None and case.host.pages >= most:
        return Exclusion.HOST_PAGES
    rule = case.policy.urls.of(case.url) if case.policy.urls is not None else None
    if rule is not None and rule.max_pages and case.pattern_pages.get(rule.pattern, 0) >= rule.max_pages:
        return Exclusion.PATTERN_PAGES
    return ""


def _repeats(case: Case, host: HostView) -> str:
    found = case.waiting
    aside = found is not None and found.aside
    if host.mirror_of or (case.visit is not None and not case.visit.depth) or (found is not None and found.source):
        return ""  # that is the host's; seeds and sitemaps are visited because somebody says so
    if case.endless and not host.pages:
        domain = registered_domain(host.name)
        how = "and put aside" if aside else "after everything else, or put aside when its turn comes"
        return f"It is queued, {how}: the hosts of {domain} have no end. {REMEDY}"
    place = place_of(case.path)
    barren = host.barren.get(place)
    standing = Standing.GOOD if barren is None else barren.standing(found is not None and found.suspect)
    if aside and standing is not Standing.ASIDE:
        return f"It is queued, and put aside: its place, {place}, brought nothing new when its turn came. {REMEDY}"
    if barren is None or standing is Standing.GOOD:
        return ""
    if standing is Standing.LAST:
        return f"It is queued, after everything else of its host: {_last(barren, place)}."
    how = "and put aside" if aside else "and will be put aside when its turn comes"
    return f"It is queued, {how}: {_last(barren, place)}. {REMEDY}"


def _last(barren: Barren, place: str) -> str:
    return f"the last {barren.row} pages looked at in {place} brought nothing new (the last one repeats {barren.like})"


def others(case: Case, host: HostView) -> str:
    others = host.queued - (case.waiting is not None)
    if others <= 0:
        return ""
    if case.waiting is None:
        return f"{others:,} URLs of the host are queued."
    before = case.waiting.before
    first = "all after it" if not before else f"{before:,} of them before it"
    return f"{others:,} other URLs of the host are queued, {first}."


def tried(case: Case) -> str:
    if case.waiting is None or not case.waiting.tries:
        return ""
    return f"It was tried before: {case.waiting.tries} of {case.policy.max_tries} tries failed."


# -- its host ----------------------------------------------------------------------------------------------------------


def _host_waits(case: Case, host: HostView) -> str:
    """To follow the name of the host."""
    rest = f"rests for {span(host.due - case.now)} more" if host.due > case.now else "rests no longer"
    manners = case.policy.manners(case.name)
    if manners.blocked:
        return f"is on the blocklist ({case.blocked_by!r}), and stays queued until it is taken off"
    if manners.skips and host.mirror_of:
        return f"shows the pages of {host.mirror_of}, and is left. {REMEDY.removesuffix('.')}"
    if host.failures:
        robots = "" if not host.robots_failing or host.robots_known else " to get its robots.txt, which comes first"
        last = f" (it {FAILED[host.trouble]})" if host.trouble in FAILED else ""
        failed = f"{host.failures} {'failure' if host.failures == 1 else 'failures'} in a row{robots}{last}"
        if case.policy.is_down(host.failures):
            return f"is down: {failed}; it {rest} (gossamer control retry tries it at once)"
        return f"did not answer: {failed}; it {rest}"
    if host.due <= case.now and (sentence := _domain_waits(case, host)):
        return sentence
    if not host.robots_known:
        return "is asked for its robots.txt first"
    if host.due > case.now:
        busy = "; it said that it is busy" if host.added_delay else ""
        return f"{rest} ({host.delay:.3g} s between visits{busy})"
    if host.robots_until <= case.now:
        return "is asked for its robots.txt again first, which was fetched too long ago"
    return "may be visited now, when its turn comes"


def _domain_waits(case: Case, host: HostView) -> str:
    """To follow the name of a host that may be visited as far as its own pause goes."""
    domain = registered_domain(host.name)
    waiting = case.progress.waits.get(domain, 0) if case.progress.running else 0
    if not waiting or not host.domain_delay:
        return ""
    first = "" if host.robots_known else "; its robots.txt comes first"
    hosts = "1 host" if waiting == 1 else f"{waiting:,} hosts"
    pause = f"one is visited every {host.domain_delay:.3g} s"
    return f"waits for its domain: {hosts} of {domain} wait, of which {pause}{first}"


# -- the crawl ---------------------------------------------------------------------------------------------------------

_ENDS = {
    "complete": "nothing else was left to visit",
    "max_pages": "--max-pages was reached",
    "time_limit": "--time-limit was reached",
    "stopped": "it was stopped",
}


def crawl_waits(case: Case) -> str:
    """What holds all of the crawl back."""
    progress = case.progress
    paused = "The crawl is paused: gossamer control resume continues it." if case.config.agent.paused else ""
    if not progress.running:
        why = _ENDS.get(progress.reason, "it died")
        return " ".join(filter(None, (f"No crawl is running ({why}): {case.go_on} continues it.", paused)))
    if paused:
        return paused
    if progress.seeds_share < 1:
        return "The crawl has not begun: its seeds are still being read."
    day, minute = local_time(case.now)
    for text in case.config.fetch.schedule:
        if (span_of := hours(text)).hold(day, minute):
            return f"The crawl pauses at this hour ({text}: gossamer limits)." if span_of.pause else ""
    return ""
