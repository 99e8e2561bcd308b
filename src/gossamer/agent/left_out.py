"""Why a URL is excluded or dead, in words: the rule, and the pattern or number of it that applied.

A visit keeps the rule only. The rest is found in the settings as they are now; where those say otherwise by now, the
words say that, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from gossamer.agent.case import Case
from gossamer.agent.numbers import size
from gossamer.agent.rejudging import rules_of
from gossamer.frontier.intake import MOST_REDIRECTS
from gossamer.model import Exclusion, Reason
from gossamer.model.domain import below, registered_domain, wrong_name
from gossamer.rules.parameters import MAX_PARAMETERS

_MOST_NAMED: Final = 3

NO_END: Final = frozenset({Reason.BUSY, Reason.PROXY, Reason.ROBOTS_5XX, Reason.ROBOTS_UNREACHABLE})
"""Reasons why a URL is tried again, and none why it is not visited at all."""

FAULTS: Final[dict[str, str]] = {
    Reason.DNS: "the name of its host does not resolve",
    Reason.CONNECT: "its server refused the connection, or was not to be reached",
    Reason.TIMEOUT: "its server took longer than fetch.timeout, connect_timeout or low_speed_time allow",
    Reason.TLS: "no secure connection came about, or the certificate of its server is not valid",
    Reason.CLOSED: "its server closed the connection before the response was whole",
    Reason.PROTOCOL: "what its server sent is not HTTP",
    Reason.TOO_LARGE: "the headers of its response were longer than fetch.max_headers",
    Reason.UNANSWERED: "it is a form that was sent, and no answer was kept: it may have been received",
}


def left_out(reason: str, case: Case) -> str:
    """The rule that excludes it, to follow a colon."""
    words = EXCLUSIONS.get(reason)
    return reason if words is None else words(case)


def remedy(reason: str, case: Case) -> str:
    """What can be done to have it visited, as a sentence; empty where nothing can."""
    if case.judged_by.get(reason, 0) not in (0, rules_of(case.config).get(reason, 0)):
        return "The settings have been changed since: it is judged again when the crawl is started again."
    found = REMEDIES.get(reason, "")
    return found if isinstance(found, str) else found(case)


def _robots(case: Case) -> str:
    whose = f"the robots.txt of {case.name}"
    if case.line.startswith("Disallow"):
        return f"{whose} does not allow it ({case.line})"
    return f"{whose} did not allow it when its turn came, and has been changed since"


def _address(case: Case) -> str:
    from gossamer.fetch import Ports, port_of  # what connects takes a moment to load

    refusal = Ports(case.config.fetch.ports).refusal(port_of(case.url))
    if refusal:
        return refusal
    networks, domains = case.config.scope.networks, case.config.scope.domains
    if networks and not below(domains)(case.name):
        elsewhere = f", and its name not in --domains {', '.join(domains)}" if domains else ""
        return f"the address of {case.name} is not in --networks {', '.join(networks)}{elsewhere}"
    return f"the address of {case.name} may not be connected to: it is not a public one (--allow-private)"


def _other_rules(case: Case) -> str:
    if case.line.startswith("Disallow"):
        return "Its owner decides; gossamer control rejudge asks for robots.txt again."
    return "gossamer control rejudge has it visited."


def _other_address(case: Case) -> str:
    from gossamer.fetch import Ports, port_of

    if Ports(case.config.fetch.ports).refusal(port_of(case.url)):
        return "Start the crawl again with the port in fetch.ports to have it visited."
    option = "with its network in --networks" if case.config.scope.networks else "with --allow-private"
    return f"Start the crawl again {option} to have it visited."


def _type(case: Case) -> str:
    return f"its type is not one of those wanted ({_some(case.config.scope.types)}: --types)"


def _too_large(case: Case) -> str:
    most = case.config.scope.max_length
    if not most:
        return "its Content-Length was more than scope.max_length allowed, which has been changed since"
    return f"its Content-Length is more than the {size(most)} that scope.max_length allows"


def _reserved(case: Case) -> str:
    texts = case.config.scope.reserved
    if len(texts) == 1:
        return f"its text contains a reserved string ({texts[0]!r}: scope.reserved)"
    return f"its text contains one of the {len(texts)} reserved strings of scope.reserved"


def _scope(case: Case) -> str:
    if case.scope.has_host(case.name):
        return "it was on no host or domain of the seeds when it was found, and is by now"
    if case.config.scope.domains:
        return f"{case.name} is not in --domains {', '.join(case.config.scope.domains)}"
    if case.config.scope.scope == "host":
        return f"{case.name} is not a host of the seeds (--scope host)"
    return f"{registered_domain(case.name)} is not a domain of the seeds (--scope domain)"


def _length(case: Case) -> str:
    return f"its URL has {len(case.url):,} characters, and at most {case.scope.max_url_length:,} are crawled"


def _exclude(case: Case) -> str:
    pattern = _matching(case.config.scope.exclude, case.url)
    if pattern is None:
        return "it matched an --exclude pattern that is no longer in the settings"
    return f"it matches --exclude {pattern!r}"


def _include(case: Case) -> str:
    patterns = case.config.scope.include
    if not patterns or _matching(patterns, case.url) is not None:
        return "it matched no --include pattern when it was found, and the patterns have been changed since"
    return f"it matches no --include pattern ({_some([repr(pattern) for pattern in patterns])})"


def _deep(case: Case) -> str:
    most, found = case.config.scope.max_directories, len(case.path.partition("?")[0].split("/")) - 2
    allowed = f"more than the {most} that scope.max_directories allows"
    return (
        f"its path has {found} directories, {allowed if found > most else 'more than were allowed when it was found'}"
    )


def _far(case: Case) -> str:
    depth, most = 0 if case.visit is None else case.visit.depth, case.config.scope.max_depth
    allowed = f"the {most} that --max-depth allows" if most is not None and depth > most else "--max-depth allowed"
    return f"its depth is {depth}, more than {allowed}"


def _parameters(case: Case) -> str:
    found = case.url.partition("?")[2].count("&") + 1
    if found > MAX_PARAMETERS:
        return f"its query has {found} parameters, more than {MAX_PARAMETERS}, as those of endless links do"
    return "its query repeats itself, or holds itself, as those of endless links do"


def _blocklist(case: Case) -> str:
    pattern = case.blocked_by
    if not pattern:
        return "it was on the blocklist when its turn came, and no longer is"
    return f"it is on the blocklist ({pattern!r}; gossamer block shows all)"


def _purged(case: Case) -> str:
    return f"{case.name} was purged (gossamer purge): its pages left the index, and are not fetched again"


def _host_pages(case: Case) -> str:
    most = case.policy.manners(case.name).max_pages
    if not most:
        return f"{case.name} had as many pages as its max_pages allowed, which has been changed since"
    return f'{case.name} has its {most:,} pages, as many as max_pages of its table in [hosts."PATTERN"] allows'


def _pattern_pages(case: Case) -> str:
    rule = case.policy.urls.of(case.url) if case.policy.urls is not None else None
    if rule is None or not rule.max_pages:
        return "a pattern that it matched had as many pages as allowed; that has been changed since"
    return (
        f"it matches {rule.pattern!r}, of which {rule.max_pages:,} pages were fetched: max_pages of that [urls] table"
    )


def _host_name(case: Case) -> str:
    return wrong_name(case.name) or "no server could have the name of its host"


def _domain_hosts(case: Case) -> str:
    most = case.config.scope.domain_hosts
    allowed = f"the {most:,} hosts that scope.domain_hosts allows" if most else "all hosts that it was allowed"
    return f"{registered_domain(case.name)} had {allowed} when {case.name} was found"


def _sitemap(case: Case) -> str:
    status = 0 if case.visit is None else case.visit.status
    if 200 <= status < 300:
        return "it is a sitemap, which was read for links and is no page"
    if 300 <= status < 400:
        return f"it was named as a sitemap, and leads elsewhere (status {status}): a sitemap is no page"
    return f"it was named as a sitemap, and could not be read (status {status}): a sitemap is no page"


def _always(words: str) -> Callable[[Case], str]:
    return lambda case: words


EXCLUSIONS: Final[dict[str, Callable[[Case], str]]] = {
    Reason.ROBOTS: _robots,
    Reason.ADDRESS: _address,
    Reason.UNWANTED_TYPE: _type,
    Reason.TOO_LARGE: _too_large,
    Reason.RESERVED: _reserved,
    Reason.FORM: _always("it is a form to be sent with POST, which no application may do (post in [apps.NAME])"),
    Exclusion.SCOPE: _scope,
    Exclusion.LENGTH: _length,
    Exclusion.HOST_NAME: _host_name,
    Exclusion.EXCLUDE: _exclude,
    Exclusion.INCLUDE: _include,
    Exclusion.REPEATED: _always("its path has the same directories again and again, as endless ones do"),
    Exclusion.DEEP: _deep,
    Exclusion.CALENDAR: _always("it is a page of a calendar, more than two years ahead or before 1970"),
    Exclusion.PARAMETERS: _parameters,
    Exclusion.DEPTH: _far,
    Exclusion.REDIRECTS: _always(f"more than {MOST_REDIRECTS} redirects in a row led to it"),
    Exclusion.DOMAIN_HOSTS: _domain_hosts,
    Exclusion.HOST_PAGES: _host_pages,
    Exclusion.PATTERN_PAGES: _pattern_pages,
    Exclusion.BLOCKLIST: _blocklist,
    Exclusion.PURGED: _purged,
    Exclusion.SITEMAP: _sitemap,
    Exclusion.FEED: _always("it is a feed, which was read for links; as a page its type is not wanted (--types)"),
}


_AS_SEED: Final = "Give it as a seed to have it visited all the same (gossamer seeds URL)."
_PATTERNS: Final = "Give it as a seed (gossamer seeds URL), or start the crawl again with other patterns."

REMEDIES: Final[dict[str, str | Callable[[Case], str]]] = {
    Reason.ROBOTS: _other_rules,
    Reason.ADDRESS: _other_address,
    Reason.UNWANTED_TYPE: "Start the crawl again with its type in --types to have it visited.",
    Reason.TOO_LARGE: "Raise scope.max_length and start the crawl again to have it visited.",
    Reason.RESERVED: "Take the string out of scope.reserved to have it visited.",
    Exclusion.SCOPE: "Give it as a seed (gossamer seeds URL), or start the crawl again with a wider --scope.",
    Exclusion.LENGTH: _AS_SEED,
    Exclusion.EXCLUDE: _PATTERNS,
    Exclusion.INCLUDE: _PATTERNS,
    Exclusion.REPEATED: _AS_SEED,
    Exclusion.DEEP: "Give it as a seed (gossamer seeds URL), or raise scope.max_directories and start the crawl again.",
    Exclusion.CALENDAR: _AS_SEED,
    Exclusion.PARAMETERS: _AS_SEED,
    Exclusion.DEPTH: "Start the crawl again with a greater --max-depth to have it visited.",
    Exclusion.REDIRECTS: _AS_SEED,
    Exclusion.DOMAIN_HOSTS: "Raise scope.domain_hosts and start the crawl again to have it visited.",
    Exclusion.HOST_PAGES: "Raise that max_pages to have it visited.",
    Exclusion.PATTERN_PAGES: "Raise that max_pages to have it visited.",
    Exclusion.BLOCKLIST: "Take the pattern off to have it visited (gossamer block PATTERN --remove).",
    Exclusion.FEED: "Start the crawl again with its type in --types to have it as a page, too.",
}
"""What to do about each reason that something can be done about."""


def _matching(patterns: Sequence[str], url: str) -> str | None:
    return next((pattern for pattern in patterns if re.search(pattern, url)), None)


def _some(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - _MOST_NAMED} more" if len(texts) > _MOST_NAMED else ""
    return ", ".join(texts[:_MOST_NAMED]) + more
