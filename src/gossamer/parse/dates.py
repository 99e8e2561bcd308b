"""Dates as authors write them: ISO 8601 and its usual misspellings, the dates of mail; nothing that must be guessed."""

from __future__ import annotations

import re
from datetime import date, time
from typing import Final

_EARLIEST: Final = 1990
_LATEST: Final = 2099
"""Years outside are those of machines: unset clocks, ends of time."""
_LONGEST: Final = 64

_iso = re.compile(
    r"(\d{4})(?:([-/.]?)(\d{2})(?:\2(\d{2}))?+)?+"
    r"(?:[T ]\s?(\d{2}):?(\d{2})(?::?(\d{2})(?:[.,](\d{1,9}))?+)?+\s?(Z|[+-]\d{2}(?::?\d{2})?+)?+)?+",
    re.I | re.A,
)


def iso_date(value: str) -> str:
    """The date or date and time in ISO 8601, as exact as it was given, in the zone it was given in; else empty."""
    value = value.strip()
    if not value or len(value) > _LONGEST:
        return ""
    found = _iso.fullmatch(value)
    if found is None:
        return _mail_date(value)
    year, separator, month, day, hour, minute, second, fraction, zone = found.groups()
    if not _EARLIEST <= int(year) <= _LATEST or (month and not day and (not separator or hour)):
        return ""
    if not day:
        return year if not month else f"{year}-{month}" if 1 <= int(month) <= 12 else ""
    try:
        spelled = date(int(year), int(month), int(day)).isoformat()
        if not hour:
            return spelled
        # The last minute of a day may have a 61st second; no clock of ours has.
        spelled += "T" + time(int(hour), int(minute), min(59, int(second or 0))).isoformat()
    except ValueError:
        return ""
    return spelled + (f".{fraction}" if fraction else "") + _zone(zone or "")


def _zone(zone: str) -> str:
    """`+0200` and `+02` as `+02:00`."""
    digits = zone[1:].replace(":", "")
    return zone.upper() if not digits else f"{zone[0]}{digits[:2]}:{digits[2:] or '00'}"


def _mail_date(value: str) -> str:
    """`Tue, 05 Mar 2024 10:00:00 GMT`, which some meta elements have."""
    from email.utils import parsedate_to_datetime  # rarely needed, and many modules

    try:
        found = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return ""
    return found.isoformat() if _EARLIEST <= found.year <= _LATEST else ""
