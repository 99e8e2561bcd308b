"""Two lines of a page around what was sought, with marks: HTML, everything else escaped."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from html import escape
from typing import Final, NamedTuple

from gossamer.index.letters import folded, level
from gossamer.index.matching import pieces_of
from gossamer.index.query import Word
from gossamer.index.stems import Stems, primary, stems_of
from gossamer.index.words import is_unspaced, words_of

LENGTH: Final = 200
"""Characters, about."""
_LOOKED_AT: Final = 16_000
"""Characters of a text in which the place is sought; most pages have less."""
_MOST_MARKS: Final = 200
_BACK: Final = 60
"""Characters before the first mark in which the beginning of its sentence is sought."""
_WIDTH: Final = LENGTH - _BACK // 2
"""Between the first mark and the last."""
_LONGEST_TITLE: Final = 300
_MOST_HEADINGS: Final = 3
"""Lines at the beginning of a text that may be the title again, or the part of it that names the site."""
_SIGNS: Final = 20
"""Characters that a line has at most more than the title whose words it has."""
_LETTER: Final = r"[^\W_]"
_sentence_end = re.compile(r"[.!?:;…]\s|[。！？]|\n").finditer
_word_edge = re.compile(r"\s").search
_goes_on = re.compile(_LETTER).match
_gap = re.compile(r"\s+").sub


class _Place(NamedTuple):
    start: int
    end: int
    word: int  # which of the query's


@lru_cache(4096)
def _searched_as(letter: str) -> str:
    plain = folded(level(letter))
    return plain if len(plain) == 1 else letter


def flat(text: str) -> str:
    """The text as it is searched, letter for letter, so that places in it stay what they are."""
    lower = text.lower()
    if len(lower) != len(text):
        lower = "".join(one if len(one := letter.lower()) == 1 else letter for letter in text)
    if not lower.isascii():
        # Few letters of a text are changed, and replacing one in all of it is quicker than looking at each.
        for letter in set(lower):
            if (plain := _searched_as(letter)) != letter:
                lower = lower.replace(letter, plain)
    return lower


class _Sought(NamedTuple):
    """The words of a query as texts of one language have them."""

    find: Callable[[str], Iterator[re.Match[str]]]
    targets: list[frozenset[str]]  # of each word: it and its stem; nothing where the pattern says all


class Marker:
    """Finds the words of one query in texts. A word that only shares a stem with one of them is marked as well: the
    stem in the language of the text.
    """

    def __init__(self, words: Iterable[Word]) -> None:
        self._words = list(words)
        self._by_language: dict[str, _Sought] = {}

    def snippet(self, text: str, language: str, title: str = "", instead: str = "") -> str:
        """`title` stands above it and is not said again; `instead` is shown if nothing is found in the text."""
        text = _behind_title(text[:_LOOKED_AT], title)
        places = self._places(text, language)
        if not places:
            start, end = _around(instead or text, 0, 0)
            return _marked(instead or text, start, end, [])
        first, last = _best(places)
        start, end = _around(text, places[first].start, places[last].end)
        return _marked(text, start, end, [place for place in places if start <= place.start and place.end <= end])

    def _places(self, text: str, language: str) -> list[_Place]:
        if not self._words:
            return []
        stems = stems_of(language)
        name = primary(language)
        sought = self._by_language.get(name)
        if sought is None:
            sought = self._by_language[name] = _sought(self._words, stems)
        places: list[_Place] = []
        for found in sought.find(flat(text)):
            number = (found.lastindex or 1) - 1
            targets = sought.targets[number]
            if not targets or found[0] in targets or folded(found[0]) in targets:
                pass
            elif stems is None or (stems.of(level(text[found.start() : found.end()])) or found[0]) not in targets:
                continue
            places.append(_Place(found.start(), found.end(), number))
            if len(places) == _MOST_MARKS:
                break
        return places


def _sought(words: list[Word], stems: Stems | None) -> _Sought:
    all_targets: list[frozenset[str]] = []
    patterns = []
    initials = set()
    for word in words:
        pieces = pieces_of(word)
        targets = set()
        if len(pieces) == 1 and not is_unspaced(pieces[0]):
            targets.add(folded(pieces[0]))
            if stems is not None and not word.quoted and (stem := stems.of(pieces[0])):
                targets.add(stem)
            loose = "" if word.quoted or pieces[0][-1] in "+#" else f"{_LETTER}*+"
            begins = _shared(targets) if loose else folded(pieces[0])
            patterns.append(f"(?<!{_LETTER})({re.escape(begins)}{loose})(?!{_LETTER})")
            initials.add(begins[:1])
        else:
            patterns.append("(" + r"[\W_]{0,3}".join(_piece(piece, pieces) for piece in pieces) + ")")
            initials.add(folded(pieces[0])[:1])
        all_targets.append(frozenset(targets))
    # Most places are passed over by their first letter alone.
    look = "" if "" in initials else f"(?=[{re.escape(''.join(sorted(initials)))}])"
    return _Sought(re.compile(f"{look}(?:{'|'.join(patterns)})").finditer, all_targets)


def _behind_title(text: str, title: str) -> str:
    """The text without the lines that it begins with and the title has as well, or all of the title."""
    title = title.strip()[:_LONGEST_TITLE]
    said = _spaced(title)
    rest = text.lstrip()
    for _ in range(_MOST_HEADINGS):
        line = rest[: len(title) + _SIGNS].partition("\n")[0]
        if len(line) == len(title) + _SIGNS or not (words := _spaced(line)) or words not in said:
            break
        rest = rest[len(line) :].lstrip()
    if said and rest.startswith(title) and not _goes_on(rest, len(title)):
        rest = rest[len(title) :].lstrip()
    return rest or text


def _spaced(text: str) -> str:
    """Its words with spaces around each; nothing if there are none."""
    words = " ".join([folded(word) for word in words_of(text)])
    return f" {words} " if words else ""


def _shared(targets: set[str]) -> str:
    """What all of them begin with."""
    low, high = min(targets), max(targets)
    same = next((at for at, (one, other) in enumerate(zip(low, high, strict=False)) if one != other), len(low))
    return low[: max(1, same)] if low[:1] == high[:1] else ""


def _piece(piece: str, pieces: list[str]) -> str:
    literal = re.escape(folded(piece))
    if is_unspaced(piece):
        return literal
    before = f"(?<!{_LETTER})" if piece is pieces[0] else ""
    after = f"(?!{_LETTER})" if piece is pieces[-1] and piece[-1] not in "+#" else ""
    return before + literal + after


def _best(places: list[_Place]) -> tuple[int, int]:
    """The first and the last of the places that are shown: where most of the words are close together."""
    best, chosen = 0, (0, 0)
    counts: dict[int, int] = {}
    end = 0
    for first, place in enumerate(places):
        while end < len(places) and (end == first or places[end].end - place.start <= _WIDTH):
            counts[places[end].word] = counts.get(places[end].word, 0) + 1
            end += 1
        worth = 10 * len(counts) + min(end - first, 8)
        if worth > best:
            best, chosen = worth, (first, end - 1)
        if counts[place.word] == 1:
            del counts[place.word]
        else:
            counts[place.word] -= 1
    return chosen


def _around(text: str, start: int, end: int) -> tuple[int, int]:
    """From the beginning of the sentence or a word, for about `LENGTH` characters."""
    room = max(0, LENGTH - (end - start))
    begin = max(0, start - min(_BACK, room))
    ends = [found.end() for found in _sentence_end(text, begin, start)] if begin else []
    if ends:
        begin = ends[-1] if start - ends[-1] > 0 or len(ends) == 1 else ends[-2]
    elif begin and (edge := _word_edge(text, begin, start)):
        begin = edge.end()
    stop = min(len(text), max(end, begin + LENGTH))
    if stop < len(text):
        cut = text.rfind(" ", end, stop + 1)
        stop = cut if cut > stop - 30 else stop
    return begin, stop


def _marked(text: str, start: int, end: int, places: list[_Place]) -> str:
    parts = ["… " if start and text[:start].strip() else ""]
    at = start
    for place in places:
        parts.append(_shown(text[at : place.start]))
        parts.append(f"<mark>{_shown(text[place.start : place.end])}</mark>")
        at = place.end
    parts.append(_shown(text[at:end]))
    if text[end : end + 200].strip():
        parts.append(" …")
    return "".join(parts).strip()


def _shown(text: str) -> str:
    return escape(_gap(" ", text.encode("utf-8", "replace").decode()), quote=False)
