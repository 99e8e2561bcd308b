"""Words without their endings, by the language of the page (Snowball, in tantivy)."""

from __future__ import annotations

from functools import cache
from typing import Final

from tantivy import Filter, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

from gossamer.index.letters import folded

STEMMERS: Final = {
    "ar": "arabic", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish", "fi": "finnish",
    "fr": "french", "hu": "hungarian", "it": "italian", "nb": "norwegian", "nl": "dutch", "nn": "norwegian",
    "no": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sv": "swedish", "ta": "tamil",
    "tr": "turkish",
}  # fmt: skip
_CACHED: Final = 100_000


def primary(language: str) -> str:
    """ "pt" of "pt-BR"."""
    return language.partition("-")[0].partition("_")[0].lower()


class Stems(dict[str, str]):
    """A levelled word of one language -> its stem, folded; empty where that is the folded word itself.

    Bounded: it is emptied when full.
    """

    def __init__(self, stemmer: TextAnalyzer) -> None:
        self._stemmer = stemmer

    def __missing__(self, word: str) -> str:
        stem = folded(self._stemmer.analyze(word)[0])
        if stem == folded(word):
            stem = ""
        if len(self) > _CACHED:
            self.clear()
        self[word] = stem
        return stem


@cache
def _by_name(name: str) -> Stems:
    return Stems(TextAnalyzerBuilder(Tokenizer.raw()).filter(Filter.stemmer(name)).build())


def stems_of(language: str) -> Stems | None:
    """None: words of this language are searched as they are."""
    name = STEMMERS.get(primary(language))
    return _by_name(name) if name else None
