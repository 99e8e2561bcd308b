"""Sitemaps (sitemaps.org): XML or plain text, an index of others, gzip of any of these; as the protocol has them, and
as people write them.

Of an entry only `loc`, `lastmod` and `priority` are read, under the prefix that the first element has; images, videos,
news and alternates in other languages are left alone.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from gossamer.model.url import MAX_LENGTH, normalize
from gossamer.parse.listing import MOST_URLS, Listed, Listing, unpacked
from gossamer.parse.xml_tags import Names, XmlTags, utf_8_of

_EXTENSIONS: Final = (b"image", b"video", b"news")
# An entry as most programs write it, in one piece: address, date, priority. Others are read tag by tag.
_USUAL: Final = (
    rb"url>\s*+<loc>([^<]++)</loc>\s*+(?:<lastmod>([^<]*+)</lastmod>\s*+)?+"
    rb"(?:<changefreq>[^<]*+</changefreq>\s*+)?+(?:<priority>([^<]*+)</priority>\s*+)?+</url>"
)
_NAMES: Final = Names(
    *("urlset", "sitemapindex", "url", "sitemap", "image", "video", "news"),
    leaves=("loc", "lastmod", "priority"),
    usual=_USUAL,
)
_LONGEST: Final = 6 * MAX_LENGTH  # bytes of an address as written
_line = re.compile(rb"^[ \t]*+(https?://[^\r\n]++)", re.M | re.I).finditer
_priority = re.compile(r"[01]|[01]?[.,]\d{1,9}").fullmatch
_binary_in = re.compile(rb"[\x00-\x08\x0e-\x1a]").search


def read_sitemap(body: bytes, url: str, content_type: str | None = None) -> Listing:
    """`body` of the sitemap at `url`, perhaps gzipped. No bytes raise; what is none lists nothing."""
    data = utf_8_of(unpacked(body))
    start = data[:1024].lstrip()
    if start.startswith(b"<") or b"<url" in start or b"<sitemap" in start:
        return _Reader(XmlTags(data, content_type), url).read()
    return Listing([] if _binary_in(start) else _lines(data), [])


def _lines(data: bytes) -> list[Listed]:
    """Of a sitemap in plain text: a whole URL each."""
    urls: dict[str, None] = {}
    for found in islice(_line(data), MOST_URLS):
        target = normalize(found[1].strip().decode("utf-8", "replace")) if len(found[1]) <= _LONGEST else None
        if target is not None:
            urls[target] = None
    return [Listed(url) for url in urls]


class _Reader:
    """Reads tag by tag. Where end tags are missing the next start tag ends what is open; an address that the file does
    not end is none.
    """

    def __init__(self, tags: XmlTags, url: str) -> None:
        self._tags = tags
        self._base = url
        self._found: tuple[dict[str, Listed], dict[str, Listed]] = ({}, {})
        self._left = MOST_URLS
        self._prefix: bytes | None = None  # of the sitemap's own elements
        self._skipped = b""  # we are within this extension
        self._is_index = False  # what the entries are
        self._loc: bytes | None = None
        self._lastmod = self._priority = b""
        self._priorities: dict[bytes, float | None] = {b"": None}

    def read(self) -> Listing:
        end = len(self._tags.body)
        for found in self._tags.matches(_NAMES):
            loc, lastmod, priority, closes, prefix, name, attributes, value = found.groups()
            if loc is not None:
                if not self._prefix:
                    self._skipped = b""
                    self._end()
                    self._is_index = False
                    self._loc, self._lastmod, self._priority = loc, lastmod or b"", priority or b""
                    self._end()
            elif name is not None:
                self._tag(bool(closes), prefix or b"", name.lower(), attributes, value if found.end() < end else None)
            if not self._left:
                break
        self._end()
        urls, sitemaps = self._found
        return Listing(list(urls.values()), list(sitemaps.values()))

    def _tag(self, closes: bool, prefix: bytes, name: bytes, attributes: bytes, value: bytes | None) -> None:
        if self._prefix is None:
            self._prefix = prefix
        own = prefix == self._prefix
        if own and name in (b"url", b"sitemap"):
            self._skipped = b""
            self._end()
            self._is_index = name == b"sitemap"
        elif self._skipped:
            if closes and name == self._skipped:
                self._skipped = b""
        elif name in _EXTENSIONS:
            if not closes and not attributes.endswith(b"/"):
                self._skipped = name
        elif own and not closes:
            self._take(name, value)

    def _take(self, name: bytes, value: bytes | None) -> None:
        if name == b"loc":
            if self._loc is not None:
                self._end()
            self._loc = value
        elif name == b"lastmod":
            self._lastmod = value or b""
        elif name == b"priority":
            self._priority = value or b""
        else:
            self._is_index = name == b"sitemapindex"

    def _end(self) -> None:
        """Of an entry."""
        loc, lastmod, priority = self._loc, self._lastmod, self._priority
        if loc is not None and self._left:
            self._left -= 1
            reference = self._tags.text(loc) if len(loc) <= _LONGEST else ""
            target = normalize(reference, self._base) if reference else None
            found = self._found[self._is_index]
            if target is not None and target not in found:
                found[target] = Listed(target, self._tags.text(lastmod[:_LONGEST]), self._share(priority))
        self._loc = None
        self._lastmod = self._priority = b""

    def _share(self, value: bytes) -> float | None:
        if value in self._priorities:
            return self._priorities[value]
        text = self._tags.text(value) if len(value) < _LONGEST else ""
        share = float(text.replace(",", ".")) if _priority(text) else -1.0
        known = self._priorities[value] = share if 0.0 <= share <= 1.0 else None
        return known
