"""A query's tree as a query of tantivy: in which fields a word is looked for, and what a match there is worth."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from tantivy import FieldType, Occur, Query

from gossamer.index.letters import folded
from gossamer.index.query import And, Filter, Node, Not, Or, Word
from gossamer.index.schema import POSITION, schema
from gossamer.index.stems import stems_of
from gossamer.index.words import is_unspaced, pairs, words_of

WEIGHTS: Final = {"title": 3.0, "anchors": 2.0, "address": 1.2, "body": 1.0}
"""What a match in each field is worth."""
_STEM: Final = 0.7
"""What a match is worth that is not letter by letter, beside one that is."""
_TOGETHER: Final = {"title": 1.5, "body": 1.0}
"""What it is worth besides when words of the query follow each other."""
_MOST_STEMS: Final = 6
_TAGS: Final = {"site": "h", "domain": "d", "lang": "l", "type": "t"}
_scheme = re.compile(r"https?://(?:www\.)?", re.I).match


class Matcher:
    """Makes queries for an index whose pages are in `languages`, the most frequent first."""

    def __init__(self, languages: Sequence[str]) -> None:
        known = (stems_of(language) for language in languages)
        self._stems = list({id(stems): stems for stems in known if stems is not None}.values())

    def query(self, node: Node) -> Query:
        if isinstance(node, And):
            parts = [
                (Occur.MustNot, self.query(part.part)) if isinstance(part, Not) else (Occur.Must, self.query(part))
                for part in node.parts
            ]
            parts += [(Occur.Should, query) for query in _together(node)]
            return parts[0][1] if len(parts) == 1 else Query.boolean_query(parts)
        if isinstance(node, Or):
            return _any([self.query(part) for part in node.parts])
        if isinstance(node, Filter):
            return Query.const_score_query(_filter(node), 0.0)
        if isinstance(node, Not):
            return Query.boolean_query([(Occur.Must, all_pages()), (Occur.MustNot, self.query(node.part))])
        return self._word(node)

    def _word(self, word: Word) -> Query:
        pieces = pieces_of(word)
        fields = {"title": ("title",), "url": ("address",)}.get(word.field, tuple(WEIGHTS))
        if len(pieces) > 1 or is_unspaced(pieces[0]):
            return _any([Query.boost_query(_row(field, pieces), WEIGHTS[field]) for field in fields])
        exact = folded(pieces[0])
        variants = {exact: 1.0} | ({} if word.quoted else dict.fromkeys(self.stems(pieces[0]), _STEM))
        parts = [
            Query.boost_query(Query.term_query(schema(), field, variant), WEIGHTS[field] * worth)
            for field in fields
            for variant, worth in variants.items()
        ]
        if not word.quoted and not word.field and self._stems:
            parts += [
                Query.boost_query(Query.term_query(schema(), "stems", variant, "freq"), _STEM) for variant in variants
            ]
        return _any(parts)

    def stems(self, piece: str) -> list[str]:
        """The stems of a levelled word in the languages of the index, where they differ from it."""
        found = dict.fromkeys(stem for stems in self._stems if (stem := stems.of(piece)))
        return list(found)[:_MOST_STEMS]


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
