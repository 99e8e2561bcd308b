"""Which responses may be sitemaps or feeds, as far as their headers and URLs tell."""

from __future__ import annotations

import re

from gossamer.model import Visit
from gossamer.regex import compiled_later

FEEDS = frozenset({"application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json"})
XML = frozenset({"text/xml", "application/xml"})  # it takes a look inside
_NEVER = ("image/", "audio/", "video/", "font/")
_sitemap_name = compiled_later(r"/[^/?]*sitemap[^/?]*\.(?:xml|txt)(?:\.gz)?", re.I)


def may_be_source(visit: Visit, content_type: str) -> bool:
    """Whether a response that is not wanted as a page is worth reading for links. A sitemap that somebody named as one
    may be of any type; compressed ones are sent as all sorts of things.
    """
    essence = content_type.partition(";")[0]
    if visit.source:
        return not essence.startswith(_NEVER)
    return essence in FEEDS or essence in XML or named_as_sitemap(visit.url)


def named_as_sitemap(url: str) -> bool:
    """By the last part of its path, such as sitemap-3.xml.gz: then it may be compressed, or plain text."""
    path = url.partition("?")[0]
    return _sitemap_name.fullmatch(path, path.rfind("/")) is not None
