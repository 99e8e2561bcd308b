"""Which encoding a page is in, and its text.

`decide` is the order of the HTML standard: byte order mark, HTTP, meta element, XML declaration; detection only when
nothing declares one. `decode` also sees through declarations that are plainly wrong, and through Japanese mixtures.
"""

from __future__ import annotations

import re
from typing import Final

from resiliparse.parse.encoding import EncodingDetector

from gossamer.parse import japanese
from gossamer.parse.decoders import UNKNOWN, decode_as
from gossamer.parse.labels import encoding_of
from gossamer.parse.mime import charset_label
from gossamer.parse.prescan import bom_encoding, late_meta_encoding, meta_encoding, xml_encoding

DEFAULT: Final = "windows-1252"
_ENOUGH: Final = 6
"""Bytes beyond ASCII below which statistics mean nothing."""
_SURE: Final = 12
"""Bytes beyond ASCII that it takes to overrule a declaration."""
_SAMPLE: Final = 64 * 1024
_FIXED: Final = frozenset(("replacement", "x-user-defined"))
_EAST_ASIAN: Final = ("gb18030", "big5", "euc-kr", "euc-jp", "shift_jis")
# Letters of no text in these encodings: unknown, private, half-width kana.
_ODD: Final = re.compile("[\ufffd\ue000-\uf8ff｡-ﾟ]")
# The one Greek letter that differs in the two encodings of Greek, "Ά", with another letter behind it.
_windows_alpha_in = re.compile(rb"\xa2[\xdc-\xfe]").search
_ASCII_BYTES: Final = bytes(range(128))
# The detector's names that the Encoding Standard does not know as labels.
_DETECTED: Final = {"cp949": "euc-kr", "uhc": "euc-kr", "cp932": "shift_jis", "johab": "", "viscii": "", "euc-tw": ""}


def decide(body: bytes, content_type: str | None) -> tuple[str, str]:
    """The encoding by the standard, and how it is known: bom, http, meta, xml, detected or default."""
    name = bom_encoding(body)
    if name is not None:
        return name, "bom"
    name = _http_encoding(content_type)
    if name is not None:
        return name, "http"
    return _declared_or_detected(body)


def decode(body: bytes, content_type: str | None) -> tuple[str, str]:
    """The text, and the encoding that it was read in. Never raises: what cannot be decoded becomes U+FFFD."""
    name, how = decide(body, content_type)
    if name in ("utf-16le", "utf-16be") and how == "http" and b"\0" not in body and body[:_SAMPLE].isascii():
        # No markup can be written in UTF-16 without zeros.
        name, how = _declared_or_detected(body)
    text = decode_as(body, name)
    if how == "bom" or name in _FIXED or (body.isascii() and name != "iso-2022-jp"):
        return text, name
    if japanese.mixed(body, name, text):
        return japanese.decode_pieces(body, name), name
    if how == "detected":
        return text, name
    if name != "utf-8" and name not in japanese.ENCODINGS and _surely_utf_8(body):
        return decode_as(body, "utf-8"), "utf-8"
    if _mostly_broken(text):
        other = detect(body)
        if other is not None and other != name:
            read = decode_as(body, other)
            if read.count(UNKNOWN) * 8 < text.count(UNKNOWN):
                return read, other
    return text, name


def detect(body: bytes) -> str | None:
    """The encoding that the bytes themselves show, or None when there is too little to tell."""
    if japanese.escape_in(body):
        return "iso-2022-jp"
    sample = body[:_SAMPLE]
    wide = _utf_16_without_mark(sample)
    if wide is not None:
        return wide
    if body.isascii():
        return None
    if _is_utf_8(body):
        return "utf-8"
    if len(sample.translate(None, _ASCII_BYTES)) < _ENOUGH:
        return None
    detector = EncodingDetector()
    detector.update(sample)
    found = detector.encoding(html5_compatible=False)
    name = None if found is None else _DETECTED.get(found, encoding_of(found.replace("_", "-")) or encoding_of(found))
    if name == "iso-8859-7" and b"\xb6" not in sample and _windows_alpha_in(sample):
        return "windows-1253"
    if name in _EAST_ASIAN:
        # The detector takes one for another when there is little text; the right one has the fewest oddities.
        return min((name, *_EAST_ASIAN), key=lambda candidate: len(_ODD.findall(decode_as(sample, candidate))))
    if name and name not in _FIXED and not _mostly_broken(decode_as(sample, name)):
        return name
    return japanese.guess(sample)


def _declared_or_detected(body: bytes) -> tuple[str, str]:
    name = meta_encoding(body) or late_meta_encoding(body)
    if name is not None:
        return name, "meta"
    name = xml_encoding(body)
    if name is not None:
        return name, "xml"
    name = detect(body)
    return (DEFAULT, "default") if name is None else (name, "detected")


def _http_encoding(content_type: str | None) -> str | None:
    label = None if content_type is None else charset_label(content_type)
    return None if label is None else encoding_of(label)


def _is_utf_8(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        # A body that was cut off may end inside a character.
        return error.reason == "unexpected end of data" and error.start > len(body) - 4 and error.start > 64
    return True


def _surely_utf_8(body: bytes) -> bool:
    """Whether it is UTF-8 though something else was declared: no other text of that length passes for it."""
    return len(body.translate(None, _ASCII_BYTES)) >= _SURE and _is_utf_8(body)


def _mostly_broken(text: str) -> bool:
    bad = text.count(UNKNOWN)
    if not bad:
        return False
    good = len(text) - len(text.encode("ascii", "ignore")) - bad
    return bad * 4 > good


def _utf_16_without_mark(sample: bytes) -> str | None:
    """Markup in UTF-16 has a zero in every other byte, and no other text has zeros."""
    head = sample[:1024]
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if max(even, odd) < len(head) // 12 + 1 or 8 * min(even, odd) > max(even, odd):
        return None
    return "utf-16le" if odd > even else "utf-16be"
