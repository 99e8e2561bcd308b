"""A page to look at: what acts, asks for something or leads elsewhere by itself is taken out, and links lead where the
caller says.

It is no guard: who shows the result still forbids scripts and requests, since no list of what acts is ever complete.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any, Final

from gossamer.parse.charset import decode
from gossamer.parse.html import base_in, tree_of
from gossamer.parse.limits import MAX_LINKS, cut
from gossamer.parse.links import collapse, target_of
from gossamer.parse.mime import Reader, essence, reader_of

MAX_SHOWN: Final = 4 * 1024 * 1024
"""Bytes of a page that are made ready; a browser is slow with more."""

_TAKEN_OUT: Final = frozenset(
    "script link base template object embed applet portal fencedframe frame iframe audio video source track".split()
)
_FRAMES: Final = frozenset(("frame", "iframe"))
_LEADS: Final = frozenset(("a", "area"))
_ASKS: Final = frozenset(
    "src srcset lowsrc dynsrc background poster data action formaction ping cite manifest longdesc profile usemap "
    "classid codebase code archive href xlink:href autofocus target srcdoc imagesrcset attributionsrc".split()
)

# Text that no reader of pages wants, and that people can read all the same.
_AS_TEXT: Final = frozenset(
    "application/json application/ld+json application/xml application/javascript application/rss+xml "
    "application/atom+xml application/x-sh application/x-yaml application/toml image/svg+xml".split()
)


def is_readable(body: bytes, content_type: str | None) -> bool:
    """Whether there is text in it that people can read: what `inert` can show."""
    if reader_of(body, content_type) is not Reader.NONE:
        return True
    kind = essence(content_type) if content_type else ""
    return (kind in _AS_TEXT or kind.startswith("text/")) and b"\0" not in body[:1024]


def inert(body: bytes, url: str, content_type: str | None, lead: Callable[[str], str]) -> str | None:
    """HTML in which nothing acts; None where the page is no text. `lead` turns a normalised URL into where a link goes.

    No bytes raise.
    """
    if not is_readable(body, content_type):
        return None
    reader = reader_of(body, content_type)
    source, charset = decode(body[:MAX_SHOWN], content_type)
    if reader in (Reader.TEXT, Reader.NONE):
        return f"<!DOCTYPE html><pre style='white-space: pre-wrap'>{escape(source)}</pre>"
    tree = tree_of(cut(source), reader)
    base = base_in(tree, url)

    def target(node: Any, name: str) -> str | None:
        reference = node.getattr(name)
        return None if reference is None else target_of(reference, base, charset)

    nodes = [node for node in tree.document if node.tag[:1] != "#" and node.attrs is not None]
    if any(node.tag == "frameset" for node in nodes):
        return _of_frames(tree, [target(node, "src") for node in nodes if node.tag == "frame"], lead)
    room = MAX_LINKS
    for node in nodes:
        tag = node.tag
        href = target(node, "href") if tag in _LEADS and room > 0 else None
        room -= tag in _LEADS
        if tag in _TAKEN_OUT or (tag == "meta" and node.hasattr("http-equiv")):
            _replace(tree, node, target(node, "src") if tag in _FRAMES else None, lead)
            continue
        _calm(node, tag)
        if href is not None:
            node.setattr("href", lead(href))
            node.setattr("target", "_top")
    html: str = tree.document.html
    return html


def _calm(node: Any, tag: str) -> None:
    for name in node.attrs:
        low = name.lower()
        if low == "src" and tag == "img" and (node.getattr(name) or "").startswith("data:image/"):
            continue
        if low in _ASKS or low.startswith("on"):
            node.delattr(name)


def _replace(tree: Any, node: Any, url: str | None, lead: Callable[[str], str]) -> None:
    """Taken out, not freed: what is below it may be in hand still."""
    parent = node.parent
    if parent is None:
        return
    if url is not None:
        link = tree.create_element("a")
        link.setattr("href", lead(url))
        link.setattr("target", "_top")
        link.append_child(tree.create_text_node(url))
        parent.insert_before(link, node)
    parent.remove_child(node)


def _of_frames(tree: Any, urls: list[str | None], lead: Callable[[str], str]) -> str:
    links = "".join(
        f'<li><a href="{escape(lead(url))}" target="_top">{escape(url)}</a></li>' for url in urls if url is not None
    )
    title = escape(collapse(tree.title or ""))
    return f"<!DOCTYPE html><title>{title}</title><h1>{title}</h1><p>This page is made of frames:</p><ul>{links}</ul>"
