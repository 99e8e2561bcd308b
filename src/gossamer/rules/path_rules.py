"""Allow and Disallow patterns of RFC 9309, arranged so that a check costs a microsecond however many there are.

Octets are compared in one spelling (section 2.2.2), made by `canonical`: escapes of unreserved characters are decoded,
other escapes are in upper case, and characters that no URL may hold are escaped. A raw `*` or `$` in a URL is escaped
too, so that in a pattern an unescaped one is always special (section 2.2.3).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import Final

from gossamer.regex import compiled_later

_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
# Everything but the unreserved and the reserved characters of RFC 3986; of the latter `*` and `$` are caught as well.
_odd = re.compile(rb"%[0-9A-Fa-f]{2}|[^A-Za-z0-9._~:/?#\[\]@!&'()+,;=%-]")
_delimiter_escape = compiled_later(r"%(?:3A|2F|3F|23|5B|5D|40)")

_NO_RULE: Final = 1
_FEW: Final = 16  # prefixes that are compared one by one, where there is nothing but prefixes


def _spelled(match: re.Match[bytes]) -> bytes:
    octets = match[0]
    if len(octets) == 1:
        return b"%%%02X" % octets[0]
    code = int(octets[1:], 16)
    return bytes((code,)) if code in _UNRESERVED else octets.upper()


def canonical(text: bytes) -> str:
    """`text` is a path as in a URL; of a pattern, a stretch without special characters."""
    # "ignore" has nothing to ignore: every octet above 127 is escaped by then.
    return _odd.sub(_spelled, text).decode("ascii", "ignore")


def canonical_pattern(text: bytes) -> str:
    """Empty when the pattern can match no path at all: it begins neither with `/` nor with `*`."""
    if text[:1] not in (b"/", b"*"):
        return ""
    end = "$" if text[-1:] == b"$" else ""
    return "*".join(map(canonical, text.removesuffix(b"$").split(b"*"))) + end


def _variants(text: str) -> Iterator[str]:
    """To section 2.2.2 `https://` and `https%3A%2F%2F` are the same in a query, but `/` and `%2F` differ in a path."""
    yield text
    path, mark, query = text.partition("?")
    if mark and "%" in query:
        plain = _delimiter_escape.sub(lambda escape: chr(int(escape[0][1:], 16)), query)
        if plain != query:
            yield path + mark + plain


class PathRules:
    """Which paths the patterns allow: the longest matching pattern decides, and of equally long ones an Allow.

    Every pattern has a rank, `2 * octets + (1 if it allows)`: the highest rank decides, an odd one allows.

    Invariants: `_prefixes` is sorted; `_parents[i]` is the index of the longest other prefix that begins
    `_prefixes[i]`, or -1; `_ranks[i]` is the highest rank along that chain. `_wild` is sorted by rank, highest first.
    `_few` is `_prefixes` where all rules are these and none has an escape, else empty.
    Matching takes no more than one search of the path for each stretch between stars: nothing ever backtracks.
    """

    __slots__ = ("_escapes", "_exact", "_few", "_parents", "_prefixes", "_ranks", "_wild", "patterns")

    def __init__(self, patterns: Mapping[str, bool]) -> None:
        """`patterns`: canonical pattern -> whether it allows."""
        self.patterns = dict(patterns)
        self._exact: dict[str, int] = {}
        self._wild: list[tuple[int, str, str, list[str], str]] = []
        self._escapes = False
        prefixes: dict[str, int] = {}
        for pattern, allow in self.patterns.items():
            rank = 2 * len(pattern) + allow
            self._escapes = self._escapes or "%" in pattern
            for variant in _variants(pattern):
                self._arrange(variant, rank, prefixes)
        self._wild.sort(key=lambda rule: -rule[0])
        self._chain(prefixes)
        plain = len(prefixes) <= _FEW and not (self._wild or self._exact or self._escapes)
        self._few = tuple(self._prefixes) if plain else ()

    def _arrange(self, pattern: str, rank: int, prefixes: dict[str, int]) -> None:
        anchored = pattern[-1:] == "$"
        head, *pieces = (pattern[:-1] if anchored else pattern).split("*")
        if pieces and not pieces[-1]:
            anchored = False  # a star at the end matches all the rest
        tail = pieces.pop() if pieces and anchored else ""
        pieces = [piece for piece in pieces if piece]
        if pieces or tail:
            needle = max((head, tail, *pieces), key=len)
            self._wild.append((rank, needle, head, pieces, tail))
        else:
            rules = self._exact if anchored else prefixes
            rules[head] = max(rank, rules.get(head, 0))

    def _chain(self, prefixes: dict[str, int]) -> None:
        self._prefixes = sorted(prefixes)
        self._parents: list[int] = []
        self._ranks: list[int] = []
        chain: list[int] = []
        for index, prefix in enumerate(self._prefixes):
            while chain and not prefix.startswith(self._prefixes[chain[-1]]):
                chain.pop()
            parent = chain[-1] if chain else -1
            self._parents.append(parent)
            self._ranks.append(max(prefixes[prefix], self._ranks[parent] if chain else 0))
            chain.append(index)

    def allows(self, path: str) -> bool:
        """`path` with its query, as in a normalised URL."""
        if self._few and not path.startswith(self._few) and path.find("%") < 0:
            return True
        if self._escapes or "%" in path:
            octets = path.encode("utf-8", "replace")
            rank = max(map(self._rank, _variants(canonical(octets))))
        else:
            rank = self._rank(path)
        return rank & 1 == 1

    def deciding(self, path: str) -> str:
        """The pattern that decides, for people: all are gone through. Empty where none matches."""
        ranked = sorted(self.patterns, key=lambda pattern: -2 * len(pattern) - self.patterns[pattern])
        return next((pattern for pattern in ranked if not PathRules({pattern: False}).allows(path)), "")

    def _rank(self, path: str) -> int:
        rank = self._exact.get(path, _NO_RULE)
        # The longest prefix of `path` in a sorted list begins its predecessor there, or is it.
        prefixes = self._prefixes
        index = bisect_right(prefixes, path) - 1
        while index >= 0:
            if path.startswith(prefixes[index]):
                rank = max(rank, self._ranks[index])
                break
            index = self._parents[index]
        for wild_rank, needle, head, pieces, tail in self._wild:
            if wild_rank < rank:
                break
            if needle in path and _matches(path, head, pieces, tail):
                return wild_rank
        return rank


def _matches(path: str, head: str, pieces: list[str], tail: str) -> bool:
    """Taking each piece where it occurs first leaves the most room for the others, so there is nothing to try again."""
    if not path.startswith(head):
        return False
    at = len(head)
    for piece in pieces:
        at = path.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return not tail or (path.endswith(tail) and len(path) - len(tail) >= at)
