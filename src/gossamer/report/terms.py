"""What a site is about: words that are in more of its pages than in those of others (D10)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import log
from typing import Final

from gossamer.index.words import is_unspaced, words_of

_LONGEST_ROW: Final = 6  # letters of a row without spaces that may be a word
_MOST_LETTERS: Final = 20_000  # of a page


def terms(own: Iterable[str], others: Iterable[str], most: int) -> list[tuple[str, int, int]]:
    """From texts of pages: word, pages of the site that have it, pages of others that have it; the most telling first.

    A word counts once a page, so that one long page does not speak for all. Its weight is what it tells about which of
    the two a page belongs to (Kullback and Leibler); words of every page, menus included, weigh as much as others do
    not have them.
    """
    here, pages = _counted(own)
    there, background = _counted(others)
    least = 2 if pages >= 3 else 1
    weighed = []
    for word, count in here.items():
        share, usual = count / pages, (there[word] + 0.5) / (background + 1)
        if count >= least and share > usual:
            weighed.append((-share * log(share / usual), word))
    return [(word, here[word], there[word]) for _, word in sorted(weighed)[:most]]


def _counted(texts: Iterable[str]) -> tuple[Counter[str], int]:
    counts: Counter[str] = Counter()
    pages = 0
    for text in texts:
        pages += 1
        counts.update({word for word in words_of(text[:_MOST_LETTERS]) if _may_tell(word)})
    return counts, pages


def _may_tell(word: str) -> bool:
    if is_unspaced(word):
        return 2 <= len(word) <= _LONGEST_ROW
    return 3 <= len(word) <= 40 and not any(map(str.isdigit, word))
