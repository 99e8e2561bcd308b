"""Listings of directories, as servers write them where a directory has no page of its own."""

from __future__ import annotations

import re
from typing import Final

_READ: Final = 2048  # bytes in which the title must stand

# Apache, nginx, lighttpd, thttpd; Python; Tomcat; Jetty; serve-index.
_titled = re.compile(
    rb"<title>\s*+(?:index of|directory listing (?:for|of)|directory:|listing directory)\s++\[?/", re.I
).search


def lists_directory(body: bytes, url: str, links: list[str]) -> bool:
    """Whether a page lists a directory that has an end: not one that has itself in it, as loops do. The same list in
    another order, which a query asks for, is none.
    """
    if not url.endswith("/") or _titled(body, 0, _READ) is None:
        return False
    return url + url[url.rindex("/", 0, -1) + 1 :] not in links
