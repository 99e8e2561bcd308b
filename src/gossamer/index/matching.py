"""A query's tree as a query of tantivy: in which fields a word is looked for, and what a match there is worth."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from tantivy import FieldType, Occur, Query

from gossamer.index.letters import folded
from gossamer.index.query import And, Filter, Node, Not, Or, Word
from gossamer.index.schema import POSITION, schema
from gossamer.index.stems import Stems, stems_of
from gossamer.index.words import is_unspaced, pairs, words_of

WEIGHTS: Final = {"title": 3.0, "anchors": 1.0, "address": 1.2, "body": 1.0}
"""What a match in each field is worth."""
_STEM: Final = 0.7
"""What a match is worth that is not letter by letter, beside one that is."""
_TOGETHER: Final = {"title": 1.5, "body": 1.0}
"""What it is worth besides when words of the query follow each other."""
TOGETHER: Final = "together"
_MOST_STEMS: Final = 6
"""Stems of a word that pages may have as a word: a query of 32 words stays bounded in an index of all languages."""
_REMEMBERED: Final = 1024
"""Words whose other forms are kept at hand."""
_TAGS: Final = {"site": "h", "domain": "d", "lang": "l", "type": "t"}
_scheme = re.compile(r"https?://(?:www\.)?", re.I).match


class _Place(NamedTuple):
    """Where a word may be: a term of a field, and what it is worth there. It counts on pages in `languages` only."""

    field: str
    term: str
    worth: float
    languages: tuple[str, ...] = ()  # none: on all


class Matcher:
    """Makes queries for an index whose pages are in `languages`, the most frequent first.

    `frequency` says how many pages have a term in a field: other forms of a word that no page has are not looked for.
    """

    def __init__(self, languages: Sequence[str], frequency: Callable[[str, str], int]) -> None:
        self._frequency = frequency
        self._known: dict[tuple[str, tuple[str, ...]], list[_Place]] = {}  # a query asks for each word several times
        by_stemmer: dict[int, tuple[Stems, list[str]]] = {}
        for language in languages:
            if (stems := stems_of(language)) is not None:
                by_stemmer.setdefault(id(stems), (stems, []))[1].append(language)
        self._stems = list(by_stemmer.values())

    def query(self, node: Node) -> Query:
        """Finds the pages and says what each is worth."""
        return self._query(node, scored=True)

    def filter(self, node: Node) -> Query:
        """Finds the same pages, and says no more: for counting them."""
        return self._query(node, scored=False)

    def parts(self, node: And) -> list[tuple[str, Query]]:
        """What the score of `query` is the sum of, by field."""
        found: dict[str, list[Query]] = {}
        for word in words_sought(node):
            for field, query in self._clauses(word, scored=True):
                found.setdefault(field, []).append(query)
        parts = [(field, _any(queries)) for field, queries in found.items()]
        return parts + [(TOGETHER, query) for query in _together(node)]

    def _query(self, node: Node, scored: bool) -> Query:
        if isinstance(node, And):
            parts = [
                (Occur.MustNot, self._query(part.part, False))
                if isinstance(part, Not)
                else (Occur.Must, self._query(part, scored))
                for part in node.parts
            ]
            if scored:
                parts += [(Occur.Should, query) for query in _together(node)]
            return parts[0][1] if len(parts) == 1 else Query.boolean_query(parts)
        if isinstance(node, Or):
            return _any([self._query(part, scored) for part in node.parts])
        if isinstance(node, Filter):
            return Query.const_score_query(_filter(node), 0.0)
        if isinstance(node, Not):
            return Query.boolean_query([(Occur.Must, all_pages()), (Occur.MustNot, self._query(node.part, False))])
        return _any([query for _, query in self._clauses(node, scored)])

    def _clauses(self, word: Word, scored: bool) -> list[tuple[str, Query]]:
        """Where a word may be, each with what it is worth there."""
        pieces = pieces_of(word)
        fields = {"title": ("title",), "url": ("address",)}.get(word.field, tuple(WEIGHTS))
        if len(pieces) > 1 or is_unspaced(pieces[0]):
            return [(field, Query.boost_query(_row(field, pieces), WEIGHTS[field])) for field in fields]
        places = [_Place(field, folded(pieces[0]), WEIGHTS[field]) for field in fields]
        if not word.quoted:
            places += self._other_forms(pieces[0], fields)
        return [(place.field, _placed(place, scored)) for place in places]

    def _other_forms(self, piece: str, fields: tuple[str, ...]) -> list[_Place]:
        """Those that some page has."""
        known = self._known.get((piece, fields))
        if known is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            known = [place for place in self._stemmed(piece, fields) if self._frequency(place.field, place.term)]
            self._known[piece, fields] = known
        return known

    def _stemmed(self, piece: str, fields: Sequence[str]) -> Iterator[_Place]:
        """Where the stem of a levelled word is, each on pages of its language: behind its sign as that of another form,
        bare where the page has the stem itself as a word.
        """
        bare: dict[str, list[str]] = {}
        for stems, languages in self._stems:
            if stem := stems.of(piece):
                bare.setdefault(stem, []).extend(languages)
        for field in fields:
            if field == "address":
                continue
            worth = WEIGHTS[field] * _STEM
            for stem, languages in list(bare.items())[:_MOST_STEMS]:
                yield _Place(field, stem, worth, tuple(languages))
            for stems, _ in self._stems:
                yield _Place("stems" if field == "body" else field, stems.signed(piece), worth)


def all_pages() -> Query:
    position = Query.term_query(schema(), "tags", POSITION, "basic")
    return Query.boolean_query([(Occur.Must, Query.all_query()), (Occur.MustNot, position)])


def pieces_of(word: Word) -> list[str]:
    """The levelled words that a written one falls apart into; those of a URL without its scheme."""
    scheme = _scheme(word.text)
    return (words_of(word.text[scheme.end() :]) if scheme else []) or words_of(word.text)


def is_scored(node: Node) -> bool:
    """Whether pages that match can differ in how well: not if all that is asked for is a site, or one letter."""
    if isinstance(node, Word):
        pieces = pieces_of(node)
        return len(pieces) > 1 or len(pieces[0]) > 1 or not is_unspaced(pieces[0])
    return isinstance(node, And | Or) and any(is_scored(part) for part in node.parts)


def words_sought(node: Node) -> Iterator[Word]:
    """Those that pages must have, or may."""
    if isinstance(node, Word):
        yield node
    elif isinstance(node, And | Or):
        for part in node.parts:
            yield from words_sought(part)


def _placed(place: _Place, scored: bool) -> Query:
    query = Query.term_query(schema(), place.field, place.term, "freq" if scored else "basic")
    if scored:
        query = Query.boost_query(query, place.worth)
    if not place.languages:
        return query
    pages = _any([Query.term_query(schema(), "language", language, "basic") for language in place.languages])
    return Query.boolean_query([(Occur.Must, query), (Occur.Must, Query.const_score_query(pages, 0.0))])


def _any(queries: list[Query]) -> Query:
    return queries[0] if len(queries) == 1 else Query.boolean_query([(Occur.Should, query) for query in queries])


def _row(field: str, pieces: list[str]) -> Query:
    """Pieces that follow each other. The end of a row of letters may be the middle of a longer one in the page."""
    terms: list[str] = []
    for piece in pieces:
        terms += pairs(piece) if is_unspaced(piece) else [folded(piece)]
    open_end = is_unspaced(pieces[-1])
    if open_end and len(pieces[-1]) > 1:
        terms.pop()
        open_end = False
    if len(terms) == 1:
        return (
            Query.regex_query(schema(), field, terms[0] + ".?")
            if open_end
            else Query.term_query(schema(), field, terms[0])
        )
    if open_end:
        return Query.phrase_prefix_query(schema(), field, list(terms))
    return Query.phrase_query(schema(), field, list(terms))


def _together(node: And) -> list[Query]:
    """For pages where the plain words of the query follow each other as they do there."""
    words = [part for part in node.parts if isinstance(part, Word) and not part.quoted and not part.field]
    terms = [pieces_of(word) for word in words]
    if len(terms) < 2 or any(len(pieces) > 1 or is_unspaced(pieces[0]) for pieces in terms):
        return []
    row: list[str | tuple[int, str]] = [folded(pieces[0]) for pieces in terms]
    return [Query.boost_query(Query.phrase_query(schema(), field, row), worth) for field, worth in _TOGETHER.items()]


def _filter(node: Filter) -> Query:
    if node.kind == "after":
        return Query.range_query(schema(), "fetched", FieldType.Integer, node.seconds, None)
    if node.kind == "before":
        return Query.range_query(schema(), "fetched", FieldType.Integer, None, node.seconds, include_upper=False)
    return Query.term_query(schema(), "tags", f"{_TAGS[node.kind]} {node.value}", "basic")
