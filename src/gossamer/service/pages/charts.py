"""Curves of a crawl as paths of SVG. Time is cut into buckets of equal length, each drawn as a step: what is seen is
what was counted, and nothing between.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

import msgspec

from gossamer.agent.history import Sample

OUTCOMES: Final = ("ok", "redirects", "refusals", "errors", "faults", "excluded")  # from the ground up
BUCKETS: Final = 180
LEAST: Final = 2.0  # seconds of a bucket: as often as samples are taken
HEIGHT: Final = 400  # units of a chart from the ground to its top


class Window(msgspec.Struct, frozen=True):
    """A stretch of time in buckets."""

    start: float
    step: float
    buckets: int

    @property
    def end(self) -> float:
        return self.start + self.step * self.buckets


def window(end: float, seconds: float, buckets: int = BUCKETS) -> Window:
    """The last so many seconds, in buckets that stay where they are while time goes on."""
    step = seconds / buckets
    last = math.ceil(end / step) * step
    return Window(last - seconds, step, buckets)


def between(start: float, end: float, most: int = BUCKETS) -> Window:
    """From one moment to another, in no more buckets than there may be samples."""
    seconds = max(end - start, LEAST)
    buckets = max(1, min(most, math.floor(seconds / LEAST)))
    return Window(start, seconds / buckets, buckets)


def levels(samples: Sequence[Sample], field: str, over: Window) -> list[float]:
    """How much there was at the end of each bucket."""
    samples = _from(samples, over.start)
    if not samples:
        return [0.0] * over.buckets
    times = [sample.at for sample in samples]
    edges = (over.start + over.step * number for number in range(1, over.buckets + 1))
    return [_total(samples, times, field, edge) if edge > times[0] - over.step else 0.0 for edge in edges]


def rates(samples: Sequence[Sample], field: str, over: Window) -> list[float]:
    """How much was added a second in each bucket; in the last one, in so much of it as has passed."""
    samples = _from(samples, over.start)
    if not samples:
        return [0.0] * over.buckets
    times = [sample.at for sample in samples]
    edges = [over.start + over.step * number for number in range(over.buckets + 1)]
    totals = [_total(samples, times, field, edge) for edge in edges]
    found = []
    for number in range(over.buckets):
        passed = min(edges[number + 1], times[-1]) - edges[number]
        added = totals[number + 1] - totals[number]
        if 0 < passed < 0.99 * min(over.step, LEAST):  # hardly begun: what came just before belongs to it
            passed = LEAST
            added = totals[number + 1] - _total(samples, times, field, times[-1] - LEAST)
        found.append(max(0.0, added / passed) if passed > 0 else 0.0)
    return found


def _from(samples: Sequence[Sample], start: float) -> Sequence[Sample]:
    """Those that say something of what came after this moment: the last before it, and all since."""
    return samples[max(0, bisect_right(samples, start, key=lambda sample: sample.at) - 1) :]


def _total(samples: Sequence[Sample], times: Sequence[float], field: str, at: float) -> float:
    """What was counted at a moment, between two samples in proportion."""
    number = bisect_right(times, at)
    if number in (0, len(times)):
        value: float = getattr(samples[0 if number == 0 else -1], field)
        return value
    before, after = samples[number - 1], samples[number]
    low, high = getattr(before, field), getattr(after, field)
    return float(low + (high - low) * (at - before.at) / (after.at - before.at))


def nice(top: float) -> float:
    """The least that is not below, of numbers that are easily halved."""
    if top <= 0:
        return 1.0
    unit = 10.0 ** math.floor(math.log10(top))
    return next(factor * unit for factor in (1, 2, 3, 4, 5, 6, 8, 10) if factor * unit >= top * (1 - 1e-9))


def area(values: Sequence[float], top: float, height: int = HEIGHT) -> str:
    """A path from the ground up to each value and back, a bucket one unit wide; empty where there is nothing."""
    steps = [min(height, round(value / top * height)) for value in values]
    if not any(steps):
        return ""
    parts, level, run = [f"M0 {height}"], 0, 0
    for step in steps:
        if step != level:
            parts.append((f"h{run}" if run else "") + f"v{level - step}")
            level, run = step, 0
        run += 1
    return "".join([*parts, f"h{run}v{level}H0z"])


def stacked(series: Sequence[Sequence[float]], top: float) -> list[str]:
    """A path for each series, from the ground up to where it ends on those before it: they are painted from the last
    to the first.
    """
    paths, below = [], [0.0] * len(series[0])
    for values in series:
        below = [low + value for low, value in zip(below, values, strict=True)]
        paths.append(area(below, top) if any(values) else "")
    return paths
