"""One query as it is asked: what is counted, and which results a page of the answer has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tantivy import DocAddress, Occur, Query

from gossamer.index.answer import Hit
from gossamer.index.cursor import Place
from gossamer.index.facets import Counted, count_facets
from gossamer.index.hidden import MOST_COUNTED, Outdated, copies, without
from gossamer.index.matching import is_scored, words_sought
from gossamer.index.query import And
from gossamer.index.ranking import Ranking, Result, merged
from gossamer.index.schema import host_in, schema
from gossamer.index.snapshot import Snapshot, count_of
from gossamer.index.snippet import Marker
from gossamer.index.why import why

_MOST_LOOKED_AT: Final = 1000
"""Results that are looked at for one page; more are left out only in an index of duplicates."""
_MOST_ALIKE: Final = 8
"""Results of one index with the same payload, of which the first is shown that is not outdated."""


class Asked:
    """One query on the snapshots of one moment, by the number of their index."""

    def __init__(self, snapshots: dict[int, Snapshot], tree: And, older: Outdated) -> None:
        self.snapshots = snapshots
        self._older = older
        self._tree = tree
        self._filters = {
            at: without(snapshot.matcher.filter(tree), older.ranks.get(at)) for at, snapshot in snapshots.items()
        }
        self._scored = is_scored(tree)
        self._marker = Marker(words_sought(tree))

    def counted(self, now: float, many_hosts: bool) -> Counted:
        """How many results there are, and how they are spread."""
        matches = {at: (self.snapshots[at], query) for at, query in self._filters.items()}
        counted = count_facets(list(matches.values()), now, many_hosts)
        others = copies(matches) if counted.total <= MOST_COUNTED else {}
        if not others:
            return counted
        shown = [(snapshot, without(query, others.get(at))) for at, (snapshot, query) in matches.items()]
        return count_facets(shown, now, many_hosts)

    def page(self, places: list[Place], limit: int) -> tuple[list[Hit], list[Place]]:
        """The results from `places` on, and where those behind them begin; nothing if there are none."""
        places = list(places)
        hits: list[tuple[Result, Hit]] = []
        for looked_at, result in enumerate(self._results(places)):
            if len(hits) == limit or looked_at == _MOST_LOOKED_AT:
                return self._explained(hits), places
            places[result.shard] = result.after
            same = self._shown_with(result)
            if same is not None:
                hits.append((result, self._hit(result, same)))
        return self._explained(hits), []

    def _explained(self, hits: list[tuple[Result, Hit]]) -> list[Hit]:
        if self._scored:
            for at, snapshot in self.snapshots.items():
                own = [(result, hit) for result, hit in hits if result.shard == at]
                if not own:
                    continue
                told = why(snapshot, self._tree, [(result.address, hit.url) for result, hit in own])
                for (_, hit), parts in zip(own, told, strict=True):
                    hit.why = parts
        return [hit for _, hit in hits]

    def _results(self, places: list[Place]) -> Iterator[Result]:
        return merged([
            Ranking(at, snapshot, self._ranked(at), self._scored).results(places[at])
            for at, snapshot in self.snapshots.items()
        ])  # fmt: skip

    def _ranked(self, at: int) -> Query:
        if not self._scored:
            return self._filters[at]
        return without(self.snapshots[at].matcher.query(self._tree), self._older.ranks.get(at))

    def _shown_with(self, result: Result) -> int | None:
        """How many other results have the same payload; None if one of those is shown instead of this, or a newer
        version of it.
        """
        if self._is_outdated(result.shard, result.address):
            return None
        digest = self.snapshots[result.shard].values("digest", [result.address])[0]
        if sum(snapshot.searcher.doc_freq("digest", digest) for snapshot in self.snapshots.values()) <= 1:
            return 0
        alike: list[tuple[int, int, DocAddress]] = []
        count = 0
        payload = Query.const_score_query(Query.term_query(schema(), "digest", digest), 0.0)
        for at, query in self._filters.items():
            both = Query.boolean_query([(Occur.Must, query), (Occur.Must, payload)])
            found = self.snapshots[at].searcher.search(both, _MOST_ALIKE, order_by_field="rank")
            count += count_of(found)
            alike += [(rank, at, address) for rank, address in found.hits]
        alike.sort(key=lambda one: (-one[0], one[1]))
        best = next((one[:2] for one in alike if not self._is_outdated(*one[1:])), None)
        return count - 1 if best == (-result.place, result.shard) else None

    def _is_outdated(self, at: int, address: DocAddress) -> bool:
        """Whether another index has the same URL, fetched later, where that is not known beforehand."""
        if self._older.complete:
            return False
        own = self.snapshots[at].entry(address)
        for other, snapshot in self.snapshots.items():
            if other != at and (found := snapshot.find(own.url)) is not None:
                fetched = snapshot.entry(found).fetched_at
                if (fetched, -other) > (own.fetched_at, -at):
                    return True
        return False

    def _hit(self, result: Result, same: int) -> Hit:
        entry = self.snapshots[result.shard].entry(result.address)
        return Hit(
            url=entry.url,
            title=entry.title,
            snippet=self._marker.snippet(entry.main or entry.body, entry.language, entry.title, entry.description),
            score=round(-result.worth, 4),
            fetched_at=entry.fetched_at,
            language=entry.language,
            type=entry.type,
            host=host_in(entry.url),
            description=entry.description,
            same=same,
        )
