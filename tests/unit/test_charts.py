"""Curves: what is drawn is what was counted."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.agent.history import Sample
from gossamer.service.pages.charts import HEIGHT, Window, area, between, levels, nice, rates, stacked, window

MINUTE = Window(0.0, 10.0, 6)


def test_rates_of_what_was_added_in_each_bucket() -> None:
    samples = [Sample(at, ok=count) for at, count in ((0, 0), (10, 50), (20, 50), (60, 250))]
    assert rates(samples, "ok", MINUTE) == [5, 0, 5, 5, 5, 5]


def test_before_the_first_sample_and_after_the_last_there_is_nothing() -> None:
    samples = [Sample(20, ok=1000), Sample(30, ok=1100)]
    assert rates(samples, "ok", MINUTE) == [0, 0, 10, 0, 0, 0]
    assert rates([], "ok", MINUTE) == [0] * 6


def test_a_bucket_that_has_not_ended_is_told_by_what_has_passed_of_it() -> None:
    samples = [Sample(0), Sample(50, ok=0), Sample(54, ok=20)]
    assert rates(samples, "ok", MINUTE)[-1] == 5
    samples[-1].at = 50.1  # hardly begun: no rate of 200
    assert rates(samples, "ok", MINUTE)[-1] == 10


def test_a_count_that_goes_back_is_no_negative_rate() -> None:
    assert rates([Sample(0, ok=100), Sample(60, ok=10)], "ok", MINUTE) == [0] * 6


def test_levels_are_those_at_the_end_of_each_bucket() -> None:
    assert levels([Sample(20, urls=100), Sample(40, urls=300)], "urls", MINUTE) == [0, 100, 200, 300, 300, 300]


@given(st.lists(st.tuples(st.floats(0.1, 500), st.integers(0, 10**6)), min_size=2, max_size=50), st.integers(1, 40))
def test_nothing_is_lost_between_buckets(added: list[tuple[float, int]], buckets: int) -> None:
    samples, at, count = [], 0.0, 0
    for pause, more in added:
        at, count = at + pause, count + more
        samples.append(Sample(at, ok=count))
    over = Window(samples[0].at, (samples[-1].at - samples[0].at) / buckets, buckets)
    total = sum(rate * over.step for rate in rates(samples, "ok", over))
    assert total == pytest.approx(samples[-1].ok - samples[0].ok, rel=1e-6, abs=1e-3)


def test_windows_stay_where_they_are_while_time_goes_on() -> None:
    assert window(1001.0, 900.0, 180) == window(1004.9, 900.0, 180) == Window(105.0, 5.0, 180)
    assert window(1005.1, 900.0, 180).start == 110.0


def test_a_short_crawl_has_few_buckets_and_of_a_long_one_no_more_than_can_be_seen() -> None:
    assert between(100.0, 111.0) == Window(100, 11 / 5, 5)
    assert between(0.0, 1e7).buckets == 180
    assert between(0.0, 1e7, 60).buckets == 60
    assert between(50.0, 50.0).buckets == 1


@given(st.floats(1e-6, 1e12))
def test_the_top_of_an_axis_is_not_far_above(value: float) -> None:
    assert value * (1 - 1e-6) <= nice(value) <= value * 2.0001


def test_an_area_is_a_path_from_the_ground_and_back() -> None:
    assert area([0, 0, 0], 10) == ""
    assert area([0, 5, 5, 10], 10, 40) == "M0 40h1v-20h2v-20h1v40H0z"
    assert area([1e9], 10, 40) == "M0 40v-40h1v40H0z"  # what is too high ends at the top


@given(st.lists(st.lists(st.floats(0, 1e6), min_size=5, max_size=5), min_size=1, max_size=6))
def test_a_stack_rises_and_is_as_wide_as_its_buckets(series: list[list[float]]) -> None:
    paths = stacked(series, max(1.0, max(map(sum, zip(*series, strict=True)))))
    for values, path in zip(series, paths, strict=True):
        assert (path == "") or any(values)
        if path:
            assert sum(int(run) for run in re.findall(r"h(\d+)", path)) == 5
            heights = [int(step) for step in re.findall(r"v(-?\d+)", path)]
            assert sum(heights) == 0
            assert max(-min(heights), 0) <= HEIGHT
