"""Other caps at certain hours (P11): `Mon-Fri 08:00-18:00 rate=5 bandwidth=1MB`, `22:00-06:00 rate=0`, `Sun pause`."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gossamer.config.units import parse_size
from gossamer.regex import compiled_later

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEK = frozenset(range(7))
_SPAN = compiled_later(r"([a-z]{3})(?:-([a-z]{3}))?")
_TIMES = compiled_later(r"(\d{1,2}):(\d\d)-(\d{1,2}):(\d\d)")
_DAY = 24 * 60
EXPECTED = (
    "hours such as 08:00-18:00 rate=5, Mon-Fri 22:00-06:00 bandwidth=1MB or Sat,Sun pause: days and a time, "
    "then rate=, bandwidth= or pause"
)


class Hours(msgspec.Struct, frozen=True):
    """From minute `start` to minute `end` of the day, on these days (0 is Monday); over midnight if it ends earlier.

    A cap that is None is the crawl's own; 0 is no cap.
    """

    days: frozenset[int]
    start: int
    end: int
    rate: float | None = None
    bandwidth: int | None = None
    pause: bool = False

    def hold(self, day: int, minute: int) -> bool:
        if self.start < self.end:
            return day in self.days and self.start <= minute < self.end
        # What begins on a day and goes on after midnight belongs to that day.
        return (day in self.days and minute >= self.start) or ((day - 1) % 7 in self.days and minute < self.end)


def hours(text: str) -> Hours:
    """`[DAYS] [FROM-TO] [rate=N] [bandwidth=SIZE] [pause]`."""
    try:
        return _read(text.lower().split())
    except (ValueError, IndexError):
        raise ValueError(EXPECTED) from None


def caps_at(schedule: Sequence[Hours], rate: float, bandwidth: float, day: int, minute: int) -> tuple[float, float]:
    """The caps that hold then, the first hours that match winning; a negative rate is a pause."""
    for each in schedule:
        if each.hold(day, minute):
            if each.pause:
                return -1.0, bandwidth
            return (
                rate if each.rate is None else each.rate,
                bandwidth if each.bandwidth is None else each.bandwidth,
            )
    return rate, bandwidth


def _read(words: list[str]) -> Hours:
    days, start, end = _WEEK, 0, _DAY
    if not (_TIMES.fullmatch(words[0]) or "=" in words[0] or words[0] == "pause"):
        days = _days(words.pop(0))
    if times := _TIMES.fullmatch(words[0]):
        words.pop(0)
        start, end = _minute(times[1], times[2]), _minute(times[3], times[4])
    caps = dict(word.partition("=")[::2] for word in words)
    rate, bandwidth = caps.pop("rate", None), caps.pop("bandwidth", None)
    pause = "pause" in words
    caps.pop("pause" if pause else "", None)
    if caps or start == end or not words or (pause and (rate or bandwidth)):
        raise ValueError
    return Hours(
        days,
        start,
        end,
        None if rate is None else _rate(rate),
        None if bandwidth is None else parse_size(bandwidth),
        pause,
    )


def _days(text: str) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        span = _SPAN.fullmatch(part)
        if span is None:
            raise ValueError
        first = _DAYS.index(span[1])
        last = _DAYS.index(span[2]) if span[2] else first
        found.update((first + more) % 7 for more in range((last - first) % 7 + 1))
    return frozenset(found)


def _minute(hour: str, minute: str) -> int:
    found = int(hour) * 60 + int(minute)
    if found > _DAY or int(minute) > 59:
        raise ValueError
    return found


def _rate(text: str) -> float:
    number = float(text)
    if not 0 <= number < float("inf"):
        raise ValueError
    return number
