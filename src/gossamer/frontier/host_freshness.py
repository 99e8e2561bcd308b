"""How the pages of one host change, and whether it can be believed about that."""

from __future__ import annotations

from zlib import crc32

import msgspec

from gossamer.rules.census import Bounds, Census
from gossamer.rules.change_rate import Belief, Seen, Weights
from gossamer.rules.validators import Trust
from gossamer.rules.yields import place_of

_SAMPLE = 64  # pages
_ANEW = 16  # pages of the sample that were visited since

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(tuple[bytes, Trust]).decode


class HostFreshness:
    """Invariant: `changed` is true while what `pack` gives is not what the disk has."""

    __slots__ = ("_census", "_packed", "_priors", "_told", "changed", "price", "prior", "slot", "trust")

    def __init__(self, packed: bytes = b"") -> None:
        self._packed, self.trust = _decode(packed) if packed else (b"", Trust())
        self._census: Census | None = None  # made when it is needed: most hosts in memory have nothing due
        self._priors: dict[int, Weights] = {}
        self._told = _ANEW
        self.prior: Weights = ()
        self.price = 0.0
        self.slot = 0.0  # when the next of its pages that are due is to be visited
        self.changed = False

    def pack(self) -> bytes:
        return _encode((self._packed if self._census is None else self._census.pack(), self.trust))

    @property
    def census(self) -> Census:
        if self._census is None:
            self._census = Census(_SAMPLE, self._packed)
            self._packed = b""
        return self._census

    def told(self) -> None:
        """Of a page of the sample."""
        self._told += 1
        self.changed = True

    def judge(self, others: Weights, capacity: float, bounds: Bounds) -> None:
        """Find prior and price anew, if enough is new: `others` is what holds for pages elsewhere, `capacity` are
        visits a second that the host can take (0: any number).
        """
        if self._told < _ANEW and self.prior:
            return
        self._told = 0
        self.prior = self.census.prior_of(others)
        self._priors.clear()
        self.price = self.census.price(capacity, bounds, self.prior, self.price) if capacity else 0.0

    def belief(self, place: int, seen: Seen) -> Belief:
        """How often a page changes of which that was seen; `judge` was asked before."""
        prior = self._priors.get(place)
        if prior is None:
            prior = self._priors[place] = self.census.prior_near(place, self.prior)
        return seen.likely(prior)


def place_number(path: str) -> int:
    """Of the directory that a path is in."""
    return crc32(place_of(path).encode()) & 0xFFFF
