"""Queries that grow with every link (K11): parameters added again and again, or a URL inside itself."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from gossamer.regex import compiled_later

# Search forms with every field of a catalogue filled in have some thirty parameters.
MAX_PARAMETERS: Final = 40
# Lists of choices are written as one parameter many times: ten kinds of a product, the states of a bug.
_MOST_OF_A_NAME: Final = 16
_MOST_OF_A_PAIR: Final = 2
_MOST_WITHIN: Final = 2
# A percent sign escaped three times over: a URL in a URL in a URL. Pages for people have no such addresses.
_ESCAPED: Final = "%2525"
_AMPERSANDS: Final = "amp;amp;amp;"  # a page that escapes its links once more each time

# The first parameter of a URL, also of one that is a value in another, escaped any number of times.
_first_name = compiled_later(r"(?:\?|%(?:25){0,8}3F)([\w.~\[\]-]{1,64})(?:=|%(?:25){0,8}3D)", re.I)


def explodes(query: str) -> bool:
    """`query` is what follows the question mark of a normalised URL."""
    if ("%" in query or "?" in query or ";" in query) and _is_within_itself(query):
        return True
    ampersands = query.count("&")
    if ampersands < _MOST_OF_A_PAIR:  # as most
        return False
    return ampersands >= MAX_PARAMETERS or _grows(query.split("&"))


def _is_within_itself(query: str) -> bool:
    if _ESCAPED in query or _AMPERSANDS in query:
        return True
    if query.count("?") + query.count("%3F") + query.count("%253F") < _MOST_WITHIN:
        return False
    names = Counter(_first_name.findall("?" + query))
    return max(names.values(), default=0) > _MOST_WITHIN


def _grows(pairs: list[str]) -> bool:
    different = set(pairs)
    again = len(pairs) - len(different)
    if again >= _MOST_OF_A_PAIR and any(pairs.count(pair) > _MOST_OF_A_PAIR for pair in different if pair):
        return True
    if len(pairs) <= _MOST_OF_A_NAME:
        return False
    names = [pair.partition("=")[0] for pair in pairs]
    return any(names.count(name) > _MOST_OF_A_NAME for name in set(names))
