"""What the hosts of a changing web say about their pages' freshness, and whether it is true."""

from __future__ import annotations

from enum import StrEnum

from gossamer.testing.web.dice import mix, share
from gossamer.testing.web.profile import Change

_GOLDEN = 0.6180339887498949
_LONG_AGO = 1_500_000_000  # the date that never changes


class Honesty(StrEnum):
    """How a host speaks of its pages. What is not named is true: other validators, sitemap, Cache-Control."""

    TRUTHFUL = "truthful"
    BARE = "bare"  # no validators, as pages have them that are made anew for each request
    FRESH_ETAG = "fresh-etag"  # another ETag on each response, whether the text changed or not; no Last-Modified
    CONSTANT_ETAG = "constant-etag"  # says 304 to changed pages
    CONSTANT_DATE = "constant-date"  # of Last-Modified, with no ETag; says 304 to changed pages
    DATE_NOW = "date-now"  # Last-Modified is the moment of the request; no ETag
    IGNORES = "ignores-conditions"  # the validators are true, and never looked at in a request
    SITEMAP_NOW = "sitemap-now"  # lastmod is the moment of the request


LIES = (
    Honesty.FRESH_ETAG,
    Honesty.CONSTANT_ETAG,
    Honesty.CONSTANT_DATE,
    Honesty.DATE_NOW,
    Honesty.IGNORES,
    Honesty.SITEMAP_NOW,
)


def honesty_of(seed: int, host: int, change: Change) -> tuple[Honesty, bool]:
    """The manner of a host, and whether its pages have noise. Host 0, where crawls begin, is truthful and quiet.

    Steps of the golden ratio spread the shares evenly, so that also a web of ten hosts has about two liars.
    """
    level = (host * _GOLDEN + share(mix(seed, 29))) % 1.0
    x = mix(seed, host, 31)
    if host == 0 or level >= change.liars + change.noisy:
        return Honesty.TRUTHFUL, False
    if level < change.liars:
        return LIES[x % len(LIES)], False
    return (Honesty.BARE, Honesty.FRESH_ETAG)[x & 1], True


def shown_etag(honesty: Honesty, host: int, page: int, version: int, now: float) -> str:
    """The ETag of a page as such a host gives it."""
    if honesty is Honesty.FRESH_ETAG:
        return f'"{host:x}-{page:x}-at-{int(now * 1000):x}"'
    if honesty is Honesty.CONSTANT_ETAG:
        return f'"{host:x}-{page:x}"'
    return f'"{host:x}-{page:x}-{version:x}"'


def shown_date(honesty: Honesty, changed: float, now: float) -> int:
    """The Last-Modified of a page as such a host gives it, in seconds since 1970."""
    if honesty is Honesty.CONSTANT_DATE:
        return _LONG_AGO
    return int(now if honesty is Honesty.DATE_NOW else changed)
