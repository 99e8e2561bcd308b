from __future__ import annotations

import random
from math import exp

import pytest

from gossamer.rules.census import USUAL, Bounds, Census, Known
from gossamer.rules.change_rate import DAY, Seen

NOW = 1_790_000_000.0
WIDE = Bounds(60, 365 * DAY, chance=1e-6)


def filled(pages: int, most: int = 64, interval: float = 10 * DAY, seed: int = 1, place: int = 1) -> Census:
    """Pages that change about so often, each visited some times."""
    dice = random.Random(seed)
    census = Census(most)
    for _ in range(pages):
        census.tell(dice.getrandbits(32), Known(place, history(dice, interval), NOW - dice.uniform(0, 5 * DAY)))
    return census


def history(dice: random.Random, interval: float, visits: int = 20) -> Seen:
    seen = Seen()
    for _ in range(visits):
        wait = interval * dice.uniform(0.2, 2)
        seen = seen.after(wait, changed=dice.random() > exp(-wait / interval))
    return seen


@pytest.mark.parametrize("pages", [1, 50, 64, 65, 1000, 20_000])
def test_the_sample_is_bounded_and_says_how_many_there_are(pages: int) -> None:
    census = Census(64)
    dice = random.Random(3)
    for _ in range(pages):
        census.tell(dice.getrandbits(32), Known(0, Seen(), NOW))
    assert len(census) <= 64
    assert census.pages == pytest.approx(pages, rel=0 if pages <= 64 else 0.5)


def test_a_page_that_is_told_of_again_is_in_it_once() -> None:
    census = Census(10)
    for moment in range(5):
        assert census.tell(77, Known(0, Seen(), NOW + moment))
    assert len(census) == 1
    assert census.forget(77)
    assert not census.forget(77)
    assert len(census) == 0


def test_it_is_kept_as_it_is() -> None:
    census = filled(500)
    again = Census(64, census.pack())
    assert again.pack() == census.pack()
    assert again.pages == census.pages
    assert again.copies(NOW, USUAL) == pytest.approx(census.copies(NOW, USUAL), rel=0.01)


@pytest.mark.parametrize("budget", [0.1, 1, 10])
def test_at_the_price_pages_take_the_budget(budget: float) -> None:
    census = filled(1000)
    budget = budget * census.pages / (20 * DAY)
    price = census.price(budget, WIDE, USUAL, DAY)
    waits = [WIDE.wait(page.seen.likely(USUAL), price) for page in census._pages]
    assert sum(1 / wait for wait in waits) * census.pages / len(census) == pytest.approx(budget, rel=0.03)


def test_where_there_is_more_budget_than_pages_can_use_visits_cost_nothing() -> None:
    assert filled(10).price(1000.0, Bounds(3600, 30 * DAY), USUAL, DAY) == 0.0
    assert Census(10).price(1.0, WIDE, USUAL, DAY) == 0.0


def test_where_there_is_less_than_the_longest_interval_takes_the_price_is_finite() -> None:
    price = filled(1000).price(1e-9, Bounds(3600, 30 * DAY), USUAL, DAY)
    assert 0 < price <= 1e12


def test_new_pages_are_judged_by_their_neighbours() -> None:
    dice = random.Random(5)
    census = Census(64)
    for _ in range(20):
        census.tell(dice.getrandbits(32), Known(1, history(dice, DAY / 4), NOW))
        census.tell(dice.getrandbits(32), Known(2, history(dice, 200 * DAY), NOW))
    prior = census.prior_of(USUAL)
    busy = Seen().likely(census.prior_near(1, prior)).mean
    quiet = Seen().likely(census.prior_near(2, prior)).mean
    elsewhere = Seen().likely(census.prior_near(3, prior)).mean
    assert quiet < elsewhere < busy
    assert busy > 5 * quiet


def test_what_is_usual_is_learned_from_all_pages() -> None:
    census = filled(300, most=300, interval=100 * DAY)
    prior = USUAL
    for _ in range(5):
        prior = census.prior(prior)
    assert Seen().likely(prior).mean < Seen().likely(USUAL).mean / 3
    assert sum(prior) == pytest.approx(1)


def test_freshness_and_age_are_those_of_pages_that_change_so_often() -> None:
    census = filled(64, interval=10 * DAY)
    now = NOW + 10 * DAY  # 10 to 15 days after their visits
    prior = census.prior_of(USUAL)
    freshness, age = census.copies(now, prior)
    assert freshness == pytest.approx(0.3, abs=0.1)
    assert 3 * DAY < age < 8 * DAY
    assert census.copies(NOW - 100 * DAY, prior) == (pytest.approx(1), pytest.approx(0))  # a clock that was set back


def test_nothing_is_fresh_where_there_is_nothing() -> None:
    assert Census(5).copies(NOW, USUAL) == (1.0, 0.0)


def test_pages_of_more_weight_are_visited_more_often() -> None:
    bounds = Bounds(60, 365 * DAY)
    belief = Seen().likely(USUAL)
    assert bounds.wait(belief, DAY / 4) < bounds.wait(belief, DAY)


def test_no_visit_is_made_for_a_change_that_is_not_likely() -> None:
    belief = Seen().told(1000 * DAY).likely(USUAL)
    assert 1 - belief.unchanged(Bounds(60, 3650 * DAY).wait(belief, 0.0)) == pytest.approx(0.1, rel=0.1)


def test_where_visits_have_a_price_it_alone_says_which_are_made() -> None:
    belief = Seen().told(1000 * DAY).likely(USUAL)
    bounds = Bounds(60, 3650 * DAY)
    assert bounds.wait(belief, 1.0) < bounds.wait(belief, 0.0) / 2
