"""How long to wait between two visits to a page, by what was seen of all pages, of its host's and of itself."""

from __future__ import annotations

import struct
from math import inf
from typing import Final

import msgspec

from gossamer.config import FreshConfig
from gossamer.frontier import keys
from gossamer.frontier.database import Database
from gossamer.frontier.host_freshness import HostFreshness, place_number
from gossamer.frontier.hosts import FIRST, HostQueue, Origin
from gossamer.rules.census import USUAL, Bounds, Census, Known
from gossamer.rules.change_rate import DAY, Seen, Weights
from gossamer.rules.policy import Manners, Policy
from gossamer.rules.revisits import worth

_SAMPLE: Final = 400  # pages of all hosts
_ANEW: Final = 25  # of these, visited since prices were found last
_LONGEST: Final = 10.0  # times as long as all would wait if they were visited alike
_LEAST_SHARE: Final = 0.5  # of an interval: by that much pages are visited sooner where visits were left over
_ESTIMATED: Final = 10.0  # seconds that an estimate of freshness is good for
KEPT: Final = keys.META + b"fresh"
_ROUNDED: Final = 1e-3  # by that much the sum of a prior is not 1

_encode = msgspec.msgpack.Encoder().encode


class Kept(msgspec.Struct):
    """What the commit keeps."""

    census: bytes = b""
    prior: Weights = USUAL
    price: float = 0.0
    longest: float = 0.0  # seconds: as long a page waits for a visit, whatever `max_interval` says


def read_kept(stored: bytes | None) -> Kept:
    """What was found of all pages, as of a commit; `stored`: under KEPT, if there is anything. What another version
    noted otherwise is not known.
    """
    try:
        kept = msgspec.msgpack.decode(stored, type=Kept) if stored else Kept()
        Census(_SAMPLE, kept.census)
        numbers = min(kept.price, kept.longest), max(kept.price, kept.longest)
        if (
            len(kept.prior) == len(USUAL)
            and abs(sum(kept.prior) - 1) < _ROUNDED
            and 0 <= numbers[0] <= numbers[1] < inf
        ):
            return kept
    except (ValueError, struct.error):
        pass
    return Kept()


class PageFacts(msgspec.Struct, gc=False):
    """A page whose next visit is to be planned."""

    url: str
    path: str
    depth: int
    number: int  # a hash of its URL
    origin: Origin
    seen: Seen
    gained: int = 0
    is_page: bool = True


