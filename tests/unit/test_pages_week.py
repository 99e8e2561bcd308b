"""Hours as a week: drawn, painted, and written as lines that mean the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.config import caps_at, hours
from gossamer.service.pages.week import USUAL, Caps, Week

MINUTES = [0, 1, 59, 60, 61, 479, 480, 1079, 1080, 1320, 1439]
MOMENTS = [(day, minute) for day in range(7) for minute in MINUTES]


@st.composite
def lines(draw: st.DrawFn) -> str:
    days = draw(st.sampled_from(["", "Mon-Fri ", "Sat,Sun ", "Sun-Tue ", "Wed "]))
    start, end = draw(st.lists(st.sampled_from(MINUTES), min_size=2, max_size=2, unique=True))
    caps = draw(st.sampled_from(["rate=5", "rate=0", "bandwidth=1MB", "rate=2.5 bandwidth=0", "pause"]))
    return f"{days}{start // 60:02d}:{start % 60:02d}-{end // 60:02d}:{end % 60:02d} {caps}"


def held(schedule: list[str]) -> list[tuple[float, float]]:
    read = [hours(line) for line in schedule]
    return [caps_at(read, 77.0, 88.0, *moment) for moment in MOMENTS]


@given(st.lists(lines(), max_size=6))
def test_a_week_written_as_lines_means_the_same(schedule: list[str]) -> None:
    week = Week.of(schedule)
    assert held(week.lines()) == held(schedule)
    assert Week.of(week.lines()).days == week.days
    for row in week.rows(each=True):
        assert sum(bar.width for bar in row.bars) == pytest.approx(24, abs=0.01)


@given(
    st.lists(lines(), max_size=4),
    st.sets(st.integers(0, 6), min_size=1),
    st.sampled_from([(0, 60), (480, 1080), (0, 1440), (1380, 1440)]),
    st.sampled_from([USUAL, Caps(pause=True), Caps(3.0), Caps(0.0, 1000)]),
)
def test_painting_changes_what_is_painted_and_nothing_else(
    schedule: list[str], days: set[int], span: tuple[int, int], caps: Caps
) -> None:
    before = Week.of(schedule)
    after = before.painted(days, *span, caps)
    for day, minute in MOMENTS:
        inside = day in days and span[0] <= minute < span[1]
        assert after.at(day, minute) == (caps if inside else before.at(day, minute))
    assert Week.of(after.lines()).days == after.days


@pytest.mark.parametrize(
    ("schedule", "written"),
    [
        (["22:00-06:00 rate=0"], ["22:00-06:00 rate=0"]),
        (["Fri 22:00-06:00 pause"], ["Fri 22:00-06:00 pause"]),
        (["Sun pause"], ["Sun pause"]),
        (["Sat pause", "Sun pause"], ["Sat,Sun pause"]),
        (["Mon-Fri 08:00-12:00 rate=5", "Mon-Fri 12:00-18:00 rate=5"], ["Mon-Fri 08:00-18:00 rate=5"]),
        (["rate=5"], ["rate=5"]),
        # More than a day: one line would mean the same day, or nothing.
        (["Mon 10:00-24:00 pause", "Tue 00:00-15:00 pause"], ["Mon 10:00-24:00 pause", "Tue 00:00-15:00 pause"]),
        (["Mon 10:00-24:00 pause", "Tue 00:00-10:00 pause"], ["Mon 10:00-24:00 pause", "Tue 00:00-10:00 pause"]),
        ([], []),
    ],
)
def test_lines_are_few(schedule: list[str], written: list[str]) -> None:
    assert Week.of(schedule).lines() == written


def test_days_that_are_alike_are_one_row() -> None:
    week = Week.of(["Mon-Fri 08:00-18:30 rate=5", "Sun pause"])
    assert [(row.name, row.days) for row in week.rows()] == [("Mon-Fri", "01234"), ("Sat", "5"), ("Sun", "6")]
    bars = week.rows()[0].bars
    assert [(bar.x, bar.width, bar.kind) for bar in bars] == [(0, 8, "usual"), (8, 10.5, "cap"), (18.5, 5.5, "usual")]
    assert bars[1].words == "08:00-18:30: 5 pages/s"
    assert [bar.height for bar in bars] == [10, pytest.approx(6.67), 10]
    assert [bar.height for bar in week.rows(rate=20)[0].bars] == [10, 2.5, 10]
    assert [bar.height for bar in week.rows()[2].bars] == [0]
    assert Week.of([]).rows()[0].name == "Every day"
    assert week.spent() == {"usual": 5 * 810 + 1440, "cap": 5 * 630, "free": 0, "pause": 1440}
