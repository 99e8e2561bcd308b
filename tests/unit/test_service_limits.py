"""How often one may ask."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.service import limits
from gossamer.service.limits import Buckets, retry_after


@given(rate=st.floats(0.01, 1000), burst=st.floats(1, 1000), waits=st.lists(st.floats(0, 10), min_size=1, max_size=200))
def test_never_more_than_burst_and_rate_allow(rate: float, burst: float, waits: list[float]) -> None:
    buckets, now, taken = Buckets(), 1000.0, 0
    for wait in waits:
        now += wait
        taken += buckets.take("a", rate, burst, now) == 0.0
        assert taken <= burst + rate * (now - 1000.0) + 1e-6


def test_it_says_when_to_come_again() -> None:
    buckets = Buckets()
    assert [buckets.take("a", 2.0, 2.0, 0.0) for _ in range(3)] == [0.0, 0.0, 0.5]
    assert buckets.take("b", 2.0, 2.0, 0.0) == 0.0
    assert buckets.take("a", 2.0, 2.0, 0.5) == 0.0
    assert buckets.take("a", 2.0, 2.0, 0.5) > 0.0
    assert retry_after(0.01) == {"Retry-After": "1"}
    assert retry_after(5.2) == {"Retry-After": "6"}


def test_a_clock_that_goes_back_gives_nothing_away() -> None:
    buckets = Buckets()
    assert buckets.take("a", 1.0, 1.0, 100.0) == 0.0
    assert buckets.take("a", 1.0, 1.0, 0.0) == 1.0


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_REMEMBERED", 10)
    buckets = Buckets()
    for number in range(1000):
        buckets.take(str(number), 1.0, 1.0, 0.0)
    assert len(buckets._left) == 10
