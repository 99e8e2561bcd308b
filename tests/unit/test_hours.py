"""Caps at certain hours: how they are written, and when they hold."""

from __future__ import annotations

import pytest

from gossamer.config import caps_at, hours

MON, TUE, FRI, SAT, SUN = 0, 1, 4, 5, 6


def at(clock: str) -> int:
    hour, minute = clock.split(":")
    return int(hour) * 60 + int(minute)


@pytest.mark.parametrize(
    ("text", "day", "clock", "holds"),
    [
        ("08:00-18:00 rate=5", MON, "08:00", True),
        ("08:00-18:00 rate=5", MON, "17:59", True),
        ("08:00-18:00 rate=5", MON, "18:00", False),
        ("08:00-18:00 rate=5", MON, "07:59", False),
        ("Mon-Fri 8:00-18:00 rate=5", SAT, "12:00", False),
        ("mon,sat 08:00-18:00 rate=5", SAT, "12:00", True),
        ("Sat-Mon 08:00-18:00 rate=5", SUN, "12:00", True),
        ("Sat-Mon 08:00-18:00 rate=5", TUE, "12:00", False),
        ("22:00-06:00 rate=5", MON, "23:00", True),
        ("22:00-06:00 rate=5", MON, "05:59", True),
        ("22:00-06:00 rate=5", MON, "06:00", False),
        ("Fri 22:00-06:00 rate=5", SAT, "05:00", True),
        ("Fri 22:00-06:00 rate=5", FRI, "05:00", False),
        ("Sun 22:00-06:00 rate=5", MON, "05:00", True),
        ("00:00-24:00 rate=5", MON, "23:59", True),
        ("Sun rate=5", SUN, "00:00", True),
        ("Sun rate=5", MON, "00:00", False),
        ("rate=5", TUE, "11:11", True),
    ],
)
def test_when_they_hold(text: str, day: int, clock: str, holds: bool) -> None:
    assert hours(text).hold(day, at(clock)) is holds


def test_the_first_that_match_win_and_what_they_do_not_say_stays() -> None:
    schedule = [
        hours("Mon 08:00-18:00 rate=5"),
        hours("08:00-18:00 bandwidth=1MB"),
        hours("Sun pause"),
        hours("rate=0"),
    ]
    assert caps_at(schedule, 50.0, 9, MON, at("12:00")) == (5.0, 9)
    assert caps_at(schedule, 50.0, 9, TUE, at("12:00")) == (50.0, 1_000_000)
    assert caps_at(schedule, 50.0, 9, SUN, at("20:00"))[0] < 0
    assert caps_at(schedule, 50.0, 9, TUE, at("20:00")) == (0.0, 9)
    assert caps_at([], 50.0, 9, TUE, at("20:00")) == (50.0, 9)


@pytest.mark.parametrize(
    "text",
    [
        "", "08:00-18:00", "Mon", "Mon-Fri", "Mun rate=5", "25:00-26:00 rate=5", "08:60-09:00 rate=5", "08:00 rate=5",
        "08:00-08:00 rate=5", "rate=-1", "rate=fast", "rate=inf", "bandwidth=lots", "speed=5", "pause rate=5",
        "08:00-18:00 rate=5 extra", "rate=5 Mon", "pause=1",
    ],
)  # fmt: skip
def test_nonsense_is_refused_with_what_is_expected(text: str) -> None:
    with pytest.raises(ValueError, match="hours such as"):
        hours(text)
