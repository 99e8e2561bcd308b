"""Asks one index or several, and makes one answer of theirs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from tantivy import Occur, Query

from gossamer.index.answer import Answer, DomainCount, Hit, IndexSize
from gossamer.index.cursor import Place, read_cursor, write_cursor
from gossamer.index.facets import Facets, count_facets
from gossamer.index.loose import loosened
from gossamer.index.matching import is_scored, words_sought
from gossamer.index.query import And, Filter, host_filter, language_filter, parse, spelled
from gossamer.index.ranking import Ranking, Result, merged
from gossamer.index.schema import host_in, schema
from gossamer.index.snapshot import Shard, Snapshot, count_of, readable
from gossamer.index.snippet import Marker
from gossamer.index.telling import telling_words
from gossamer.index.tree import children
from gossamer.index.why import why

MAX_LIMIT: Final = 100
_MOST_LOOKED_AT: Final = 1000
"""Results that are looked at for one page; more are left out only in an index of duplicates."""
_REMEMBERED: Final = 256
"""Queries whose counts are kept until the index changes: each page of an answer has the same."""


class Search:
    """Finds pages in all of `indexes`. One that is not there yet is empty. May be asked by several threads at once.

    Invariant: an answer is made of one commit of each index, the newest when the question came.
    """

    def __init__(self, indexes: Sequence[Path], clock: Callable[[], float] = time.time) -> None:
        self._indexes = list(indexes)
        self._shards = [Shard(path) for path in indexes]
        self._clock = clock
        self._counts: dict[tuple[object, ...], tuple[int, Facets]] = {}
        self._telling: tuple[tuple[int, ...], list[str]] = (), []  # of which snapshots
        self._lock = threading.Lock()

    def answer(self, query: str, *, limit: int = 10, cursor: str = "", site: str = "", language: str = "") -> Answer:
        """Raises QueryError where the query, the cursor, the site or the language is not understood."""
        begun = time.perf_counter()
        tree = _tree(query, site, language)
        text = spelled(tree)
        places = read_cursor(cursor, text, len(self._shards))
        with readable(self._indexes):
            snapshots = {at: found for at, shard in enumerate(self._shards) if (found := shard.snapshot())}
            asked = _Asked(snapshots, loosened(tree))
            total, facets = self._counted(asked, text)
            hits, following = asked.page(places, max(1, min(limit, MAX_LIMIT)))
        return Answer(
            total=total,
            results=hits,
            next=write_cursor(text, following) if following else "",
            seconds=time.perf_counter() - begun,
            query=text,
            facets=facets,
        )

    def size(self) -> IndexSize:
        with readable(self._indexes):
            snapshots = self._snapshots()
            hosts: set[str] = set()
            return IndexSize(
                pages=sum(snapshot.pages for snapshot in snapshots),
                hosts=len(hosts.union(*(snapshot.hosts for snapshot in snapshots))),
                newest=max((snapshot.newest for snapshot in snapshots), default=0.0),
            )

    def terms(self, count: int) -> list[str]:
        """Words for example queries: frequent in the titles of pages that are linked to, and not on every page."""
        with readable(self._indexes):
            snapshots = self._snapshots()
            key = (count, *(snapshot.serial for snapshot in snapshots))
            known, words = self._telling
            if known != key:
                words = telling_words(snapshots, count)
                self._telling = key, words
            return list(words)

    def domains(self, under: str = "") -> list[DomainCount]:
        """What is directly below a domain, the largest first; the top-level domains below ""."""
        with readable(self._indexes):
            return children((snapshot.hosts for snapshot in self._snapshots()), under)

    def page(self, url: str) -> Hit | None:
        """What the index has of a URL; of several indexes, the newest."""
        with readable(self._indexes):
            found = [
                snapshot.entry(address) for snapshot in self._snapshots() if (address := snapshot.find(url)) is not None
            ]
        if not found:
            return None
        entry = max(found, key=lambda entry: entry.fetched_at)
        snippet = Marker(()).snippet(entry.main or entry.body, entry.language)
        return Hit(
            entry.url, entry.title, snippet, 0.0, entry.fetched_at, entry.language, entry.type, host_in(entry.url),
            entry.description,
        )  # fmt: skip

    def close(self) -> None:
        for shard in self._shards:
            shard.close()

    def _snapshots(self) -> list[Snapshot]:
        return [found for shard in self._shards if (found := shard.snapshot()) is not None]

    def _counted(self, asked: _Asked, text: str) -> tuple[int, Facets]:
        now = self._clock()
        key = (text, now // 600, *(snapshot.serial for snapshot in asked.snapshots.values()))
        counted = self._counts.get(key)
        if counted is None:
            counted = count_facets([(asked.snapshots[at], query) for at, query in asked.filters.items()], now)
            with self._lock:
                if len(self._counts) >= _REMEMBERED:
                    self._counts.clear()
                self._counts[key] = counted
        return counted


def _tree(query: str, site: str, language: str) -> And:
    filters: list[Filter] = []
    if site:
        filters.append(host_filter("site", site))
    if language:
        filters.append(language_filter(language))
    if filters and not query.strip():
        return And(tuple(filters))
    tree = parse(query)
    return And((*tree.parts, *filters)) if filters else tree


class _Asked:
    """One query on the snapshots of one moment, by the number of their index."""

    def __init__(self, snapshots: dict[int, Snapshot], tree: And) -> None:
        self.snapshots = snapshots
        self.filters = {at: snapshot.matcher.filter(tree) for at, snapshot in snapshots.items()}
        self._tree = tree
        self._scored = is_scored(tree)
        self._marker = Marker(words_sought(tree))

    def page(self, places: list[Place], limit: int) -> tuple[list[Hit], list[Place]]:
        """The results from `places` on, and where those behind them begin; nothing if there are none."""
        places = list(places)
        hits: list[tuple[Result, Hit]] = []
        for looked_at, result in enumerate(self._results(places)):
            if len(hits) == limit or looked_at == _MOST_LOOKED_AT:
                return self._explained(hits), places
            places[result.shard] = result.after
            same = self._shown_with(result)
            if same is not None and not self._is_outdated(result):
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
            Ranking(
                at, snapshot, snapshot.matcher.query(self._tree) if self._scored else self.filters[at], self._scored
            ).results(places[at])
            for at, snapshot in self.snapshots.items()
        ])  # fmt: skip

    def _shown_with(self, result: Result) -> int | None:
        """How many other results have the same payload; None if one of those is shown instead of this."""
        digest = self.snapshots[result.shard].values("digest", [result.address])[0]
        if sum(snapshot.searcher.doc_freq("digest", digest) for snapshot in self.snapshots.values()) <= 1:
            return 0
        best, count = 0, 0
        payload = Query.const_score_query(Query.term_query(schema(), "digest", digest), 0.0)
        for at, query in self.filters.items():
            alike = Query.boolean_query([(Occur.Must, query), (Occur.Must, payload)])
            found = self.snapshots[at].searcher.search(alike, 1, order_by_field="rank")
            count += count_of(found)
            best = max([best, *(rank for rank, _ in found.hits)])
        return count - 1 if best == -result.place else None

    def _is_outdated(self, result: Result) -> bool:
        """Whether another index has the same URL, fetched later."""
        if len(self.snapshots) == 1:
            return False
        own = self.snapshots[result.shard].entry(result.address)
        for at, snapshot in self.snapshots.items():
            if at != result.shard and (address := snapshot.find(own.url)) is not None:
                other = snapshot.entry(address).fetched_at
                if (other, -at) > (own.fetched_at, -result.shard):
                    return True
        return False

    def _hit(self, result: Result, same: int) -> Hit:
        entry = self.snapshots[result.shard].entry(result.address)
        return Hit(
            url=entry.url,
            title=entry.title,
            snippet=self._marker.snippet(entry.main or entry.body, entry.language, entry.description),
            score=round(-result.worth, 4),
            fetched_at=entry.fetched_at,
            language=entry.language,
            type=entry.type,
            host=host_in(entry.url),
            description=entry.description,
            same=same,
        )
