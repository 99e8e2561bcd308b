"""What attribute values say: robots rules, refreshes, relations, image sets, languages."""

from __future__ import annotations

import re
from typing import Final

from gossamer.parse.limits import MAX_LINKS
from gossamer.regex import compiled_later

ROBOTS_NAMES: Final = frozenset(("robots", "gossamer"))
"""The meta elements that speak to us; what any of them forbids is forbidden."""

# Whole words: nothing but a separator may stand beside them.
_rule = compiled_later(r"(?<![^ \t\n\f\r,;])(?:none|noindex|nofollow)(?![^ \t\n\f\r,;])")
_BLANK: Final = r"[ \t\n\f\r]*+"
_refresh = compiled_later(
    rf"{_BLANK}(?:[0-9]++|(?=\.))[0-9.]*+(?:{_BLANK}[;,]|[ \t\n\f\r]){_BLANK}"
    rf"(?:[uU][rR][lL]{_BLANK}={_BLANK})?+(?:\"([^\"]*)|'([^']*)|(.*))",
    re.S,
)
_candidate = compiled_later(r"[ \t\n\f\r,]*+([^ \t\n\f\r]++)([^,(]*+(?:\([^)]*+\)?+[^,(]*+)*+)")
_LANGUAGE: Final = compiled_later(r"[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8})*")


def robots_rules(content: str) -> tuple[bool, bool]:
    """(noindex, nofollow) of a robots meta element."""
    words = set(_rule.findall(content.lower()))
    none = "none" in words
    return none or "noindex" in words, none or "nofollow" in words


def refresh_target(content: str) -> str | None:
    """Where a refresh leads; None when it only loads the page again."""
    found = _refresh.match(content)
    if found is None:
        return None
    return next((part for part in found.groups() if part), "").strip(" \t\n\f\r") or None


def keyword(value: str) -> str:
    """An attribute that is one word of ASCII, for comparison."""
    return value.strip(" \t\n\f\r").lower()


def is_nofollow(rel: str) -> bool:
    lower = rel.lower()
    return "nofollow" in lower and "nofollow" in lower.split()


def image_candidates(srcset: str) -> list[str]:
    """The URLs of a srcset: each may be followed by a width or density, and ends at a comma behind that."""
    urls: list[str] = []
    position = 0
    while len(urls) < MAX_LINKS and (found := _candidate.match(srcset, position)) is not None:
        url = found[1]
        if url.endswith(","):
            # A comma right behind the URL ends the candidate: what follows is the next one.
            url = url.rstrip(",")
            position = found.end(1)
        else:
            position = found.end()
        if url:
            urls.append(url)
    return urls


def language_tag(value: str) -> str:
    """The first language tag in `value`, spelled as usual (`de`, `pt-BR`, `zh-Hant`); empty when there is none."""
    found = _LANGUAGE.match(value.strip())
    if found is None:
        return ""
    first, *rest = found[0].replace("_", "-").split("-")
    spelled = [first.lower()]
    for part in rest:
        spelled.append(part.upper() if len(part) == 2 else part.title() if len(part) == 4 else part.lower())
    return "-".join(spelled)
