"""How the pages of one host change, and whether it can be believed about that."""

from __future__ import annotations

import struct
from zlib import crc32

import msgspec

from gossamer.rules.census import Bounds, Census
from gossamer.rules.change_rate import Belief, Seen, Weights
from gossamer.rules.places import place_of
from gossamer.rules.validators import Trust

_SAMPLE = 64  # pages
_ANEW = 16  # pages of the sample that were visited since, or as many as it has
_PLACES = 8  # whose priors are at hand
_WAITS = 32  # the same
_NOTHING = Seen()

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(tuple[bytes, Trust]).decode


class HostFreshness:
    """Invariant: `changed` is true while what `pack` gives is not what the disk has."""

    __slots__ = ("_priors", "_told", "_waits", "census", "changed", "price", "prior", "slot", "trust")

    def __init__(self, packed: bytes = b"") -> None:
        self.census, self.trust = _read(packed) if packed else (Census(_SAMPLE), Trust())
        self._priors: dict[int, Weights] = {}
        self._waits: dict[tuple[int, float, Bounds], float] = {}
        self._told = _ANEW
        self.prior: Weights = ()
        self.price = 0.0
        self.slot = 0.0  # when the next of its pages that are due is to be visited
        self.changed = False

    def pack(self) -> bytes:
        return _encode((self.census.pack(), self.trust))

    def told(self) -> None:
        """Of a page of the sample."""
        self._told += 1
        self.changed = True

    def judge(self, others: Weights, capacity: float, bounds: Bounds) -> None:
        """Find prior and price anew, if enough is new: `others` is what holds for pages elsewhere, `capacity` are
        visits a second that the host can take (0: any number).
        """
        if self._told < max(_ANEW, len(self.census)) and self.prior:
            return
        self._told = 0
        self._waits.clear()
        self.prior = self.census.prior_of(others)
        self._priors.clear()
        self.price = self.census.price(capacity, bounds, self.prior, self.price) if capacity else 0.0

    def belief(self, place: int, seen: Seen) -> Belief:
        """How often a page changes of which that was seen; `judge` was asked before."""
        prior = self._priors.get(place)
        if prior is None:
            if len(self._priors) >= _PLACES:
                self._priors.clear()
            prior = self._priors[place] = self.census.prior_near(place, self.prior)
        return seen.likely(prior)

    def wait(self, place: int, seen: Seen, price: float, bounds: Bounds) -> float:
        """Seconds until a visit to such a page is worth the price. Of pages that were not visited before it is the
        same for all of a place.
        """
        if seen != _NOTHING:
            return bounds.wait(self.belief(place, seen), price)
        key = place, price, bounds
        found = self._waits.get(key)
        if found is None:
            if len(self._waits) >= _WAITS:
                self._waits.clear()
            found = self._waits[key] = bounds.wait(self.belief(place, seen), price)
        return found


def _read(packed: bytes) -> tuple[Census, Trust]:
    """What another version noted otherwise is not known."""
    try:
        census, trust = _decode(packed)
        return Census(_SAMPLE, census), trust
    except (ValueError, struct.error):
        return Census(_SAMPLE), Trust()


def place_number(path: str) -> int:
    """Of the directory that a path is in."""
    return crc32(place_of(path).encode()) & 0xFFFF
