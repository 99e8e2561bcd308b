"""What a page says of its links: their own words, and those around them."""

from __future__ import annotations

from typing import Final

from gossamer.model import Link
from gossamer.parse.charset import decode
from gossamer.parse.html import base_in, text_and_links, tree_of
from gossamer.parse.links import LinkReader, collapse
from gossamer.parse.mime import Reader, reader_of

_AROUND: Final = 120  # characters on each side
_LONGEST: Final = 2 << 20  # bytes of a page that is read: more would keep all other pages waiting
MOST_TEXT: Final = 256 * 1024  # characters
_LONG_ENOUGH: Final = 1024  # characters that links to one URL have together


def words_of(body: bytes, url: str, content_type: str | None) -> tuple[str, str, dict[str, tuple[str, str]]]:
    """Title, text, and by URL the words of links and those around; of several links to one URL all the words."""
    reader = reader_of(body, content_type)
    if reader is Reader.NONE:
        return "", "", {}
    source, charset = decode(body[:_LONGEST], content_type)
    if reader is Reader.TEXT:
        return "", collapse(source[:MOST_TEXT]), {}
    tree = tree_of(source, reader)
    links = LinkReader(base_in(tree, url), charset, with_text=True)
    pieces: list[str] = []
    places: list[int] = []  # where each link stands in the text
    length = 0
    for piece in text_and_links(tree, links):
        places += [length] * (len(links.links) - len(places))
        pieces.append(piece)
        length += len(piece)
    places += [length] * (len(links.links) - len(places))
    text = "".join(pieces)
    found: dict[str, tuple[str, str]] = {}
    for link, place in zip(links.links, places, strict=True):
        if link.kind not in ("a", "area"):
            continue
        said, around = link.text, _around(text, link, place)
        before = found.get(link.url)
        if before is not None and len(before[0]) < _LONG_ENOUGH:
            said, around = f"{before[0]} {said}".strip(), f"{before[1]} {around}".strip()
        elif before is not None:
            continue
        found[link.url] = said, around
    return collapse(tree.title or ""), collapse(text)[:MOST_TEXT], found


def _around(text: str, link: Link, place: int) -> str:
    """The words before and after, without its own."""
    after = place + len(link.text)
    before = text[max(0, place - _AROUND) : place]
    return collapse(f"{before.partition(' ')[2]} {text[after : after + _AROUND].rpartition(' ')[0]}")
