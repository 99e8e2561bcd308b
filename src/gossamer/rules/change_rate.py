"""How often a page changes, learned from visits at irregular intervals, and when it is worth visiting again (N13).

Changes of a page are taken for a Poisson process, as Cho and Garcia-Molina found them to be. A visit tells only whether
the page has changed since the last one, not how often. What visits have seen of a page is kept in three numbers; how
likely each of sixteen rates is follows from these and from what is usual among its neighbours. So a page of which
little was seen is judged by others, one of which much was seen by itself, and no estimate is infinite or zero, which is
what the corrections of Cho and Garcia-Molina's estimator are for (docs/decisions/0027-staying-fresh.md compares both).

Freshness is the share of time in which our copy is what the server would show. To visit a page every t seconds costs
1/t visits a second; a little less often saves visits, and loses

    gain(t) = E[(1 - exp(-rt)) / r - t exp(-rt)]        over the rates r that are likely

of freshness for each. With a budget it is best to visit every page when its gain, times what the page is worth, reaches
one price that is the same for all: dear are pages that change so often that the copy would be old at once, and those
that hardly change. So pages are not visited in proportion to their changes.
"""

from __future__ import annotations

import struct
from math import exp, expm1, log
from typing import Final, Self

import msgspec

DAY: Final = 86_400.0
_SLOWEST, _FASTEST = 1 / (730 * DAY), 1 / 900.0
_STEPS: Final = 16

Weights = tuple[float, ...]
"""How likely each of RATES is; the sum is 1."""

RATES: Final[Weights] = tuple(_SLOWEST * (_FASTEST / _SLOWEST) ** (step / (_STEPS - 1)) for step in range(_STEPS))
"""Changes a second that are told apart."""

_JUST_NOW: Final = 3600.0  # seconds
_LONG_AGO: Final = 30 * DAY
_MEMORY: Final = 31 / 32  # what one more visit leaves of what was seen before: pages do not stay as they are
_PACKED: Final = struct.Struct("<HBH")
_CHANGES: Final = 8  # steps of one change, in a packed number of them
_LONGEST: Final = 1e9  # seconds
_ROUNDS: Final = 30
_CLOSE: Final = 0.01
_NEGLIGIBLE: Final = 1e-4


class Seen(msgspec.Struct, frozen=True, gc=False):
    """What visits have seen of a page: seconds after which it had not changed, in all; how often it had; and after how
    many seconds, in the (geometric) mean. Visits long ago count less.
    """

    unchanged: float = 0.0
    changes: float = 0.0
    interval: float = 0.0

    def after(self, seconds: float, changed: bool) -> Seen:
        """And one more visit, so long after the one before."""
        if seconds <= 0:
            return self
        unchanged, changes = self.unchanged * _MEMORY, self.changes * _MEMORY
        if not changed:
            return Seen(unchanged + seconds, changes, self.interval)
        seconds = max(seconds, 1.0)  # shorter ones are not told apart, and clocks are set
        mean = (changes * log(self.interval) if changes else 0.0) + log(seconds)
        return Seen(unchanged, changes + 1, exp(mean / (changes + 1)))

    def told(self, seconds: float) -> Seen:
        """And somebody says that it has not changed, or will not, for so long."""
        return Seen(self.unchanged + seconds, self.changes, self.interval)

    @classmethod
    def dated(cls, seconds: float) -> Self:
        """Of a page that was not visited before, and changed last so long ago, as its server says. Half of that counts:
        half a change, and half of the time for which it has stayed as it is.
        """
        if seconds < _JUST_NOW:
            return cls()  # many say that of every page
        if seconds > _LONG_AGO:
            return cls(_LONG_AGO / 2)
        return cls(seconds / 2, 0.5, seconds)

    def likely(self, prior: Weights) -> Belief:
        """How often the page changes, if this is to be expected of a page like it."""
        unchanged, changes, interval = self.unchanged, self.changes, self.interval
        if changes:
            weights = [
                weight * exp(changes * log(-expm1(-rate * interval)) - rate * unchanged)
                for weight, rate in zip(prior, RATES, strict=True)
            ]
        elif unchanged:
            weights = [weight * exp(-rate * unchanged) for weight, rate in zip(prior, RATES, strict=True)]
        else:
            return Belief(prior)
        whole = sum(weights)
        return Belief(tuple([weight / whole for weight in weights]) if whole > 0 else prior)

    def pack(self) -> bytes:
        """Five bytes."""
        changes = min(round(self.changes * _CHANGES), 255)
        return _PACKED.pack(packed(self.unchanged), changes, packed(self.interval))

    @classmethod
    def unpack(cls, packed: bytes) -> Self:
        unchanged, changes, interval = _PACKED.unpack(packed)
        if not changes:
            return cls(unpacked(unchanged))
        return cls(unpacked(unchanged), changes / _CHANGES, max(unpacked(interval), 1.0))


class Belief:
    """How often a page changes, as far as is known."""

    __slots__ = ("_likely", "weights")

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        likely = [(weight, rate) for weight, rate in zip(weights, RATES, strict=True) if weight > _NEGLIGIBLE]
        whole = sum([weight for weight, _ in likely])
        self._likely = [(weight / whole, rate) for weight, rate in likely]

    @property
    def mean(self) -> float:
        """Changes a second."""
        return sum([weight * rate for weight, rate in self._likely])

    def unchanged(self, seconds: float) -> float:
        """How likely it is that nothing has changed so long after the last visit."""
        return sum([weight * exp(-rate * seconds) for weight, rate in self._likely])

    def age(self, seconds: float) -> float:
        """How long ago the first change was, so long after the last visit, as is to be expected; 0 where none was."""
        return sum([weight * (seconds + expm1(-rate * seconds) / rate) for weight, rate in self._likely])

    def gain(self, seconds: float) -> float:
        """What a visit is worth so long after the last one, in seconds. It only grows with time."""
        return self._gain(seconds)[0]

    def _gain(self, seconds: float) -> tuple[float, float]:
        """And how fast it grows."""
        gain = slope = 0.0
        for weight, rate in self._likely:
            same = exp(-rate * seconds)
            gain += weight * ((1 - same) / rate - seconds * same)
            slope += weight * rate * seconds * same
        return gain, slope

    def until(self, chance: float) -> float:
        """Seconds until it is about that likely that something has changed."""
        seconds = chance / self.mean
        for _ in range(_ROUNDS):  # from below: the chance grows ever more slowly
            short = chance / (1 - self.unchanged(seconds))
            if short < 1 + 5 * _CLOSE:
                break
            seconds *= short
        return seconds

    def wait(self, price: float, least: float, most: float) -> float:
        """Seconds until the gain reaches the price, between those bounds."""
        if least >= most or self.gain(most) < price:
            return most
        if self.gain(least) >= price:
            return least
        low, high = least, most
        wait: float = min(max((2 * price / self.mean) ** 0.5, least), most)  # as if the rate were known and small
        for _ in range(_ROUNDS):
            gain, slope = self._gain(wait)
            if gain < price:
                low = wait
            else:
                high = wait
            better = wait + (price - gain) / slope if slope > 0 else 0.0
            if not low < better < high:
                better = (low * high) ** 0.5
            if abs(better - wait) <= _CLOSE * wait:
                return better
            wait = better
        return wait


def packed(seconds: float) -> int:
    """In 65,535 steps, each a little more than the one before; 0 is nothing."""
    return 0 if seconds < 1 else 1 + round(log(min(seconds, _LONGEST)) / log(_LONGEST) * 65534)


def unpacked(step: int) -> float:
    return exp((step - 1) / 65534 * log(_LONGEST)) if step else 0.0
