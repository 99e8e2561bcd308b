"""Pages to Documents: encodings, the whole parser, and the link scanner of the hot path. Pure: no I/O, no clock."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from gossamer.parse.scan import Found, LinkScanner

if TYPE_CHECKING:
    from gossamer.model import Document
    from gossamer.parse.charset import decode
    from gossamer.parse.html import parse

__all__ = ["Found", "LinkScanner", "decode", "parse"]

# Loaded when first asked for: a crawl that the scanner can read alone need not wait for the whole parser.
_HOMES = {"decode": "gossamer.parse.charset", "parse": "gossamer.parse.html"}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(home), name)
    return value


class _Callable(ModuleType):
    """Lets `gossamer.parse(body, url)` work whether or not this package, of the same name, is loaded already."""

    def __call__(
        self, body: bytes, url: str, content_type: str | None = None, *, headers: Iterable[tuple[str, str]] = ()
    ) -> Document:
        from gossamer.parse.html import parse

        return parse(body, url, content_type, headers=headers)


sys.modules[__name__].__class__ = _Callable
