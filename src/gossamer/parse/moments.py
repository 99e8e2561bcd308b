"""Moments as sitemaps and feeds write them, in seconds since 1970. What is none of them is no date; nothing raises."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

_W3C = re.compile(
    r"(\d{4})(?:-(\d\d?)(?:-(\d\d?)"
    r"(?:[Tt ]\s?(\d\d?):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?\s?([Zz]|[+-]\d\d:?\d\d)?)?)?)?",
    re.A,
).fullmatch
_RFC_822 = re.compile(
    r"(?:[A-Za-z]{3,9}\.?,?\s)?\s?(\d\d?)[\s-]([A-Za-z]{3})[a-z]{0,6}\.?[\s-](\d{4}|\d\d)\s(\d\d?):(\d\d)(?::(\d\d))?"
    r"(?:\s([A-Za-z]{1,5}|[+-]\d\d:?\d\d))?(?:\s\(.*\))?",
    re.A,
).fullmatch
_MONTHS = {name: number for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}
_HOURS = {"est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7, "cet": 1, "cest": 2}
_LONGEST = 80


def when(text: str) -> float | None:
    """Seconds since 1970, by either way of writing: W3C (2005, 2005-01, 2005-01-01T10:00Z …) or RFC 822. What is not
    said is the first: the first of January, midnight, UTC.
    """
    text = " ".join(text.split()) if len(text) <= _LONGEST else ""
    try:
        if (found := _W3C(text)) is not None:
            year, month, day, hour, minute, second, zone = found.groups()
            return _moment(int(year), int(month or 1), int(day or 1), hour, minute, second, zone)
        if (found := _RFC_822(text)) is not None:
            day, name, year, hour, minute, second, zone = found.groups()
            return _moment(_full(year), _MONTHS.get(name.lower(), 0), int(day), hour, minute, second, zone)
    except (ValueError, OverflowError):  # the 31st of February
        pass
    return None


def _moment(
    year: int, month: int, day: int, hour: str | None, minute: str | None, second: str | None, zone: str | None
) -> float:
    seconds = min(int(second or 0), 59)  # 60 is a leap second
    return datetime(year, month, day, int(hour or 0), int(minute or 0), seconds, tzinfo=_zone(zone)).timestamp()


def _full(year: str) -> int:
    """RFC 2822, 4.3: two digits below 50 are of this century."""
    number = int(year)
    return number if len(year) == 4 else number + (2000 if number < 50 else 1900)


def _zone(text: str | None) -> timezone:
    if not text:
        return UTC
    if text[0] in "+-":
        minutes = int(text[1:3]) * 60 + int(text[-2:])
        return timezone(timedelta(minutes=-minutes if text[0] == "-" else minutes))
    return timezone(timedelta(hours=_HOURS.get(text.lower(), 0)))  # other names mean nothing, or UTC
