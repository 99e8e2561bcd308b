"""A page to look at: its text, its looks as far as they are in the page itself, and its links, which lead where the
caller says. What acts, asks for something or leads elsewhere by itself is not written.

The tree is only read: changing it through resiliparse 1.1 crashes the process for some pages. And this is no guard: who
shows the result still forbids scripts and requests.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import escape
from typing import Any, Final

from gossamer.parse.charset import decode
from gossamer.parse.html import base_in, tree_of
from gossamer.parse.limits import MAX_LINKS, cut
from gossamer.parse.links import collapse, target_of
from gossamer.parse.mime import Reader, essence, reader_of

MAX_SHOWN: Final = 4 * 1024 * 1024
"""Bytes of a page that are made ready; a browser is slow with more."""

_VOID: Final = frozenset("area br col hr img input wbr".split())
# Written as they are. Those in neither list give their content only, since they may hold what people read.
_KEPT: Final = _VOID | frozenset(
    "html head title style body a abbr acronym address article aside b bdi bdo big blockquote button caption "
    "center cite code colgroup data dd del details dfn dialog dir div dl dt em fieldset figcaption figure font "
    "footer h1 h2 h3 h4 h5 h6 header hgroup i ins kbd label legend li main map mark menu meter nav nobr ol "
    "optgroup option output p pre progress q rb rp rt rtc ruby s samp section select small span strike strong sub "
    "summary sup table tbody td textarea tfoot th thead time tr tt u ul var".split()
)
_OTHERWISE: Final = {"form": "div", "xmp": "pre", "listing": "pre", "plaintext": "pre"}
_LEFT_OUT: Final = frozenset(
    "script template noembed noframes audio video canvas svg embed link base meta param source track".split()
)
_ATTRIBUTES: Final = frozenset(
    "abbr align alt axis bgcolor border cellpadding cellspacing checked class clear color cols colspan compact "
    "coords datetime dir disabled face frame headers height hidden high id label lang low max min name nowrap "
    "open optimum placeholder readonly reversed rows rowspan rules scope selected shape size span start style "
    "summary title type valign value width wrap".split()
)
# Text that no reader of pages wants, and that people can read all the same.
_AS_TEXT: Final = frozenset(
    "application/json application/ld+json application/xml application/javascript application/rss+xml "
    "application/atom+xml application/x-sh application/x-yaml application/toml image/svg+xml".split()
)
_end_of_style = re.compile(r"</(?=style)|<!--", re.I)


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
        return f'<!DOCTYPE html><pre style="white-space: pre-wrap">{escape(source)}</pre>'
    tree = tree_of(cut(source), reader)
    writer = _Writer(base_in(tree, url), charset, lead)
    written = "".join(writer.write(tree.document))
    return writer.of_frames(tree.title or "") if writer.has_frameset else written


class _Writer:
    """Writes one tree. Invariant: nothing is written but names and attributes of the lists above, escaped text, and
    links that `lead` gave.
    """

    def __init__(self, base: str, charset: str, lead: Callable[[str], str]) -> None:
        self._base = base
        self._charset = charset
        self._lead = lead
        self._room = MAX_LINKS
        self._frames: list[str] = []
        self.has_frameset = False

    def write(self, document: Any) -> Iterator[str]:
        """The tree in its order. Ends are kept on a list, not on the stack: pages may nest as deep as they like."""
        ends: list[tuple[Any, str]] = []
        node = document.first_child
        while node is not None or ends:
            if node is None:
                parent, end = ends.pop()
                yield end
                node = parent.next
                continue
            tag = node.tag
            child = None
            if tag == "#text":
                yield self._text(node, ends)
            elif node.attrs is None:  # a comment, or a document type, of which HTML has one
                yield "" if tag[:1] == "#" else "<!DOCTYPE html>"
            elif tag not in _LEFT_OUT:
                start, end = self._element(node, tag)
                yield start
                child = None if tag in _VOID else node.first_child
                if child is None:
                    yield end
                else:
                    ends.append((node, end))
            node = node.next if child is None else child

    def of_frames(self, title: str) -> str:
        """In the place of a page that is nothing but frames."""
        title = escape(collapse(title))
        links = "".join(f"<li>{link}</li>" for link in self._frames)
        return (
            f"<!DOCTYPE html><title>{title}</title><h1>{title}</h1><p>This page is made of frames:</p><ul>{links}</ul>"
        )

    def _text(self, node: Any, ends: list[tuple[Any, str]]) -> str:
        text = node.value or ""
        if ends and ends[-1][1] == "</style>":
            return _end_of_style.sub(" ", text)
        return escape(text, quote=False)

    def _element(self, node: Any, tag: str) -> tuple[str, str]:
        """What is written before its content, and behind."""
        if tag in ("iframe", "frame"):
            link = self._frame(node)
            self._frames.append(link)
            return link, ""
        self.has_frameset |= tag == "frameset"
        name = _OTHERWISE.get(tag, tag)
        if name not in _KEPT:
            return "", ""
        # One line break right behind these is no part of their text, so that one is lost with each writing.
        gap = "\n" if name in ("pre", "textarea") else ""
        return f"<{name}{self._attributes(node, tag)}>{gap}", "" if name in _VOID else f"</{name}>"

    def _attributes(self, node: Any, tag: str) -> str:
        names = dict.fromkeys(name for name in node.attrs if name in _ATTRIBUTES)
        said = [f' {name}="{escape(node.getattr(name) or "")}"' for name in names]
        if tag in ("a", "area"):
            said.append(self._href(node.getattr("href")))
        elif tag == "img":
            source = node.getattr("src") or ""
            if source.startswith("data:image/"):
                said.append(f' src="{escape(source)}"')
        return "".join(said)

    def _href(self, reference: str | None) -> str:
        if reference is not None and reference.startswith("#"):
            return f' href="{escape(reference)}"'
        url = self._target(reference)
        return "" if url is None else f' href="{escape(self._lead(url))}" target="_top"'

    def _frame(self, node: Any) -> str:
        url = self._target(node.getattr("src"))
        return "" if url is None else f'<a href="{escape(self._lead(url))}" target="_top">{escape(url)}</a>'

    def _target(self, reference: str | None) -> str | None:
        self._room -= 1
        return None if reference is None or self._room < 0 else target_of(reference, self._base, self._charset)
