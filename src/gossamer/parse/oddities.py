"""How unlikely a reading of a page is: what no text has, and what every wrong encoding makes of one.

A wrong encoding shows in any language and needs no dictionary: capitals inside words, signs inside words, words of two
scripts, words of nothing but accented letters, code points that are no characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Final

_LETTERS: Final = "A-Za-z\xc0-\xd6\xd8-\xf6\xf8-\u024f\u0370-\u06ff\u1e00-\u1eff"
_LATIN: Final = "A-Za-z\xc0-\xd6\xd8-\xf6\xf8-\u024f"
_SIGNS: Final = (
    "\xa1-\xa9\xab\xac\xae-\xb6\xb8\xb9\xbb-\xbf\xd7\xf7\u02c6\u02dc\u2020-\u2022\u2030\u2039\u203a\u20ac\u201a\u201e"
)
# Pairs of bytes that are the letters of everyday text in an East Asian encoding, and its punctuation.
_EVERYDAY: Final = {
    "gbk": rb"[\xb0-\xd7\xa1\xa3][\xa1-\xfe]",
    "big5": rb"[\xa4-\xc6][\x40-\x7e\xa1-\xfe]|[\xa1-\xa3][\x40-\x7e\xa1-\xfe]",
    "euc-kr": rb"[\xb0-\xc8\xa1\xa3][\xa1-\xfe]",
    "euc-jp": rb"[\xa1-\xa5\xb0-\xcf][\xa1-\xfe]",
    "shift_jis": rb"[\x81-\x83\x88-\x97][\x40-\x7e\x80-\xfc]|[\xa1-\xdf]",
}
_capitals = re.compile("[А-Я]")
_small = re.compile("[а-я]")
_frequent = re.compile("[оеаинтОЕАИНТ]")
_EVERYDAY_OF: Final = _EVERYDAY | {"gb18030": _EVERYDAY["gbk"]}


def oddities(text: str) -> int:
    """How many characters of `text` are where no writer would put them."""
    return sum(map(len, _odd().findall(text)))


def shouting(text: str) -> int:
    """Capitals beyond the number of small letters: one encoding of Cyrillic has them where another has the small."""
    return max(len(_capitals.findall(text)) - len(_small.findall(text)), 0)


def frequent(text: str) -> int:
    """How many letters are the most frequent ones of languages in Cyrillic."""
    return len(_frequent.findall(text))


def rarities(body: bytes, name: str) -> int:
    """How many characters of an East Asian encoding are none of its everyday ones."""
    rare = _rare(name)
    return 0 if rare is None else sum(1 for found in rare.finditer(body) if found[1] is not None)


@cache
def _odd() -> re.Pattern[str]:
    latin_and_on = [chr(code) for code in (*range(0xC0, 0x250), *range(0x370, 0x530))]
    lower = _class(char for char in latin_and_on if char.islower())
    upper = _class(char for char in latin_and_on if char.isupper())
    return re.compile(
        "[\ufffd\x80-\x9f\ue000-\uf8ff]"
        f"|(?<=[a-z{lower}])[{upper}]"
        f"|(?<=[{_LETTERS}])[{_SIGNS}](?=[{_LETTERS}])"
        # Signs alone are an ornament.
        "|(?<![\xa1-\u024f])(?=[\xa1-\u024f]{4})[\xa1-\xbf]*+[\xc0-\u024f][\xa1-\u024f]*+"
        f"|(?<=[{_LATIN}])[\u0370-\u06ff]|(?<=[\u0370-\u06ff])[{_LATIN}]"
    )


@cache
def _rare(name: str) -> re.Pattern[bytes] | None:
    everyday = _EVERYDAY_OF.get(name)
    return (
        None if everyday is None else re.compile(rb"[\x00-\x7f]++|" + everyday + rb"|([\x80-\xff][\x40-\xff]?)", re.S)
    )


def _class(chars: Iterable[str]) -> str:
    return "".join(chars)
