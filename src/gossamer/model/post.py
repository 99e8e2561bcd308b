"""Forms that are sent with POST: one URL for each request, though its body is no part of any URL.

    http://example.org/find#__wb_method=POST&q=word

Behind the `#` stands the body, written as web archives write it into the queries of their keys. No normalised URL has a
`#`, and whatever comes from pages, seeds or other programs is normalised: such a URL is made here and nowhere else. So
no link can have a form sent, and none is ever taken for one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gossamer.model.url import normalize
from gossamer.regex import compiled_later

LONGEST_BODY: Final = 1900
"""Bytes: a query fits, and a URL with its body stays below the 4,096 that readers of URLs take."""

METHOD: Final = "__wb_method=POST"
_MARK: Final = "#" + METHOD
_BODY = compiled_later(r"(?:[A-Za-z0-9*._~+&=-]|%[0-9A-Fa-f]{2})*+")


def posted(url: str, body: str) -> str | None:
    """The URL of a request with this body (application/x-www-form-urlencoded) to `url`, which is normalised; None when
    the body is none, or too long.
    """
    if "#" in url or len(body) > LONGEST_BODY or not _BODY.fullmatch(body):
        return None
    return f"{url}{_MARK}&{body}" if body else url + _MARK


def plain(url: str) -> str:
    """Where a request goes: the URL without the body."""
    return url.partition("#")[0]


def body_of(url: str) -> str:
    return url.partition(_MARK)[2][1:]


def known_as(text: str, read: Callable[[str], str | None] = normalize) -> str | None:
    """As `read` has it, but for the body behind the URL of a form, which stays. For looking up what was visited, never
    for what is to be.
    """
    start, mark, rest = text.strip().partition(_MARK)
    url = read(start)
    if url is None or not mark or rest[:1] not in ("", "&"):
        return url
    return posted(url, rest[1:]) or url
