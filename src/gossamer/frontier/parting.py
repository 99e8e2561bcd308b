"""Links that wait to be looked up, parted by whose they are."""

from __future__ import annotations

from collections.abc import Callable

from gossamer.frontier.hosts import Origin

Group = tuple[list[str], int, int, int]  # URLs, their depth, priority and hops
Wanted = tuple[Origin, str, str, int, int, int, bool]  # origin, path, URL, depth, priority, hops, and `is_plain`
Away = tuple[Origin, str, int, int, int]


def is_plain(url: str, longest: int, slashes: int) -> bool:
    """Whether no rule could see anything in the form of a URL: it is short and not deep, has no parameters and no
    directory or name that begins as a year does.
    """
    if not url.isascii() or len(url) > longest or url.count("/") > slashes:
        return False
    return all(url.find(sign, 8) < 0 for sign in ("?", "=", "/1", "/2"))


def parted_here(
    groups: list[Group], origins: dict[str, Origin], find: Callable[[str], Origin], longest: int, slashes: int
) -> tuple[list[Wanted], list[bytes], list[Away]]:
    """What is wanted, the keys of that, and what is another agent's. `find` gives an origin that is not known."""
    wanted: list[Wanted] = []
    keys: list[bytes] = []
    away: list[Away] = []
    for urls, depth, priority, hops in groups:
        for url in urls:
            cut = url.index("/", 8)
            origin = origins.get(url[:cut]) or find(url[:cut])
            if origin.away:
                away.append((origin, url, depth, priority, hops))
                continue
            path = url[cut:]
            wanted.append((origin, path, url, depth, priority, hops, is_plain(url, longest, slashes)))
            keys.append(origin.prefix + path.encode())
    return wanted, keys, away


try:
    from gossamer.frontier._intake import parted as parted
except ImportError:  # no compiler was at hand when it was installed
    parted = parted_here
