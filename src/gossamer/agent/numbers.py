"""Numbers as people read them: 1,234,567; 12.3 MB; 4,112/s; 3 h 2 min. Never more digits than are true."""

from __future__ import annotations

import time

_SIZES = ("B", "kB", "MB", "GB", "TB", "PB")
_SPANS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def count(number: int) -> str:
    return f"{number:,}"


def size(number: float) -> str:
    for unit in _SIZES[:-1]:
        if number < 999.5:
            return f"{number:.0f} {unit}" if unit == "B" or number >= 99.95 else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:,.1f} {_SIZES[-1]}"


def rate(per_second: float) -> str:
    if per_second == 0 or per_second >= 99.95:
        return f"{per_second:,.0f}/s"
    return f"{per_second:.1f}/s" if per_second >= 9.995 else f"{per_second:.2f}/s"


def times(number: float) -> str:
    """How many times something else."""
    return f"{number:,.0f}×" if number >= 99.5 else f"{number:.1f}×" if number >= 9.95 else f"{number:.2f}×"


def span(seconds: float) -> str:
    """The two largest units: nobody needs the seconds of a day."""
    if 0 < seconds < 9.95:
        return f"{seconds:.1f} s"
    left = round(seconds)
    parts = []
    for length, unit in _SPANS:
        if left >= length:
            parts.append(f"{left // length} {unit}")
            left %= length
        elif parts:
            break
    return " ".join(parts[:2]) or "0 s"


def about(seconds: float) -> str:
    """An estimate: in one unit, of which there are at least two."""
    for length, unit in _SPANS:
        if seconds >= 2 * length:
            return f"{round(seconds / length):,} {unit}"
    return span(seconds)


def moment(seconds: float) -> str:
    """A point in time, to the second, in UTC."""
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(seconds))


def share(part: float, whole: float) -> str:
    """Whole per cents; 100 only when nothing is missing."""
    if whole <= 0:
        return "0 %"
    percent = 100 * part / whole
    return f"{int(percent) if percent < 100 else 100} %"