class Intervals:
    """Invariant: with a budget for all, or for a host, pages would be visited that often if each were visited at the
    intervals that were given last.
    """

    def __init__(self, database: Database, config: FreshConfig, policy: Policy, rate: float) -> None:
        self._database = database
        kept = read_kept(database.visit(KEPT))
        self._census = Census(_SAMPLE, kept.census)
        self._prior, self._price, self._longest = kept.prior, kept.price, kept.longest
        self._told = 0
        self._changed = False
        self._estimate, self._estimated_at = (1.0, 0.0), 0.0
        self.lag = 0.0  # seconds that what is visited now should have been visited earlier; below 0: later
        self.change(config, policy, rate)

    def change(self, config: FreshConfig, policy: Policy, rate: float) -> None:
        """The settings from now on; `rate`: visits a second that the whole crawl may make (0: any number)."""
        self._config = config
        self._policy = policy
        self._budget = config.revisit_rate or rate * config.revisit_share
        self._told = _ANEW

    # -- of a page ---------------------------------------------------------------------------------------------------

    def wait(self, page: PageFacts) -> float:
        """Seconds between visits to a page, by all that is known now."""
        return self._decided(page)[0]

    def _decided(self, page: PageFacts) -> tuple[float, float]:
        """And the price at which that is."""
        origin = page.origin
        host = origin.host
        self._judge()
        bounds, worth = self.bounds(origin, page.url), self._worth(page)
        if host is None:
            return bounds.wait(page.seen.likely(self._prior), self._price / worth), self._price
        fresh = self.of(host)
        capacity = capacity_of(host.delay, has_new(host), self._config)
        fresh.judge(self._prior, capacity, self.bounds(origin, ""))
        price = max(self._price, fresh.price)
        return fresh.wait(place_number(page.path), page.seen, price / worth, bounds), price

    def soonest(self, page: PageFacts) -> float:
        """Seconds after which another visit to a page is worth something, if it would be lost otherwise."""
        wait, price = self._decided(page)
        return min(wait, self.bounds(page.origin, page.url).least) if price else wait

    def bounds(self, origin: Origin | HostQueue, url: str) -> Bounds:
        """Between which visits to a page are: by what holds for its URL, or its host, or all."""
        return bounds_of(self._config, self._policy, origin.manners, url, self._longest)

    def _worth(self, page: PageFacts) -> float:
        priority = priority_of(self._policy, page.origin.manners, page.url)
        return worth(page.depth, priority, page.gained, page.is_page)

    def tell(self, page: PageFacts, checked_at: float) -> float:
        """A page was visited then, last; gives the seconds until it is to be visited again."""
        wait, price = self._decided(page)
        known = Known(place_number(page.path), page.seen, checked_at, self._worth(page), wait, price)
        host = page.origin.host
        if host is not None and (fresh := self.of(host)).census.tell(page.number, known):
            fresh.told()
        if self._census.tell(page.number, known):
            self._told += 1
            self._changed = True
        return wait

    def forget(self, page: PageFacts) -> float:
        """It is none any more; gives the same."""
        host = page.origin.host
        if host is not None and (fresh := self.of(host)).census.forget(page.number):
            fresh.told()
        if self._census.forget(page.number):
            self._told += 1
            self._changed = True
        return self.wait(page)

    @staticmethod
    def of(host: HostQueue) -> HostFreshness:
        if host.fresh is None:
            host.fresh = HostFreshness()
        return host.fresh

    # -- of all ------------------------------------------------------------------------------------------------------

    def _judge(self) -> None:
        """Find prior and price anew, if enough is new."""
        if self._told < _ANEW:
            return
        self._told = 0
        self._changed = True
        self._prior = self._census.prior(self._prior)
        if not self._budget:
            self._longest = self._price = 0.0
            return
        alike = max(self._census.pages, 1.0) / self._budget  # seconds between visits, if pages are visited alike
        self._longest = _LONGEST * alike
        # A little less than there is, as long as visits come late: what was put off must be made up for. And more,
        # while visits are left over.
        less = max(1 + self.lag / alike, _LEAST_SHARE)
        bounds = Bounds(self._config.min_interval, longest_of(self._config, self._longest))
        self._price = self._census.price(self._budget / less, bounds, self._prior, self._price or DAY)

    def freshness(self, now: float) -> tuple[float, float]:
        """The share of copies that are what their servers show, and the seconds since they are not, as estimated."""
        if not 0 <= now - self._estimated_at < _ESTIMATED:
            self._estimated_at = now
            self._estimate = self._census.copies(now, self._prior)
        return self._estimate

    def save(self) -> None:
        """Put what changed into the database's changes."""
        if self._changed:
            self._changed = False
            kept = Kept(self._census.pack(), self._prior, self._price, self._longest)
            self._database.visits[KEPT] = _encode(kept)


def has_new(host: HostQueue) -> bool:
    """Something else waits for a host than what is due."""
    return any(level.waits for priority, level in host.levels.items() if priority not in (FIRST, keys.ASIDE))


def bounds_of(config: FreshConfig, policy: Policy, manners: Manners, url: str, longest: float) -> Bounds:
    """Those of a URL; where it is empty, those of its host, which has these manners. `longest`: seconds up to which
    pages may have to wait where visits are too few for `max_interval` of all.
    """
    least, most = manners.min_interval, manners.max_interval
    rule = policy.urls.of(url) if policy.urls is not None and url else None
    if rule is not None:
        least, most = rule.min_interval or least, rule.max_interval or most
    least, most = least or config.min_interval, most or longest_of(config, longest)
    return Bounds(least, max(least, most))


def longest_of(config: FreshConfig, longest: float) -> float:
    """What holds for all pages: `max_interval`, which yields unless the interval is a fixed one."""
    return max(config.max_interval, longest if config.max_interval > config.min_interval else 0.0)


def priority_of(policy: Policy, manners: Manners, url: str) -> int:
    return manners.priority if policy.urls is None else policy.urls.priority(url, manners.priority)


def capacity_of(delay: float, busy: bool, config: FreshConfig) -> float:
    """Visits a second to known pages that a host can take (0: any number). `busy`: there are new ones, too."""
    capacity = 1 / delay if delay else 0.0
    return capacity * config.revisit_share if busy else capacity
