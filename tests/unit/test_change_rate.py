from __future__ import annotations

import random
from math import exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.rules.census import USUAL
from gossamer.rules.change_rate import DAY, RATES, Belief, Seen

visits = st.lists(st.tuples(st.floats(1, 1e8), st.booleans()), max_size=60)


def seen_after(*intervals: tuple[float, bool]) -> Seen:
    seen = Seen()
    for seconds, changed in intervals:
        seen = seen.after(seconds, changed)
    return seen


def known(rate: float) -> Belief:
    """One rate that is certain."""
    step = min(range(len(RATES)), key=lambda number: abs(log(RATES[number] / rate)))
    return Belief(tuple(float(number == step) for number in range(len(RATES))))


@given(visits)
def test_whatever_was_seen_every_belief_is_a_distribution(intervals: list[tuple[float, bool]]) -> None:
    belief = seen_after(*intervals).likely(USUAL)
    assert sum(belief.weights) == pytest.approx(1)
    assert all(weight >= 0 for weight in belief.weights)
    assert RATES[0] <= belief.mean <= RATES[-1]


@given(visits)
def test_five_bytes_keep_what_was_seen(intervals: list[tuple[float, bool]]) -> None:
    seen = seen_after(*intervals)
    packed = seen.pack()
    assert len(packed) == 5
    again = Seen.unpack(packed)
    assert again.unchanged == pytest.approx(min(seen.unchanged, 1e9), rel=1e-3, abs=1)
    assert again.changes == pytest.approx(min(seen.changes, 255 / 8), abs=1 / 16)
    if again.changes:
        assert again.interval == pytest.approx(seen.interval, rel=1e-3, abs=1)


@pytest.mark.parametrize("interval", [2 * 3600, DAY, 12 * DAY, 100 * DAY])
def test_the_rate_of_a_page_is_learned_from_irregular_visits(interval: float) -> None:
    dice = random.Random(7)
    seen = Seen()
    for _ in range(200):
        wait = interval * dice.uniform(0.2, 2)
        seen = Seen.unpack(seen.after(wait, changed=dice.random() > exp(-wait / interval)).pack())
    assert 1 / seen.likely(USUAL).mean == pytest.approx(interval, rel=0.6)


def test_a_page_that_always_changed_has_no_infinite_rate() -> None:
    belief = seen_after(*[(10 * DAY, True)] * 20).likely(USUAL)
    assert 1 / (20 * DAY) < belief.mean < RATES[-1]


def test_a_page_that_never_changed_is_not_thought_to_be_so_for_ever() -> None:
    belief = seen_after(*[(10 * DAY, False)] * 20).likely(USUAL)
    assert 0 < belief.mean < 1 / (100 * DAY)


def test_what_was_long_ago_counts_less() -> None:
    quiet = seen_after(*[(DAY, False)] * 200)
    busy = seen_after(*[(DAY, False)] * 200, *[(DAY, True)] * 60)
    assert 1 / quiet.likely(USUAL).mean > 30 * DAY
    assert 1 / busy.likely(USUAL).mean < 2 * DAY


@given(st.floats(1e-7, 1e-4), st.floats(1, 1e8))
def test_of_a_certain_rate_the_formulas_are_the_plain_ones(rate: float, seconds: float) -> None:
    belief = known(rate)
    rate = belief.mean
    assert belief.unchanged(seconds) == pytest.approx(exp(-rate * seconds))
    assert belief.gain(seconds) == pytest.approx((1 - exp(-rate * seconds)) / rate - seconds * exp(-rate * seconds))
    assert belief.age(seconds) == pytest.approx(seconds - (1 - exp(-rate * seconds)) / rate, abs=1e-3)


@given(visits, st.floats(1, 1e7))
def test_the_wait_is_when_the_gain_reaches_the_price(intervals: list[tuple[float, bool]], price: float) -> None:
    belief = seen_after(*intervals).likely(USUAL)
    wait = belief.wait(price, 60, 100 * DAY)
    assert 60 <= wait <= 100 * DAY
    if 60 < wait < 100 * DAY:
        assert belief.gain(wait * 0.97) <= price * 1.001
        assert belief.gain(wait * 1.03) >= price * 0.999


def test_pages_that_change_too_fast_are_not_chased() -> None:
    price = DAY
    waits = [known(rate).wait(price, 60, 365 * DAY) for rate in (1 / 900, 1 / DAY, 1 / (10 * DAY), 1 / (300 * DAY))]
    assert waits[0] == 365 * DAY  # it would be old at once
    assert waits[2] < waits[1]
    assert waits[2] < waits[3]


@given(visits, st.floats(0.01, 0.9))
def test_until_a_change_is_so_likely(intervals: list[tuple[float, bool]], chance: float) -> None:
    belief = seen_after(*intervals).likely(USUAL)
    assert 1 - belief.unchanged(belief.until(chance)) == pytest.approx(chance, rel=0.06)


def test_what_somebody_says_counts_as_seen() -> None:
    assert Seen().told(30 * DAY).likely(USUAL).mean < Seen().likely(USUAL).mean


def test_a_visit_at_the_same_moment_tells_nothing() -> None:
    seen = seen_after((DAY, True))
    assert seen.after(0, changed=False) is seen


@pytest.mark.parametrize("seconds", [1e-9, 0.3, 1.0])
def test_a_change_at_once_is_one_as_after_a_second(seconds: float) -> None:
    seen = Seen.unpack(Seen().after(seconds, changed=True).pack())
    for again in (seen, Seen.unpack(bytes([0, 0, 8, 0, 0]))):  # as another version packed it
        assert again.likely(USUAL).mean > 1e-4
        assert again.after(seconds, changed=True).changes > again.changes


@pytest.mark.parametrize("age", [DAY / 8, DAY / 2, 5 * DAY])
def test_the_date_of_a_page_counts_as_half_of_what_was_seen(age: float) -> None:
    def belief(seen: Seen) -> float:
        return seen.likely(USUAL).mean

    said = Seen.unpack(Seen.dated(age).pack())
    assert belief(said) == pytest.approx(belief(Seen.dated(age)), rel=0.01)
    assert belief(said) > belief(Seen.dated(4 * age)), "what changed lately changes more often"
    assert belief(said.after(10 * age, changed=False)) < belief(said), "and what is seen says more"


def test_a_date_of_just_now_or_to_come_says_nothing_and_one_of_long_ago_no_change() -> None:
    assert Seen.dated(-DAY) == Seen.dated(0) == Seen.dated(1800) == Seen()
    assert Seen.dated(40 * DAY) == Seen.dated(20_000 * DAY)
    assert not Seen.dated(40 * DAY).changes
