"""A simulated web with topics: what each page is about, where it leads, and the words that show it.

Hosts have a topic, and most of their pages are about it. Of the links that are not the tree of a host, a stated share
leads to pages of the same topic, wherever they are (topical locality). Texts and the words of links are drawn from the
vocabulary of a topic, made up so that no word belongs to two by accident; some words of others are in each.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from gossamer.testing.web.dice import Draws, mix, share, step
from gossamer.testing.web.graph import CHILDREN, Graph
from gossamer.testing.web.profile import Topics
from gossamer.testing.web.text import Pool
from gossamer.testing.web.words import ENGLISH, Language

WORDS = 24  # of a topic
_OFTEN = 3  # times as often as a word of no topic
_OTHERS = 12  # words of other topics that are in each
_LINKS = 16
_TRIES = 8
_BEGIN = "b br c cl d dr f fl g gr h k kr l m n p pl qu r s sk sp st t tr v w y z".split()
_MIDDLE = "a e i o u ai au ea ee ia io oa oo ou".split()
_END = "b ck d ff g l ll m n nd ng nt p r rn s sk ss st t th x z".split()


@lru_cache(maxsize=8)
def vocabularies(seed: int, topics: int) -> tuple[tuple[str, ...], ...]:
    """The words of each topic; no two have one in common, nor with English as it is simulated."""
    draws, known = Draws(mix(seed, 0x70, topics)), set(ENGLISH.words) | set(ENGLISH.glue)
    found: list[str] = []
    while len(found) < topics * WORDS:
        parts = [part[draws.below(len(part))] for part in (_BEGIN, _MIDDLE, _END, _MIDDLE, _END)]
        word = "".join(parts)
        if word not in known:
            known.add(word)
            found.append(word)
    return tuple(tuple(found[start : start + WORDS]) for start in range(0, len(found), WORDS))


@lru_cache(maxsize=256)
def topic_pool(seed: int, topics: int, topic: int) -> Pool:
    """Titles and paragraphs about a topic: about a quarter of the words of their content are its own."""
    words = vocabularies(seed, topics)
    others = [words[(topic + turn + 1) % topics][turn % WORDS] for turn in range(_OTHERS)] if topics > 1 else []
    return Pool(seed + topic, "en", "utf-8", _written(words[topic] * _OFTEN, tuple(others)))


def _written(own: tuple[str, ...], others: tuple[str, ...]) -> Language:
    return ENGLISH._replace(words=(*ENGLISH.words, *own, *others))


class TopicGraph(Graph):
    """Invariants: those of every graph; and of the links that are not a host's tree or its way to other hosts, the
    share `locality` leads to pages of the same topic, but for draws that find none.
    """

    __slots__ = ("topics",)

    def __init__(self, seed: int, hosts: int, size: Callable[[int], int], topics: Topics) -> None:
        super().__init__(seed, hosts, size)
        self.topics = topics

    def topic(self, host: int, page: int) -> int:
        """What a page is about: mostly what its host is about. A front page always is."""
        own = host % self.topics.number
        x = mix(self._seed, host, page ^ 0x7091C)
        if not page or share(x) < self.topics.purity:
            return own
        return (x >> 7) % self.topics.number

    def links(self, host: int, page: int, size: int) -> tuple[list[int], list[tuple[int, int]], int]:
        first = CHILDREN * page + 1
        inside = [0, *range(first, min(first + CHILDREN, size))] if first < size else [0]
        across: list[tuple[int, int]] = []
        if page == 0:
            across = super().links(host, page, size)[1]
        topic = self.topic(host, page)
        x = mix(self._seed, host, page ^ 0x11A5)
        wanted = _LINKS - len(inside) - len(across)
        for _ in range(wanted):
            x = step(x)
            same = share(mix(x)) < self.topics.locality
            target, x = self._target(topic, same, x)
            if target != (host, page) and target not in across:
                across.append(target)
        return inside, across, -1

    def _target(self, topic: int, same: bool, x: int) -> tuple[tuple[int, int], int]:
        hosts, number = self._hosts, self.topics.number
        target = 0, 0
        for _ in range(_TRIES):
            x = step(x)
            other = (x >> 33) % hosts
            if same and hosts >= number:
                other = topic + number * ((x >> 33) % ((hosts - topic + number - 1) // number))
            x = step(x)
            target = other, (x >> 33) % self._size(other)
            if (self.topic(*target) == topic) is same:
                break
        return target, x
