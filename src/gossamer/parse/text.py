"""The main text of a page: what its author wrote there, without menus, footers and lists of links.

Three simple rules: parts that say what they are (`<nav>`, `role=banner`, `class="sidebar"`) are passed over, blocks
that are mostly links are left out, and so are headings with nothing below. Where too little is left, less is left out.
Each node is met once, and letters that are looked at again are counted, so that no page takes long.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final, NamedTuple

from gossamer.parse.html import INLINE

MAX_LENGTH: Final = 256 * 1024
_MAX_NODES: Final = 100_000
"""What comes behind them is left out; such pages are lists and tables made by programs."""
_LITTLE: Final = 140
"""Characters; less is no text of a page that has more."""
_LINKED: Final = 0.5
"""The share of a block's letters inside links from which it is navigation."""
_WRITTEN: Final = 40
"""Characters outside of links that make a block worth keeping, whatever else it has."""
_NAMES: Final = 512
_LOOK: Final = 1000
"""What it costs to look at a part that is called navigation, besides its length in characters."""

_SKIPPED: Final = frozenset(
    "nav footer aside menu dialog button select textarea input datalist script style noscript noembed noframes iframe "
    "object applet audio video canvas svg math template br img".split()
)
_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
_ROLES: Final = frozenset(
    "navigation banner contentinfo search complementary dialog alertdialog menu menubar tablist toolbar".split()
)
# Words in a class or an id that mean a part beside the text; those of the second list may also mean a box in it.
_called_beside = re.compile(
    r"(?<![a-z])(?:(?:top|side|main|site|doc|page|sub|foot|head|bottom)?[-_]?"
    r"(?:nav|navbar|navi|navigation|navheader|navfooter|menu|menubar)"
    r"|breadcrumbs?|crumbs?|footer|pagination|pager|cookies?|consent|advert|ads?|newsletter|copyright|masthead|banner"
    r"|skip-?links?|sr-only|screen-reader-text|visually-hidden)(?![a-z])"
).search
_perhaps_beside = re.compile(
    r"(?<![a-z])(?:sidebar|related|share|sharing|social|promo|subscribe|login|search|comments?|respond|quickview|toc"
    r"|links|popup|modal|hidden|toplang|bottomlang|languages|see-?also|tags)(?![a-z])"
).search
_hides = re.compile(r"(?:display\s*+:\s*+none|visibility\s*+:\s*+hidden)").search


class _Block(NamedTuple):
    """Text that no element divides, how much of it is inside links, and its level if it is a heading."""

    text: str
    linked: int
    level: int


def main_text(tree: Any, text: str) -> str:
    """The main text, a line for each block; `text`, all of the page's, where none can be told from the rest."""
    body = tree.body
    if body is None:
        return text[:MAX_LENGTH]
    little = min(_LITTLE, len(text) // 4)
    roots = [body]
    for selector in ("main, [role=main]", "article"):
        parts = body.query_selector_all(selector)
        if len(parts) == 1:
            roots.insert(0, parts[0])
            break
    for root in roots:
        blocks = _Reader(root, len(text)).blocks
        for kept in (_written(blocks), blocks):
            found = "\n".join(block.text for block in kept)
            if len(found) > little:
                return found[:MAX_LENGTH]
    return text[:MAX_LENGTH]


def _written(blocks: list[_Block]) -> list[_Block]:
    """The blocks that are not navigation, and the headings with such blocks below."""
    kept: list[_Block] = []
    headings: list[_Block] = []
    for block in blocks:
        if block.level:
            headings.append(block)
        elif block.linked < len(block.text) * _LINKED or len(block.text) - block.linked > _WRITTEN:
            kept += headings
            headings.clear()
            kept.append(block)
        else:
            # It was the heading of those links; the page's own may have some below it.
            headings = [heading for heading in headings if heading.level == 1]
    return kept


class _Reader:
    """Walks one part of a page.

    Invariant: the letters gathered, the nodes met and the letters looked at again are bounded, and no part is entered
    that is beside the text.
    """

    __slots__ = ("_linked", "_looks", "_parts", "_room", "_size", "blocks")

    def __init__(self, root: Any, size: int) -> None:
        self.blocks: list[_Block] = []
        self._parts: list[str] = []
        self._linked = 0
        self._room = MAX_LENGTH
        self._size = size
        self._looks = 4 * size + 64 * _LOOK
        self._walk(root)

    def _walk(self, root: Any) -> None:
        node = root.first_child
        depth = 1 if node is not None else 0
        in_link = False
        nodes = _MAX_NODES
        while depth and nodes and self._room > 0:
            nodes -= 1
            tag = node.tag
            child = None
            if tag == "#text":
                value = node.value
                self._parts.append(value)
                if in_link:
                    self._linked += len(" ".join(value.split()))
            elif tag in INLINE:
                child = node.first_child
                # Anchors that only name a place are often never closed.
                in_link |= tag == "a" and node.hasattr("href")
            elif tag in _SKIPPED or not tag[0].isalpha():
                # The second are nodes that are no elements, which have no attributes to look at.
                self._parts.append(" ")
            else:
                self._end_block("")
                if not self._is_beside(node, tag):
                    child = node.first_child
            if child is not None:
                node = child
                depth += 1
                continue
            in_link &= tag != "a"
            while (following := node.next) is None:
                node = node.parent
                depth -= 1
                if not depth:
                    break
                tag = node.tag
                if tag == "a":
                    in_link = False
                elif tag not in INLINE:
                    self._end_block(tag)
            node = following
        self._end_block("")

    def _end_block(self, tag: str) -> None:
        if not self._parts:
            return
        text = " ".join("".join(self._parts).split())
        if text:
            self.blocks.append(_Block(text, self._linked, _HEADINGS.get(tag, 0)))
            self._room -= len(text)
        self._parts.clear()
        self._linked = 0

    def _is_beside(self, node: Any, tag: str) -> bool:
        attributes = node.attrs
        if not attributes and tag != "header":
            return False
        if "hidden" in attributes or ("role" in attributes and node.getattr("role").strip().lower() in _ROLES):
            return True
        if "style" in attributes and _hides(node.getattr("style")[:_NAMES].lower()):
            return True
        if tag == "header":
            return node.parent.tag in ("body", "div") and self._is_navigation(node, True)
        names = f"{node.id} {node.class_name}"
        if len(names) == 1 or tag == "pre":
            return False
        sure = _beside(names[:_NAMES])
        return sure is not None and self._is_navigation(node, sure)

    def _is_navigation(self, node: Any, sure: bool) -> bool:
        """Whether a part that is called so is: full of links, or short if its name is sure."""
        if self._looks <= 0:
            return False
        text = node.text or ""
        self._looks -= len(text) + _LOOK
        length = len(" ".join(text.split()))
        if length * 2 > self._size:
            return False
        linked = sum(len(link.text or "") for link in node.query_selector_all("a[href]"))
        return linked * 5 > length or (sure and length < 2 * _LITTLE)


@lru_cache(4096)
def _beside(names: str) -> bool | None:
    """Whether these names surely mean a part beside the text; None where they do not mean one."""
    names = names.lower()
    if _called_beside(names):
        return True
    return False if _perhaps_beside(names) else None
