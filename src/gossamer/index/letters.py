"""Letters that mean the same are made the same: width, case, accents.

`folded` is what the words of pages and of queries go through, so that `Ｃａｆé`, `CAFE` and `café` are one word. Marks
are taken off letters of Latin and Greek, points off Hebrew and Arabic. In other scripts they make another letter (か
and が, й and и) and stay.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from itertools import pairwise
from typing import Final

_BY_HAND: Final = {
    "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ħ": "h", "ı": "i", "ŋ": "n",
    "ŧ": "t", "ə": "e", "ё": "е", "ѐ": "е", "ѝ": "и", "ς": "σ",
    "أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ی": "ي", "ک": "ك", "ة": "ه",
}  # fmt: skip
"""What decomposition does not find."""
_MARKED: Final = ((0xC0, 0x250), (0x370, 0x400), (0x1E00, 0x2000))
"""Latin and Greek: letters here are without their marks what people type."""
DROPPED: Final = (
    # Soft hyphens, joiners and marks of direction; marks that were not part of a letter; what chooses a glyph.
    "\u00ad\u034f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\u0300-\u0360\ufe00-\ufe0f"
    # The points of Hebrew and Arabic, and the stroke that only fills a line.
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u065f\u0670"
)
"""Characters that no word needs, as the inside of a class in a pattern."""


@cache
def _table() -> dict[int, str | None]:
    table: dict[int, str | None] = {ord(letter): plain for letter, plain in _BY_HAND.items()}
    for first, end in _MARKED:
        for code in range(first, end):
            letter = chr(code)
            parts = unicodedata.normalize("NFD", letter)
            if parts != letter and letter not in _BY_HAND:
                table[code] = "".join(part for part in parts if not unicodedata.combining(part))
    ends = DROPPED.split("-")
    for before, after in pairwise(ends):
        for code in range(ord(before[-1]), ord(after[0]) + 1):
            table[code] = None
    for single in DROPPED.replace("-", ""):
        table[ord(single)] = None
    # The digits of all scripts are one.
    for code in range(0x660, 0x20000):
        letter = chr(code)
        if letter.isdecimal() and code not in table:
            table[code] = str(unicodedata.decimal(letter))
    return table


def level(text: str) -> str:
    """One width and one case. May be longer than the text: NFKC writes some letters as several."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).lower()


def folded(word: str) -> str:
    """`word`, which `level` has gone through, without what is not told apart."""
    return word if word.isascii() else word.translate(_table())
