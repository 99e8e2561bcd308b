"""The hot path: the links of a page without building its tree.

A compiled module (`_links.c`) reads what most pages are made of. What it does not know, and all pages where it was not
built, are read by one pattern (`grammar`), in which a plain href costs no more than a concatenation. On anything
unusual that gives way to the whole parser, so that what is found is always what the parser would find: tests hold all
three to that.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from enum import Enum
from typing import Any, Final

import msgspec

from gossamer.model.url import MAX_LENGTH, normalize, split
from gossamer.parse.directives import ROBOTS_NAMES, is_nofollow, keyword, refresh_target, robots_rules
from gossamer.parse.labels import encoding_of
from gossamer.parse.limits import MAX_ATTRIBUTES, MAX_LINKS, cut
from gossamer.parse.links import FOLLOWED, base_of
from gossamer.parse.mime import charset_label, essence
from gossamer.parse.prescan import READ, xml_encoding
from gossamer.parse.references import unescape
from gossamer.parse.tokens import ATTRIBUTE
from gossamer.regex import compiled_later

try:
    from gossamer.parse import _links as compiled
except ImportError:  # no compiler was at hand when it was installed
    compiled = None  # type: ignore[assignment]

DEFAULT_KINDS: Final = FOLLOWED
_CACHED: Final = 65_536
_TYPES: Final = 1024
_LONG: Final = 16 * 1024
"""An attribute value longer than this is left to the whole parser, which reads character references faster."""
# Encodings in which a byte that looks like markup may be something else.
_NOT_ASCII: Final = frozenset(("utf-16le", "utf-16be", "iso-2022-jp", "replacement"))
_REPLACED_NAMES: Final = rb"iso-?2022|hz-gb|replacement"
_REPLACED: Final = compiled_later(_REPLACED_NAMES)
_declares_replaced = compiled_later(rb"charset[\t\n\f\r =\"']*+(?:cs)?(?:" + _REPLACED_NAMES + rb")")
_META: Final = compiled_later(rb"robots|gossamer|refresh|2022|hz-gb|replacement|&")
_attribute = compiled_later(rb"[ \t\n\r\f/]*+" + ATTRIBUTE)
_name = compiled_later(rb"[a-z]+")


class Found(msgspec.Struct, gc=False):
    """Where a page leads: normalised URLs in order of appearance, each once, without the page itself.

    Links that may not be followed are left out; all of them are when the page says nofollow. `full` says that the whole
    parser was asked.
    """

    urls: list[str]
    noindex: bool = False
    nofollow: bool = False
    full: bool = False


class _Look(Enum):
    """What a content type leaves to be looked at before a page may be scanned."""

    NO = 0  # it may not
    HEAD = 1  # the head may declare an encoding that is not like ASCII
    BODY = 2  # nothing more: HTTP has declared one that is


_NO, _HEAD = _Look.NO, _Look.HEAD  # asked for every page: names of this module are found sooner
_UNREAD: Final = 3  # what a page is read from: body, content type, URL


class _GiveWay(Exception):
    """The page needs the whole parser."""


def may_scan_here(body: bytes, head: int) -> bool:
    """Whether the bytes of a page that look like markup are that: none of them shows another kind of encoding, nor does
    a declaration in the first `head` bytes.
    """
    if b"\0" in body or b"\x1b" in body or body[:1] in (b"\xfe", b"\xff"):
        return False
    # The prescan for a declaration sees meta elements where nobody else does: in scripts and comments.
    start = body[:head].lower()
    position = start.find(b"charset")
    while position >= 0:
        if _declares_replaced.match(start, position):
            return False
        position = start.find(b"charset", position + 1)
    return True


may_scan = may_scan_here if compiled is None else compiled.may_scan


class LinkScanner:
    """Finds the links to follow, page after page.

    Invariant: `scan` gives the links that the whole parser gives, whoever has read the page. Only their
    order may differ, where a tree builder moves a link out of a table in which it may not stand; and of more than
    MAX_LINKS links the two may not read the same.
    What it remembers is bounded: the last absolute links of ordinary length.
    """

    __slots__ = ("_absolute", "_flags", "_follow", "_obey", "_types")

    def __init__(
        self, follow: frozenset[str] = DEFAULT_KINDS, obey_nofollow: bool = True, compiles: bool = compiled is not None
    ) -> None:
        self._follow = follow
        self._obey = obey_nofollow
        self._absolute: dict[bytes, str | None] = {}
        self._types: dict[str | None, _Look] = {}
        self._flags = -1  # for the compiled module; -1: without it
        if compiles:
            self._flags = compiled.OBEY * obey_nofollow | compiled.AREA * ("area" in follow)

    def scan(self, body: bytes, url: str, content_type: str | None) -> Found:
        """`url` is the page's own, normalised."""
        if body.find(b"<") < 0:  # in no encoding of the web is there an element without this byte
            return Found([])
        look = self._types.get(content_type) or self._note(content_type)
        if look is not _NO and self._may_scan(body, READ if look is _HEAD else 0):
            try:
                return self._match(body, url, content_type) if self._flags < 0 else self._scan(body, url, content_type)
            except _GiveWay:
                pass
        return self._parse(body, url, content_type)

    def _note(self, content_type: str | None) -> _Look:
        if len(self._types) >= _TYPES:
            self._types.clear()
        found = self._types[content_type] = self._look_for(content_type)
        return found

    def _may_scan(self, body: bytes, declares: int) -> bool:
        """`declares`: so many bytes may declare an encoding."""
        if not may_scan(body, declares):
            return False
        return not declares or not body.startswith(b"<?xml") or xml_encoding(body) != "replacement"

    def _look_for(self, content_type: str | None) -> _Look:
        if not ("a" in self._follow <= FOLLOWED) or content_type is None or essence(content_type) != "text/html":
            return _Look.NO
        name = encoding_of(charset_label(content_type) or "")
        if name is None:
            return _Look.HEAD
        return _Look.NO if name in _NOT_ASCII else _Look.BODY

    def _scan(self, body: bytes, url: str, content_type: str | None) -> Found:
        reading: list[Any] = [body, content_type, url]  # and what became of it, once a tag needs to be looked at
        urls = compiled.links(
            cut(body), url, self._absolute, self._remember, self._look_in, normalize, reading, self._flags,
            MAX_ATTRIBUTES, MAX_LINKS,
        )  # fmt: skip
        if urls is None:
            return self._match(body, url, content_type)
        if len(reading) == _UNREAD:
            return Found(urls)
        found: Found = reading[_UNREAD].found
        if not (found.nofollow and self._obey):
            found.urls = urls
        return found

    def _look_in(self, tag: bytes, reading: list[Any]) -> str | None:
        """For the compiled module."""
        if len(reading) == _UNREAD:
            reading.append(_Reading(*reading))
        return self._look(tag, reading[_UNREAD])

    def _match(self, body: bytes, url: str, content_type: str | None) -> Found:
        from gossamer.parse.grammar import LINKS  # for what the compiled module does not know: it takes 20 ms to make

        page = _Reading(body, content_type, url)
        origin, _ = split(url)
        base = url
        urls: dict[str, None] = {}
        dropped = False
        known = self._absolute
        for plain, absolute, other, tag, odd in LINKS.findall(cut(body))[:MAX_LINKS]:
            if plain:
                urls[origin + plain.decode()] = None
            elif absolute:
                try:
                    target = known[absolute]
                except KeyError:
                    target = self._remember(absolute)
                if target is not None:
                    urls[target] = None
            elif other:
                if len(other) == 1 and base is url:
                    dropped = True  # the page itself, unless a base follows
                    continue
                target = normalize(other[1:].decode(), base)
                if target is not None:
                    urls[target] = None
                else:
                    dropped = True
            elif tag:
                reference = self._look(tag, page)
                if page.base is not base:
                    if urls or dropped:  # what came before the base is relative to it, too
                        raise _GiveWay
                    base, origin = page.base, page.origin()
                if reference is not None:
                    target = normalize(reference, base)
                    if target is not None:
                        urls[target] = None
                    else:
                        dropped = True
            elif odd:
                raise _GiveWay
        urls.pop(url, None)
        if not (page.found.nofollow and self._obey):
            page.found.urls = list(urls)
        return page.found

    def _remember(self, href: bytes) -> str | None:
        target = normalize(href.decode())
        if len(href) <= MAX_LENGTH:
            if len(self._absolute) >= _CACHED:
                self._absolute.clear()
            self._absolute[href] = target
        return target

    def _look(self, tag: bytes, page: _Reading) -> str | None:
        """The reference in a tag whose attributes the pattern has not read."""
        lower = tag[:8].lower()
        if lower.startswith(b"meta"):
            return self._look_at_meta(tag, page) if _META.search(tag.lower()) else None
        matched = _name.match(lower)
        assert matched is not None
        name = matched[0].decode()
        attributes = _attributes(tag, len(name))
        if name == "base":
            if b"href" in attributes:
                page.rebase(page.text(attributes[b"href"]))
            return None
        if name not in self._follow:
            return None
        if name == "iframe":
            return page.text(attributes[b"src"]) if b"src" in attributes else None
        reference = attributes.get(b"href")
        if reference is None or (self._obey and is_nofollow(page.text(attributes.get(b"rel", b"")))):
            return None
        return page.text(reference)

    def _look_at_meta(self, tag: bytes, page: _Reading) -> str | None:
        attributes = _attributes(tag, len(b"meta"))
        if len(tag) > _LONG or _REPLACED.search(unescape(tag.decode("latin-1")).encode("latin-1", "replace").lower()):
            raise _GiveWay
        content = attributes.get(b"content")
        if content is None:
            return None
        name = _value(attributes.get(b"name")) or _value(attributes.get(b"property"))
        if keyword(name) in ROBOTS_NAMES:
            noindex, nofollow = robots_rules(page.text(content))
            page.found.noindex |= noindex
            page.found.nofollow |= nofollow
        if keyword(_value(attributes.get(b"http-equiv"))) == "refresh" and "meta" in self._follow:
            return refresh_target(page.text(content))
        return None

    def _parse(self, body: bytes, url: str, content_type: str | None) -> Found:
        from gossamer.parse.html import parse_links  # loaded by the first page that needs it: it takes 30 ms

        links = parse_links(body, url, content_type, self._follow)
        urls: list[str] = []
        if not (links.nofollow and self._obey):
            kept = (link.url for link in links.links if not (link.nofollow and self._obey))
            urls = [target for target in dict.fromkeys(kept) if target != url]
        return Found(urls, links.noindex, links.nofollow, full=True)


