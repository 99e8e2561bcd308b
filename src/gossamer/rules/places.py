"""What the form of a path says: in which place of its host a page is, and whether it may be part of what goes on."""

from __future__ import annotations

from functools import lru_cache

from gossamer.regex import compiled_later

_numbers = compiled_later(r"[0-9]+")


def place_here(path: str) -> str:
    """The first two directories, with every number as `#`; and the name of what is called with parameters."""
    mark = path.find("?")
    slash = path.rfind("/", 0, mark if mark >= 0 else len(path)) + 1
    place = _directories(path[:slash])
    return place if mark < 0 else f"{place}{_numbers.sub('#', path[slash:mark])}?"


@lru_cache(maxsize=8192)
def _directories(directory: str) -> str:
    return _numbers.sub("#", "/".join([*directory.split("/", 3)[: min(directory.count("/"), 3)], ""]))


def is_part_here(url: str) -> bool:
    """Whether a page may be part of something that goes on: called with parameters, a directory, a number or a date."""
    end = url[url.rfind("/") + 1 :]
    if "?" in url or (end.isascii() and end.isdigit()) or (not end and url.count("/") > 3):
        return True
    return any(url.find(sign, 8) >= 0 for sign in ("=", "19", "20"))


try:  # asked of every page
    from gossamer.rules._places import is_part as is_part
    from gossamer.rules._places import place_of as place_of
except ImportError:  # no compiler was at hand when it was installed
    place_of, is_part = place_here, is_part_here
