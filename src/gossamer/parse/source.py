"""Sitemap, feed or neither: what a response lists."""

from __future__ import annotations

import msgspec

from gossamer.parse.feed import ROOTS, read_feed
from gossamer.parse.listing import Listing, unpacked
from gossamer.parse.sitemap import read_sitemap
from gossamer.parse.xml_tags import root_of

_PAGES = ("text/html", "application/xhtml+xml")


class Source(msgspec.Struct, gc=False):
    """`kind` is "sitemap", "feed", or empty for what is neither."""

    kind: str
    listing: Listing


def read_source(body: bytes, url: str, content_type: str | None, named: bool) -> Source:
    """`named`: somebody says that it is a sitemap, so that it may be plain text, or XML too broken to have a root."""
    data = unpacked(body)
    root = root_of(data)
    if root in ("urlset", "sitemapindex"):
        return Source("sitemap", read_sitemap(data, url, content_type))
    if root in ROOTS or (not root and (content_type or "").startswith("application/feed+json")):
        urls = read_feed(data, url, content_type)
        # RDF and JSON may be anything.
        return Source("feed" if urls or root in ("rss", "feed") else "", Listing(urls, []))
    if named and root != "html":
        listing = read_sitemap(data, url, content_type)
        if listing.urls or listing.sitemaps or not (content_type or "").startswith(_PAGES):
            return Source("sitemap", listing)
    return Source("", Listing([], []))
