"""What the form of a path says: in which place of its host a page is, and whether it may be part of what goes on."""

from __future__ import annotations

from functools import lru_cache

from gossamer.regex import compiled_later

_numbers = compiled_later(r"[0-9]+")
_generated = compiled_later(r"[0-9a-f]{8}|[0-9]{4}")


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


def is_generated(name: str) -> bool:
    """Return whether the name of a host or directory looks as if a machine had made it."""
    return _generated.search(name) is not None


def leads_elsewhere(url: str, earlier: str) -> bool:
    """Return whether the links of a page may lead where those of its first copy, at `earlier`, did not, and the places
    have an end. A copy in more directories than the first may be part of a place that goes ever deeper, and one that
    differs in the scheme alone has a whole site beside it.
    """
    _, _, host, path = url.split("/", 3)
    _, _, other, first = earlier.split("/", 3)
    if path == first:
        return host != other
    return path.partition("?")[0].count("/") <= first.partition("?")[0].count("/")


def branch_of(path: str, other: str) -> str:
    """Return the directory of `path` in which alone it differs from `other`, a page of the same name: "de" for
    /manual/de/ssl/a.html beside /manual/en/ssl/a.html. It is empty where the paths differ otherwise, and where the
    directory is a number, a date or an id: places without end have those.
    """
    parts, others = path.split("/"), other.split("/")
    if len(parts) != len(others):
        return ""
    differing = [number for number, part in enumerate(parts) if part != others[number]]
    name = len(parts) - (1 if parts[-1] else 2)  # a directory's own page is named as the directory
    if len(differing) != 1 or differing[0] >= name:
        return ""
    found = parts[differing[0]]
    return "" if found.replace("-", "").isdigit() or is_generated(found) else found


try:  # asked of every page
    from gossamer.rules._places import is_part as is_part
    from gossamer.rules._places import place_of as place_of
except ImportError:  # no compiler was at hand when it was installed
    place_of, is_part = place_here, is_part_here
