"""What is to be expected of pages that are visited again, for people: by what the last commit has of them."""

from __future__ import annotations

from math import exp
from typing import Final, Literal

import msgspec

from gossamer.config import FreshConfig
from gossamer.frontier.host_freshness import HostFreshness, place_number
from gossamer.frontier.intervals import Kept, bounds_of, capacity_of, priority_of
from gossamer.model import Before, VisitRecord
from gossamer.model.url import split
from gossamer.rules.census import Bounds
from gossamer.rules.change_rate import Belief, Seen
from gossamer.rules.policy import Manners, Policy
from gossamer.rules.revisits import worth
from gossamer.rules.validators import Kind

_ABOUT: Final = 1.01
# How likely a change is after as long as there is between two, in the mean. Where little is known, the mean of rates
# that are possible says less: the fastest outweigh the others.
_AS_AFTER_ONE: Final = 1 - exp(-1)

Cause = Literal["min_interval", "max_interval", "chance", "speed", "host"]
"""What an interval follows from: a bound, that a change is not likely sooner, the speed of the crawl, or its host's."""

Standing = Literal["", "believed", "unproven", "constant", "ignored"]
"""How a validator is treated that a page has (empty: it has none). It stays the same though pages change, or it is no
use to ask with it, as the page comes all the same."""


class Outlook(msgspec.Struct, frozen=True):
    """A page that is visited again: what was seen of it, what is thought of it, and what follows. Times in seconds."""

    due: float  # when; 0: it waits in its host's queue
    changes: int  # times it was seen changed
    unchanged: int  # visits in a row that found it so
    missing: int  # visits in a row that found nothing
    is_page: bool  # it was one when it was last there
    visited_once: bool  # nothing was seen of it since
    changes_every: float  # by estimate
    freshness: float  # how likely the copy is still what the server shows
    interval: float  # between visits to a page like it
    cause: Cause
    chance: float  # how likely a change must be for a visit
    min_interval: float  # as it holds for this page
    max_interval: float
    etag: Standing
    last_modified: Standing


class HostEstimate(msgspec.Struct, frozen=True):
    """How fresh the copies of a host are, in the terms in which the whole crawl is said to be."""

    pages: int  # that are visited again, about
    freshness: float  # the share of copies that are what it shows
    age: float  # seconds since copies stopped being that, the mean over all


class Circumstances(msgspec.Struct, frozen=True):
    """What the interval between visits to a page depends on besides it."""

    kept: Kept
    host: bytes  # how its pages change, packed
    delay: float  # of its host, in force
    busy: bool  # new URLs of its host wait
    config: FreshConfig
    policy: Policy
    manners: Manners
    now: float


def estimate(kept: Kept, host: bytes, now: float) -> HostEstimate:
    """By what is usual in the whole crawl: so that hosts together are as fresh as the crawl is."""
    census = HostFreshness(host).census
    return HostEstimate(round(census.pages), *census.copies(now, kept.prior))


def outlook(record: VisitRecord, before: Before, about: Circumstances) -> Outlook:
    fresh = HostFreshness(about.host)
    host_bounds = bounds_of(about.config, about.policy, about.manners, "", about.kept.longest)
    fresh.judge(about.kept.prior, capacity_of(about.delay, about.busy, about.config), host_bounds)
    seen = Seen.unpack(before.seen)
    belief = fresh.belief(place_number(split(record.url)[1]), seen)
    price = max(about.kept.price, fresh.price)
    bounds = bounds_of(about.config, about.policy, about.manners, record.url, about.kept.longest)
    priority = priority_of(about.policy, about.manners, record.url)
    interval = bounds.wait(belief, price / worth(record.depth, priority, before.gained, before.is_page))
    validators = zip((fresh.trust.etag, fresh.trust.modified), before.validators, strict=True)
    etag, modified = [_standing(kind) if value else "" for kind, value in validators]
    return Outlook(
        record.due,
        before.changes,
        before.unchanged,
        before.missing,
        before.is_page,
        before.is_new and seen.changes < 1,  # its date may count as half of one
        belief.until(_AS_AFTER_ONE),
        belief.unchanged(max(about.now - before.fetched_at, 0.0)),
        interval,
        _cause(interval, bounds, belief, price, about.kept.longest)
        or ("host" if fresh.price > about.kept.price else "speed"),
        bounds.chance,
        bounds.least,
        bounds.most,
        etag,
        modified,
    )


def _cause(interval: float, bounds: Bounds, belief: Belief, price: float, longest: float) -> Cause | None:
    """Where it is not what a visit must be worth. `longest`: what `max_interval` yields to where visits are too few."""
    if interval <= bounds.least * _ABOUT:
        return "min_interval"
    if interval * _ABOUT >= bounds.most:
        return None if bounds.most == longest else "max_interval"
    return "chance" if not price and interval <= belief.until(bounds.chance) * _ABOUT else None


def _standing(kind: Kind) -> Standing:
    if not kind.is_true:
        return "constant"
    if not kind.is_used:
        return "ignored"
    return "believed" if kind.is_proven else "unproven"
