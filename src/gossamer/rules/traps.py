"""URLs that a site generates without end (K11, K16), told by how they look.

Here are paths: the same directories again and again, or ever deeper ones. `calendars` and `parameters` have the others.
Each rule would rather let a trap take some pages than lose a page of a real site; what no rule sees is left to limits.
"""

from __future__ import annotations

from typing import Final

from gossamer.model import Exclusion, Judgement

MAX_DIRECTORIES: Final = 20
MAX_REPEATS: Final = 2
_MOST_ANYWHERE: Final = 3


def looks_like_trap(path: str, max_directories: int = MAX_DIRECTORIES) -> Judgement:
    """The reason, or "". `path` as in a normalised URL, with or without its query."""
    mark = path.find("?")
    segments = (path if mark < 0 else path[:mark]).split("/")
    if len(segments) - 2 > max_directories:
        return Exclusion.DEEP
    # Whatever comes three times leaves two segments over, so nearly all paths end here.
    if len(segments) - len(set(segments)) < MAX_REPEATS:
        return ""
    del segments[0]  # it is empty
    return Exclusion.REPEATED if _repeats(segments) or _comes_back(segments) else ""


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


def _comes_back(segments: list[str]) -> bool:
    """Whether one segment comes three times at equal distances (a/x/a/y/a), or four times anywhere.

    A link that should have begun with a slash adds the same number of segments each time. Three times at any distance
    would be too few: /django/django/blob/main/django/ is a project's own folder. Numbers come back in dates.
    """
    places: dict[str, list[int]] = {}
    for place, segment in enumerate(segments):
        if segment and not segment.isdigit():
            places.setdefault(segment, []).append(place)
    for found in places.values():
        if len(found) > _MOST_ANYWHERE:
            return True
        if len(found) == _MOST_ANYWHERE and found[1] - found[0] == found[2] - found[1]:
            return True
    return False
