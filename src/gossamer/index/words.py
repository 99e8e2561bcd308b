"""Text to the words that are searched, the same for pages and queries.

Where a script puts spaces between words they are the words, folded. Where it puts none (Japanese, Chinese, Thai …)
every two letters that follow each other are one, and the last of a row stands alone besides, so that each letter begins
a word. What joins words in programs (`asyncio.gather`, `pg_dump`, `3.11`) parts them here: they are found as words that
follow each other. `C++`, `C#` and the like stay whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gossamer.index.letters import DROPPED, folded, level

MAX_WORD: Final = 100
"""Bytes; longer ones are no words, and are left out by the index."""
MAX_TEXT: Final = 256 * 1024
"""Characters of a text that are searched."""
_CACHED: Final = 200_000
_LONG: Final = 24
"""Characters from which a word is not remembered: it is a row of letters or an accident, and will not come again."""

_KANA_HAN: Final = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
UNSPACED: Final = (
    _KANA_HAN + "\u1100-\u11ff\uac00-\ud7ff"  # Hangul
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf"  # Thai, Lao
    "\u1000-\u103f\u1050-\u108f\u109a-\u109f\u1780-\u17d3\u17d7\u17dc\u17dd"  # Burmese, Khmer
)
"""Scripts without spaces between words, and Hangul, whose words have endings, as the inside of a class in a pattern."""
# Marks that are part of a word but no letters to `\w`: those of India's scripts, and those that are dropped later.
_INSIDE: Final = (
    DROPPED + "\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc-\u09cd\u0a01-\u0dff\u0f71-\u0f87"
)
_WORD: Final = rf"[^\W_{UNSPACED}]++(?:[{_INSIDE}]++[^\W_{UNSPACED}]*+)*+"
_MARKS: Final = r"(?<![^\W_][^\W_].)(?:\+\+|\#)(?![^\W_])"
_ascii_words = re.compile(rf"[a-z0-9]++(?:{_MARKS})?").findall
_all_words = re.compile(rf"[{UNSPACED}]++|{_WORD}(?:{_MARKS})?").findall
_is_unspaced = re.compile(rf"[{UNSPACED}]").match
_torn = re.compile(rf"(?<=[{_KANA_HAN}])[ \n](?=[{_KANA_HAN}])").sub


class _Searched(dict[str, str]):
    """A levelled word -> what is searched of it, words with spaces between them. Bounded: it is emptied when full."""

    def __missing__(self, word: str) -> str:
        searched = " ".join(pairs(word)) if _is_unspaced(word) else folded(word)
        if len(word) < _LONG:
            if len(self) > _CACHED:
                self.clear()
            self[word] = searched
        return searched


_searched = _Searched()


def pairs(row: str) -> list[str]:
    """Each two letters of a row without spaces, and the last."""
    return [row[at : at + 2] for at in range(len(row))]


def is_unspaced(word: str) -> bool:
    return _is_unspaced(word) is not None


def words_of(text: str) -> list[str]:
    """The words of a text as they are written, levelled: not yet folded, and rows without spaces whole."""
    text = level(text[:MAX_TEXT])
    if text.isascii():
        return _ascii_words(text)
    # Lines are broken anywhere in Japanese and Chinese; a space that was meant is not missed.
    return _all_words(_torn("", text[:MAX_TEXT]))


def searched(words: list[str]) -> list[str]:
    """What is searched of them; one may be several words with spaces between."""
    return [_searched[word] for word in words]


def single(words: list[str]) -> Iterator[str]:
    for word in words:
        yield from _searched[word].split()
