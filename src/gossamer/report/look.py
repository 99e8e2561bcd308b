"""Quick looks at an HTML page: its title, its language, the words that it shows. Without building its tree.

A report reads every page of a crawl again. The whole parser takes some twenty times as long as the link scanner, and
what it would add (which text is hidden, which encoding is declared wrongly) changes no table much.
"""

from __future__ import annotations

import re
from html import unescape
from typing import Final

from gossamer.parse.charset import decide
from gossamer.parse.decoders import decode_as
from gossamer.parse.language import language_of

READ: Final = 64 << 10  # bytes of a page that are looked at
_HEAD: Final = 16 << 10  # characters in which title and language are looked for
_LONGEST: Final = 200
_skipped = re.compile(r"<(script|style|template|svg|!--)", re.I)
_ENDS: Final = {
    name: re.compile(end, re.I)
    for name, end in {
        "script": "</script",
        "style": "</style",
        "template": "</template",
        "svg": "</svg",
        "!--": "-->",
    }.items()
}
_tag = re.compile(r"<[^<>]*+>?+")
_title = re.compile(r"<title\b[^<>]*+>([^<]*+)", re.I)
_html = re.compile(r"<html\b([^<>]{0,1000}+)", re.I)
_lang = re.compile(r"""(?<![\w:-])(?:xml:)?lang[ \t\n\r\f]*+=[ \t\n\r\f]*+["']?([A-Za-z0-9-]{2,35}+)""", re.I)


def look(body: bytes, content_type: str | None) -> tuple[str, str, str]:
    """Charset, title and language."""
    charset, _ = decide(body, content_type)
    text = decode_as(body[:READ], charset)
    head = text[:_HEAD]
    title = _title.search(head)
    html = _html.search(head)
    declared = _lang.search(html[1]) if html else None
    language, _ = language_of(declared[1] if declared else "", shown(text))
    return charset, clean(" ".join(unescape(title[1][:1000]).split())) if title else "", language


def clean(text: str) -> str:
    """A title or a header, of bounded length, without what means something to a terminal or a database."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text[:_LONGEST])


def shown(text: str) -> str:
    """What is left without tags, scripts, styles and comments. Linear in the length of the text, whatever it holds."""
    parts = []
    at = 0
    while (skipped := _skipped.search(text, at)) is not None:
        parts.append(text[at : skipped.start()])
        end = _ENDS[skipped[1].lower()].search(text, skipped.end())
        if end is None:
            break
        at = end.start() if end[0] != "-->" else end.end()
    else:
        parts.append(text[at:])
    return " ".join(unescape(_tag.sub(" ", " ".join(parts))).split())
