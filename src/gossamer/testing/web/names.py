"""Names of hosts, both ways, without storing any.

Eight hosts in a row belong to four registered domains, of one, one, two and four hosts:
`www.amber-field-4.test`, `news.quiet-river-7.test`. The number is the domain's, the first label says which host of it.
"""

from __future__ import annotations

import re

from gossamer.testing.web.dice import mix
from gossamer.testing.web.words import ADJECTIVES, NOUNS

TLD = "test"  # reserved for this by RFC 2606
_LABELS = ("www", "news", "docs", "shop")
_DOMAIN_OF = (0, 1, 2, 2, 3, 3, 3, 3)  # host & 7 -> which domain of its four
_LABEL_OF = (0, 0, 0, 1, 0, 1, 2, 3)
_FIRST_HOST = (0, 1, 2, 4)
_DOMAIN_HOSTS = (1, 1, 2, 4)
_BELOW = re.compile(r"u-[0-9a-f]{1,16}\.(.+)")


class HostNames:
    """The bijection between host numbers and names for one seed."""

    __slots__ = ("_seed",)

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def domain(self, host: int) -> str:
        return self._domain(4 * (host >> 3) + _DOMAIN_OF[host & 7])

    def name(self, host: int) -> str:
        return f"{_LABELS[_LABEL_OF[host & 7]]}.{self.domain(host)}"

    def index(self, name: str) -> int | None:
        """The host of that name, or None. Asked for every unknown Host header, so any text may come."""
        label, _, domain = name.partition(".")
        number = domain.rpartition("-")[2].removesuffix("." + TLD)
        if label not in _LABELS or not (number.isascii() and number.isdigit()) or len(number) > 12:
            return None
        kind = int(number) & 3
        place = _LABELS.index(label)
        if place >= _DOMAIN_HOSTS[kind] or self._domain(int(number)) != domain:
            return None
        return 8 * (int(number) >> 2) + _FIRST_HOST[kind] + place

    def above(self, name: str) -> int | None:
        """The host that answers for a name made up below it, such as u-1f.www.amber-field-4.test."""
        found = _BELOW.fullmatch(name)
        return None if found is None else self.index(found[1])

    def _domain(self, number: int) -> str:
        x = mix(self._seed, number, 1)
        return f"{ADJECTIVES[x % len(ADJECTIVES)]}-{NOUNS[(x >> 20) % len(NOUNS)]}-{number}.{TLD}"
