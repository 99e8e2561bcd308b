"""What a page's own bytes declare about their encoding: byte order mark, meta elements, XML declaration.

`meta_encoding` is the HTML standard's "prescan a byte stream", step by step; it knows no scripts or styles, so that it
finds a meta element inside one. `late_meta_encoding` is what the standard leaves to the parser: a meta element in the
head but behind the first 1,024 bytes, or written with character references.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Final

from gossamer.parse.labels import encoding_of
from gossamer.parse.references import unescape
from gossamer.parse.tokens import COMMENT, DECLARATION, END, REST, any_of, ci, raw_text
from gossamer.regex import compiled_later

PRESCAN: Final = 1024
READ: Final = 2 * PRESCAN
"""A tag that starts within the prescan is read to its end, as browsers do."""
_LATE: Final = 64 * 1024
"""Heads longer than this are not searched to their end."""

_BOMS: Final = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16be"), (b"\xff\xfe", "utf-16le"))
_tag = compiled_later(rb"<(?:(!--)|(meta)[\t\n\f\r /]|/?[a-z][^\t\n\f\r >]*|([!/?]))", re.I)
# One attribute: the end of the tag, or a name with perhaps a value; group 5 is a quote that is never closed.
_attribute = compiled_later(
    rb"[\t\n\f\r /]*+(?:(>)|([^\t\n\f\r />][^\t\n\f\r />=]*+)"
    rb"(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:\"([^\"]*+)\"|'([^']*+)'|([\"'])|([^\t\n\f\r >]*+)))?+)"
)
_charset = compiled_later(
    rb"charset[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:\"([^\"]*)\"|'([^']*)'|([^\"'\t\n\f\r ;][^\t\n\f\r ;]*)|)", re.I
)
_xml = compiled_later(rb"<\?xml([^>]*)>")
_xml_encoding = compiled_later(rb"encoding[\x00-\x20]*+=[\x00-\x20]*+(?:\"([^\"]+)\"|'([^']+)')")
_RAW: Final = ("title", "script", "style", "noframes")
_head_end = compiled_later(rb"</" + ci("head") + END)


@cache
def _head_token() -> re.Pattern[bytes]:
    # Made for the first page that declares nothing early: it takes 4 ms, and the scanner loads this module.
    return re.compile(
        rb"[\t\n\f\r ]++|<"
        + any_of(
            COMMENT,
            DECLARATION,
            ci("meta") + END + rb"(" + REST + rb")",
            *map(raw_text, _RAW),
            rb"/?" + any_of(*map(ci, ("html", "head", "link", "base", "noscript"))) + END + REST,
            rb"/" + any_of(*map(ci, _RAW)) + END + REST,
        )
    )


def bom_encoding(body: bytes) -> str | None:
    return next((name for mark, name in _BOMS if body.startswith(mark)), None)


def meta_encoding(body: bytes) -> str | None:
    head = body[:READ]
    # The standard's one look at UTF-16 without a mark: the "<?x" of an XML declaration.
    if head.startswith(b"<\0?\0x\0"):
        return "utf-16le"
    if head.startswith(b"\0<\0?\0x"):
        return "utf-16be"
    position = 0
    while (found := _tag.search(head, position)) is not None and found.start() < PRESCAN:
        attributes: list[tuple[bytes, bytes]] | None = None
        if found[1]:
            # The dashes of "<!--" may be those of "-->".
            end = head.find(b"-->", found.start() + 2)
            position = end + 3
        elif found[3]:
            end = head.find(b">", found.end())
            position = end + 1
        else:
            attributes, end = _attributes(head, found.end())
            position = end
        if end < 0:
            return None
        if found[2] and attributes is not None and (name := _declared(attributes)) is not None:
            return name
    return None


def late_meta_encoding(body: bytes) -> str | None:
    read_token = _head_token().match
    position, end = 0, min(len(body), _LATE)
    while position < end and _head_end.match(body, position) is None:
        token = read_token(body, position)
        if token is None:
            return None
        if token[1] is not None:
            attributes, _ = _attributes(token[1], 0)
            if (name := _declared((key, _unescaped(value)) for key, value in attributes)) is not None:
                return name
        position = token.end()
    return None


def xml_encoding(body: bytes) -> str | None:
    declaration = _xml.match(body)
    if declaration is None:
        return None
    found = _xml_encoding.match(declaration[1], max(declaration[1].find(b"encoding"), 0))
    if found is None:
        return None
    label = found[1] or found[2]
    return _read_as_ascii(encoding_of(label.decode("latin-1"))) if min(label) > 0x20 else None


def label_in(content: bytes) -> str | None:
    """The `charset=` of a content type, by the standard's rule for meta elements."""
    for found in _charset.finditer(content):
        label = found[1] or found[2] or found[3]
        return label.decode("latin-1") if label else None
    return None


def _attributes(data: bytes, position: int) -> tuple[list[tuple[bytes, bytes]], int]:
    """The attributes up to the `>` of the tag, and where that ends; -1 when the data end first."""
    found: list[tuple[bytes, bytes]] = []
    while (attribute := _attribute.match(data, position)) is not None:
        position = attribute.end()
        if attribute[1]:
            return found, position
        if attribute[5] or position == len(data):
            break
        value = attribute[3] or attribute[4] or attribute[6] or b""
        found.append((attribute[2].lower(), value.lower()))
    return found, -1


def _declared(attributes: Iterable[tuple[bytes, bytes]]) -> str | None:
    """The encoding that a meta element declares: `charset`, or `content` with `http-equiv` beside it."""
    first: dict[bytes, bytes] = {}
    for key, value in attributes:
        first.setdefault(key, value)
    name: str | None = None
    if b"charset" in first:
        name = encoding_of(first[b"charset"].decode("latin-1"))
    elif first.get(b"http-equiv") == b"content-type" and b"content" in first:
        label = label_in(first[b"content"])
        name = None if label is None else encoding_of(label)
    return "windows-1252" if name == "x-user-defined" else _read_as_ascii(name)


def _unescaped(value: bytes) -> bytes:
    return unescape(value.decode("latin-1")).encode("latin-1", "replace")


def _read_as_ascii(name: str | None) -> str | None:
    """A declaration that could be read as ASCII is not in UTF-16, whatever it says."""
    return "utf-8" if name in ("utf-16le", "utf-16be") else name
