"""How fresh copies were: exact integrals over the moments of change and the visits that brought copies.

Freshness is the share of time in which a copy showed what its page showed; age is how long ago the first change came
that a copy does not have, 0 while it is fresh (Cho and Garcia-Molina, 2003).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from gossamer.testing.web.life import BORN
from gossamer.testing.web.world import World


class Held(NamedTuple):
    """Integrals over time for one page, in seconds and seconds squared. `time` is how long the page was looked at."""

    time: float
    fresh: float
    age: float


class Judged(NamedTuple):
    """Weighted means over pages: the share of time that copies were fresh, and their age in seconds."""

    freshness: float
    age: float
    pages: int


def held(changes: Sequence[float], visits: Sequence[float], start: float, end: float) -> Held:
    """What the copies of one page were worth in [start, end].

    `changes` and `visits` are in order. A visit is one that brought a copy or news of the page's end: a 304 does not,
    and where it is true it makes no difference. The last visit up to `start` is the copy at the beginning; `changes`
    must reach back to it. A page without a copy is not fresh, and its age counts from `start`.
    """
    if end <= start:
        return Held(0.0, 0.0, 0.0)
    first = bisect_right(visits, start)
    fresh = age = 0.0
    here = start
    copied = visits[first - 1] if first else None
    for until in (*visits[first : bisect_right(visits, end)], end):
        stale_from = here
        if copied is not None:
            place = bisect_right(changes, copied)
            stale_from = changes[place] if place < len(changes) else until
            fresh += min(max(stale_from, here), until) - here
        else:
            stale_from = start
        if stale_from < until:
            age += _triangle(max(stale_from, here) - stale_from, until - stale_from)
        here, copied = until, until
    return Held(end - start, fresh, age)


def judged(pages: Iterable[tuple[Held, float]]) -> Judged:
    """The mean over pages with their weights, over time: a page looked at for longer counts for more."""
    time = fresh = age = 0.0
    count = 0
    for one, weight in pages:
        time += weight * one.time
        fresh += weight * one.fresh
        age += weight * one.age
        count += 1
    return Judged(fresh / time, age / time, count) if time else Judged(0.0, 0.0, count)


def judge(
    world: World,
    visits: Mapping[tuple[int, int], Sequence[float]],
    pages: Iterable[tuple[int, int]],
    start: float,
    end: float,
) -> Judged:
    """How fresh these pages, as (host, page), were kept by these visits, each weighing the same.

    A page born after `start` counts from its birth.
    """
    return judged((_held(world, *page, visits.get(page, ()), start, end), 1.0) for page in pages)


def _held(world: World, index: int, page: int, visits: Sequence[float], start: float, end: float) -> Held:
    host = world.host(index)
    if page >= BORN and world.life is not None:
        start = max(start, world.life.birth(host, page) or start)
    moments = sorted(visits)
    oldest = min(moments[0], start) if moments else start
    return held(world.turns(host, page, oldest, end), moments, start, end)


def _triangle(low: float, high: float) -> float:
    """The integral of t from `low` to `high`."""
    return (high * high - low * low) / 2
