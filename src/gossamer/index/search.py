"""Asks one index or several, and makes one answer of theirs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Final

from gossamer.index.answer import Answer, DomainCount, FoundDomain, Hit, IndexSize
from gossamer.index.asked import Asked
from gossamer.index.cursor import read_cursor, write_cursor
from gossamer.index.facets import Facets
from gossamer.index.hidden import Elsewhere, Outdated, outdated, ranks_of, versions
from gossamer.index.loose import loosened
from gossamer.index.query import And, Filter, host_filter, language_filter, parse, spelled
from gossamer.index.schema import host_in
from gossamer.index.snapshot import Shard, Snapshot, readable
from gossamer.index.snippet import Marker
from gossamer.index.telling import telling_words
from gossamer.index.tree import children, largest, tree_of
from gossamer.model.domain import unreversed_host

MAX_LIMIT: Final = 100
_REMEMBERED: Final = 256
_TOLD: Final = 60.0  # seconds for which example queries hold, while an index grows
"""Queries whose counts are kept until the index changes: each page of an answer has the same."""
_Counts = tuple[int, Facets, list[FoundDomain]]


class Search:
    """Finds pages in all of `indexes`. One that is not there yet is empty. May be asked by several threads at once.

    Invariant: an answer is made of one commit of each index, the newest when the question came.
    """

    def __init__(self, indexes: Sequence[Path], clock: Callable[[], float] = time.time) -> None:
        self._indexes = list(indexes)
        self._shards = [Shard(path) for path in indexes]
        self._clock = clock
        self._counts: dict[tuple[object, ...], _Counts] = {}
        self._telling: tuple[tuple[int, ...], float, list[str]] = (), 0.0, []  # of which snapshots, and until when
        self._outdated: tuple[tuple[int, ...], Outdated] = (), Outdated({}, complete=True)
        self._lock = threading.Lock()

    def answer(
        self,
        query: str,
        *,
        limit: int = 10,
        cursor: str = "",
        site: str = "",
        language: str = "",
        elsewhere: Elsewhere | None = None,
        domains: bool = False,
    ) -> Answer:
        """Without what is newer `elsewhere`; with the tree of `domains` of all results. Raises QueryError where the
        query, the cursor, the site or the language is not understood.
        """
        begun = time.perf_counter()
        meant = _tree(query, site, language)
        text = spelled(meant)
        places = read_cursor(cursor, text, len(self._shards))
        with readable(self._indexes):
            snapshots = {at: found for at, shard in enumerate(self._shards) if (found := shard.snapshot())}
            older = self._outdated_in(snapshots)
            if elsewhere is not None:
                more = {at: older.ranks.get(at, []) + ranks_of(each, elsewhere) for at, each in snapshots.items()}
                older = Outdated(more, older.complete)
            asked = Asked(snapshots, loosened(meant), older)
            total, facets, tree = self._counted(asked, text, elsewhere, domains)
            hits, following = asked.page(places, max(1, min(limit, MAX_LIMIT)))
        return Answer(
            total=total,
            results=hits,
            next=write_cursor(text, following) if following else "",
            seconds=time.perf_counter() - begun,
            query=text,
            facets=facets,
            domains=tree,
        )

    def hosts(self) -> set[str]:
        """That have pages."""
        with readable(self._indexes):
            return {unreversed_host(name) for snapshot in self._snapshots() for name in snapshot.hosts}

    def hosts_with(self, query: str, among: Collection[str], site: str = "", language: str = "") -> list[str]:
        """Those of these hosts that have pages which match."""
        tree = loosened(_tree(query, site, language))
        found: set[str] = set()
        with readable(self._indexes):
            for snapshot in self._snapshots():
                matching = snapshot.searcher.terms_with_prefix("host", "", snapshot.matcher.filter(tree))
                found.update(host for name, _ in matching if (host := unreversed_host(name)) in among)
        return sorted(found)

    def versions(self, hosts: Sequence[str]) -> dict[int, int] | None:
        """As `hidden.versions`; of several indexes, the newest."""
        whole: dict[int, int] = {}
        with readable(self._indexes):
            for snapshot in self._snapshots():
                found = versions(snapshot, hosts)
                if found is None:
                    return None
                whole |= {key: max(at, whole.get(key, 0)) for key, at in found.items()}
        return whole

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
        """Return words for example queries, which may be those of the index a minute ago."""
        with readable(self._indexes):
            snapshots = self._snapshots()
            key = (count, *(snapshot.serial for snapshot in snapshots))
            known, until, words = self._telling
            now = self._clock()
            if known != key and (known[:1] != key[:1] or len(words) < count or now >= until):
                words = telling_words(snapshots, count)
                self._telling = key, now + _TOLD, words
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
        snippet = Marker(()).snippet(entry.main or entry.body, entry.language, entry.title)
        return Hit(
            entry.url, entry.title, snippet, 0.0, entry.fetched_at, entry.language, entry.type, host_in(entry.url),
            entry.description,
        )  # fmt: skip

    def close(self) -> None:
        for shard in self._shards:
            shard.close()

    def _snapshots(self) -> list[Snapshot]:
        return [found for shard in self._shards if (found := shard.snapshot()) is not None]

    def _outdated_in(self, snapshots: dict[int, Snapshot]) -> Outdated:
        key = tuple(snapshot.serial for snapshot in snapshots.values())
        known, found = self._outdated
        if known != key:
            found = outdated(snapshots)
            self._outdated = key, found
        return found

    def _counted(self, asked: Asked, text: str, elsewhere: Elsewhere | None, domains: bool) -> _Counts:
        now = self._clock()
        key = (text, elsewhere, domains, now // 600, *(snapshot.serial for snapshot in asked.snapshots.values()))
        counted = self._counts.get(key)
        if counted is None:
            found = asked.counted(now, domains)
            counted = found.total, found.facets, largest(tree_of(found.hosts)) if domains else []
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
