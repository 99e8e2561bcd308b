"""The five mixes of a simulated web."""

from __future__ import annotations

from dataclasses import dataclass

from gossamer.errors import ConfigError

Weights = tuple[tuple[str, int], ...]

# What goes wrong with single responses; `faults.py` plays them.
_MILD: Weights = (
    ("error-500", 3),
    ("error-503", 3),
    ("closed", 2),  # before a byte was sent
    ("cut-head", 1),
    ("cut-body", 2),  # Content-Length says more than comes
    ("short-length", 1),  # Content-Length says less than comes
    ("slow", 2),
)
_HARSH: Weights = (
    *_MILD,
    ("hang", 2),
    ("hang-body", 1),  # after the first bytes
    ("reset", 2),
    ("reset-body", 1),
    ("error-429", 1),
    ("bad-redirect", 1),  # to nowhere
    ("drip", 2),  # one byte a second
    ("endless", 2),
    ("huge", 1),  # longer than a crawler should take
    ("bare", 1),  # no header at all
    ("bad-encoding", 2),  # Content-Encoding is not true
    ("bomb", 2),  # gzip
    ("bad-chunks", 2),
    ("header-flood", 2),
    ("endless-head", 2),
    ("garbage", 2),
)

_MANY_ROBOTS: Weights = (
    ("open", 16),
    ("missing", 16),
    ("private", 20),
    ("delay", 6),
    ("agents", 8),
    ("patterns", 10),
    ("sitemap", 12),
    ("redirect", 4),
    ("redirect-away", 3),
    ("closed", 2),
    ("error", 2),
    ("dropped", 1),
)
_HARSH_ROBOTS: Weights = (
    ("hang", 2),
    ("huge", 2),
    ("endless", 1),
    ("loop", 2),  # redirected in a circle
    ("html", 2),  # a web page instead
)


@dataclass(frozen=True, slots=True)
class Change:
    """How a web changes, how it says so, and how much of that is true.

    Rates follow a bounded power law: most pages change seldom, a few all the time. With a `median` they are lognormal
    instead. Invariant: `0 < slowest <= fastest`, `exponent > 0`, and `liars + noisy <= 1`, for a host is one or the
    other or neither.
    """

    slowest: float = 1 / 365  # changes a day
    fastest: float = 24.0
    exponent: float = 0.3  # of the power law between the two
    median: float = 0.0  # changes a day of the page in the middle
    sigma: float = 2.0  # spread of the logarithms around that
    kinship: float = 0.5  # share of the spread that pages of one directory have in common
    liars: float = 0.2  # share of the hosts whose validators or sitemaps are wrong; `honesty` has the ways
    noisy: float = 0.3  # share of the hosts with an advert and a clock in each page: other bytes, the same text
    hubs: float = 0.125  # share of the directories whose first page announces new pages; front pages always do
    births: float = 0.1  # new pages a day on a hub, up to four times more or less
    mortal: float = 0.15  # share of the leaves that are there for a year and gone for the next
    outages: float = 1 / 30  # a day and page: answered 404 for an hour


@dataclass(frozen=True, slots=True)
class Topics:
    """How a web is divided into topics. Invariant: shares are between 0 and 1, and there is one topic at least."""

    number: int = 20
    locality: float = 0.7  # share of links, the tree of a host apart, that lead to pages of the same topic
    purity: float = 0.7  # share of a host's pages that are about its topic; the others are about any
    telling: float = 0.6  # share of links whose words are about the topic of their target; the others say nothing


@dataclass(frozen=True, slots=True)
class Profile:
    """What a simulated web is made of.

    `varied` turns on everything that is not plain UTF-8 pages: sizes by power law, charsets, redirects, missing pages,
    files, duplicates and mirrors, validators, change, directives for robots, many kinds of robots.txt. `traps` adds
    endless places and redirects to forbidden addresses; one host in four has neither these nor faults, so that one can
    see whether the others harm it. `change` makes plain pages change, come and go; `topics` gives them something to be
    about.
    """

    name: str
    varied: bool
    traps: bool
    faults: float  # share of the URLs that misbehave
    fault_kinds: Weights
    robots: Weights
    change: Change | None = None
    topics: Topics | None = None


PROFILES = {
    profile.name: profile
    for profile in (
        Profile("plain", False, False, 0.0, _MILD, (("private", 1),)),
        Profile("realistic", True, False, 0.03, _MILD, _MANY_ROBOTS),
        Profile("hostile", True, True, 0.3, _HARSH, (*_MANY_ROBOTS, *_HARSH_ROBOTS)),
        Profile("changing", False, False, 0.0, _MILD, (("sitemap", 3), ("open", 1)), Change()),
        Profile("topical", False, False, 0.0, _MILD, (("open", 1),), topics=Topics()),
    )
}


def profile_named(name: str) -> Profile:
    try:
        return PROFILES[name]
    except KeyError:
        known = ", ".join(PROFILES)
        raise ConfigError(f"There is no profile {name!r} of the simulated web: choose one of {known}.") from None
