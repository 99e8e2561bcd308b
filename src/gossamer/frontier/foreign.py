"""Links that are for others, from where they are found until the next commit hands them over (S6, D11)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from gossamer.frontier import keys
from gossamer.model import State

if TYPE_CHECKING:
    from gossamer.frontier.diffs import Diff


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
        way = (depth, priority, hops & (keys.HOPS | keys.SUSPECT))
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


def queued_in(diff: Diff) -> Iterator[tuple[str, int]]:
    """URLs that a diff has queued, and their depths."""
    for key, value in diff.visits.items():
        if value is not None and value[0] == State.QUEUED:
            visit = keys.read_visit(key, value)
            yield visit.url, visit.depth
