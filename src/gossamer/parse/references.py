"""Character references in attribute values (`&amp;`), as the HTML standard reads them there.

Not `html.unescape`: in an attribute `&copy=1` stays as it is, since it is a parameter of a URL more often than a sign.
"""

from __future__ import annotations

import re
from functools import cache

from gossamer.regex import compiled_later

_reference = compiled_later(r"&(?:#[xX]([0-9A-Fa-f]+);?|#([0-9]+);?|([A-Za-z][A-Za-z0-9]*)(;|(?!=)))")


@cache
def _names() -> dict[str, str]:
    from html.entities import html5  # two thousand of them, which take a millisecond

    return html5


@cache
def _c1() -> dict[int, str]:
    """Numbers that mean windows-1252, and what no number can mean."""
    return {code: bytes([code]).decode("cp1252", "replace") for code in range(0x80, 0xA0)}


def unescape(value: str) -> str:
    return _reference.sub(_character, value) if "&" in value else value


def _character(match: re.Match[str]) -> str:
    name = match[3]
    if name is not None:
        return _names().get(name + match[4], match[0])
    digits, base = (match[1], 16) if match[1] is not None else (match[2], 10)
    digits = digits.lstrip("0")
    code = int(digits, base) if 0 < len(digits) <= 7 else 0x110000
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    char = _c1().get(code, chr(code))
    return chr(code) if char == "\ufffd" else char
