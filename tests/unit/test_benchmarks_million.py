"""What the benchmark of a million pages makes of what it is told."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from million import Moment, at, parts_of, read_line

MOMENTS = [Moment(0.0, 0, 0.0, 0), Moment(5.0, 1000, 1.0, 50), Moment(10.0, 3000, 2.0, 90), Moment(15.0, 4000, 3.0, 80)]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("5.0 s · 12,345 pages · 100/s · 3.0 MB", (5.0, 12345)),
        ("1 min 5 s · 345 / 1,000,000 pages · 0/s", (65.0, 345)),
        ("2 h 1 min 5 s · 7 pages · 0/s", (7265.0, 7)),
        ("pages     300 (300 ok, 0 other), 3.0 MB received", None),
        ("note: something else", None),
    ],
)
def test_lines_of_progress(line: str, found: tuple[float, int] | None) -> None:
    assert read_line(line) == found


def test_between_two_lines_all_grows_evenly() -> None:
    assert at(MOMENTS, 2000) == Moment(7.5, 2000, 1.5, 90)
    assert at(MOMENTS, 1000) == Moment(5.0, 1000, 1.0, 50)
    assert at(MOMENTS, 9999) == MOMENTS[-1]


def test_parts_are_whole_and_the_last_ends_with_the_crawl() -> None:
    parts = parts_of(MOMENTS, 1500)
    assert [part.last for part in parts] == [1500, 3000, 4000]
    assert parts[0].cpu_us == pytest.approx(1.25 / 1500 * 1e6)
    assert parts[1].pages_per_s == pytest.approx(1500 / 3.75)
    assert parts[2].cpu_us == pytest.approx(1.25 / 1500 * 1e6)
    assert [part.memory for part in parts] == [90, 90, 90]
    assert [part.last for part in parts_of(MOMENTS, 2000)] == [2000, 4000]
