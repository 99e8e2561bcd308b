"""The indexes of several agents searched as one: each gives its first results, and the best of all are shown."""

from __future__ import annotations

import base64
import binascii
import time
from collections.abc import Callable, Iterable, Mapping
from heapq import merge
from itertools import zip_longest
from typing import Any, Final

import msgspec
from xxhash import xxh3_64_intdigest

from gossamer.errors import QueryError
from gossamer.index import Answer, DomainCount, Elsewhere, Hit, IndexSize
from gossamer.index.tree import largest, merged
from gossamer.service.questions import (
    DEEPEST,
    MOST_MOVED,
    AskDomains,
    AskHit,
    AskSearch,
    AskSize,
    AskTerms,
    AskVersions,
    Question,
    SearchPart,
)

_FACET: Final = 10  # rows of each
_MOST: Final = 100  # results of a page
_MOST_OLDER: Final = 20_000  # pages that an agent is told to leave out: they have to fit into a question

Ask = Callable[[Question[Any]], dict[str, Any]]
AskEach = Callable[[Mapping[str, Question[Any]]], dict[str, Any]]


class ClusterSearch:
    """Invariants: a URL comes once, as it was fetched last, and is counted once where no more hosts have moved than may
    be asked about. Pages of an answer follow each other while the indexes stay
    as they are; behind the first DEEPEST results there are none.

    A cursor is the number of results before it, so that each agent has to give those as well: that bounds its work.
    """

    def __init__(self, ask: Ask, ask_each: AskEach) -> None:
        self._ask = ask
        self._ask_each = ask_each

    def answer(
        self,
        query: str,
        *,
        limit: int = 10,
        cursor: str = "",
        site: str = "",
        language: str = "",
        domains: bool = False,
    ) -> Answer:
        begun = time.perf_counter()
        asked = xxh3_64_intdigest("\0".join((query, site, language)).encode("utf-8", "replace")) >> 32
        start = _read_cursor(cursor, asked)
        limit = max(1, min(limit, _MOST))
        upto = min(start + limit, DEEPEST)
        question = AskSearch(query, upto, site, language, domains=domains)
        found = self._without_older(question, self._ask(question))
        results = _once(merge(*(_ranked(name, each.results) for name, each in found.items())))
        shown = results[start:upto]
        more = (len(results) > upto or any(each.next for each in found.values())) and upto < DEEPEST and bool(shown)
        return Answer(
            total=sum(each.total for each in found.values()),
            results=shown,
            next=_write_cursor(upto, asked) if more else "",
            seconds=time.perf_counter() - begun,
            query=next((each.query for each in found.values()), query),
            facets=_facets(each.facets for each in found.values()),
            domains=largest(merged(each.domains for each in found.values())),
        )

    def _without_older(self, question: AskSearch, parts: dict[str, SearchPart]) -> dict[str, Answer]:
        """Where hosts that match have moved from one agent to another, all are asked which versions they have; who has
        older ones is asked again, without them.
        """
        found = {name: part.answer for name, part in parts.items()}
        moved = sorted({host for part in parts.values() for host in part.moved or ()})
        if not moved or len(moved) > MOST_MOVED or len(found) < 2:
            return found
        versions: dict[str, dict[int, int] | None] = self._ask(AskVersions(tuple(moved)))
        older = older_versions({name: each for name, each in versions.items() if each is not None})
        again = {
            name: msgspec.structs.replace(question, elsewhere=Elsewhere(tuple(moved), keys))
            for name, keys in older.items()
            if name in found and found[name].total and len(keys) <= _MOST_OLDER
        }
        return found | {name: part.answer for name, part in self._ask_each(again).items()}

    def size(self) -> IndexSize:
        found: list[IndexSize] = list(self._ask(AskSize()).values())
        newest = max((each.newest for each in found), default=0.0)
        return IndexSize(sum(each.pages for each in found), sum(each.hosts for each in found), newest)

    def terms(self, count: int) -> list[str]:
        lists: list[list[str]] = list(self._ask(AskTerms(count)).values())
        by_turns = (word for words in zip_longest(*lists) for word in words if word is not None)
        return list(dict.fromkeys(by_turns))[:count]

    def domains(self, under: str = "") -> list[DomainCount]:
        whole: dict[str, DomainCount] = {}
        for found in self._ask(AskDomains(under)).values():
            for each in found:
                known = whole.get(each.name, DomainCount(each.name, 0, 0, False))
                whole[each.name] = DomainCount(
                    each.name,
                    known.hosts + each.hosts,
                    known.pages + each.pages,
                    known.has_children or each.has_children,
                )
        return sorted(whole.values(), key=lambda each: (-each.pages, each.name))

    def page(self, url: str) -> Hit | None:
        found: list[Hit | None] = list(self._ask(AskHit(url)).values())
        return max((hit for hit in found if hit is not None), key=lambda hit: hit.fetched_at, default=None)


def older_versions(versions: Mapping[str, Mapping[int, int]]) -> dict[str, frozenset[int]]:
    """By agent, the keys of pages of which another one has a newer version. Of two that are as new, the first by name
    keeps it.
    """
    newest: dict[int, tuple[int, str]] = {}
    for name in sorted(versions):
        for key, at in versions[name].items():
            if key not in newest or at > newest[key][0]:
                newest[key] = at, name
    older = {name: frozenset(key for key in each if newest[key][1] != name) for name, each in versions.items()}
    return {name: keys for name, keys in older.items() if keys}


def _ranked(name: str, hits: Iterable[Hit]) -> Iterable[tuple[float, int, str, Hit]]:
    """The best first; where results have no worth, by turns."""
    return ((-hit.score, place, name, hit) for place, hit in enumerate(hits))


def _once(ranked: Iterable[tuple[float, int, str, Hit]]) -> list[Hit]:
    """Of a page that several have stored, the newest."""
    results = [hit for *_, hit in ranked]
    newest: dict[str, Hit] = {}
    for hit in results:
        known = newest.get(hit.url)
        if known is None or hit.fetched_at > known.fetched_at:
            newest[hit.url] = hit
    return [hit for hit in results if newest[hit.url] is hit]


def _facets(found: Iterable[dict[str, list[tuple[str, int]]]]) -> dict[str, list[tuple[str, int]]]:
    """Dates keep their order; of sites and languages, the most come first."""
    whole: dict[str, dict[str, int]] = {}
    for facets in found:
        for name, counts in facets.items():
            rows = whole.setdefault(name, {})
            for value, number in counts:
                rows[value] = rows.get(value, 0) + number
    return {
        name: list(rows.items()) if name == "date" else sorted(rows.items(), key=lambda row: (-row[1], row[0]))[:_FACET]
        for name, rows in whole.items()
    }


def _write_cursor(start: int, asked: int) -> str:
    return base64.urlsafe_b64encode(msgspec.msgpack.encode((start, asked))).decode().rstrip("=")


def _read_cursor(cursor: str, asked: int) -> int:
    if not cursor:
        return 0
    try:
        packed = base64.b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4), b"-_", validate=True)
        start, of = msgspec.msgpack.decode(packed, type=tuple[int, int])
        if not 0 < start < DEEPEST:
            raise ValueError
    except (binascii.Error, ValueError, msgspec.MsgspecError):
        raise QueryError(
            0, "The cursor is not one that a search gave. Leave it out to begin with the first page."
        ) from None
    if of != asked:
        raise QueryError(0, "The cursor belongs to another query. Leave it out to begin with the first page.")
    return start
