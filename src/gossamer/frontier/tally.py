"""What follows from the records of a partition: how many there are of each kind, and keys in the index and in `due`."""

from __future__ import annotations

import msgspec

from gossamer.frontier import keys
from gossamer.frontier.counts import Counts
from gossamer.frontier.hosts import Chunk
from gossamer.model import Exclusion, State
from gossamer.rules.url_rules import UrlRules

_READ_FOR_LINKS = frozenset({Exclusion.SITEMAP, Exclusion.FEED})


class Totals(msgspec.Struct):
    """What `Counts` has of one partition."""

    urls: int = 0
    queued: int = 0
    fetched: int = 0
    dead: int = 0
    excluded: int = 0
    hosts: int = 0
    aside: int = 0
    revisits: int = 0
    requested: int = 0
    pattern_pages: dict[str, int] = {}

    def add_to(self, counts: Counts, sign: int = 1) -> None:
        """`sign` -1: they are no longer there."""
        counts.urls += sign * self.urls
        counts.queued += sign * self.queued
        counts.fetched += sign * self.fetched
        counts.dead += sign * self.dead
        counts.excluded += sign * self.excluded
        counts.hosts += sign * self.hosts
        counts.aside += sign * self.aside
        counts.revisits += sign * self.revisits
        counts.requested += sign * self.requested
        for pattern, pages in self.pattern_pages.items():
            # Pages from before there was a cap were not counted.
            counts.pattern_pages[pattern] = max(counts.pattern_pages.get(pattern, 0) + sign * pages, 0)


class Tally:
    """Told of all records of a partition, each family in the order of its keys.

    Invariant: what it has counted and named is what the records say that it was told of.
    """

    def __init__(self, rules: UrlRules | None = None) -> None:
        self.number = 0  # of the last chunk
        self.all_enrolled = True  # every visit that could be made again has a time, or waits for that
        self._states = [0] * (max(State) + 1)
        self._totals = Totals()
        self._rules = rules if rules is not None and rules.capped else None
        self._settled: dict[int, tuple[int, list[int]]] = {}  # of the present host
        self._indexed = b""

    @property
    def totals(self) -> Totals:
        found, states = self._totals, self._states
        found.queued, found.fetched = states[State.QUEUED], states[State.FETCHED]
        found.dead, found.excluded = states[State.DEAD], states[State.EXCLUDED]
        found.urls = sum(states)
        return found

    def visit(self, key: bytes, value: bytes) -> bytes | None:
        """Gives the key that it has in `due`."""
        state = value[0]
        self._states[state] += 1
        if state == State.QUEUED:
            return None
        if state == State.FETCHED and self._rules is not None:
            self._count_for_pattern(keys.read_visit(key, value).url, self._rules)
        if not keys.has_again(value):
            if state == State.FETCHED or keys.left_out(value) in _READ_FOR_LINKS:
                self.all_enrolled = False
            return None
        due = keys.due_of(value)
        return keys.due_key(due, key) if due else None

    def _count_for_pattern(self, url: str, rules: UrlRules) -> None:
        rule = rules.of(url)
        if rule is not None and rule.max_pages:
            pages = self._totals.pattern_pages
            pages[rule.pattern] = pages.get(rule.pattern, 0) + 1

    def host(self, key: bytes, value: bytes) -> bytes | None:
        """Gives a key of the index, where it has one that was not given before."""
        cut = key.index(b"\0", 2) + 1
        kind = key[cut : cut + 1]
        if kind == keys.RECORD:
            self._totals.hosts += 1
            self._settled = {row[0]: (row[1], row[2]) for row in keys.HostRecord.unpack(value).done}
        if kind != keys.QUEUE:
            return None
        priority, number = key[cut + 1], keys.number_of(key)
        self.number = max(self.number, number)
        if priority == keys.ASIDE or not value.isascii():  # the mark of a visit that is made again is not
            chunk = Chunk(number, keys.read_chunk(value), stored=True)
            chunk.forget(*self._settled.get(priority, (0, [])))
            if priority == keys.ASIDE:
                self._totals.aside += chunk.left
            else:
                revisits, requested = keys.revisits_in(chunk.entries)
                self._totals.revisits += revisits
                self._totals.requested += requested
        index = keys.index_key(priority, keys.epoch(number), key[:cut])
        if index == self._indexed:
            return None
        self._indexed = index
        return index
