"""Titles and paragraphs, made once per language and charset and then only picked from.

A page is a choice of some six of 512 blocks of two paragraphs, so no two pages read alike and none is stored.
"""

from __future__ import annotations

from functools import lru_cache

from gossamer.testing.web.dice import Draws, mix
from gossamer.testing.web.paths import page_path
from gossamer.testing.web.words import LANGUAGES, TRADITIONAL, Language

TITLES = 2048  # powers of two: picked by masking bits
BLOCKS = 512
_PARAGRAPH_BYTES = 480  # in UTF-8
_CACHED_ITEMS = 32_768

_CODECS = {"windows-874": "cp874", "windows-1251": "cp1251"}


class Pool:
    """Ready bytes of one language in one charset.

    Invariant: the same seed, language and charset give the same bytes, and the same text in every charset
    (Big5 apart, which has it in traditional characters).
    """

    __slots__ = ("_items", "blocks", "charset", "language", "titles")

    def __init__(self, seed: int, language: str, charset: str, source: Language | None = None) -> None:
        """`source`: how it is written, if not as the language is."""
        self.language = language
        self.charset = charset
        source = source or LANGUAGES[language]
        draws = Draws(mix(seed, int.from_bytes(language.encode())))
        self.titles = [self.encode(_title(source, draws)) for _ in range(TITLES)]
        self._items: dict[int, bytes] = {}
        self.blocks = [
            self.encode(f"<p>{_paragraph(source, draws)}</p>\n<p>{_paragraph(source, draws)}</p>\n")
            for _ in range(BLOCKS)
        ]

    def items(self, pages: list[int]) -> list[bytes]:
        """List items that link to these pages of the same host; pages are linked often, so items are kept."""
        known = self._items
        return [known.get(page) or self._item(page) for page in pages]

    def _item(self, page: int) -> bytes:
        if len(self._items) >= _CACHED_ITEMS:
            self._items.clear()
        item = b'<li><a href="%b">%b</a>\n' % (page_path(page), self.titles[page % TITLES])
        self._items[page] = item
        return item

    def encode(self, text: str) -> bytes:
        if self.charset == "big5":
            text = text.translate(TRADITIONAL)
        return text.encode(_CODECS.get(self.charset, self.charset))

    def decode(self, data: bytes, errors: str = "strict") -> str:
        return data.decode(_CODECS.get(self.charset, self.charset), errors)


@lru_cache(maxsize=64)
def pool(seed: int, language: str, charset: str) -> Pool:
    return Pool(seed, language, charset)


def _words(language: Language, draws: Draws, count: int) -> str:
    """`count` content words with small words between some of them."""
    parts: list[str] = []
    for position in range(count):
        if position and draws.below(5) < 3:
            parts.append(language.glue[draws.below(len(language.glue))])
        parts.append(language.words[draws.below(len(language.words))])
    return language.joint.join(parts)


def _title(language: Language, draws: Draws) -> str:
    text = _words(language, draws, 3 + draws.below(3))
    return text[0].upper() + text[1:]


def _sentence(language: Language, draws: Draws) -> str:
    text = _words(language, draws, 4 + draws.below(6))
    if draws.below(3) == 0:
        text += language.comma + _words(language, draws, 2 + draws.below(4))
    return text[0].upper() + text[1:] + language.stop


def _paragraph(language: Language, draws: Draws) -> str:
    text, size = "", 0
    wanted = _PARAGRAPH_BYTES // 2 + draws.below(_PARAGRAPH_BYTES)
    while size < wanted:
        sentence = _sentence(language, draws)
        text += sentence
        size += len(sentence.encode())
    return text.rstrip()
