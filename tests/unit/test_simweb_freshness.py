"""Judging freshness: integrals held against counting in small steps, and the best policy against its own conditions."""

from __future__ import annotations

from bisect import bisect_right
from math import exp, expm1, inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.testing import World
from gossamer.testing.web.dice import mix, share
from gossamer.testing.web.freshness import Held, Judged, held, judge, judged
from gossamer.testing.web.life import DAY
from gossamer.testing.web.policies import (
    age,
    freshness,
    gain,
    mean_age,
    mean_freshness,
    optimal,
    proportional,
    uniform,
)

NOW = 1_700_000_000.0
moments = st.lists(st.integers(-50, 150), max_size=12).map(lambda found: [n + 0.5 for n in sorted(found)])


def _counted(changes: list[float], visits: list[float], start: int, end: int) -> tuple[float, float]:
    """By steps of 1/8 s, each taken at its middle: exact, as all moments are on halves."""
    fresh = total = 0.0
    for step in range(8 * start, 8 * end):
        now = (step + 0.5) / 8
        place = bisect_right(visits, now)
        missed = [change for change in changes if visits[place - 1] < change <= now] if place else [float(start)]
        fresh += 0 if missed else 1 / 8
        total += (now - missed[0]) / 8 if missed else 0
    return fresh, total


@given(moments, moments, st.integers(0, 60), st.integers(0, 60))
def test_the_integrals_are_what_counting_gives(
    changes: list[float], visits: list[float], start: int, length: int
) -> None:
    found = held(changes, visits, start, start + length)
    fresh, total = _counted(changes, visits, start, start + length)
    assert found.time == length
    assert found.fresh == pytest.approx(fresh, abs=1e-6)
    assert found.age == pytest.approx(total, abs=1e-6)


def test_a_copy_from_before_the_beginning_counts_with_its_changes() -> None:
    assert held([5.0], [0.0], 10.0, 20.0) == Held(10.0, 0.0, 100.0)  # 5 s old at first, 15 at last
    assert held([5.0], [6.0], 10.0, 20.0) == Held(10.0, 10.0, 0.0)
    assert held([12.0], [0.0, 15.0], 10.0, 20.0) == Held(10.0, 7.0, 4.5)
    assert held([], [], 10.0, 20.0) == Held(10.0, 0.0, 50.0)
    assert judged([(Held(10.0, 5.0, 20.0), 1.0), (Held(10.0, 10.0, 0.0), 3.0)]) == Judged(0.875, 0.5, 2)
    assert judged([]) == Judged(0.0, 0.0, 0)


