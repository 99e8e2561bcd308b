"""What a Content-Type says: which reader a page gets, and the encoding that HTTP declares."""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache

from gossamer.model.media_type import parse_media_type
from gossamer.regex import compiled_later

# Formats that servers send without a type; none of them is text.
_BINARY = compiled_later(
    rb"%PDF-|\x89PNG|GIF8|\xff\xd8\xff|PK\x03\x04|\x1f\x8b|RIFF|OggS|ID3|\x7fELF|\x00\x00\x01\x00|BZh"
)
_XML_START = compiled_later(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*<\?xml")
_ROOT = compiled_later(rb"(?:<[?!](?:--.*?--|[^>]*)>|[^<]++)*+<(?:[A-Za-z0-9_.-]+:)?([A-Za-z0-9_.-]+)", re.S)


class Reader(Enum):
    """Who reads a page."""

    HTML = "html"
    XHTML = "xhtml"  # read as HTML, but <script/> is closed
    TEXT = "text"
    NONE = "none"


@lru_cache(maxsize=1024)
def essence(content_type: str) -> str:
    """ "text/html" of "Text/HTML; charset=x"; empty when it is no media type."""
    found = parse_media_type(content_type)
    return found.essence if found else ""


@lru_cache(maxsize=1024)
def charset_label(content_type: str) -> str | None:
    found = parse_media_type(content_type)
    return found.parameters.get("charset") if found else None


def reader_of(body: bytes, content_type: str | None) -> Reader:
    """Pages without a usable type are HTML unless their first bytes say otherwise."""
    kind = essence(content_type) if content_type else ""
    if kind == "text/html":
        return Reader.HTML
    if kind == "application/xhtml+xml":
        return Reader.XHTML
    if kind in ("text/xml", "application/xml") or (not kind and _XML_START.match(body)):
        root = _ROOT.match(body[:4096])
        return Reader.XHTML if root is not None and root[1].lower() == b"html" else Reader.NONE
    if not kind:
        return Reader.NONE if _BINARY.match(body) else Reader.HTML
    if kind.startswith("text/") and kind not in ("text/css", "text/javascript", "text/ecmascript"):
        return Reader.TEXT
    return Reader.NONE
