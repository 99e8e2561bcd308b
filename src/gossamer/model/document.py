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
    """What parsing finds in a page. Where each field comes from: docs/documents.md."""

    url: str
    base: str
    charset: str
    title: str
    text: str  # all of it, on one line
    language: str  # BCP 47
    links: list[Link]
    description: str = ""
    canonical: str = ""
    noindex: bool = False
    nofollow: bool = False
    main_text: str = ""  # without menus and the like, a line for each block
    language_confidence: float = 0.0  # from 0, unknown, to 1
    author: str = ""
    published: str = ""  # by the author's account, in ISO 8601
    modified: str = ""
