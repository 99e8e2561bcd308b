"""What holds for URLs that match a pattern: when they come, and how many of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gossamer.config import UrlRule


class UrlRules:
    """The first pattern found in a URL holds for it."""

    def __init__(self, rules: Sequence[UrlRule]) -> None:
        self._rules = [(re.compile(rule.pattern).search, rule) for rule in rules]
        self.capped = any(rule.max_pages for rule in rules)

    def of(self, url: str) -> UrlRule | None:
        for search, rule in self._rules:
            if search(url) is not None:
                return rule
        return None

    def priority(self, url: str, otherwise: int) -> int:
        rule = self.of(url)
        return otherwise if rule is None or rule.priority is None else rule.priority
