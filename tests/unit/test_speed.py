from __future__ import annotations

from collections import deque

import pytest

from gossamer.agent.speed import Allowance, Speed
from gossamer.config import FetchConfig


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


def test_an_overdraft_is_paid_back_after_a_change_too() -> None:
    allowance = Allowance(1000.0, 0.0)
    allowance.spend(5000)
    allowance.change(500.0, 1.0)
    assert allowance.available(5.0) < 0
    assert allowance.available(10.0) > 0


def crawled(speed: Speed, began: float, seconds: float, sizes: list[int], latency: float) -> list[tuple[float, int]]:
    """(time, bytes) of every response of a crawl with 256 connections on servers that answer after `latency`."""
    under_way: deque[tuple[float, int]] = deque()
    done: list[tuple[float, int]] = []
    now, number = began, 0
    while now < began + seconds:
        while under_way and under_way[0][0] <= now:
            done.append(under_way.popleft())
            speed.ended(done[-1][1])
        for _ in range(speed.room(now, 256 - len(under_way))):
            speed.started()
            under_way.append((now + latency, sizes[number % len(sizes)]))
            number += 1
        now += 0.005
    return done


def shares(done: list[tuple[float, int]], cap: float, began: float, end: float, by_bytes: bool) -> list[float]:
    """Of the cap, in each window of ten seconds."""
    found = []
    while began + 10 <= end:
        sizes = [size for moment, size in done if began <= moment < began + 10]
        found.append((sum(sizes) if by_bytes else len(sizes)) / (10 * cap))
        began += 1
    return found


@pytest.mark.parametrize("latency", [0.01, 1.0])
def test_a_rate_cap_holds_in_every_ten_seconds_and_after_a_change(latency: float) -> None:
    speed = Speed(FetchConfig(rate=50.0), 1000.0)
    first = crawled(speed, 1000.0, 30.0, [9_000], latency)
    assert shares(first, 50.0, 1002.0, 1030.0, by_bytes=False) == pytest.approx([1.0] * 19, abs=0.05)
    speed.change(FetchConfig(rate=120.0), 1030.0)
    second = crawled(speed, 1030.0, 30.0, [9_000], latency)
    assert shares(second, 120.0, 1032.0, 1060.0, by_bytes=False) == pytest.approx([1.0] * 19, abs=0.05)


@pytest.mark.parametrize("sizes", [[9_000], [2_000, 60_000, 3_000, 700, 20_000]])
@pytest.mark.parametrize("latency", [0.01, 1.0])
def test_a_bandwidth_cap_holds_in_every_ten_seconds_and_after_a_change(sizes: list[int], latency: float) -> None:
    speed = Speed(FetchConfig(bandwidth=1_000_000), 1000.0)
    first = crawled(speed, 1000.0, 30.0, sizes, latency)
    assert shares(first, 1e6, 1004.0, 1030.0, by_bytes=True) == pytest.approx([1.0] * 17, abs=0.05)
    speed.change(FetchConfig(bandwidth=400_000), 1030.0)
    second = crawled(speed, 1030.0, 30.0, sizes, latency)
    assert shares(second, 4e5, 1034.0, 1060.0, by_bytes=True) == pytest.approx([1.0] * 17, abs=0.05)


def test_the_hour_decides() -> None:
    clock = {"minute": 7 * 60 + 59}
    config = FetchConfig(rate=1000.0, schedule=("08:00-18:00 pause", "18:00-24:00 rate=2"))
    speed = Speed(config, 0.0, lambda now: (0, clock["minute"]))
    assert speed.room(1.0, 5) == 5
    clock["minute"] = 8 * 60
    assert speed.room(3.0, 5) == 0
    assert "pauses at this hour" in speed.limit(3.0, short=False)
    clock["minute"] = 18 * 60
    assert speed.room(5.0, 5) == 0
    assert speed.room(5.6, 5) == 1
    clock["minute"] = 0
    speed.started()
    assert speed.room(7.0, 5) == 1  # nothing was saved up
    assert speed.room(7.1, 5) == 5


def test_a_cap_limits_only_while_there_is_more_to_visit() -> None:
    speed = Speed(FetchConfig(rate=20.0), 0.0)
    assert speed.limit(1.0, short=False) == ""
    assert speed.limit(1.0, short=True) == "the rate cap of 20 pages/s"
    assert Speed(FetchConfig(bandwidth=2_000_000), 0.0).limit(1.0, short=True) == "the bandwidth cap of 2 MB/s"
    assert Speed(FetchConfig(), 0.0).limit(1.0, short=True) == ""
    both = Speed(FetchConfig(rate=20.0, bandwidth=2_000_000), 0.0)
    assert "bandwidth" in both.limit(1.0, short=True)
    for _ in range(3):
        both.started()
    assert "rate" in both.limit(1.0, short=True)
