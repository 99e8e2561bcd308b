"""Feeds: RSS 0.9x, 1.0 and 2.0, Atom 0.3 and 1.0, JSON Feed. Where their entries lead, and the site itself.

Links in the text of an entry are left alone: the page that the entry is about has them too.
"""

from __future__ import annotations

from typing import Final

import msgspec

from gossamer.model.url import MAX_LENGTH, normalize
from gossamer.parse.listing import MOST_URLS, Listed, unpacked
from gossamer.parse.xml_tags import Names, Tag, XmlTags

ROOTS: Final = frozenset(("rss", "rdf", "feed"))
_LONGEST: Final = 6 * MAX_LENGTH  # bytes of an address as written
_ENTRIES: Final = (b"item", b"entry")
# They have links of their own: a logo, a search form, the feed that an entry was copied from, an entry's text.
_SKIPPED: Final = (b"image", b"textinput", b"source", b"content")
_DATES: Final = (b"updated", b"modified", b"date", b"pubdate", b"published", b"issued")  # the first that there is
_NAMES: Final = Names(
    *(name.decode() for name in (*_ENTRIES, *_SKIPPED)),
    *("rss", "rdf", "feed", "channel"),
    leaves=("link", "guid", *(name.decode() for name in _DATES)),
)


def read_feed(body: bytes, url: str, content_type: str | None = None) -> list[Listed]:
    """`body` of the feed at `url`. No bytes raise; what is none lists nothing."""
    data = unpacked(body)
    if data[:64].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return _json(data, url)
    return _Reader(XmlTags(data, content_type), url).read()


class _Reader:
    """Reads tag by tag, as that of sitemaps does. Outside of entries it is the feed that is spoken of."""

    def __init__(self, tags: XmlTags, url: str) -> None:
        self._tags = tags
        self._url = url
        self._feed_base = self._base = url
        self._found: dict[str, Listed] = {}
        self._left = MOST_URLS
        self._begin()

    def _begin(self) -> None:
        self._links: list[str] = []
        self._instead = ""  # where there is no link
        self._dates: dict[bytes, bytes] = {}

    def read(self) -> list[Listed]:
        own: bytes | None = None
        skipped: tuple[bytes, bytes] | None = None
        for tag in self._tags.find(_NAMES):
            name = tag.name
            if own is None and name not in (b"rss", b"rdf"):
                own = tag.prefix  # RSS 1.0 has a root of another namespace
            is_entry = tag.prefix == own and name in _ENTRIES
            if skipped and not is_entry:
                if tag.closes and (tag.prefix, name) == skipped:
                    skipped = None
            elif is_entry:
                skipped = None
                self._end()
                self._base = self._feed_base if tag.closes else self._based(tag, self._feed_base)
                if not tag.closes and b"about" in tag.attributes:
                    self._instead = self._tags.attributes(tag).get(b"rdf:about", "")
            elif not tag.closes:
                if name in _SKIPPED:
                    skipped = None if tag.empty else (tag.prefix, name)
                else:
                    self._take(tag, own)
            if self._left <= 0:
                break
        self._end()
        return [listed for url, listed in self._found.items() if url != self._url]

    def _take(self, tag: Tag, own: bytes | None) -> None:
        name = tag.name
        if name in _DATES:
            self._dates.setdefault(name, tag.value)
        elif name in (b"rss", b"rdf", b"feed", b"channel"):
            self._feed_base = self._base = self._based(tag, self._feed_base)
        elif tag.prefix != own:
            return  # atom:link in RSS says where the feed itself is
        elif name == b"link":
            self._link(tag)
        elif tag.whole and len(tag.value) <= _LONGEST:
            is_permanent = self._tags.attributes(tag).get(b"ispermalink", "true").lower() != "false"
            self._instead = self._tags.text(tag.value) if is_permanent else self._instead

    def _link(self, tag: Tag) -> None:
        """An address in `href` (Atom) or in between (RSS), with no relation or that of an alternate."""
        attributes = self._tags.attributes(tag) if tag.attributes.strip(b" \t\r\n/") else {}
        if attributes.get(b"rel", "alternate").lower() != "alternate":
            return
        self._left -= 1
        between = tag.value if tag.whole and not tag.empty and len(tag.value) <= _LONGEST else b""
        reference = attributes.get(b"href") or self._tags.text(between)
        target = normalize(reference, self._based(tag, self._base)) if reference else None
        if target is not None:
            self._links.append(target)

    def _based(self, tag: Tag, base: str) -> str:
        if b"xml:base" not in tag.attributes:
            return base
        return normalize(self._tags.attributes(tag).get(b"xml:base", ""), base) or base

    def _end(self) -> None:
        """Of an entry, or of what comes before the first."""
        # What stands in for a link is an identifier by its nature, and an address only if it is a whole one.
        self._left -= bool(self._instead)
        instead = normalize(self._instead) if self._instead and not self._links else None
        links = [instead] if instead is not None else self._links
        date = next((self._dates[name] for name in _DATES if name in self._dates), b"")
        modified = self._tags.text(date[:_LONGEST]) if date and links else ""
        for target in links:
            if target not in self._found:
                self._found[target] = Listed(target, modified)
        self._begin()


class _JsonItem(msgspec.Struct):
    url: str = ""
    date_modified: str = ""
    date_published: str = ""


class _JsonFeed(msgspec.Struct):
    version: str
    home_page_url: str = ""
    items: list[_JsonItem] = []


def _json(data: bytes, url: str) -> list[Listed]:
    try:
        feed = msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"), type=_JsonFeed)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return []
    if "jsonfeed.org" not in feed.version:
        return []
    found: dict[str, Listed] = {}
    for item in (_JsonItem(feed.home_page_url), *feed.items[:MOST_URLS]):
        target = normalize(item.url, url) if item.url else None
        if target is not None and target != url and target not in found:
            found[target] = Listed(target, item.date_modified or item.date_published)
    return list(found.values())
