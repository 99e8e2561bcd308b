from __future__ import annotations

import pytest

from gossamer.rules.change_rate import DAY
from gossamer.rules.revisits import gained_on_average, moment_of, said_to_hold, worth


@pytest.mark.parametrize(
    ("cache_control", "seconds"),
    [
        (None, 0),
        ("", 0),
        ("public, max-age=7200", 3600),
        ('max-age="7200"', 3600),
        ("s-maxage=7200", 0),
        ("no-cache, max-age=7200", 0),
        ("no-store", 0),
        ("max-age=99999999999999", 15 * DAY),
        ("max-age=-1", 0),
    ],
)
def test_half_of_how_long_a_page_may_be_kept_is_believed(cache_control: str | None, seconds: float) -> None:
    assert said_to_hold(cache_control) == pytest.approx(seconds)


def test_what_is_no_date_is_no_moment() -> None:
    assert moment_of("Thu, 01 Jan 1970 00:00:10 GMT") == 10
    for text in ("", "0", "-1", "Thu, 99 Jan 1970 00:00:10 GMT", "Thu, 01 Jan 99999 00:00:10 GMT", "é" * 1000, None):
        assert moment_of(text) == 0


def test_what_a_page_is_worth() -> None:
    usual = worth(3, -1, 0, is_page=True)
    assert usual == 1
    assert worth(0, -1, 0, is_page=True) > usual  # somebody named it
    assert worth(3, 0, 0, is_page=True) == 4 * usual  # its host or pattern comes first
    assert worth(3, 8, 0, is_page=True) == usual / 4
    assert worth(3, -1, 56, is_page=True) > 3 * usual  # new pages are announced on it
    assert worth(3, -1, 0, is_page=False) < usual / 4


def test_new_links_of_a_page_are_remembered_as_a_mean() -> None:
    gained = 0
    for _ in range(20):
        gained = gained_on_average(gained, 10)
    assert 70 <= gained <= 80  # eighths
    for _ in range(20):
        gained = gained_on_average(gained, 0)
    assert gained < 3
    assert gained_on_average(0, 10_000) == 255
