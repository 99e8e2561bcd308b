from __future__ import annotations

import pytest

from gossamer.agent.speed import Allowance


@pytest.mark.parametrize("rate", [0.5, 3, 50, 2000])
def test_over_time_no_more_is_spent_than_the_rate_allows(rate: float) -> None:
    allowance = Allowance(rate, 1000.0)
    now, spent, seconds = 1000.0, 0, 60.0
    while now < 1000.0 + seconds:
        while allowance.available(now) >= 1:
            allowance.spend(1)
            spent += 1
        now += max(allowance.wait(now), 0.001)
    assert spent == pytest.approx(rate * seconds, rel=0.05, abs=1.5)


def test_no_rate_is_no_cap() -> None:
    allowance = Allowance(0, 0.0)
    assert allowance.available(1.0) == float("inf")
    assert allowance.wait(1.0) == 0.0


def test_an_overdraft_is_paid_back() -> None:
    allowance = Allowance(1000.0, 0.0)
    allowance.spend(5000)
    assert allowance.available(1.0) < 0
    assert allowance.available(5.2) > 0
