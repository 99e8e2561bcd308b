"""What a body without a usable Content-Type is, by its first bytes, as in the MIME Sniffing Standard."""

from __future__ import annotations

import re

_READ = 1445  # bytes: as many as the standard looks at
_HTML = re.compile(
    rb"[\t\n\f\r ]*<(?:!DOCTYPE HTML|HTML|HEAD|SCRIPT|IFRAME|H1|DIV|FONT|TABLE|A|STYLE|TITLE|B|BODY|BR|P|!--)[ >]", re.I
)
_XML = re.compile(rb"[\t\n\f\r ]*<\?xml")
_KNOWN = (
    (re.compile(rb"%PDF-"), "application/pdf"),
    (re.compile(rb"%!PS-Adobe-"), "application/postscript"),
    (re.compile(rb"\xfe\xff|\xff\xfe|\xef\xbb\xbf"), "text/plain"),
    (re.compile(rb"\x00\x00[\x01\x02]\x00"), "image/x-icon"),
    (re.compile(rb"BM"), "image/bmp"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"RIFF....WEBPVP", re.S), "image/webp"),
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"FORM....AIFF", re.S), "audio/aiff"),
    (re.compile(rb"ID3"), "audio/mpeg"),
    (re.compile(rb"OggS\x00"), "application/ogg"),
    (re.compile(rb"MThd\x00\x00\x00\x06"), "audio/midi"),
    (re.compile(rb"RIFF....AVI ", re.S), "video/avi"),
    (re.compile(rb"RIFF....WAVE", re.S), "audio/wave"),
    (re.compile(rb"....ftyp", re.S), "video/mp4"),
    (re.compile(rb"\x1a\x45\xdf\xa3"), "video/webm"),
    (re.compile(rb"\x1f\x8b\x08"), "application/x-gzip"),
    (re.compile(rb"PK\x03\x04"), "application/zip"),
    (re.compile(rb"Rar \x1a\x07\x00|Rar!\x1a\x07"), "application/x-rar-compressed"),
)
_binary_in = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]").search


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
    return "application/octet-stream" if _binary_in(start) else "text/plain"