class _Reading:
    """One page while it is scanned.

    Invariant: `base` is what a whole parser would take, as long as no link came before it.
    """

    __slots__ = ("_based", "_body", "_content_type", "_url", "_utf_8", "base", "found")

    def __init__(self, body: bytes, content_type: str | None, url: str) -> None:
        self.found = Found([])
        self.base = url
        self._url = url
        self._based = False
        self._body = body
        self._content_type = content_type
        self._utf_8: bool | None = None

    def rebase(self, reference: str) -> None:
        if self._based:  # the first in the tree counts, which a table may have moved in front of the first written
            raise _GiveWay
        self._based = True
        self.base = base_of(reference, self._url)

    def origin(self) -> str:
        """What stands in front of a plain path."""
        root = normalize("/", self.base)
        if root is None:
            raise _GiveWay
        return root[:-1]

    def text(self, value: bytes) -> str:
        """An attribute as it is meant. Beyond ASCII the page's encoding matters: only UTF-8 is read here."""
        if len(value) > _LONG:
            raise _GiveWay
        if value.isascii():
            text = unescape(value.decode())
            if text.isascii():
                return text
        if not self._is_utf_8():
            raise _GiveWay
        return unescape(value.decode())

    def _is_utf_8(self) -> bool:
        if self._utf_8 is None:
            from gossamer.parse.charset import decode  # as the whole parser, not needed by most pages

            text, charset = decode(self._body, self._content_type)
            self._utf_8 = charset == "utf-8" and text.encode() == self._body.removeprefix(BOM_UTF8)
        return self._utf_8


def _attributes(tag: bytes, position: int) -> dict[bytes, bytes]:
    """Names in lower case, values as written; of attributes of one name the first counts."""
    attributes: dict[bytes, bytes] = {}
    count = 0
    while (found := _attribute.match(tag, position)) is not None:
        if (count := count + 1) > MAX_ATTRIBUTES:
            raise _GiveWay
        position = found.end()
        attributes.setdefault(found[1].lower(), found[2] or found[3] or found[4] or b"")
    return attributes


def _value(value: bytes | None) -> str:
    """An attribute that is compared with ASCII words only."""
    return "" if value is None else unescape(value.decode("latin-1"))
