"""Which encoding a page is in, and its text.

`decide` is the order of the HTML standard: byte order mark, HTTP, meta element, XML declaration; detection only when
nothing declares one. `decode` also sees through declarations that are plainly wrong, and through Japanese mixtures.
docs/charsets.md says how often that is right.
"""

from __future__ import annotations

from typing import Final

from gossamer.parse import japanese
from gossamer.parse.decoders import decode_as
from gossamer.parse.detection import detect
from gossamer.parse.labels import encoding_of
from gossamer.parse.mime import charset_label
from gossamer.parse.overrule import rather
from gossamer.parse.prescan import bom_encoding, late_meta_encoding, meta_encoding, xml_encoding

__all__ = ["DEFAULT", "decide", "decode", "detect"]

DEFAULT: Final = "windows-1252"
_SAMPLE: Final = 64 * 1024
_FIXED: Final = frozenset(("replacement", "x-user-defined"))
_WIDE: Final = ("utf-16le", "utf-16be")


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
    if name in _WIDE and how == "http" and b"\0" not in body[:_SAMPLE] and not _may_be_wide(body):
        name, how = _declared_or_detected(body)
    text = decode_as(body, name)
    if how == "bom" or name in _FIXED:
        return text, name
    if how not in ("detected", "default") and name not in _WIDE:
        other = rather(body, name, _declared(body)[0] if how == "http" and name != "utf-8" else None, text)
        if other is not None:
            name, text = other, decode_as(body, other)
    if japanese.mixed(body, name, text):
        return japanese.decode_pieces(body, name), name
    return text, name


def _may_be_wide(body: bytes) -> bool:
    """No markup can be written in UTF-16 without zeros; a few East Asian words can."""
    return b"<" not in body and not body.isascii() and len(body) < _SAMPLE


def _declared_or_detected(body: bytes) -> tuple[str, str]:
    name, how = _declared(body)
    if name is not None:
        return name, how
    name = detect(body)
    return (DEFAULT, "default") if name is None else (name, "detected")


def _declared(body: bytes) -> tuple[str | None, str]:
    name = meta_encoding(body) or late_meta_encoding(body)
    return (name, "meta") if name is not None else (xml_encoding(body), "xml")


def _http_encoding(content_type: str | None) -> str | None:
    label = None if content_type is None else charset_label(content_type)
    return None if label is None else encoding_of(label)
