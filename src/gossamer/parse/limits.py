"""How much of a page is read. Honest pages stay below; what a hostile one costs is bounded by them."""

from __future__ import annotations

from typing import AnyStr, Final

MAX_TAGS: Final = 450_000
"""Of `<`, tag or not: a page ends there. That is nine megabytes of ordinary markup and more."""
MAX_ATTRIBUTES: Final = 256
"""Of one tag."""
MAX_LINKS: Final = 50_000
"""Of one page, as many as a sitemap may have: elements that refer to something, wherever that leads."""


def cut(source: AnyStr) -> AnyStr:
    """`source` up to the tag that is one too many."""
    if len(source) <= MAX_TAGS:
        return source
    sign = b"<" if isinstance(source, bytes) else "<"
    if source.count(sign) <= MAX_TAGS:
        return source
    return source[: -1 - len(source.split(sign, MAX_TAGS + 1)[-1])]
