"""A parsed page."""

from __future__ import annotations

import msgspec


class Link(msgspec.Struct, frozen=True, gc=False):
    """A reference found in a page: normalised target, kind (mostly the element's name: docs/links.md), its text."""

    url: str
    kind: str  # a area frame iframe link:canonical img media script embed object applet form cite meta header:next …
    text: str = ""
    nofollow: bool = False


class Document(msgspec.Struct, frozen=True):
    """What parsing finds in a page."""

    url: str
    base: str
    charset: str
    title: str
    text: str
    language: str
    links: list[Link]
    description: str = ""
    canonical: str = ""
    noindex: bool = False
    nofollow: bool = False
