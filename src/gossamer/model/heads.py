"""Values of a header in the head of a response, found without reading all of it: asked several times a page."""

from __future__ import annotations

import re
from functools import lru_cache


def values_here(head: bytes, name: bytes) -> list[bytes]:
    """What stands behind each `name:`, given in small letters, at the beginning of a line that is not the first."""
    return _pattern(name).findall(head)


@lru_cache(maxsize=64)
def _pattern(name: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"\n" + re.escape(name) + rb"[ \t]*:[ \t]*([^\r\n]*)", re.I)


def validators_here(head: bytes) -> tuple[bytes, bytes]:
    """ETag and Last-Modified as sent, each empty where there is none."""
    return value(head, b"etag"), value(head, b"last-modified")


try:
    from gossamer.model._heads import validators as validators
    from gossamer.model._heads import values as values
except ImportError:  # no compiler was at hand when it was installed
    validators, values = validators_here, values_here


def value(head: bytes, name: bytes) -> bytes:
    """The first one, without spaces around it; empty where there is none."""
    found = values(head, name)
    return found[0].strip() if found else b""
