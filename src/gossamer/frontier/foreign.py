"""Links that are for others, from where they are found until the next commit hands them over (S6, D11)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import msgspec

from gossamer.frontier import keys
from gossamer.model import State
from gossamer.rules.policy import USUAL_PRIORITY

if TYPE_CHECKING:
    from gossamer.frontier.diffs import Diff

ASKED: Final = 0x200
"""Beside the marks of an entry: somebody has asked for it, and no page has led there."""
AGAIN: Final = 0x400
"""Beside ASKED: known URLs are to be visited again, unless their copies are younger than the bits above say."""
_AGE_BITS: Final = 16  # of the marks are below these
_LONGEST_AGE: Final = (1 << 31) - 1
_CARRIED: Final = keys.HOPS | keys.SUSPECT | keys.POST | ASKED | AGAIN | -1 << _AGE_BITS


def again_after(max_age: float) -> int:
    """Return the mark AGAIN, with how many seconds old a copy may be."""
    return AGAIN | int(min(max_age, _LONGEST_AGE)) << _AGE_BITS


def max_age_in(marks: int) -> int | None:
    """Return the age that `again_after` has put into these marks; None where it has not."""
    return marks >> _AGE_BITS if marks & AGAIN else None


class Sent(msgspec.Struct, frozen=True, gc=False):
    """A sitemap for another agent, and the hosts that it speaks for besides its own."""

    url: str
    depth: int
    hops: int
    listed: bool
    hosts: tuple[str, ...]


class Foreign:
    """Invariant: what was added is given by `taken` once, sorted by partition and by the way it was found."""

    def __init__(self) -> None:
        self._links: dict[bytes, dict[tuple[int, int, int], list[str]]] = {}
        self._sources: dict[bytes, list[Sent]] = {}

    def add(self, partition: bytes, url: str, depth: int, priority: int, hops: int) -> None:
        """`hops` with their marks."""
        ways = self._links.get(partition)
        if ways is None:
            ways = self._links[partition] = {}
        way = (depth, priority, hops & _CARRIED)
        urls = ways.get(way)
        if urls is None:
            ways[way] = [url]
        else:
            urls.append(url)

    def add_source(self, partition: bytes, source: Sent) -> None:
        self._sources.setdefault(partition, []).append(source)

    def __bool__(self) -> bool:
        return bool(self._links or self._sources)

    def taken(self) -> list[tuple[int, dict[tuple[int, int, int], list[str]], list[Sent]]]:
        """Of each partition: URLs by depth, priority, and hops with marks; sitemaps."""
        links, self._links = self._links, {}
        sources, self._sources = self._sources, {}
        return [
            (int.from_bytes(partition, "big"), links.get(partition, {}), sources.get(partition, []))
            for partition in sorted(links.keys() | sources.keys())
        ]


def queued_in(diff: Diff) -> Iterator[tuple[str, int, int, int]]:
    """URLs that a diff has queued: depth, priority, and hops with marks. What is new stands in a queue of the same
    diff; where it does not (it waits again), only that it is there has to be known. Of known URLs those that somebody
    has asked for.
    """
    places: dict[bytes, tuple[int, int]] = {}
    for key, value in diff.hosts.items():
        cut = key.index(b"\0", 2) + 1
        if value is None or key[cut : cut + 1] != keys.QUEUE:
            continue
        visits = keys.visits_of(key[:cut])
        for packed in filter(None, keys.read_chunk(value)):
            _, _, hops, scheme, path = keys.read_entry(packed)
            places[visits + (scheme + path).encode()] = key[cut + 1], hops
    for key, value in diff.visits.items():
        if value is not None and value[0] == State.QUEUED:
            visit = keys.read_visit(key, value)
            priority, hops = places.get(key, (USUAL_PRIORITY, keys.marks_of(visit.url)))
            asked = ASKED if priority >= keys.ASKED or hops & keys.POST else 0
            yield visit.url, visit.depth, priority if asked else USUAL_PRIORITY, hops & keys.POST | asked
        elif value is not None and key in places and keys.is_requested(value, places[key][1]):
            yield keys.read_visit(key, value).url, 0, places[key][0], ASKED | again_after(0)
