"""Declarations that are plainly wrong: a page says one encoding, or its server does, and the bytes are in another.

A right declaration must never be overruled; a wrong one is, where its reading of the page makes no sense and another
reading does.
"""

from __future__ import annotations

from typing import Final

from gossamer.parse import japanese
from gossamer.parse.decoders import UNKNOWN, decode_as
from gossamer.parse.detection import (
    beyond_ascii,
    broken_share,
    detect,
    language_of,
    nearly_utf_8,
    telling,
    utf_16_without_mark,
)
from gossamer.parse.oddities import frequent, oddities, rarities, shouting

_DEFAULT: Final = "windows-1252"
_SURE: Final = 12
"""Bytes beyond ASCII that it takes to see UTF-8 under another name."""
_SURER: Final = 32
"""And any other encoding, of which only the letters tell."""
_SURE_WIDE: Final = 128
"""Bytes of UTF-16 that it takes."""
_GLANCE: Final = 2048
"""Bytes of text that a declaration is judged by."""
_PLAINLY: Final = 8
"""Where one in so many bytes is odd, a declaration is doubted."""
_DOUBTFUL: Final = 50
"""Where HTTP and the page differ, one in so many is enough to believe the page."""
_CYRILLIC: Final = frozenset(("windows-1251", "koi8-r", "koi8-u", "iso-8859-5", "ibm866", "x-mac-cyrillic"))
# Languages with letters that the default lacks, and what their pages are in when they are declared as the default.
_CENTRAL: Final = ("windows-1250", "iso-8859-2")
_LOCAL: Final[dict[bytes, tuple[str, ...]]] = {
    **dict.fromkeys((b"cs", b"pl", b"sk", b"sl", b"hr", b"bs", b"hu", b"ro"), _CENTRAL),
    **dict.fromkeys((b"lt", b"lv"), ("windows-1257", "iso-8859-13")),
    b"tr": ("windows-1254",),
}


def rather(body: bytes, name: str, second: str | None, text: str) -> str | None:
    """The encoding that `body` is in, where that is plainly not `name`, in which it reads as `text`; else None.

    `second` is what the page itself declares beside HTTP.
    """
    if b"\0" in body[:64] and len(body) >= _SURE_WIDE and (wide := utf_16_without_mark(body[:4096])) is not None:
        return wide
    if body.isascii():
        return "iso-2022-jp" if japanese.escaped(body) and name != "iso-2022-jp" else None
    if name == "utf-8":
        return _rather_than_utf_8(body, text) if UNKNOWN in text else None
    if name in japanese.ENCODINGS and japanese.mixed(body, name, text):
        return _rather_than_japanese(body, name)
    sample = telling(body, _GLANCE)
    high = beyond_ascii(sample)
    if high >= _SURE and nearly_utf_8(sample):
        return "utf-8"
    if high < _SURER or name in japanese.ENCODINGS:
        return None
    return _rather_than_legacy(body, name, second, sample)


def _rather_than_legacy(body: bytes, name: str, second: str | None, sample: bytes) -> str | None:
    high, odd = beyond_ascii(sample), _odd(sample, name)
    loud = shouting(decode_as(sample, name)) if name in _CYRILLIC else 0
    local = _LOCAL.get(language_of(body), ()) if name == _DEFAULT else ()
    plainly = (odd + loud) * _PLAINLY >= high
    doubted = second not in (None, name) and odd * _DOUBTFUL >= high
    if not (plainly or doubted or local):
        return None
    other = detect(body)
    if other is None or other == name:
        return None
    if other in local:
        return other
    found = _odd(sample, other)
    if other in _CYRILLIC and loud:
        read = decode_as(sample, other)
        if frequent(read) <= frequent(decode_as(sample, name)):
            # It is in capitals indeed.
            return None
        found, odd = found + shouting(read), odd + loud
    if doubted and other == second:
        return other if found * 4 < odd else None
    return other if odd * _PLAINLY >= high and found * 8 < odd else None


def _rather_than_utf_8(body: bytes, text: str) -> str | None:
    bad, good = broken_share(text)
    if bad * 4 <= good:
        return None
    other = detect(body) or (_DEFAULT if bad > 1 and not good else None)
    return other if other is not None and _odd(telling(body), other) * 8 < bad else None


def _rather_than_japanese(body: bytes, name: str) -> str | None:
    """Another encoding, if all of the page is in that one; UTF-8 is read as a mixture, under the name declared."""
    other = detect(body)
    if other is None or other in (name, "utf-8") or UNKNOWN in (read := decode_as(body, other)):
        return None
    if other in japanese.ENCODINGS:
        return None if japanese.mixed(body, other, read) else other
    sample = telling(body)
    return other if japanese.guess(sample) is None and _odd(sample, other) * 8 < _odd(sample, name) else None


def _odd(sample: bytes, name: str) -> int:
    return oddities(decode_as(sample, name)) + rarities(sample, name)
