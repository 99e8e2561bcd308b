"""How many pages the URLs that match a pattern may have: `max_pages` of `[urls."PATTERN"]`."""

from __future__ import annotations

from collections import Counter
from enum import Enum

from gossamer.rules.url_rules import UrlRules


class Room(Enum):
    YES = 0
    PERHAPS = 1  # as many are in hand as there is room for, and some of them may fail
    NO = 2


class PatternPages:
    """Invariant: `pages`, which is part of every commit, has the pages stored for each pattern; with those in hand they
    are never more than its `max_pages`.
    """

    def __init__(self, pages: dict[str, int]) -> None:
        self._pages = pages
        self._rules: UrlRules | None = None
        self._in_hand: dict[str, str] = {}  # URL -> pattern
        self._taken: Counter[str] = Counter()  # of those in hand, by pattern

    def change(self, rules: UrlRules | None) -> None:
        """Those in hand stay counted under the pattern that they were taken for."""
        self._rules = rules

    def take(self, url: str) -> Room:
        """Whether the page may be visited now; it is in hand then."""
        rule = self._rules.of(url) if self._rules is not None else None
        if rule is None or not rule.max_pages:
            return Room.YES
        room = rule.max_pages - self._pages.get(rule.pattern, 0)
        if room <= 0:
            return Room.NO
        if self._taken[rule.pattern] >= room:
            return Room.PERHAPS
        self._in_hand[url] = rule.pattern
        self._taken[rule.pattern] += 1
        return Room.YES

    def end(self, url: str, stored: bool) -> None:
        """A visit is no longer in hand."""
        pattern = self._in_hand.pop(url, None)
        if pattern is None:
            return
        self._taken[pattern] -= 1
        if stored:
            self._pages[pattern] = self._pages.get(pattern, 0) + 1
