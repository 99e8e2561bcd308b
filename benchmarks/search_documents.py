"""Documents and queries for the benchmark of the index: as many as are asked for, always the same ones.

Words come as often as they do in real text (Zipf): the small words of a language first, then its content words from the
simulated web, then a long tail of words that are made of its letters. A page has about 4,500 characters of text, as one
of 13.8 KB has.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from gossamer.index import Entry
from gossamer.testing.web.words import CHINESE, ENGLISH, FRENCH, GERMAN, JAPANESE, RUSSIAN, SPANISH, THAI, Language

SHARES: Final = (
    (ENGLISH, 0.60), (GERMAN, 0.10), (FRENCH, 0.08), (SPANISH, 0.08), (JAPANESE, 0.06), (CHINESE, 0.04),
    (RUSSIAN, 0.02), (THAI, 0.02),
)  # fmt: skip
KINDS: Final = ("one", "two", "three", "rare", "frequent", "phrase", "site", "or")
HOSTS: Final = 2000
_VOCABULARY: Final = 60_000
_LENGTH: Final = 4500  # characters of a text, on average
_EPOCH: Final = 1_750_000_000.0


class Query(NamedTuple):
    kind: str
    text: str


class _Speech:
    """A language with a long tail of words, and how often each comes."""

    def __init__(self, language: Language) -> None:
        chance = random.Random(language.code)
        spaced = language.joint == " "
        letters = "".join(language.words)
        tail = set()
        while len(tail) < _VOCABULARY:
            length = chance.randint(5, 11) if spaced else chance.randint(2, 4)
            at = chance.randrange(len(letters) - length)
            other = chance.randrange(len(letters) - length)
            made = letters[at : at + length // 2] + letters[other : other + length - length // 2]
            tail.add(made.lower() if spaced else made)
        content = list(language.words)
        chance.shuffle(content)
        self.language = language
        self.words = np.array([*language.glue, *content, *sorted(tail)], dtype=object)
        weights = (np.arange(len(self.words)) + 2.7) ** -1.07
        self._upto = np.cumsum(weights) / weights.sum()
        often = self.words[np.searchsorted(self._upto, np.random.default_rng(0).random(1000))]
        mean = sum(len(word) for word in often) / 1000 + len(language.joint)
        self._mean = mean if spaced else mean * 3  # as many bytes in UTF-8

    def text(self, chance: np.random.Generator, characters: float) -> str:
        picked = self.words[np.searchsorted(self._upto, chance.random(max(3, int(characters / self._mean))))]
        sentences = []
        for at in range(0, len(picked), 12):
            sentences.append(self.language.joint.join(picked[at : at + 12]))
        return self.language.stop.join(sentences)


def host_name(number: int) -> str:
    return f"www.host{number}.example{number % 7}.org"


def entries(count: int, first: int = 0) -> Iterator[Entry]:
    speeches = [_Speech(language) for language, _ in SHARES]
    shares = np.cumsum([share for _, share in SHARES])
    for number in range(first, first + count):
        chance = np.random.default_rng(number)
        speech = speeches[int(np.searchsorted(shares, chance.random()))]
        host = int(HOSTS * chance.random() ** 3)
        main = speech.text(chance, _LENGTH * float(chance.lognormal(-0.4, 0.8)))
        title = speech.text(chance, 40)
        menu = " ".join(speech.words[40 : 40 + 30])
        inlinks = int(chance.pareto(1.0))
        yield Entry(
            url=f"https://{host_name(host)}/{title.split(' ')[0][:12]}/page-{number}.html",
            fetched_at=_EPOCH + number,
            title=title,
            description=main[:120],
            body=f"{menu} {main}",
            main=main,
            anchors=[title] if inlinks else [],
            inlinks=inlinks,
            language=speech.language.code,
            digest=hashlib.sha1(str(number).encode()).digest(),
        )


def queries(count: int) -> Sequence[Query]:
    """One word, two, three; rare and frequent; phrases and filters: in all languages of the documents."""
    chance = random.Random(count)
    speeches = [(_Speech(language), share) for language, share in SHARES]
    made = []
    for _ in range(count):
        speech = chance.choices([one for one, _ in speeches], [share for _, share in speeches])[0]
        kind = chance.choice(KINDS)
        made.append(Query(kind, _query(kind, speech, chance)))
    return made


def _query(kind: str, speech: _Speech, chance: random.Random) -> str:
    glue, content = len(speech.language.glue), len(speech.language.words)
    words = [str(word) for word in speech.words]
    known, frequent = words[glue : glue + content], words[glue : glue + 40]
    match kind:
        case "two" | "three":
            return " ".join(chance.sample(known, 2 if kind == "two" else 3))
        case "rare":
            return chance.choice(words[glue + content + 2000 : glue + content + 20_000])
        case "frequent":
            return f"{chance.choice(words[:glue])} {chance.choice(frequent)}"
        case "phrase":
            return f'"{speech.language.joint.join(chance.sample(frequent, 2))}"'
        case "site":
            return f"{chance.choice(known)} site:{host_name(chance.randrange(200))}"
        case "or":
            return f"{chance.choice(known)} OR {chance.choice(known)}"
        case _:
            return chance.choice(known)
