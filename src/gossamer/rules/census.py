"""A sample of pages, from which is judged what holds for all: how often they change, how fresh their copies are, and
what a visit must be worth to be made.

Pages are chosen by a hash of their URLs, the lower half when there are too many, so that the sample does not depend on
how often a page is visited. Few pages are all in it.
"""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_left
from collections.abc import Iterable
from math import exp, log
from typing import Final

import msgspec

from gossamer.rules.change_rate import DAY, RATES, Belief, Seen, Weights, packed, unpacked

_ALL: Final = 1 << 32  # hashes
_PACKED: Final = struct.Struct("<IH5sIBHH")  # hash, place, seen, checked at, weight, wait, price
_HEAD: Final = struct.Struct("<Q")
_WEIGHT_0, _WEIGHTS = 128, 16  # a weight is noted as 16 times its binary logarithm, and 128
_NEIGHBOURS: Final = 4  # pages of a place say as much of a new one there as all the others
_AS_USUAL: Final = 10  # pages say as much of all as what is usual
_ENOUGH: Final = 10  # pages
_MOST_WRONG: Final = 2.0
_NOTHING: Final = Seen()
_CLOSE: Final = 0.02
_ROUNDS: Final = 12  # it is asked again soon, and begins where it ended
_LEAST_PRICE, _MOST_PRICE = 1e-3, 1e12


def _usual() -> Weights:
    """Of a page of which nothing is known: once in ten days, or anything from an hour to years."""
    weights = [exp(-((log(rate * 10 * DAY) / 3) ** 2) / 2) for rate in RATES]
    return tuple(weight / sum(weights) for weight in weights)


USUAL: Final = _usual()


class Known(msgspec.Struct, frozen=True, gc=False):
    """A page of the sample."""

    place: int  # a hash of its directory
    seen: Seen
    checked_at: float
    weight: float = 1.0
    wait: float = 0.0  # seconds until its next visit, as was decided then
    price: float = 0.0  # at which it was


class Bounds(msgspec.Struct, frozen=True, gc=False):
    """Seconds between visits to a page, at least and at most; and how likely a change must be for a visit that costs
    nothing. Where visits are scarce, their price says what they must be worth.
    """

    least: float
    most: float
    chance: float = 0.1

    def soonest(self, belief: Belief) -> float:
        return min(max(self.least, belief.until(self.chance)), self.most)

    def wait(self, belief: Belief, price: float) -> float:
        return belief.wait(price, self.least if price else self.soonest(belief), self.most)