def test_even_visits_to_a_simulated_web_are_as_fresh_as_the_closed_form_says() -> None:
    world = World(hosts=20, pages=100, profile="changing")
    every, days = 2 * DAY, 60
    life = world.life
    assert life is not None
    pages = [
        (index, page)
        for index in range(20)
        for page in range(100)
        if not life.comings_and_goings(world.host(index), page, NOW, NOW + days * DAY)
        and not life.gone(world.host(index), page, NOW)
    ]
    visits = {
        (index, page): [NOW - every + share(mix(index, page)) * every + turn * every for turn in range(days // 2 + 1)]
        for index, page in pages
    }
    found = judge(world, visits, pages, NOW, NOW + days * DAY)
    rates = [world.changes_per_day(world.host(index), page) / DAY for index, page in pages]
    assert found.pages == len(pages) > 1_800
    assert found.freshness == pytest.approx(mean_freshness(rates, [1 / every] * len(rates)), abs=0.01)
    assert found.age == pytest.approx(mean_age(rates, [1 / every] * len(rates)), rel=0.05)


def test_a_page_that_was_born_counts_from_its_birth_and_one_that_went_is_out_of_date() -> None:
    world = World(hosts=5, pages=400, profile="changing")
    host = world.host(1)
    birth, page = world.births(host, NOW, NOW + 60 * DAY)[0]
    until = birth + 1.0
    assert judge(world, {(1, page): [birth]}, [(1, page)], NOW, until).freshness == 1.0
    assert world.life is not None
    mortal, went = next(
        (page, moments[0])
        for page in range(400)
        if (moments := world.life.comings_and_goings(host, page, NOW, NOW + 700 * DAY))
        and not world.life.gone(host, page, NOW)
    )
    seen = world.changes(host, mortal, NOW, went)[-1:] or [NOW]
    start, end = went - 1.0, went + 3.0
    assert judge(world, {(1, mortal): seen}, [(1, mortal)], start, end).freshness == pytest.approx(0.25)
    assert judge(world, {(1, mortal): [*seen, went + 1]}, [(1, mortal)], start, end).freshness == pytest.approx(0.75)
    changed = world.changed_at(host, 7, NOW)
    for visit, fresh in ((changed - 1.0, 0.0), (changed, 1.0)):  # both long before the time that is judged
        until = NOW + 1.0
        assert not world.turns(host, 7, NOW, until)
        assert judge(world, {(1, 7): [visit]}, [(1, 7)], NOW, until).freshness == fresh


# ---- policies

rates_lists = st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=30)


@given(st.floats(1e-4, 1e4), st.floats(1e-4, 1e4))
def test_closed_forms_are_integrals_over_one_interval(rate: float, frequency: float) -> None:
    interval = 1 / frequency
    steps = 2_000
    times = [(step + 0.5) / steps * interval for step in range(steps)]
    assert freshness(rate, frequency) == pytest.approx(sum(exp(-rate * t) for t in times) / steps, rel=2e-2, abs=1e-3)
    counted = sum(t + expm1(-rate * t) / rate for t in times) / steps
    assert age(rate, frequency) == pytest.approx(counted, rel=2e-2, abs=1e-9)


def test_the_ends_of_the_closed_forms() -> None:
    assert (freshness(0.0, 0.0), freshness(1.0, 0.0), freshness(0.0, 1.0)) == (1.0, 0.0, 1.0)
    assert (age(0.0, 0.0), age(1.0, 0.0), age(0.0, 1.0)) == (0.0, inf, 0.0)
    assert gain(2.0, 0.0) == 0.5
    assert gain(0.0, 1.0) == 0.0
    for rate in (0.9e-3, 1.1e-3):  # series and closed form meet
        assert age(rate, 1.0) == pytest.approx(rate / 6 - rate**2 / 24, rel=1e-6)
        assert gain(rate, 1.0) == pytest.approx(rate / 2 - rate**2 / 3, rel=1e-5)


@given(rates_lists, st.floats(1e-2, 1e3), st.data())
def test_the_best_policy_gains_the_same_everywhere(rates: list[float], budget: float, data: st.DataObject) -> None:
    weights = data.draw(st.lists(st.floats(0.1, 10.0), min_size=len(rates), max_size=len(rates)))
    found = optimal(rates, budget, weights)
    assert sum(found) == pytest.approx(budget)
    gains = [w * gain(rate, f) for rate, f, w in zip(rates, found, weights, strict=True)]
    visited = [one for one, frequency in zip(gains, found, strict=True) if frequency]
    assert visited
    assert min(visited) == pytest.approx(max(visited), rel=1e-5)
    for one, frequency in zip(gains, found, strict=True):
        assert frequency or one <= max(visited) * (1 + 1e-5)
    best = mean_freshness(rates, found, weights)
    for other in (uniform(rates, budget), proportional(rates, budget)):
        assert sum(other) == pytest.approx(budget)
        assert best >= mean_freshness(rates, other, weights) - 1e-9


@given(rates_lists, st.floats(1e-2, 1e3))
def test_even_visits_are_fresher_than_visits_in_proportion(rates: list[float], budget: float) -> None:
    even = mean_freshness(rates, uniform(rates, budget))
    assert even >= mean_freshness(rates, proportional(rates, budget)) - 1e-9
    assert mean_freshness(rates, optimal(rates, budget)) >= even - 1e-9


def test_the_example_of_the_paper() -> None:
    """Five pages that change 1 to 5 times a day, five visits a day (Cho and Garcia-Molina, 2003, table)."""
    found = optimal([1.0, 2.0, 3.0, 4.0, 5.0], 5.0)
    assert found == pytest.approx([1.15, 1.36, 1.35, 1.14, 0.00], abs=0.005)


def test_pages_that_never_change_are_never_visited() -> None:
    assert optimal([0.0, 1.0], 2.0) == [0.0, pytest.approx(2.0)]
    assert optimal([0.0, 0.0], 2.0) == [0.0, 0.0]
    assert optimal([1.0, 1.0], 2.0, [1.0, 0.0]) == [pytest.approx(2.0), 0.0]
    assert optimal([1.0], 0.0) == [0.0]
    assert proportional([0.0, 0.0], 2.0) == [1.0, 1.0]
