"""Values as people read them, and text of the web made harmless: no control characters, no change of direction."""

from __future__ import annotations

from typing import Any, Final

from gossamer.agent.numbers import count, moment, rate, size, span, times
from gossamer.agent.numbers import share as whole_share
from gossamer.report.table import Field

_LONGEST: Final = 300  # characters of a text in a cell


def harmless(text: str, most: int = _LONGEST) -> str:
    """One line of printable characters: what a terminal or a page could take for a command becomes `\\x1b`."""
    cut = text[:most] + ("…" if len(text) > most else "")
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in cut)


def written(field: Field, value: Any) -> str:
    if value is None:
        return ""
    if field.kind in ("text", "url"):
        return harmless(str(value))
    if field.kind == "size":
        return size(value)
    if field.kind == "rate":
        return rate(value)
    if field.kind == "times":
        return times(value)
    if field.kind == "score":
        return f"{value:.2e}"
    if field.kind == "share":
        return whole_share(value, 1)
    if field.kind == "seconds":
        return span(value)
    if field.kind == "moment":
        return moment(value)
    if field.kind == "figure":
        return count(value) if isinstance(value, int) else f"{value:,.4g}"
    return f"{value:.0f}" if field.kind == "number" else count(round(value))


def share(part: float, whole: float) -> str:
    """Whole per cents; what is there is not nothing."""
    return "<1 %" if 0 < part < whole / 100 else whole_share(part, whole)


def short(number: float) -> str:
    """A count in four characters: 999, 1.2k, 35k, 4.1M."""
    for unit in ("", "k", "M", "G"):
        if number < 999.5:
            return f"{number:.1f}{unit}" if unit and number < 9.95 else f"{number:.0f}{unit}"
        number /= 1000
    return f"{number:.0f}T"


__all__ = ["count", "harmless", "moment", "rate", "share", "short", "size", "span", "written"]
