"""Words that tell what an index is about, for people who do not know what to ask it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from gossamer.index.letters import folded, level
from gossamer.index.matching import all_pages
from gossamer.index.snapshot import Snapshot
from gossamer.index.words import is_unspaced, words_of

_SAMPLE: Final = 400
"""Pages whose titles are read: those that most link to."""
_COMMON: Final = 0.2
"""The share of pages from which a word tells nothing."""
_NAMED: Final = 0.5
"""The share of titles from which a word tells nothing."""
_FEW: Final = 20
"""Pages up to which nothing is too common."""
_LONGEST_TITLE: Final = 1000
_CUT_OFF: Final = ("…", "...")
_SHORT: Final = 4
_ROW: Final = 2, 6  # letters of a row without spaces that may be a word

_edges = re.compile(r"\A[\W_]++|(?<![\W_])[\W_]++\Z").sub

# Of the languages whose short words are as long as others; those under four letters are left out anyway.
_STOP: Final = frozenset(
    "about after also another because been before being between both could each every from have having here home html "
    "http https into index just like main many more most much must next none only other over page pages part same "
    "search should site some such than that their them then there these they this those through under until using very "
    "welcome were what when where which while will with within without would your untitled document "
    "aber alle auch auf beim dass dein diese dieser durch eine einem einen einer eines für haben hier ihre kann mehr "
    "nach nicht noch oder ohne seite sein seine sich sind über unter vom wenn werden wird zum zur "
    "avec aussi cette comme dans des elle entre est etre leur mais meme nous pour plus sans sont sous sur tous tout "
    "une vers votre vous como con cuando del desde donde ella ellas ellos entre esta este estos hasta las los mas muy "
    "para pero por que sin sobre todo todos una como mais para pelo pela seus suas sobre "
    "или как для что это при все его она они так уже был была были над под без если".split()
)


def telling_words(snapshots: list[Snapshot], count: int) -> list[str]:
    found: Counter[str] = Counter()
    titles = 0
    for snapshot in snapshots:
        hits = snapshot.searcher.search(all_pages(), _SAMPLE, count=False, order_by_field="rank").hits
        for _, address in hits:
            found.update({word for word in _whole_words(snapshot.entry(address).title) if _may_tell(word)})
            titles += 1
    pages = sum(snapshot.pages for snapshot in snapshots)
    chosen: list[str] = []
    for word, times in sorted(found.items(), key=lambda item: (-item[1], item[0])):
        if len(chosen) == count:
            break
        if times > max(1, titles * _NAMED) and titles > _FEW:
            continue  # the name of a site, most likely
        if not _is_common(word, snapshots, pages) and not any(_alike(word, other) for other in chosen):
            chosen.append(word)
    return chosen


def _whole_words(title: str) -> Iterator[str]:
    """Those that people would write so: not the parts of `instal·lació`, nor what a title that was cut ends with."""
    for written in title[:_LONGEST_TITLE].split():
        words = words_of(written)
        bare = _edges("", level(written))
        if words == [bare] and not written.endswith(_CUT_OFF):
            yield bare
        else:
            yield from (word for word in words if is_unspaced(word))


def _may_tell(word: str) -> bool:
    if is_unspaced(word):
        return _ROW[0] <= len(word) <= _ROW[1]
    return len(word) >= _SHORT and not any(letter.isdigit() for letter in word) and folded(word) not in _STOP


def _is_common(word: str, snapshots: list[Snapshot], pages: int) -> bool:
    term = word[:2] if is_unspaced(word) else folded(word)
    having = sum(snapshot.searcher.doc_freq("body", term) for snapshot in snapshots)
    return pages > _FEW and having > pages * _COMMON


def _alike(word: str, other: str) -> bool:
    """Whether they are forms of one word."""
    shared = min(len(word), len(other)) - 2
    return shared > 2 and word[:shared] == other[:shared]
