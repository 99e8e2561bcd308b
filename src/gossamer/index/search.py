"""Asks one index or several."""

from __future__ import annotations

import time
from collections.abc import Sequence
from html import escape
from pathlib import Path

from tantivy import Index, Occur, Query

from gossamer.errors import QueryError
from gossamer.index.answer import Answer, DomainCount, Hit, IndexSize
from gossamer.index.entry import Entry, unpack
from gossamer.index.schema import prepared, schema, url_term
from gossamer.index.words import single, words_of
from gossamer.model.domain import reversed_host, unreversed_host
from gossamer.model.url import host_of


class Search:
    def __init__(self, indexes: Sequence[Path]) -> None:
        self._paths = [path for path in indexes if (path / "meta.json").is_file()]
        self._indexes = [prepared(Index.open(str(path))) for path in self._paths]

    def answer(self, query: str, *, limit: int = 10, cursor: str = "", site: str = "", language: str = "") -> Answer:
        begun = time.perf_counter()
        words = list(single(words_of(query)))
        if not words:
            raise QueryError(0, "There is no word to search for. Type one.")
        hits: list[tuple[float, Entry]] = []
        total = 0
        for index in self._indexes:
            index.reload()
            searcher = index.searcher()
            parts = [
                (
                    Occur.Must,
                    Query.boolean_query(
                        [
                            (Occur.Should, Query.term_query(schema(), field, word))
                            for field in ("title", "body", "anchors")
                        ]
                    ),
                )
                for word in words
            ]
            if site:
                parts.append((Occur.Must, Query.term_query(schema(), "tags", f"h {site}")))
            if language:
                parts.append((Occur.Must, Query.term_query(schema(), "tags", f"l {language}")))
            found = searcher.search(
                Query.boolean_query(parts), limit, offset=int(cursor or 0), weight_by_field="weight"
            )
            total += found.count or 0
            hits += [(score, unpack(searcher.doc(at)["entry"][0])) for score, at in found.hits]
        hits.sort(key=lambda hit: (-hit[0], hit[1].url))
        after = int(cursor or 0) + limit
        return Answer(
            total,
            [self._hit(score, entry) for score, entry in hits[:limit]],
            str(after) if after < total else "",
            time.perf_counter() - begun,
            " ".join(words),
            {"site": [], "language": [], "date": []},
        )

    def size(self) -> IndexSize:
        pages = hosts = 0
        newest = 0.0
        for index in self._indexes:
            index.reload()
            searcher = index.searcher()
            pages += max(0, searcher.num_docs - 1)
            hosts += len(searcher.terms_with_prefix("host", ""))
            newest = max(
                newest, searcher.aggregate(Query.all_query(), {"n": {"max": {"field": "fetched"}}})["n"]["value"] or 0
            )
        return IndexSize(pages, hosts, newest)

    def terms(self, count: int) -> list[str]:
        return []

    def domains(self, under: str = "") -> list[DomainCount]:
        prefix = reversed_host(under) + "." if under else ""
        found: dict[str, DomainCount] = {}
        for index in self._indexes:
            index.reload()
            for key, pages in index.searcher().terms_with_prefix("host", prefix, Query.all_query()):
                label, dot, _ = key[len(prefix) :].partition(".")
                name = unreversed_host(prefix + label)
                domain = found.setdefault(name, DomainCount(name, 0, 0, False))
                domain.hosts += 1
                domain.pages += pages
                domain.has_children |= bool(dot)
        return sorted(found.values(), key=lambda domain: (-domain.pages, domain.name))

    def page(self, url: str) -> Hit | None:
        for index in self._indexes:
            index.reload()
            searcher = index.searcher()
            for _, at in searcher.search(Query.term_query(schema(), "url", url_term(url)), 1).hits:
                return self._hit(0.0, unpack(searcher.doc(at)["entry"][0]))
        return None

    def close(self) -> None:
        self._indexes.clear()

    def _hit(self, score: float, entry: Entry) -> Hit:
        return Hit(
            entry.url,
            entry.title,
            escape((entry.main or entry.body)[:200]),
            score,
            entry.fetched_at,
            entry.language,
            entry.type,
            host_of(entry.url),
            entry.description,
        )
