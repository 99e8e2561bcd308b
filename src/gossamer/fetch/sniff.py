"""What a body without a usable Content-Type is, by its first bytes, as in the MIME Sniffing Standard."""

from __future__ import annotations

import re

from gossamer.regex import compiled_later

_READ = 1445  # bytes: as many as the standard looks at
_HTML = compiled_later(
    rb"[\t\n\f\r ]*<(?:!DOCTYPE HTML|HTML|HEAD|SCRIPT|IFRAME|H1|DIV|FONT|TABLE|A|STYLE|TITLE|B|BODY|BR|P|!--)[ >]", re.I
)
_XML = compiled_later(rb"[\t\n\f\r ]*<\?xml")
_KNOWN = (
    (compiled_later(rb"%PDF-"), "application/pdf"),
    (compiled_later(rb"%!PS-Adobe-"), "application/postscript"),
    (compiled_later(rb"\xfe\xff|\xff\xfe|\xef\xbb\xbf"), "text/plain"),
    (compiled_later(rb"\x00\x00[\x01\x02]\x00"), "image/x-icon"),
    (compiled_later(rb"BM"), "image/bmp"),
    (compiled_later(rb"GIF8[79]a"), "image/gif"),
    (compiled_later(rb"RIFF....WEBPVP", re.S), "image/webp"),
    (compiled_later(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (compiled_later(rb"\xff\xd8\xff"), "image/jpeg"),
    (compiled_later(rb"FORM....AIFF", re.S), "audio/aiff"),
    (compiled_later(rb"ID3"), "audio/mpeg"),
    (compiled_later(rb"OggS\x00"), "application/ogg"),
    (compiled_later(rb"MThd\x00\x00\x00\x06"), "audio/midi"),
    (compiled_later(rb"RIFF....AVI ", re.S), "video/avi"),
    (compiled_later(rb"RIFF....WAVE", re.S), "audio/wave"),
    (compiled_later(rb"....ftyp", re.S), "video/mp4"),
    (compiled_later(rb"\x1a\x45\xdf\xa3"), "video/webm"),
    (compiled_later(rb"\x1f\x8b\x08"), "application/x-gzip"),
    (compiled_later(rb"PK\x03\x04"), "application/zip"),
    (compiled_later(rb"Rar \x1a\x07\x00|Rar!\x1a\x07"), "application/x-rar-compressed"),
)
_BINARY = compiled_later(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")


def sniffed(body: bytes) -> str:
    """The essence of a media type; text/plain for text that does not begin as HTML does."""
    start = body[:_READ]
    if _HTML.match(start):
        return "text/html"
    if _XML.match(start):
        return "text/xml"
    for pattern, kind in _KNOWN:
        if pattern.match(start):
            return kind
    return "application/octet-stream" if _BINARY.search(start) else "text/plain"
