"""Queries that stand: asked of pages as they are written, not of all of them.

The pages written since the last commit are put into a small index in memory, with the words that they have in the large
one. So a standing query finds in it what a search would find, and what it costs does not grow with the large one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from tantivy import DocAddress, Document, Index, Query
from tantivy import IndexWriter as TantivyWriter

from gossamer.index.answer import Hit
from gossamer.index.entry import unpack
from gossamer.index.loose import loosened
from gossamer.index.matching import Matcher, words_sought
from gossamer.index.query import And, parse, spelled
from gossamer.index.schema import document_of, host_in, key_in, prepared, schema, url_term
from gossamer.index.snapshot import Snapshot
from gossamer.index.snippet import Marker
from gossamer.index.writer import LEAST_MEMORY, Ready

MOST_KEYS: Final = 1_000_000
"""Pages of one standing query that are told apart."""
_REMEMBERED: Final = 20_000
"""Queries made for tantivy that are kept."""


class Found(NamedTuple):
    """A page that matches. `key` is the same for two pages only if they have the same URL."""

    key: int
    address: DocAddress


class StandingQuery:
    """A query that is understood. Raises QueryError where it is not."""

    def __init__(self, text: str) -> None:
        tree = parse(text)
        self.text = text
        self.spelled = spelled(tree)
        self.tree: And = loosened(tree)
        self._marker = Marker(words_sought(self.tree))

    def hit(self, snapshot: Snapshot, address: DocAddress) -> Hit:
        """What is said of a page that matches."""
        entry = snapshot.entry(address)
        snippet = self._marker.snippet(entry.main or entry.body, entry.language, entry.title, entry.description)
        return Hit(
            entry.url, entry.title, snippet, 0.0, entry.fetched_at, entry.language, entry.type, host_in(entry.url),
            entry.description,
        )  # fmt: skip

    def found_in(self, snapshot: Snapshot) -> list[Found]:
        """All pages of an index that match, the best first; no more than `MOST_KEYS`."""
        query = snapshot.matcher.query(self.tree)
        hits = snapshot.searcher.search(query, MOST_KEYS, count=False, weight_by_field="weight").hits
        return _found(snapshot, [address for _, address in hits])


class FreshPages:
    """The pages written since the last commit of an index.

    Invariant: a standing query finds those of them that a search for it would find after that commit.
    """

    def __init__(self) -> None:
        self._made: dict[tuple[str, tuple[str, ...]], Query] = {}
        self._matchers: dict[tuple[str, ...], Matcher] = {}
        self._index: Index | None = None
        self._writer: TantivyWriter | None = None
        self.urls: dict[str, None] = {}

    def put(self, made: Ready) -> None:
        """An entry as it is put into the large index."""
        self._add(made["url"][0], Document.from_dict(made, schema()))

    def put_packed(self, packed: bytes) -> None:
        """An entry as the large index has it."""
        entry = unpack(packed)
        self._add(url_term(entry.url), document_of(entry, packed))

    def drop(self, url: str) -> None:
        """It is not in the large index any more."""
        term = url_term(url)
        if term in self.urls and self._writer is not None:
            self._writer.delete_documents_by_term("url", term)
            del self.urls[term]

    def _add(self, term: str, document: Document) -> None:
        if self._writer is None:
            self._index = prepared(Index(schema()))
            self._index.config_reader("manual")
            self._writer = self._index.writer(LEAST_MEMORY, 1)
        if term in self.urls:
            self._writer.delete_documents_by_term("url", term)
        self._writer.add_document(document)
        self.urls[term] = None

    def matches(self, queries: Sequence[StandingQuery]) -> Iterator[tuple[int, Snapshot, list[Found]]]:
        """The numbers of those queries that some page matches, with these pages."""
        if self._index is None or self._writer is None or not self.urls:
            return
        self._writer.commit()
        self._index.reload()
        snapshot = Snapshot(self._index.searcher())
        searcher, count = snapshot.searcher, len(self.urls)
        languages = tuple(sorted(name for name, _ in searcher.terms_with_prefix("language", "") if name))
        for number, standing in enumerate(queries):
            hits = searcher.search(self._query(standing, languages), count, count=False).hits
            if hits:
                yield number, snapshot, _found(snapshot, [address for _, address in hits])

    def clear(self) -> None:
        """What was fresh is not any more."""
        self._index = self._writer = None
        self.urls = {}

    def _query(self, standing: StandingQuery, languages: tuple[str, ...]) -> Query:
        """Made once for each set of languages that pages are in: making it takes longer than asking it."""
        key = standing.spelled, languages
        query = self._made.get(key)
        if query is None:
            if len(self._made) >= _REMEMBERED:
                self._made.clear()
                self._matchers.clear()
            matcher = self._matchers.get(languages)
            if matcher is None:
                matcher = self._matchers[languages] = Matcher(languages, lambda *_: 1)
            query = self._made[key] = matcher.filter(standing.tree)
        return query


def _found(snapshot: Snapshot, addresses: list[DocAddress]) -> list[Found]:
    if not addresses:
        return []
    keys = map(key_in, snapshot.values("rank", addresses))
    return [Found(key, address) for key, address in zip(keys, addresses, strict=True)]
