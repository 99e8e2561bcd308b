"""Links that wait to be looked up, parted by whose they are; and those that are new, made entries of queues."""

from __future__ import annotations

from collections.abc import Callable

from gossamer.frontier.hosts import Origin
from gossamer.frontier.keys import HOPS, pack_entry

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


def taken_here(
    start: int,
    keys: list[bytes],
    known: list[bool],
    wanted: list[Wanted],
    changes: dict[bytes, bytes | None],
    found: dict[tuple[Origin, int], list[str]],
    forms_only: bool,
    queued: tuple[bytes, ...],
    most_hops: int,
) -> tuple[int, int]:
    """From `start` on: what is new and needs no judgement is noted in `changes`, as `queued` says by its depth, and
    gathered in `found`. Gives the number of the first that does need one, or how many there are, and how many stood
    there twice.

    A seed needs none: it belongs because somebody says so. Nor does a plain URL where only the form counts.
    """
    twice = 0
    for at in range(start, len(keys)):
        if known[at]:
            continue
        if keys[at] in changes:
            twice += 1
            continue
        origin, path, _, depth, priority, hops, is_plain = wanted[at]
        plain = not depth or (is_plain and forms_only)
        if not plain or hops & HOPS > most_hops or origin.manners.priority >= 0:
            return at, twice
        changes[keys[at]] = queued[min(depth, len(queued) - 1)]
        found.setdefault((origin, priority), []).append(pack_entry(depth, 0, hops, origin.scheme, path))
    return len(keys), twice


try:
    from gossamer.frontier._intake import parted as parted
    from gossamer.frontier._intake import taken as taken
except ImportError:  # no compiler was at hand when it was installed
    parted, taken = parted_here, taken_here
