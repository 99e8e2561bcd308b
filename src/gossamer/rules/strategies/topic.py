"""What a topic is, and how much a text is about it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice
from math import log, sqrt
from typing import Final

_MOST_WORDS: Final = 200  # that a topic made of examples has
_READ: Final = 20_000  # words of one page
_LEARN: Final = 1_000  # pages that show how common a word is
_TOO_COMMON: Final = 0.5  # share of pages from which a word of the examples says nothing
_words = re.compile(r"[^\W\d_]{2,}|[぀-ヿ㐀-鿿가-힯฀-๿]{2,}").findall
_UNSPACED: Final = re.compile(r"[぀-ヿ㐀-鿿฀-๿]")
STOP: Final = frozenset(
    """
    the of and to in is that for on with as at by from it be are was or an this which not have has were but had his her
    their its can will all one more when who what there been if no would about out up into than them some could other
    der die das und ist von den mit sich des auf für nicht ein eine dem auch als es an werden aus er hat dass sie nach
    bei um am sind noch wie einem über einen so zum war haben nur oder aber le la les de des du et un une est que qui
    dans pour sur pas au par avec ce se plus ne sont il elle el los las en por con para una su al lo como más pero sus
    http https www html com org net home page search contact copyright all rights reserved
    """.split()
)


def words_in(text: str) -> list[str]:
    """Words in small letters; scripts without spaces in pairs of letters."""
    found = []
    for word in islice(_words(text.casefold()), _READ):
        if len(word) > 2 and _UNSPACED.match(word):
            found += [word[place : place + 2] for place in range(len(word) - 1)]
        else:
            found.append(word)
    return found


class Topic:
    """Words and how much each says. How common those of examples are is learned from the first pages of the crawl.

    Invariant: after that nothing changes: the same page is judged the same.
    """

    def __init__(self, words: Iterable[str], examples: Iterable[str] = (), not_with: Iterable[str] = ()) -> None:
        self._given = set(words)
        self._weights = dict.fromkeys(self._given, 1.0)
        self._not_with = frozenset(not_with)
        self._examples: Counter[str] = Counter()
        self._seen: Counter[str] = Counter()  # pages with each word of the examples
        self._pages = 0
        for text in examples:
            self.add_example(text)
        self._weigh()

    @property
    def empty(self) -> bool:
        return not self._weights

    def add_example(self, text: str) -> None:
        counts = Counter(word for word in words_in(text) if len(word) > 1 and word not in STOP)
        self._examples.update({word: 1 + log(count) for word, count in counts.items()})
        if len(self._examples) > 50 * _MOST_WORDS:
            self._examples = Counter(dict(self._examples.most_common(25 * _MOST_WORDS)))
        self._weigh()

    def _weigh(self) -> None:
        weights = {}
        for word, weight in self._examples.items():
            common = self._seen[word] / self._pages if self._pages >= 20 else 0.0
            if common < _TOO_COMMON:
                weights[word] = weight * log(1 / max(common, 1e-3))
        chosen = sorted(weights, key=weights.__getitem__, reverse=True)[:_MOST_WORDS]
        most = max((weights[word] for word in chosen), default=1.0)
        self._weights = {word: weights[word] / most for word in chosen}
        self._weights |= dict.fromkeys(self._given, 1.0)
        self._norm = sqrt(sum(weight * weight for weight in self._weights.values())) or 1.0

    def score(self, words: list[str]) -> float:
        """From 0 to 1: the cosine between a text and the topic."""
        counts = Counter(words)
        if not counts or not self._not_with.isdisjoint(counts):
            return 0.0
        about = sum(weight * (1 + log(counts[word])) for word, weight in self._weights.items() if word in counts)
        if not about:
            return 0.0
        norm = sqrt(sum((1 + log(count)) ** 2 for count in counts.values()))
        return about / (norm * self._norm)

    def saw(self, words: Iterable[str]) -> None:
        """A page of the crawl has these words."""
        if not self._examples or self._pages >= _LEARN:
            return
        self._pages += 1
        self._seen.update(set(words) & self._examples.keys())
        if self._pages % 50 == 0:
            self._weigh()

    def share(self, words: list[str]) -> float:
        """How many of a few words are of the topic, by their weight, at most 1."""
        if not words:
            return 0.0
        found = sum(self._weights.get(word, 0.0) for word in set(words))
        return min(1.0, found / min(len(words), 3))

    def __contains__(self, word: str) -> bool:
        return word in self._weights

    def kept(self) -> tuple[int, Mapping[str, int], Mapping[str, float]]:
        return self._pages, self._seen, self._examples

    def take(self, pages: int, seen: Mapping[str, int], examples: Mapping[str, float]) -> None:
        """What `kept` gave."""
        self._pages, self._seen = pages, Counter(seen)
        self._examples = Counter(examples)
        self._weigh()
