"""Paths that a site generates without end (K11): the same directories again and again, or ever deeper ones."""

from __future__ import annotations

from typing import Final

MAX_DIRECTORIES: Final = 20
MAX_REPEATS: Final = 2

REPEATED: Final = "trap-repeated"
DEEP: Final = "trap-depth"


def looks_like_trap(path: str, max_directories: int = MAX_DIRECTORIES) -> str:
    """The reason, or "". `path` as in a normalised URL, with or without its query."""
    mark = path.find("?")
    if mark >= 0:
        path = path[:mark]
    slashes = path.count("/")
    if slashes - 1 > max_directories:
        return DEEP
    if slashes <= MAX_REPEATS:
        return ""
    segments = path.split("/")[1:]
    # A run repeated three times leaves two segments over for each of its own, so nearly all paths end here.
    if len(segments) - len(set(segments)) < MAX_REPEATS:
        return ""
    return REPEATED if _repeats(segments) else ""


def _repeats(segments: list[str]) -> bool:
    """Whether some run of segments (a, b) comes three times in a row (a/b/a/b/a/b).

    One number repeated is none: dates and map tiles look like that (/1/1/1).
    """
    times = MAX_REPEATS + 1
    for period in range(1, len(segments) // times + 1):
        for start in range(len(segments) - times * period + 1):
            run = segments[start : start + period]
            if run * times == segments[start : start + times * period] and not (period == 1 and run[0].isdigit()):
                return True
    return False
