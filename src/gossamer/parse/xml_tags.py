"""The tags of an XML file that somebody asked for, in order, each with the text behind it; whatever the file is like.

Not an XML parser: those stop at the first mistake, and a bare `&` in a URL is one (docs/decisions/0014-sitemaps.md).
Entities that a file declares are not expanded, so there is nothing to blow up. Every repetition is possessive and every
comment or CDATA section without an end is one that goes to the end of the file, so each byte is read a bounded number
of times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from gossamer.parse.decoders import decode_as
from gossamer.parse.labels import encoding_of
from gossamer.parse.mime import charset_label
from gossamer.parse.prescan import bom_encoding, xml_encoding
from gossamer.parse.references import unescape
from gossamer.parse.tokens import ATTRIBUTE

_MOST_TAGS: Final = 1_000_000  # of those asked for: more than large files have, and no more than a second of work
_ROOT_WITHIN: Final = 64 * 1024
_BLANKS: Final = b" \t\r\n"
_NO_UTF_8: Final = "windows-1252"  # for what is not, though nothing else is said

_COMMENT: Final = rb"!--[^-]*+(?:-(?!->)[^-]*+)*+(?:-->)?+"
_LITERAL: Final = rb"[^\]]*+(?:\](?!\]>)[^\]]*+)*+"
_CDATA: Final = rb"!\[CDATA\[" + _LITERAL + rb"(?:\]\]>)?+"
_ATTRIBUTES: Final = rb"""((?:[^<>"']++|"[^"<]*+"|'[^'<]*+'|["'])*+)>"""
_PREFIX: Final = rb"""(?:([^\s<>/:"'=!?&]{1,60}+):)?+"""
_root = re.compile(
    rb"(?:[^<]++|<\?[^>]*+>|<" + _COMMENT + rb"|<!(?!--)[^>\[]*+(?:\[[^\]]*+\])?+[^>]*+>)*+<"
    rb"""(?:[^\s<>/:"'=!?&]{1,60}+:)?+([A-Za-z]{1,20}+)(?=[\s/>])"""
).match
_pieces = re.compile(rb"<!\[CDATA\[(" + _LITERAL + rb")(?:\]\]>)?+|<" + _COMMENT + rb"|([^<]++)").finditer
_attribute = re.compile(ATTRIBUTE)
# As XML has it, with a semicolon; `&copy=1` and `&lang` are parts of URLs.
_reference = re.compile(r"&(?:#[xX][0-9A-Fa-f]{1,8}|#[0-9]{1,8}|[A-Za-z][A-Za-z0-9]{0,31});").sub


class Tag(NamedTuple):
    closes: bool
    prefix: bytes
    name: bytes  # in lower case
    attributes: bytes
    value: bytes  # up to the next tag, comments and CDATA sections included
    whole: bool  # the file goes on behind the value

    @property
    def empty(self) -> bool:
        """Closed in itself."""
        return self.attributes.endswith(b"/")


class Names:
    """The elements to look for, in lower case; others cost next to nothing. Of `leaves` the end tags are of no use.
    `usual` is a pattern for what may be taken in one piece, behind its `<`.
    """

    __slots__ = ("finditer",)

    def __init__(self, *names: str, leaves: tuple[str, ...], usual: bytes = rb"(?!)") -> None:
        useless = rb"(?!/(?:[^\s<>/:]{1,60}+:)?+(?:" + "|".join(leaves).encode() + rb")[\s>])"
        name = rb"(/?)" + _PREFIX + rb"(" + "|".join((*names, *leaves)).encode() + rb")(?=[\s/>])"
        value = rb"((?:[^<]++|<" + _COMMENT + rb"|<" + _CDATA + rb")*+)"
        tag = useless + name + _ATTRIBUTES + value
        self.finditer = re.compile(
            rb"<(?=[!/a-z_\x80-\xff])(?:" + usual + rb"|" + tag + rb"|" + _COMMENT + rb"|" + _CDATA + rb")", re.I
        ).finditer


class XmlTags:
    """A file's tags. Bytes are read as they are, and only what is asked for is decoded: as UTF-8 if it is, and as what
    the file or HTTP declares if not. UTF-16 is the exception.
    """

    __slots__ = ("_encoding", "body")

    def __init__(self, body: bytes, content_type: str | None = None) -> None:
        self.body = utf_8_of(body)
        label = charset_label(content_type) if content_type else None
        declared = xml_encoding(self.body) or encoding_of(label or "")
        self._encoding = declared if declared not in (None, "utf-8", "replacement") else _NO_UTF_8

    def matches(self, names: Names) -> Iterator[re.Match[bytes]]:
        """The groups are those of `usual`, then the parts of a `Tag`: all are None for a comment or CDATA section."""
        return islice(names.finditer(self.body), _MOST_TAGS)

    def find(self, names: Names) -> Iterator[Tag]:
        end = len(self.body)
        for found in self.matches(names):
            closes, prefix, name, attributes, value = found.groups()
            if name is not None:
                yield Tag(bool(closes), prefix or b"", name.lower(), attributes, value, found.end() < end)

    def text(self, value: bytes) -> str:
        """Of what is behind a tag."""
        if b"<" not in value:
            return self.decoded(value.strip(_BLANKS))
        parts = []
        for found in _pieces(value):
            literal, plain = found.groups()
            if literal is not None:
                parts.append(self._read(literal))
            elif plain is not None:
                parts.append(self.decoded(plain))
        return "".join(parts).strip()

    def decoded(self, raw: bytes) -> str:
        """Text in which references are references."""
        text = self._read(raw)
        if "&" not in text:
            return text
        if text.count("&") == text.count("&amp;"):
            return text.replace("&amp;", "&")
        return _reference(_character, text)

    def attributes(self, tag: Tag) -> dict[bytes, str]:
        found: dict[bytes, str] = {}
        for name, *values in _attribute.findall(tag.attributes):
            found.setdefault(name.lower(), self.decoded(b"".join(values)).strip())
        return found

    def _read(self, raw: bytes) -> str:
        try:
            return raw.decode()
        except UnicodeDecodeError:
            return decode_as(raw, self._encoding)


def _character(match: re.Match[str]) -> str:
    return unescape(match[0])


def utf_8_of(body: bytes) -> bytes:
    """The same, but for UTF-16, with or without a mark, in UTF-8."""
    name = bom_encoding(body)
    if name is None and b"\0" in body[:4]:
        name = "utf-16be" if body[:1] == b"\0" else "utf-16le"
    if name is None:
        return body
    return body[3:] if name == "utf-8" else decode_as(body, name).encode("utf-8", "replace")


def root_of(body: bytes) -> str:
    """The name of the first element, in lower case and without a prefix; empty where there is none near the start."""
    found = _root(utf_8_of(body[:_ROOT_WITHIN]))
    return found[1].decode().lower() if found else ""
