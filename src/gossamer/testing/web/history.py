"""When a page changed: a Poisson process that can be asked at any moment without having been watched.

Time is cut into windows as long as the mean interval between changes. How many changes fall in a window (Poisson with
mean one) and when is a function of the page and the window's number, so the last change before any moment is found by
looking at a window or two.
"""

from __future__ import annotations

from math import exp

from gossamer.testing.web.dice import mix, share, step

# Mean seconds between changes; None never changes.
INTERVALS: tuple[float | None, ...] = (10.0, 60.0, 600.0, 3600.0, 86400.0, 604800.0, None, None)
_EPOCH = 1_600_000_000.0  # pages that never change were written around here
_FAR = 64  # windows without a change: less likely than e**-64

_CUMULATIVE: list[float] = []
_term = exp(-1.0)
_sum = 0.0
for _count in range(1, 12):
    _sum += _term
    _CUMULATIVE.append(_sum)
    _term /= _count


def interval_of(seed: int, host: int, page: int) -> float | None:
    return INTERVALS[mix(seed, host, page ^ 0x5A5A) >> 61]


def changes_in(seed: int, host: int, page: int, window: int, interval: float) -> list[float]:
    """The moments of change in one window, in order."""
    x = mix(mix(seed, host, page), window, 7)
    level = share(x)
    count = next((n for n, limit in enumerate(_CUMULATIVE) if level < limit), len(_CUMULATIVE))
    moments = []
    for _ in range(count):
        x = step(x)
        moments.append((window + share(x)) * interval)
    return sorted(moments)


def last_change(seed: int, host: int, page: int, now: float) -> float:
    """The moment of the page's latest change at or before `now`; it names the version that is served."""
    interval = interval_of(seed, host, page)
    if interval is None:
        return _EPOCH + (mix(seed, host, page) >> 40)
    return latest(seed, host, page, now, interval)


def changes_between(seed: int, host: int, page: int, start: float, end: float) -> list[float]:
    """Every change after `start` and up to `end`: what a crawler that keeps fresh should have seen."""
    interval = interval_of(seed, host, page)
    return [] if interval is None else between(seed, host, page, start, end, interval)


def latest(seed: int, host: int, page: int, now: float, interval: float) -> float:
    """The last moment at or before `now` of a process with that mean interval."""
    window = int(now // interval)
    for back in range(_FAR):
        for moment in reversed(changes_in(seed, host, page, window - back, interval)):
            if moment <= now:
                return moment
    return (window - _FAR) * interval


def between(seed: int, host: int, page: int, start: float, end: float, interval: float) -> list[float]:
    """The moments after `start` and up to `end` of a process with that mean interval, in order."""
    windows = range(int(start // interval), int(end // interval) + 1)
    return [moment for k in windows for moment in changes_in(seed, host, page, k, interval) if start < moment <= end]
