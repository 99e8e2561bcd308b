"""Time in the simulated web: the fake clock, and pages that change at known rates."""

from __future__ import annotations

from itertools import pairwise

import pytest

from gossamer.testing import FakeClock, SystemClock, World
from gossamer.testing.web import history
from gossamer.testing.web.render import Renderer


def test_a_fake_clock_moves_only_when_told() -> None:
    clock = FakeClock(100.0)
    assert (clock.now(), clock.now(), clock()) == (100.0, 100.0, 100.0)
    assert clock.advance(2.5) == 102.5
    assert clock.now() == 102.5


def test_a_fake_clock_cannot_go_back() -> None:
    clock = FakeClock()
    with pytest.raises(ValueError, match="cannot go back"):
        clock.advance(-1)


def test_the_system_clock_goes_on() -> None:
    clock = SystemClock()
    assert 1_700_000_000 < clock.now() <= clock.now()


def _changing_page(world: World, interval: float) -> int:
    host = world.host(0)
    return next(page for page in range(host.size) if world.change_interval(host, page) == interval)


def test_a_page_changes_as_often_as_its_interval_says() -> None:
    world = World(pages=100, profile="realistic")
    for interval in (10.0, 60.0, 3600.0):
        page = _changing_page(world, interval)
        changes = world.changes(world.host(0), page, 0.0, 4_000 * interval)
        assert 3_800 < len(changes) < 4_200
        assert changes == sorted(changes)
        gaps = [later - earlier for earlier, later in pairwise(changes)]
        # Poisson: exponential gaps, so a share of 1 - 1/e of them is shorter than the mean
        assert 0.60 < sum(gap < interval for gap in gaps) / len(gaps) < 0.66


def test_the_version_served_is_the_last_change() -> None:
    clock = FakeClock(1_000_000.0)
    world = World(pages=100, profile="realistic", clock=clock)
    host, page = world.host(0), _changing_page(world, 60.0)
    renderer = Renderer(world)
    for _ in range(300):
        before, start = world.changed_at(host, page), clock.now()
        assert before <= start
        clock.advance(17.0)
        changes = world.changes(host, page, start, clock.now())
        after = world.changed_at(host, page)
        assert after == (changes[-1] if changes else before)
        same = renderer.page(host, page, int(before * 1000)) == renderer.page(host, page, int(after * 1000))
        assert same == (not changes)


def test_some_pages_never_change() -> None:
    world = World(pages=100, profile="realistic")
    host = world.host(0)
    page = next(page for page in range(host.size) if world.change_interval(host, page) is None)
    assert history.last_change(world.seed, 0, page, 0.0) == history.last_change(world.seed, 0, page, 2e9)
    assert world.changes(host, page, 0.0, 2e9) == []


def test_plain_pages_never_change() -> None:
    world = World(pages=10)
    assert world.change_interval(world.host(0), 3) is None
    assert world.changes(world.host(0), 3, 0.0, 2e9) == []