class Census:
    """Invariant: it has no more than `most` pages, and of those that it was told of all whose hash is below `limit`."""

    __slots__ = ("_hashes", "_rows", "limit", "most")

    def __init__(self, most: int, kept: bytes = b"") -> None:
        self.most = most
        self.limit = _ALL
        self._hashes = array("I")  # sorted
        self._rows = bytearray()  # a page each: hosts have one census each, and come by the ten thousand
        if kept:
            (self.limit,) = _HEAD.unpack_from(kept)
            self._rows += kept[_HEAD.size :]
            self._hashes.extend([row[0] for row in _PACKED.iter_unpack(self._rows)])
            if not 0 < self.limit <= _ALL or len(self._hashes) > most:
                raise ValueError("not a census of this size")

    def pack(self) -> bytes:
        return _HEAD.pack(self.limit) + self._rows

    @property
    def _pages(self) -> list[Known]:
        return [_known(*row) for row in _PACKED.iter_unpack(self._rows)]

    def __len__(self) -> int:
        return len(self._hashes)

    @property
    def pages(self) -> float:
        """How many there are in all, about."""
        return len(self._hashes) * self._scale

    @property
    def _scale(self) -> float:
        return _ALL / self.limit

    def tell(self, number: int, known: Known) -> bool:
        """What is known of the page whose URL has this hash; whether it is one of the sample."""
        if number >= self.limit:
            return False
        row = _PACKED.pack(
            number, known.place, known.seen.pack(), int(known.checked_at), _packed_weight(known.weight),
            packed(known.wait), packed(known.price),
        )  # fmt: skip
        at = bisect_left(self._hashes, number)
        start = at * _PACKED.size
        if at < len(self._hashes) and self._hashes[at] == number:
            self._rows[start : start + _PACKED.size] = row
            return True
        self._hashes.insert(at, number)
        self._rows[start:start] = row
        while len(self._hashes) > self.most:
            self.limit //= 2
            keep = bisect_left(self._hashes, self.limit)
            del self._hashes[keep:]
            del self._rows[keep * _PACKED.size :]
        return number < self.limit

    def forget(self, number: int) -> bool:
        """The page is no more; whether it was one of the sample."""
        at = bisect_left(self._hashes, number)
        if at == len(self._hashes) or self._hashes[at] != number:
            return False
        del self._hashes[at]
        del self._rows[at * _PACKED.size : (at + 1) * _PACKED.size]
        return True

    # -- how often pages change --------------------------------------------------------------------------------------

    def prior(self, before: Weights) -> Weights:
        """What is to be expected of any page, by what was thought `before`: asked again and again, it comes close to
        that under which all that was seen is likeliest.
        """
        return _mixed(self._pages, before, USUAL, _AS_USUAL)

    def prior_of(self, beyond: Weights) -> Weights:
        """What is to be expected of a page among these, if `beyond` them there is that."""
        return _mixed(self._pages, beyond, beyond, _NEIGHBOURS)

    def prior_near(self, place: int, beyond: Weights) -> Weights:
        """The same, of a page in this place."""
        rows = [row for row in _PACKED.iter_unpack(self._rows) if row[1] == place]
        return _mixed([_known(*row) for row in rows], beyond, beyond, _NEIGHBOURS) if rows else beyond

    # -- what a visit must be worth ----------------------------------------------------------------------------------

    def price(self, budget: float, bounds: Bounds, prior: Weights, before: float) -> float:
        """At which all pages take so many visits a second; 0 when they would not take them for nothing."""
        pages = self._pages
        demand = _Demand(pages, prior, bounds, self._scale)
        if not pages or demand.at(0.0) <= budget:
            return 0.0
        low = high = 0.0
        price = max(before, 1.0)
        for _ in range(_ROUNDS):
            ratio = demand.at(price) / budget
            if abs(ratio - 1) < _CLOSE or (low and high and high < low * (1 + _CLOSE / 10)):
                break  # of the second: where bounds take over, demand jumps
            if ratio > 1:
                low = price
            else:
                high = price
            # It falls with the root of the price, about, so that this is a good step.
            better = price * min(max(ratio * ratio, 0.1), 10.0)
            if low and high and not low < better < high:
                better = (low * high) ** 0.5
            if not _LEAST_PRICE < better < _MOST_PRICE:
                return 0.0 if better <= _LEAST_PRICE else _MOST_PRICE  # too often even at the longest intervals
            price = better
        return price

    # -- how fresh copies are ----------------------------------------------------------------------------------------

    def copies(self, now: float, prior: Weights) -> tuple[float, float]:
        """The share of copies that are what their servers show now, and the seconds since copies stopped being that,
        the mean over all; as is to be expected.
        """
        if not self._hashes:
            return 1.0, 0.0
        fresh = age = 0.0
        for page in self._pages:
            belief, seconds = page.seen.likely(prior), max(now - page.checked_at, 0.0)
            fresh += belief.unchanged(seconds)
            age += belief.age(seconds)
        return fresh / len(self._hashes), age / len(self._hashes)


class _Demand:
    """Visits a second that pages take, by what a visit must be worth."""

    def __init__(self, pages: list[Known], prior: Weights, bounds: Bounds, scale: float) -> None:
        self._scale = scale
        self._bounds = bounds
        self._pages = [(page.seen.likely(prior), page.weight) for page in pages]
        # More is known of a page where it is than here: what was decided there shows by how much this is wrong.
        decided = [
            (page, one) for page, one in zip(pages, self._pages, strict=True) if page.wait and page.seen != _NOTHING
        ]
        if len(decided) >= _ENOUGH:
            here = sum([1 / self._wait(one, page.price) for page, one in decided])
            there = sum([1 / page.wait for page, _ in decided])
            self._scale *= min(max(there / here, 1 / _MOST_WRONG), _MOST_WRONG)

    def _wait(self, page: tuple[Belief, float], price: float) -> float:
        belief, weight = page
        return self._bounds.wait(belief, price / weight)

    def at(self, price: float) -> float:
        return sum([1 / self._wait(page, price) for page in self._pages]) * self._scale


def _mixed(pages: Iterable[Known], prior: Weights, others: Weights, count: float) -> Weights:
    """The mean of what is believed of the pages, and of so many others."""
    sums = [count * other for other in others]
    for page in pages:
        for step, likely in enumerate(page.seen.likely(prior).weights):
            sums[step] += likely
        count += 1
    return tuple([found / count for found in sums])


def _known(_: int, place: int, seen: bytes, checked_at: int, weight: int, wait: int, price: int) -> Known:
    weighs = 2 ** ((weight - _WEIGHT_0) / _WEIGHTS)
    return Known(place, Seen.unpack(seen), float(checked_at), weighs, unpacked(wait), unpacked(price))


def _packed_weight(weight: float) -> int:
    return min(max(round(log(weight, 2) * _WEIGHTS) + _WEIGHT_0, 0), 255)
