"""Words that tell what an index is about, for people who do not know what to ask it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from math import log, sqrt
from typing import Final

from tantivy import Occur, Query

from gossamer.index.entry import Entry
from gossamer.index.letters import folded, level
from gossamer.index.matching import all_pages
from gossamer.index.schema import schema
from gossamer.index.snapshot import Snapshot, count_of
from gossamer.index.stop_words import is_stop_word
from gossamer.index.words import is_unspaced, pairs, words_of

_SAMPLE: Final = 400
"""Pages of a language whose titles are read: those that most link to."""
_TEXTS: Final = 50
"""Pages of a language whose texts are read where titles have too few words."""
_WEIGHED: Final = 100
"""Words of a language that are looked up, those of most titles."""
_COMMON: Final = 0.5
"""The share of pages from which a word tells little."""
_NAMED: Final = 0.5
"""The share of titles from which a word tells nothing."""
_FEW: Final = 20
"""Pages up to which nothing is too common, and nothing too rare."""
_RARE: Final = 3
"""Pages that a word is in at least."""
_LONGEST_TITLE: Final = 1000
_LONGEST_TEXT: Final = 1000
_CUT_OFF: Final = ("…", "...")
_SHORT: Final = 4
"""Letters of a word at least."""
_LONG: Final = 6
"""Letters from which a longer word does not weigh more."""
_ROW: Final = 2, 8
"""Letters of a row without spaces that may be a word, at least and at most."""
_LONGEST_HAN: Final = 4
"""Letters of such a row with Han in it, of which each says more."""

_edges = re.compile(r"\A[\W_]++|(?<![\W_])[\W_]++\Z").sub
_has_han = re.compile(r"[\u3400-\u9fff]").search
_is_hiragana = re.compile(r"[\u3041-\u309f]++").fullmatch  # of which Japanese has its particles and endings


def telling_words(snapshots: list[Snapshot], count: int) -> list[str]:
    """Return words for example queries, of the languages of the pages: more of those in which more pages are.

    Each is in the titles of pages, in some pages and not in most, and no stop word. Where titles have none, the words
    are those with which the pages begin.
    """
    pages: Counter[str] = Counter()
    for snapshot in snapshots:
        pages.update(dict(snapshot.searcher.terms_with_prefix("language", "", all_pages())))
    words = {language: _ranked(snapshots, language, pages[language]) for language in pages}
    taken = dict.fromkeys(pages, 1)
    chosen: list[str] = []
    while words and len(chosen) < count:
        language = max(words, key=lambda each: (sqrt(pages[each]) / taken[each], each))
        word = next((word for word in words[language] if not any(_alike(word, other) for other in chosen)), None)
        if word is None:
            del words[language]
        else:
            chosen.append(word)
            taken[language] += 1
    return chosen


def _ranked(snapshots: list[Snapshot], language: str, pages: int) -> Iterator[str]:
    """The words of a language, the most telling first: those of titles, then those of texts."""
    entries = [entry for snapshot in snapshots for entry in _sample(snapshot, language)]
    titles = [entry.title[:_LONGEST_TITLE] for entry in entries]
    yield from (word for word, _ in _weighed(snapshots, language, titles, pages))
    texts = [(entry.main or entry.body)[:_LONGEST_TEXT] for entry in entries[:_TEXTS]]
    yield from (word for word, common in _weighed(snapshots, language, texts, pages) if not common)


def _sample(snapshot: Snapshot, language: str) -> Iterator[Entry]:
    query = _term("language", language)
    for _, address in snapshot.searcher.search(query, _SAMPLE, count=False, order_by_field="rank").hits:
        yield snapshot.entry(address)


def _weighed(snapshots: list[Snapshot], language: str, texts: list[str], pages: int) -> list[tuple[str, bool]]:
    """Words, and whether each is common: those that are not come first, and in both those of many titles, that are rare
    in texts, and long.
    """
    counted: Counter[str] = Counter()
    for text in texts:
        counted.update({word for word in _whole_words(text) if _may_tell(word)})
    found = []
    for word, times in sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:_WEIGHED]:
        if times > max(1, len(texts) * _NAMED) and len(texts) > _FEW:
            continue  # the name of a site, most likely
        titled = sum(_titled(snapshot, language, word) for snapshot in snapshots)
        having = max(times, titled, sum(_having(snapshot, word) for snapshot in snapshots))
        if having < _RARE and pages > _FEW:
            continue
        common = having > pages * _COMMON
        length = min(_LONG, len(word) * (3 if is_unspaced(word) else 1))
        weight = max(times, titled) * length * (log(max(1.0, pages / having)) if pages > _FEW else 1.0)
        found.append((common and pages > _FEW, -weight, word, common))
    return [(word, common) for *_, word, common in sorted(found)]


def _titled(snapshot: Snapshot, language: str, word: str) -> int:
    """Pages of this language with the word in their titles."""
    terms = [_term("title", term) for term in _terms(word)]
    parts = [(Occur.Must, part) for part in (*terms, _term("language", language))]
    return count_of(snapshot.searcher.search(Query.boolean_query(parts), 1))


def _having(snapshot: Snapshot, word: str) -> int:
    """Pages of all languages with the word in their texts, which is no search; of a row of letters, at most so many."""
    return min(snapshot.searcher.doc_freq("body", term) for term in _terms(word))


def _terms(word: str) -> list[str]:
    return pairs(word)[:-1] if is_unspaced(word) else [folded(word)]


def _term(field: str, text: str) -> Query:
    return Query.term_query(schema(), field, text, "basic")


def _whole_words(text: str) -> Iterator[str]:
    """Those that people would write so: not the parts of `instal·lació`, nor what a title that was cut ends with."""
    for written in text.split():
        words = words_of(written)
        bare = _edges("", level(written))
        if words == [bare] and not written.endswith(_CUT_OFF):
            yield bare
        else:
            yield from (word for word in words if is_unspaced(word))


def _may_tell(word: str) -> bool:
    if is_unspaced(word):
        longest = _LONGEST_HAN if _has_han(word) else _ROW[1]
        return _ROW[0] <= len(word) <= longest and not _is_hiragana(word)
    return len(word) >= _SHORT and not any(letter.isdigit() for letter in word) and not is_stop_word(word)


def _alike(word: str, other: str) -> bool:
    """Whether they are forms of one word."""
    shared = min(len(word), len(other)) - 2
    return word == other or (shared > 2 and word[:shared] == other[:shared])
