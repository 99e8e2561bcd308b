"""Words without their endings, by the language of the page (Snowball, in tantivy)."""

from __future__ import annotations

from functools import cache
from typing import Final

from tantivy import Filter, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

from gossamer.index.letters import folded
from gossamer.index.words import CACHED, LONG, words_in

STEMMERS: Final = {
    "ar": "arabic", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish", "fi": "finnish",
    "fr": "french", "hu": "hungarian", "it": "italian", "nb": "norwegian", "nl": "dutch", "nn": "norwegian",
    "no": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sv": "swedish", "ta": "tamil",
    "tr": "turkish",
}  # fmt: skip


def primary(language: str) -> str:
    """ "pt" of "pt-BR"."""
    return language.partition("-")[0].partition("_")[0].lower()


class Stems(dict[bytes, str]):
    """A chunk of text in one language -> the stems of its words that are not the words, with spaces between them.

    Invariant: each begins with the sign of the language, which no word has in it; so a stem is neither taken for a word
    nor for a stem of another language. Bounded: it is emptied when full.
    """

    def __init__(self, stemmer: TextAnalyzer, sign: str) -> None:
        self._stemmer = stemmer
        self._sign = sign

    def __missing__(self, chunk: bytes) -> str:
        if len(chunk) >= LONG:
            return ""
        stems = " ".join([self._sign + stem for word in words_in(chunk) if (stem := self.of(word))])
        if len(self) > CACHED:
            self.clear()
        self[chunk] = stems
        return stems

    def of(self, word: str) -> str:
        """The stem of one word, which is levelled; empty where it is the folded word itself."""
        stem = folded(self._stemmer.analyze(word)[0]) if len(word) < LONG else ""
        return "" if stem == folded(word) else stem

    def signed(self, word: str) -> str:
        """What is written of pages that have this word in another form, be it the stem itself or not."""
        return self._sign + (self.of(word) or folded(word))


@cache
def _by_name(name: str) -> Stems:
    return Stems(TextAnalyzerBuilder(Tokenizer.raw()).filter(Filter.stemmer(name)).build(), f"{name[:2]}:")


def stems_of(language: str) -> Stems | None:
    """None: words of this language are searched as they are."""
    name = STEMMERS.get(primary(language))
    return _by_name(name) if name else None
