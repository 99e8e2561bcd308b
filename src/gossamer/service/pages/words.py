"""Numbers, times, URLs and snippets as the pages print them."""

from __future__ import annotations

import math
import re
import shlex
import time
import unicodedata
from collections.abc import Sequence
from html import escape
from typing import Final
from urllib.parse import unquote, urlsplit

from markupsafe import Markup

_SPANS: Final = ((31_557_600, "y"), (86400, "d"), (3600, "h"), (60, "min"), (1, "s"))
_MOST_PARTS: Final = 6
_LONGEST_PART: Final = 60
_LONGEST_URL: Final = 160  # characters: some lines on a narrow screen
_code = re.compile(r"`([^`]++)`").sub
_is_marked = re.compile(r"(?:[^<>]++|</?mark>)*+").fullmatch


def count(number: int) -> str:
    return f"{number:,}"


def ago(then: float, now: float) -> str:
    """In its largest unit: 3 h ago."""
    seconds = int(now - then)
    for length, unit in _SPANS:
        if seconds >= length:
            return f"{seconds // length:,} {unit} ago"
    return "just now"


def moment(then: float) -> str:
    return _utc("%Y-%m-%d %H:%M:%S UTC", then)


def iso(then: float) -> str:
    return _utc("%Y-%m-%dT%H:%M:%SZ", then)


def took(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 0.9995 else f"{max(1, round(seconds * 1000))} ms"


def percent(part: float, whole: float) -> str:
    """Of few, whole per cents; of many, the hundredths that tell 99.4 from 99.9. 100 only when nothing is missing."""
    if whole <= 0:
        return "0 %"
    share = 100 * part / whole
    digits = 2 if whole >= 10_000 and (share > 99 or share < 1) else 1 if whole >= 1000 and share else 0
    shown = math.floor(share * 10**digits) / 10**digits
    return f"{shown:.{digits}f} %" if 0 < share < 100 else f"{share:.0f} %"


def is_web(url: str) -> bool:
    """Whether it may stand in a link: nothing else than http leads out of our pages."""
    return url.startswith(("http://", "https://"))


def path_parts(url: str) -> list[str]:
    """The path as people read it: escapes undone where that gives letters, the middle of a long one left out."""
    address = urlsplit(url)
    parts = [_readable(part) for part in address.path.split("/") if part]
    if address.query:
        parts.append("?" + _readable(address.query))
    if len(parts) > _MOST_PARTS:
        parts[2 : len(parts) - 3] = ["…"]
    return parts


def path_shown(url: str) -> str:
    """What a page without a title is called."""
    parts = path_parts(url)
    return parts[-1] if parts else urlsplit(url).netloc


def shortened(url: str) -> str:
    """A URL whose host and end can be read: of a long one the middle is left out."""
    if len(url) <= _LONGEST_URL:
        return url
    half = _LONGEST_URL // 2
    return f"{url[:half]}…{url[1 - half :]}"


def marked(snippet: str) -> Markup:
    """A snippet with its marks, and nothing else that is markup."""
    safe = snippet if _is_marked(snippet) and snippet.count("<mark>") == snippet.count("</mark>") else escape(snippet)
    return Markup(safe)  # noqa: S704 - just looked at


def prose(text: str) -> Markup:
    """A description, with what stands between backticks as code."""
    return Markup(_code(r"<code>\1</code>", str(escape(text))))  # noqa: S704 - just escaped


def parts(why: Sequence[tuple[str, float]]) -> list[tuple[str, str]]:
    """What a score is made of; what it is multiplied with is called "times, for ..."."""
    said = []
    for name, value in why:
        _, times, what = name.partition("times, ")
        said.append((what, f"× {value:.2f}") if times else (name, f"{value:.2f}"))
    return said


def _readable(text: str) -> str:
    """Controls, and signs that turn the direction of writing, stay escaped: a URL must not look like another."""
    plain = unquote(text, errors="replace")
    if "\ufffd" in plain or any(unicodedata.category(sign)[0] in "CZ" and sign != " " for sign in plain):
        plain = text
    return plain if len(plain) <= _LONGEST_PART else plain[:_LONGEST_PART] + "…"


def _utc(form: str, then: float) -> str:
    try:
        return time.strftime(form, time.gmtime(then))
    except (OverflowError, ValueError, OSError):
        return "unknown"


def shell(text: str) -> str:
    """As one word of a command."""
    return shlex.quote(text)
