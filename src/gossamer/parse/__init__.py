"""Pages to Documents: encodings, the whole parser, and the link scanner of the hot path. Pure: no I/O, no clock."""

import sys
from types import ModuleType

from gossamer.model import Document
from gossamer.parse.charset import decode
from gossamer.parse.html import parse
from gossamer.parse.scan import Found, LinkScanner

__all__ = ["Found", "LinkScanner", "decode", "parse"]


class _Callable(ModuleType):
    """Lets `gossamer.parse(body, url)` work whether or not this package, of the same name, is loaded already."""

    def __call__(self, body: bytes, url: str, content_type: str | None = None) -> Document:
        return parse(body, url, content_type)


sys.modules[__name__].__class__ = _Callable
