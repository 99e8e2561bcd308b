"""The figures of a crawl over time: bounded, durable with the commit, true."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from gossamer.agent.history import RINGS, History, Sample, read_history, sample_of
from gossamer.agent.progress import Progress
from gossamer.agent.statistics import Meter, Statistics, resident
from gossamer.config import FrontierConfig, PolicyConfig
from gossamer.frontier import Frontier
from gossamer.frontier.counts import Counts
from gossamer.frontier.reader import FrontierReader
from gossamer.rules.policy import Policy
from gossamer.rules.scope import Scope

NOW = 1_800_000_000.0
DAY = 86_400.0


@contextmanager
def frontier_in(home: Path) -> Iterator[Frontier]:
    frontier = Frontier(home / "frontier", FrontierConfig(), Policy(PolicyConfig(), ()), Scope("any"), None, NOW)
    try:
        yield frontier
    finally:
        frontier.close()


@contextmanager
def read(home: Path) -> Iterator[FrontierReader]:
    with tempfile.TemporaryDirectory() as scratch:
        reader = FrontierReader(home / "frontier", Path(scratch))
        yield reader
        reader.close()


def test_a_sample_counts_by_outcome() -> None:
    statistics = Statistics()
    for status in (200, 204, 301, 404, 410, 500, 999):
        statistics.count_pages([status])
    statistics.failures, statistics.left_out, statistics.bytes = 3, 2, 1000
    sample = sample_of(statistics, Counts(urls=50, queued=40), NOW)
    assert sample == Sample(NOW, 2, 1, 2, 2, 3, 2, 1000, 50, 40)


def test_a_sample_has_what_visits_to_known_pages_found() -> None:
    fresh = Progress(revisits=50, revisits_changed=7, revisits_unmodified=30, gone=2, freshness=0.912345)
    sample = sample_of(Statistics(), Counts(), NOW, fresh)
    assert (sample.revisits, sample.changed, sample.unmodified, sample.gone) == (50, 7, 30, 2)
    assert sample.freshness == 0.9123


def test_samples_of_crawls_that_knew_nothing_of_it_are_read(tmp_path: Path) -> None:
    old = msgspec.msgpack.encode([NOW, 2, 1, 2, 2, 3, 2, 1000, 50, 40])
    with frontier_in(tmp_path) as frontier:
        frontier.commit({"history 0 0": old, "history 0 1": msgspec.msgpack.encode(Sample(NOW + 2, ok=5, revisits=3))})
    with read(tmp_path) as reader:
        first, second = read_history(reader)
    assert first == Sample(NOW, 2, 1, 2, 2, 3, 2, 1000, 50, 40, 0, 0, 0, 0, 1.0)
    assert (second.ok, second.revisits) == (5, 3)


def test_it_comes_back_from_the_commit_after_an_abrupt_end(tmp_path: Path) -> None:
    with frontier_in(tmp_path) as frontier:
        history = History(Sample(0.0))
        for second in range(10):
            frontier.commit(history.taken(Sample(NOW + second, ok=second), last=False))
        frontier.add(["http://a.test/"], 0, 4)  # and never committed
    with read(tmp_path) as reader:
        assert [(sample.at - NOW, sample.ok) for sample in read_history(reader)] == [(at, at) for at in range(0, 10, 2)]


def test_the_last_commit_of_a_run_is_kept_whenever_it_comes() -> None:
    history = History(Sample(0.0))
    first = history.taken(Sample(NOW), last=False)
    assert len(first) == len(RINGS)
    assert history.taken(Sample(NOW + 0.5), last=False) == {}
    assert len(history.taken(Sample(NOW + 0.7, ok=9), last=True)) == 1


def test_a_run_that_was_killed_leaves_nothing_to_the_time_in_which_nothing_ran() -> None:
    """Not even in the rings in which its last sample is older than its last commit."""
    kept: dict[str, bytes] = {}
    history = History(Sample(0.0))
    for second in range(50):
        kept |= history.taken(Sample(NOW + second, ok=100 * second), last=False)
    history = History(Sample(NOW + 49, ok=4900))  # what the next run finds
    for second in range(3):
        kept |= history.taken(Sample(NOW + 7200 + second, ok=4900 + second), last=False)
    for ring in range(len(RINGS)):
        found = [
            msgspec.msgpack.decode(kept[name], type=Sample) for name in kept if name.startswith(f"history {ring} ")
        ]
        found.sort(key=lambda sample: sample.at)
        began = next(number for number, sample in enumerate(found) if sample.at >= NOW + 7200)
        if began:  # a step may be longer than the pause
            assert found[began - 1].ok == found[began].ok == 4900


def test_years_take_no_more_room_than_the_rings_have() -> None:
    """And each ring has its whole span, but for what its oldest slot has just lost."""
    kept: dict[str, bytes] = {}
    history = History(Sample(0.0))
    for step in range(400 * 8):  # 400 days, a commit every three hours
        kept |= history.taken(Sample(NOW + step * 10_800), last=False)
    for second in range(1200):
        kept |= history.taken(Sample(NOW + 400 * DAY + second), last=False)
    assert len(kept) <= sum(ring.slots for ring in RINGS)
    assert sum(len(name) + len(value) for name, value in kept.items()) < 600_000
    fine = [name for name in kept if name.startswith("history 0 ")]
    assert len(fine) == RINGS[0].slots
    assert RINGS[0].span >= 900
    assert RINGS[1].span >= 6 * 3600
    assert RINGS[-1].span >= 365 * DAY


@given(st.lists(st.floats(0.1, 7200), max_size=60))
def test_a_commit_costs_a_slot_of_each_ring_at_most(pauses: list[float]) -> None:
    history, at = History(Sample(0.0)), NOW
    for pause in pauses:
        at += pause
        kept = history.taken(Sample(at, *[2**40] * 13, 0.5), last=False)
        assert len(kept) <= len(RINGS)
        assert all(len(value) < 140 for value in kept.values())


# -- the meter ---------------------------------------------------------------------------------------------------------


def filled(meter: Meter, now: float) -> Progress:
    progress = Progress()
    meter.fill(progress, now)
    return progress


def test_the_meter_says_how_long_responses_take_now() -> None:
    meter = Meter(Statistics(), 0.0)
    for milliseconds in [10] * 90 + [700] * 10:
        meter.answers.append(milliseconds / 1000)
    meter.sample(1.0)
    progress = filled(meter, 1.0)
    assert round(progress.latency, 4) == 0.079
    assert progress.latency_95 == 1.024
    for second in range(2, 9):  # those are long past
        meter.answers.append(0.003)
        meter.sample(float(second))
    progress = filled(meter, 8.0)
    assert (round(progress.latency, 4), progress.latency_95) == (0.003, 0.004)


def test_the_meter_without_responses_says_nothing() -> None:
    meter = Meter(Statistics(), 0.0)
    meter.sample(1.0)
    progress = filled(meter, 1.0)
    assert (progress.latency, progress.latency_95, progress.requests) == (0.0, 0.0, 0)
    assert progress.memory > 1_000_000
    meter.answers.append(1e9)  # whatever a clock does
    meter.sample(2.0)
    assert filled(meter, 2.0).latency_95 > 4000


def test_requests_for_robots_are_of_this_run() -> None:
    statistics = Statistics(robots=100)
    meter = Meter(statistics, 0.0)
    meter.requests, statistics.robots = 50, 103
    progress = filled(meter, 1.0)
    assert (progress.requests, progress.robots_asked) == (50, 3)


def test_memory_of_a_process_that_is_not_there() -> None:
    assert resident(2**22 + 1) == 0
