"""The references of a page, element by element."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import islice
from typing import Any, Final
from urllib.parse import quote_from_bytes

from gossamer.model import Link
from gossamer.model.url import normalize, resolve
from gossamer.parse.directives import ROBOTS_NAMES, image_candidates, is_nofollow, keyword, refresh_target, robots_rules
from gossamer.parse.limits import MAX_LINKS
from gossamer.regex import compiled_later

FOLLOWED: Final = frozenset(("a", "area", "frame", "iframe", "meta"))
"""The kinds that lead to pages; the others are parts of this one."""

_MAX_TEXT: Final = 512
# Links may hold links, by way of tables; so that their texts do not grow with the square of the page, they have this
# many characters in all, and an image with a text is looked for among this many nodes.
_ALL_TEXTS: Final = 4 * 1024 * 1024
_NEAR: Final = 64
_beyond_ascii = compiled_later(r"[^\x00-\x7f]+")


def collapse(text: str) -> str:
    return " ".join(text.split())


def target_of(reference: str, base: str, charset: str) -> str | None:
    """The normalised URL that a reference means on a page in this encoding.

    The encoding matters only for letters beyond ASCII in the query: forms and servers of its time expect them in it.
    """
    if charset != "utf-8" and not reference.isascii():
        head, mark, query = reference.partition("?")
        if mark and "#" not in head:
            from gossamer.parse.decoders import codec_of  # the scanner needs this module, but no decoders

            codec = codec_of(charset)
            reference = head + mark + _beyond_ascii.sub(lambda run: _escaped(run[0], codec), query)
    return normalize(reference, base)


def _escaped(text: str, codec: str) -> str:
    """Letters that the encoding lacks are sent as character references."""
    return quote_from_bytes(text.encode(codec, "xmlcharrefreplace"), safe="@[\\]^`{|}")


def is_wanted(kind: str, kinds: frozenset[str]) -> bool:
    """`link:next nofollow` is meant by `link`, by `link:next` and by its own name."""
    if kind in kinds:
        return True
    name, colon, relations = kind.partition(":")
    return bool(colon) and (name in kinds or any(f"{name}:{relation}" in kinds for relation in relations.split()))


def base_of(reference: str | None, url: str) -> str:
    """What references are relative to, given the page's first `<base href>`."""
    base = None if reference is None else resolve(reference, url)
    return url if base is None or base.startswith(("data:", "javascript:")) else base


