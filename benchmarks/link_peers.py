"""Two HTML parsers that are not ours, and a reader of links that is not ours either: the judge of benchmarks/links.py.

Each parser gives the elements of a page as (name, attributes, foreign); the reader makes links of them, written from
the HTML standard and not from `gossamer.parse`. Only URLs are joined and spelled by our own functions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from gossamer.model.url import resolve
from gossamer.parse.links import target_of

Element = tuple[str, dict[str, str], bool]
Links = Counter[tuple[str, str]]  # kind and URL
SPACE = " \t\n\f\r"

_NAMES = (
    "a area frame iframe img image link embed object applet script form input button source video audio track meta "
    "base body table thead tbody tfoot tr td th blockquote q ins del"
).split()
_BACKGROUND = "body table thead tbody tfoot tr td th".split()
_XLINK = "{http://www.w3.org/1999/xlink}href"
_HTML = "{http://www.w3.org/1999/xhtml}"


def lexbor(text: str) -> Iterator[Element]:
    from selectolax.lexbor import LexborHTMLParser

    root = LexborHTMLParser(text).root
    for node in () if root is None else root.css(", ".join(_NAMES)):
        attributes = {name: value or "" for name, value in node.attributes.items()}
        yield node.tag, attributes, "xlink:href" in attributes and _in_drawing(node)


def _in_drawing(node: Any) -> bool:
    while node is not None and node.tag != "foreignobject":
        if node.tag == "svg":
            return True
        node = node.parent
    return False


def html5lib(text: str) -> Iterator[Element]:
    import html5lib as parser

    for node in parser.parse(text, treebuilder="etree", namespaceHTMLElements=True).iter():
        if not isinstance(node.tag, str):
            continue
        attributes = {("xlink:href" if name == _XLINK else name): value for name, value in node.items()}
        yield node.tag.rpartition("}")[2], attributes, not node.tag.startswith(_HTML)


PARSERS: dict[str, Callable[[str], Iterator[Element]]] = {"lexbor": lexbor, "html5lib": html5lib}


def links_of(elements: Iterable[Element], url: str, charset: str) -> tuple[Links, set[str]]:
    """All links by kind, and those that a crawl may follow by default."""
    found = list(elements)
    base = _base(found, url)
    links: Links = Counter()
    followed: set[str] = set()
    forbidden = False
    for name, attributes, foreign in found:
        if name == "meta" and attributes.get("name", "").strip(SPACE).lower() in ("robots", "gossamer"):
            rules = attributes.get("content", "").lower().replace(",", " ").replace(";", " ").split()
            forbidden |= "nofollow" in rules or "none" in rules
        for kind, reference, origin in _references(name, attributes, foreign, base):
            target = target_of(reference, origin, charset)
            if target is None:
                continue
            links[kind, target] += 1
            if kind in ("a", "area", "frame", "iframe", "meta") and not (
                kind in ("a", "area") and "nofollow" in attributes.get("rel", "").lower().split()
            ):
                followed.add(target)
    return links, set() if forbidden else followed - {url}


def _base(elements: Iterable[Element], url: str) -> str:
    for name, attributes, _ in elements:
        if name == "base" and "href" in attributes:
            base = resolve(attributes["href"], url)
            return url if base is None or base.startswith(("data:", "javascript:")) else base
    return url


def _references(name: str, attributes: dict[str, str], foreign: bool, base: str) -> Iterator[tuple[str, str, str]]:
    """(kind, reference, what it is relative to)."""

    def of(kind: str, *keys: str) -> Iterator[tuple[str, str, str]]:
        for key in keys:
            if key in attributes:
                yield kind, attributes[key], base

    if name in ("a", "area", "image"):
        kind = "img" if name == "image" else name
        yield from of(kind, "xlink:href" if foreign and "href" not in attributes else "href")
    elif name in ("frame", "iframe", "embed", "script"):
        yield from of(name, "src")
    elif name == "img":
        yield from of("img", "src", "lowsrc", "lowres")
    elif name in ("source", "video", "audio", "track"):
        yield from of("media", "src")
        yield from of("img", "poster")
    elif name in ("input", "button"):
        yield from of("form", "formaction")
        if attributes.get("type", "").strip(SPACE).lower() == "image":
            yield from of("img", "src", "lowsrc", "lowres")
    elif name == "form":
        yield from of("form", "action")
    elif name == "link":
        relation = " ".join(attributes.get("rel", "").lower().split())
        yield from of(f"link:{relation}" if relation else "link", "href")
    elif name in ("blockquote", "q", "ins", "del"):
        yield from of("cite", "cite")
    elif name in _BACKGROUND:
        yield from of("img", "background")
    elif name in ("object", "applet"):
        yield from _objects(name, attributes, base)
    elif name == "meta" and attributes.get("http-equiv", "").strip(SPACE).lower() == "refresh":
        target = _refresh(attributes.get("content", ""))
        if target:
            yield "meta", target, base
    if name in ("img", "source", "video", "audio", "track") or (name == "input" and attributes.get("type") == "image"):
        yield from (("img", candidate, base) for candidate in _candidates(attributes.get("srcset", "")))


def _objects(name: str, attributes: dict[str, str], base: str) -> Iterator[tuple[str, str, str]]:
    home = base
    if "codebase" in attributes:
        home = resolve(attributes["codebase"], base) or base
    if "data" in attributes:
        yield name, attributes["data"], home
    if name == "applet":
        if "code" in attributes:
            yield name, attributes["code"], home
        for archive in attributes.get("archive", "").split(","):
            if archive.strip():
                yield name, archive, home


def _refresh(content: str) -> str | None:
    """The "shared declarative refresh steps" of the HTML standard, step by step."""
    rest = content.lstrip(SPACE)
    digits = len(rest) - len(rest.lstrip("0123456789"))
    if not digits and rest[:1] != ".":
        return None
    rest = rest[digits:].lstrip("0123456789.")
    if rest and rest[0] not in ";," + SPACE:
        return None
    rest = rest.lstrip(SPACE)
    if rest[:1] in (";", ","):
        rest = rest[1:]
    rest = rest.lstrip(SPACE)
    if rest[:3].lower() == "url" and rest[3:].lstrip(SPACE)[:1] == "=":
        rest = rest[3:].lstrip(SPACE)[1:].lstrip(SPACE)
    if rest[:1] in ("'", '"'):
        rest = rest[1:].partition(rest[0])[0]
    return rest.strip(SPACE) or None


def _candidates(srcset: str) -> Iterator[str]:
    """The URLs of "parse a srcset attribute", step by step; what is behind a URL is passed over."""
    position = 0
    while True:
        while position < len(srcset) and srcset[position] in SPACE + ",":
            position += 1
        if position == len(srcset):
            return
        start = position
        while position < len(srcset) and srcset[position] not in SPACE:
            position += 1
        url = srcset[start:position]
        if url.endswith(","):
            yield url.rstrip(",")
            continue
        yield url
        depth = False
        while position < len(srcset) and (depth or srcset[position] != ","):
            depth = srcset[position] == "(" or (depth and srcset[position] != ")")
            position += 1
