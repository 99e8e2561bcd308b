"""How often to visit which page, known all rates: the best way, the even way and the way that seems right and is not.

Closed forms for pages that change by Poisson processes and are visited at even intervals (Cho and Garcia-Molina, 2003).
Rates and frequencies are in one unit, whichever: changes and visits a second, or a day.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, expm1, inf, log, log1p, sqrt

_SMALL = 1e-3  # below it, closed forms lose digits and series have them all
_STEPS = 100


def freshness(rate: float, frequency: float) -> float:
    """The expected share of time that the copy is fresh."""
    if rate == 0:
        return 1.0
    if frequency == 0:
        return 0.0
    x = rate / frequency
    return -expm1(-x) / x


def age(rate: float, frequency: float) -> float:
    """The expected age of the copy; without visits it grows for ever.

    Over a time T that begins with a copy and has no further visit, it is that of a frequency of 1 / T.
    """
    if rate == 0:
        return 0.0
    if frequency == 0:
        return inf
    x = rate / frequency
    if x < _SMALL:
        return (x / 6 - x * x / 24) / frequency
    return (0.5 - 1 / x - expm1(-x) / (x * x)) / frequency


def gain(rate: float, frequency: float) -> float:
    """What one more visit brings: the derivative of the freshness by the frequency."""
    if rate == 0:
        return 0.0
    return 1 / rate if frequency == 0 else _gain(rate / frequency) / rate


def uniform(rates: Sequence[float], budget: float) -> list[float]:
    """All pages alike."""
    return [budget / len(rates)] * len(rates)


def proportional(rates: Sequence[float], budget: float) -> list[float]:
    """By rate: what changes twice as often is visited twice as often."""
    total = sum(rates)
    return [budget * rate / total for rate in rates] if total else uniform(rates, budget)


def optimal(rates: Sequence[float], budget: float, weights: Sequence[float] | None = None) -> list[float]:
    """The frequencies of the highest weighted freshness that sum to the budget.

    One more visit brings the same everywhere, and less where there is none: pages that change too fast for their weight
    are given up. That common gain is found by bisection.
    """
    weighed = list(weights) if weights is not None else [1.0] * len(rates)
    best = max((weight / rate for rate, weight in zip(rates, weighed, strict=True) if rate and weight), default=0.0)
    if not best or budget <= 0:
        return [0.0] * len(rates)
    pairs = list(zip(rates, weighed, strict=True))
    low, high = log(best) - 700.0, log(best) + 1e-9  # all the visits there can be; none
    for _ in range(_STEPS):
        middle = (low + high) / 2
        asked = sum(_frequency(rate, weight, exp(middle)) for rate, weight in pairs)
        low, high = (middle, high) if asked > budget else (low, middle)
        if high - low < 1e-10:
            break
    # The gain of a page visited very seldom is the same to the last digit, whatever its frequency: such a page leaps
    # from none to some between the two ends, and gets what is left in the budget.
    more, less = ([_frequency(rate, weight, exp(level)) for rate, weight in pairs] for level in (low, high))
    part = (budget - sum(less)) / (sum(more) - sum(less))
    return [little + part * (much - little) for much, little in zip(more, less, strict=True)]


def mean_freshness(
    rates: Sequence[float], frequencies: Sequence[float], weights: Sequence[float] | None = None
) -> float:
    return _mean([freshness(*pair) for pair in zip(rates, frequencies, strict=True)], weights)


def mean_age(rates: Sequence[float], frequencies: Sequence[float], weights: Sequence[float] | None = None) -> float:
    return _mean([age(*pair) for pair in zip(rates, frequencies, strict=True)], weights)


def _mean(values: list[float], weights: Sequence[float] | None) -> float:
    if weights is None:
        return sum(values) / len(values)
    return sum(weight * value for weight, value in zip(weights, values, strict=True) if weight) / sum(weights)


def _frequency(rate: float, weight: float, level: float) -> float:
    """The frequency at which one more visit brings `level`; 0 where not even the first does."""
    if not rate or not weight:
        return 0.0
    wanted = level * rate / weight
    return rate / _gain_is(wanted) if wanted < 1 else 0.0


def _gain(x: float) -> float:
    """1 - (1 + x) e**-x, from 0 to 1: the gain of a visit, times the rate, after `x` expected changes."""
    if x < _SMALL:
        return x * x * (0.5 - x * (1 / 3 - x / 8))
    return -expm1(-x) - x * exp(-x)


def _gain_is(wanted: float) -> float:
    """The `x` with that gain: Newton's method, kept between what is known to be too little and too much."""
    if wanted < 1e-12:
        return sqrt(2 * wanted) * (1 + sqrt(2 * wanted) / 3)
    low, high = sqrt(2 * wanted), 2 * sqrt(2 * wanted) - 4 * log1p(-wanted)
    x = (low + high) / 2 if wanted > 0.5 else low * (1 + low / 3)
    for _ in range(_STEPS):
        missing = wanted - _gain(x)
        if missing > 0:
            low = max(low, x)
        else:
            high = min(high, x)
        step = missing / (x * exp(-x))
        if abs(step) <= 1e-13 * x:
            break
        x = x + step if low < x + step < high else (low + high) / 2
    return x