class LinkReader:
    """Collects what the elements of one page refer to, in the order in which they are given to `read`.

    Invariant: every link is normalised; a reference that is no crawlable URL leaves no trace. No more than MAX_LINKS
    references are read.
    """

    __slots__ = (
        "_charset",
        "_room",
        "_text_left",
        "_with_text",
        "base",
        "canonical",
        "description",
        "language",
        "links",
        "nofollow",
        "noindex",
    )

    def __init__(self, base: str, charset: str, with_text: bool) -> None:
        self.base = base
        self._charset = charset
        self._with_text = with_text
        self._room = MAX_LINKS
        self._text_left = _ALL_TEXTS
        self.links: list[Link] = []
        self.noindex = False
        self.nofollow = False
        self.description = ""
        self.canonical = ""
        self.language = ""

    def read(self, node: Any, tag: str) -> None:
        if self._room > 0:
            READERS[tag](self, node)

    def _add(self, reference: str | None, kind: str, text: str = "", nofollow: bool = False) -> str | None:
        if reference is None or self._room <= 0:
            return None
        self._room -= 1
        url = target_of(reference, self.base, self._charset)
        if url is not None:
            self.links.append(Link(url, kind, text, nofollow))
        return url

    def _anchor(self, node: Any) -> None:
        reference = node.getattr("href")
        if reference is None:
            return
        text = self._text_of(node) if self._with_text else ""
        self._add(reference, node.tag, text, is_nofollow(node.getattr("rel") or ""))

    def _text_of(self, node: Any) -> str:
        """What is written there, else what its image shows, else what it is called."""
        if self._text_left <= 0:
            return ""
        written = node.text or ""
        self._text_left -= len(written)
        text = collapse(written) or collapse(_image_text(node))
        return (text or self._called(node))[:_MAX_TEXT]

    def _called(self, node: Any) -> str:
        if not self._with_text:
            return ""
        return collapse(node.getattr("aria-label") or node.getattr("title") or "")[:_MAX_TEXT]

    def _source(self, node: Any) -> None:
        self._add(node.getattr("src"), node.tag, self._called(node))

    def _image(self, node: Any) -> None:
        text = collapse(node.getattr("alt") or "")[:_MAX_TEXT] if self._with_text else ""
        for attribute in ("src", "lowsrc", "lowres"):
            self._add(node.getattr(attribute), "img", text)
        self._image_set(node)

    def _image_set(self, node: Any) -> None:
        for reference in image_candidates(node.getattr("srcset") or ""):
            self._add(reference, "img")

    def _drawn_image(self, node: Any) -> None:
        self._add(node.getattr("href"), "img")

    def _background(self, node: Any) -> None:
        self._add(node.getattr("background"), "img")

    def _media(self, node: Any) -> None:
        self._add(node.getattr("src"), "media")
        self._add(node.getattr("poster"), "img")
        self._image_set(node)

    def _object(self, node: Any) -> None:
        """`object` and `applet`, whose references are relative to their code base."""
        outer = self.base
        self.base = base_of(node.getattr("codebase"), outer)
        self._add(node.getattr("data"), node.tag)
        if node.tag == "applet":
            self._add(node.getattr("code"), "applet")
            for archive in (node.getattr("archive") or "").split(","):
                if archive.strip():
                    self._add(archive, "applet")
        self.base = outer

    def _link(self, node: Any) -> None:
        rel = " ".join((node.getattr("rel") or "").lower().split())
        url = self._add(node.getattr("href"), f"link:{rel}" if rel else "link", self._called(node), is_nofollow(rel))
        if url is not None and not self.canonical and "canonical" in rel.split():
            self.canonical = url

    def _form(self, node: Any) -> None:
        self._add(node.getattr("action"), "form")

    def _button(self, node: Any) -> None:
        """`button` and `input`, which may send a form elsewhere, or be an image."""
        self._add(node.getattr("formaction"), "form")
        if keyword(node.getattr("type") or "") == "image":
            self._image(node)

    def _quotation(self, node: Any) -> None:
        self._add(node.getattr("cite"), "cite")

    def _meta(self, node: Any) -> None:
        self._room -= 1
        content = node.getattr("content")
        if content is None:
            return
        name = keyword(node.getattr("name") or node.getattr("property") or "")
        if name in ROBOTS_NAMES:
            noindex, nofollow = robots_rules(content)
            self.noindex |= noindex
            self.nofollow |= nofollow
        elif name == "description" or (name == "og:description" and not self.description):
            self.description = collapse(content)
        pragma = keyword(node.getattr("http-equiv") or "")
        if pragma == "refresh":
            self._add(refresh_target(content), "meta")
        elif pragma == "content-language" and not self.language:
            self.language = content


def _image_text(node: Any) -> str:
    """The alternative text of an `area`, or of the first image in a link."""
    if node.tag == "area":
        return node.getattr("alt") or ""
    for near in islice(node, _NEAR):
        if near.tag == "img" and (text := near.getattr("alt")):
            return str(text)
    return ""


READERS: Final[dict[str, Callable[[LinkReader, Any], None]]] = {
    "a": LinkReader._anchor,
    "area": LinkReader._anchor,
    "frame": LinkReader._source,
    "iframe": LinkReader._source,
    "embed": LinkReader._source,
    "script": LinkReader._source,
    "img": LinkReader._image,
    "image": LinkReader._drawn_image,
    "input": LinkReader._button,
    "button": LinkReader._button,
    "source": LinkReader._media,
    "video": LinkReader._media,
    "audio": LinkReader._media,
    "track": LinkReader._media,
    "object": LinkReader._object,
    "applet": LinkReader._object,
    "link": LinkReader._link,
    "form": LinkReader._form,
    "meta": LinkReader._meta,
    **dict.fromkeys(("body", "table", "thead", "tbody", "tfoot", "tr", "td", "th"), LinkReader._background),
    **dict.fromkeys(("blockquote", "q", "ins", "del"), LinkReader._quotation),
}
_GIVEN: Final[dict[Callable[[LinkReader, Any], None], tuple[str, ...]]] = {
    LinkReader._image: ("img",),
    LinkReader._drawn_image: ("img",),
    LinkReader._background: ("img",),
    LinkReader._button: ("form", "img"),
    LinkReader._media: ("media", "img"),
    LinkReader._quotation: ("cite",),
}


@lru_cache(maxsize=16)
def readers_of(kinds: frozenset[str]) -> frozenset[str]:
    """The elements that may give links of these kinds."""
    names = {kind.partition(":")[0] for kind in kinds}
    return frozenset(tag for tag, reader in READERS.items() if not names.isdisjoint(_GIVEN.get(reader, (tag,))))
