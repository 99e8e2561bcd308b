"""What is known of a URL or a host, what it waits for, and why: in one sentence, then in facts."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import msgspec

from gossamer.agent.crawl_dir import SEED_HOST, CrawlDir
from gossamer.agent.findings import FINDING, REMEDY
from gossamer.config import load
from gossamer.errors import SeedError
from gossamer.frontier.reader import FrontierReader, HostView
from gossamer.model import State, VisitRecord
from gossamer.model.domain import registered_domain
from gossamer.model.url import host_of, seed_url, split, why_not
from gossamer.rules.policy import Policy
from gossamer.rules.scope import Scope
from gossamer.rules.yields import Standing, place_of

EXCLUSIONS = {
    "robots": "the robots.txt of {host} does not allow it",
    "address": "the address or port of {host} is not allowed (private, not in --networks, or not in fetch.ports)",
    "unwanted_type": "its type is not one of those wanted (--types)",
    "too_large": "its Content-Length is more than scope.max_length allows",
    "redirects": "more than ten redirects in a row led to it",
    "scope": "it is not on a host or domain of the seeds (--scope)",
    "length": "its URL is too long",
    "exclude": "it matches an --exclude pattern",
    "include": "it matches no --include pattern",
    "trap-repeated": "its path repeats itself, as the paths of endless directories do",
    "trap-depth": "its path has more directories than scope.max_directories allows",
    "trap-calendar": "it is a page of a calendar, more than two years ahead or before 1970",
    "trap-parameters": "its query repeats itself, or has too many parameters, as those of endless links do",
    "reserved": "its text contains a reserved string (scope.reserved)",
    "blocklist": "it is on the blocklist",
    "purged": "its host was purged: its pages were removed for good",
    "pattern_pages": 'a pattern it matches has as many pages as its max_pages allows ([urls."PATTERN"])',
    "domain_hosts": "the domain of {host} has as many hosts as scope.domain_hosts allows",
    "sitemap": "it is a sitemap, which is read for links and is no page",
    "feed": "it is a feed, which is read for links; as a page it is not wanted (--types)",
    "host_pages": "{host} has as many pages as its max_pages allows",
}


class Explanation(msgspec.Struct):
    url: str
    sentence: str
    known: bool
    visit: VisitRecord | None = None
    host: HostView | None = None


def explain(home: Path, text: str, now: float | None = None) -> Explanation:
    """As of the last commit; works while the crawl runs. A bare host name is explained as its front page."""
    directory = CrawlDir(home)
    directory.check_readable()
    with tempfile.TemporaryDirectory(prefix="gossamer-") as scratch:
        reader = FrontierReader(directory.frontier, Path(scratch))
        try:
            return explain_from(reader, directory, text, now)
        finally:
            reader.close()


def explain_from(reader: FrontierReader, directory: CrawlDir, text: str, now: float | None = None) -> Explanation:
    """For one who has the frontier open."""
    url = seed_url(text)
    if url is None:
        raise SeedError(f"{text!r} is not a URL that can be crawled: {why_not(text)}")
    config = load(directory.settings, resumed=True)
    policy = Policy(config.policy, config.hosts, config.urls)
    if "://" not in text and reader.visit(url) is None:  # a bare name is read as https; perhaps it was not
        other = url.replace("https://", "http://", 1)
        url = other if reader.visit(other) is not None else url
    name = host_of(url)
    visit, host = reader.visit(url), reader.host(name, policy.manners(name), split(url)[0])
    now = time.time() if now is None else now
    scope = Scope.of(config.scope, now)
    scope.load(reader.meta_names(SEED_HOST))
    endless = reader.meta(f"{FINDING}endless:{registered_domain(name)}") is not None
    sentence = _unknown(url, scope, host) if visit is None else _why(visit, host, policy, endless, now)
    return Explanation(url, sentence, visit is not None, visit, host)


def _unknown(url: str, scope: Scope, host: HostView | None) -> str:
    reason = scope.judge(url)
    if reason:
        return f"This crawl does not know it, and would leave it out: {EXCLUSIONS[reason].format(host=host_of(url))}."
    if host is None:
        return f"This crawl does not know it, nor its host {host_of(url)}: no page fetched so far links there."
    return (
        f"This crawl does not know it: no page fetched so far links to it ({host.pages:,} pages of its host are known)."
    )


def _why(visit: VisitRecord, host: HostView | None, policy: Policy, endless: bool, now: float) -> str:
    name = host_of(visit.url)
    if visit.state is State.FETCHED:
        moved = " It is a redirect; where it leads is a visit of its own." if 300 <= visit.status < 400 else ""
        return f"It was fetched {_ago(now - visit.fetched_at)}, with status {visit.status}.{moved}"
    if visit.state is State.DEAD:
        return f"It is dead: {visit.tries} tries failed, the last {_ago(now - visit.fetched_at)} ({visit.reason})."
    if visit.state is State.EXCLUDED:
        return f"It is left out: {EXCLUSIONS.get(visit.reason, visit.reason).format(host=name)}."
    if host is None or not host.queued:
        return "It is queued."
    others = f" {host.queued - 1:,} other URLs of the host are queued with it." if host.queued > 1 else ""
    rest = f"for {_span(host.due - now)} more" if host.due > now else "no longer"
    if policy.manners(name).blocked:
        return f"It is queued, and stays so: its host is on the blocklist.{others}"
    if policy.manners(name).skips and (why := _repeats(visit.url, host, endless)):
        return why + others
    if policy.is_down(host.failures):
        return f"It is queued; its host is down: {host.failures} failures in a row, and it rests {rest}.{others}"
    if host.failures:
        return f"It is queued; its host failed {host.failures} times in a row and rests {rest}.{others}"
    if not host.robots_known:
        return f"It is queued; the robots.txt of its host comes first.{others}"
    if host.due > now:
        busy = "; it said that it is busy" if host.added_delay else ""
        return f"It is queued; its host rests {rest} ({host.delay:.3g} s between visits{busy}).{others}"
    return f"It is queued, and waits for its turn.{others}"


def _repeats(url: str, host: HostView, endless: bool) -> str:
    if endless and not host.pages:
        return f"It is queued, and put aside: the hosts of {registered_domain(host.name)} have no end. {REMEDY}"
    if host.mirror_of:
        return f"It is queued, and stays so: its host shows the pages of {host.mirror_of}, and is left. {REMEDY}"
    place = place_of(split(url)[1])
    barren = host.barren.get(place)
    if barren is None or barren.standing(True) is Standing.GOOD:
        return ""
    last = f"the last {barren.row} pages looked at in {place} brought nothing new (the last one repeats {barren.like})"
    if barren.standing(True) is Standing.LAST:
        return f"It is queued, after everything else of its host: {last}."
    found = "" if barren.standing(False) is Standing.ASIDE else ", unless a page that brought something new links to it"
    return f"It is queued, and put aside{found}: {last}. {REMEDY}"


def _ago(seconds: float) -> str:
    return f"{_span(seconds)} ago"


def _span(seconds: float) -> str:
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"
