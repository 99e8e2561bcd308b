"""Text to the words that are searched, the same for pages and queries.

Where a script puts spaces between words they are the words, folded. Where it puts none (Japanese, Chinese, Thai …)
every two letters that follow each other are one, and the last of a row stands alone besides, so that each letter begins
a word. What joins words in programs (`asyncio.gather`, `pg_dump`, `3.11`) parts them here: they are found as words that
follow each other. `C++`, `C#` and the like stay whole.

A text is cut in chunks at everything in ASCII that is no letter and no digit, by means of bytes, which is quick. What
is in a chunk is worked out once and remembered, since most chunks come again and again.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from gossamer.index.letters import DROPPED, folded, level

MAX_WORD: Final = 100
"""Bytes; longer ones are no words, and are left out by the index."""
MAX_TEXT: Final = 256 * 1024
"""Characters of a text that are searched."""
CACHED: Final = 200_000
LONG: Final = 48
"""Bytes from which a chunk is not remembered: it is a row of letters or an accident, and will not come again."""

_BY_BYTES: Final = 32

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
_all_words = re.compile(rf"[{UNSPACED}]++|[^\W_{UNSPACED}]++(?:[{_INSIDE}]++[^\W_{UNSPACED}]*+)*+(?:\+\+|\#)?").findall
_is_unspaced = re.compile(rf"[{UNSPACED}]").match
_torn = re.compile(rf"[ \n](?<=[{_KANA_HAN}].)(?=[{_KANA_HAN}])", re.S).sub

# Signs that are part of a name stand in bytes that UTF-8 does not have, so that they survive the cutting.
_signed = re.compile(rb"(?<![A-Za-z0-9\x80-\xff])([A-Za-z0-9]{1,2})(\+\+|#)(?![A-Za-z0-9\x80-\xff])").sub
_SIGNS: Final = {b"++": b"\xfe", b"#": b"\xff"}
_CUT: Final = bytes(
    code
    if code >= 0x80 or chr(code).isdigit() or chr(code).islower()
    else ord(chr(code).lower())
    if chr(code).isupper()
    else 32
    for code in range(256)
)
_NOT_ROWS: Final = bytes(code for code in range(256) if code not in range(0xE3, 0xF5))
"""All bytes but those that letters of Chinese and Japanese begin with in UTF-8 (and some others)."""


class _Searched(dict[bytes, str]):
    """A chunk -> what is searched of it, words with spaces between them. Bounded: it is emptied when full."""

    def __missing__(self, chunk: bytes) -> str:
        words = words_in(chunk)
        searched = " ".join([_row(word) if _is_unspaced(word) else folded(word) for word in words])
        if len(chunk) < LONG:
            if len(self) > CACHED:
                self.clear()
            self[chunk] = searched
        return searched


_searched = _Searched()


def chunks_of(text: str) -> list[bytes]:
    return _cut(text[:MAX_TEXT]).split()


def searched(text: str) -> tuple[str, list[bytes]]:
    """The words of a text with spaces between them, as they are searched, and its chunks."""
    cut = _cut(text[:MAX_TEXT])
    chunks = cut.split()
    if cut.isascii():
        return cut.decode(), chunks
    return " ".join([_searched[chunk] for chunk in chunks]), chunks


def words_in(chunk: bytes) -> list[str]:
    """The words in a chunk, levelled: not yet folded, and rows without spaces whole."""
    if chunk.isascii():
        return [chunk.decode()]
    if chunk[-1] >= 0xFE:
        return [chunk[:-1].decode("ascii", "replace") + ("++" if chunk[-1] == 0xFE else "#")]
    found: list[str] = _all_words(level(chunk.decode("utf-8", "replace")))
    return found


def words_of(text: str) -> list[str]:
    return [word for chunk in chunks_of(text) for word in words_in(chunk)]


def pairs(row: str) -> list[str]:
    """Each two letters of a row without spaces, and the last."""
    return [one + other for one, other in pairwise(row)] + [row[-1]]


def _row(row: str) -> str:
    """The pairs of a row with spaces between them; those of a long one by means of bytes, in a third of the time."""
    units = row.encode("utf-16-le", "surrogatepass")
    if len(row) < _BY_BYTES or len(units) != 2 * len(row):
        return " ".join(pairs(row))
    made = bytearray(" ".encode("utf-16-le") * (3 * len(row)))
    letters, spread = memoryview(units).cast("H"), memoryview(made).cast("H")
    spread[0::3] = letters
    spread[1:-2:3] = letters[1:]
    return made.decode("utf-16-le", "surrogatepass").rstrip()


def is_unspaced(word: str) -> bool:
    return _is_unspaced(word) is not None


def _cut(text: str) -> bytes:
    cut = text.encode("utf-8", "replace")
    if not text.isascii() and cut.translate(None, _NOT_ROWS):
        # Lines are broken anywhere in Japanese and Chinese; a space that was meant is not missed.
        cut = _torn("", text).encode("utf-8", "replace")
    if b"++" in cut or b"#" in cut:
        cut = _signed(lambda found: found[1] + _SIGNS[found[2]], cut)
    return cut.translate(_CUT)
