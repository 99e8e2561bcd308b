"""The results of a query in one order over all indexes: by score, then by rank; read from any place on."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import groupby
from typing import Final, NamedTuple

from tantivy import DocAddress, FieldType, Occur, Query

from gossamer.index.cursor import Place
from gossamer.index.schema import schema
from gossamer.index.snapshot import Snapshot

_WINDOW: Final = 32
_MOST_EQUAL: Final = 8192
"""Results of one score that are put in order; if more have it, so many at a time."""


class Result(NamedTuple):
    """What sorts first is shown first."""

    worth: float  # the score, negative
    place: int  # the rank, negative
    shard: int  # the number of its index
    address: DocAddress
    after: Place  # where to go on behind it


class Ranking:
    """The results of one index. Invariant: equal queries on an equal index give the same results in the same order."""

    def __init__(self, shard: int, snapshot: Snapshot, query: Query, scored: bool) -> None:
        self._shard = shard
        self._snapshot = snapshot
        self._query = query
        self._scored = scored

    def results(self, place: Place) -> Iterator[Result]:
        return self._by_score(place) if self._scored else self._by_rank(place)

    def _by_rank(self, place: Place) -> Iterator[Result]:
        searcher = self._snapshot.searcher
        below = place.below
        while True:
            query = self._query
            if below >= 0:
                rest = Query.range_query(
                    schema(), "rank", FieldType.Unsigned, 0, below, include_lower=True, include_upper=False
                )
                query = Query.boolean_query([(Occur.Must, query), (Occur.Must, rest)])
            hits = searcher.search(query, _WINDOW, count=False, order_by_field="rank").hits
            for rank, address in hits:
                yield Result(0.0, -rank, self._shard, address, Place(below=rank))
            if len(hits) < _WINDOW:
                return
            below = hits[-1][0]

    def _by_score(self, place: Place) -> Iterator[Result]:
        start, taken = place.start, place.taken
        while True:
            hits = self._window(start, taken + _WINDOW)
            at = start
            for score, equal in _equal(hits):
                ranks = self._snapshot.values("rank", equal)
                ordered = sorted(zip(ranks, equal, strict=True), key=lambda pair: -pair[0])
                for number, (rank, address) in enumerate(ordered, 1):
                    if number > taken:
                        yield Result(-score, -rank, self._shard, address, Place(at, number))
                taken = 0
                at += len(equal)
            if not hits:
                return
            start = at

    def _window(self, start: int, size: int) -> list[tuple[float, DocAddress]]:
        """At least `size` results from `start` on, if there are as many, and all that are equal to the last of them."""
        searcher = self._snapshot.searcher
        while True:
            hits: list[tuple[float, DocAddress]] = searcher.search(
                self._query, size + 1, count=False, offset=start, weight_by_field="weight"
            ).hits
            if len(hits) <= size:
                return hits
            whole = next((at for at in range(size, 0, -1) if hits[at][0] != hits[at - 1][0]), 0)
            if whole:
                return hits[:whole]
            if size > _MOST_EQUAL:
                return hits[:_MOST_EQUAL]
            size *= 4


def _equal(hits: list[tuple[float, DocAddress]]) -> Iterator[tuple[float, list[DocAddress]]]:
    """Those of one score together, but no more than `_MOST_EQUAL`."""
    for score, group in groupby(hits, key=lambda hit: hit[0]):
        addresses = [address for _, address in group]
        for at in range(0, len(addresses), _MOST_EQUAL):
            yield score, addresses[at : at + _MOST_EQUAL]


def merged(rankings: list[Iterator[Result]]) -> Iterator[Result]:
    return rankings[0] if len(rankings) == 1 else heapq.merge(*rankings, key=lambda result: result[:3])
