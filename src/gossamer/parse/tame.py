"""Pages that would cost a tree builder hours or all memory, made harmless.

Four things grow with the square of a page: elements nested in one another, attributes of one element, formatting
elements (`<b>`, `<font>`) that are never closed, which every later paragraph opens again, and names that HTML does not
know, for which the tree builder's table is too small. Browsers have limits for them too. What is taken away here holds
no link and no text; only a page with thousands of names of attributes ends there.
"""

from __future__ import annotations

import re
from itertools import islice
from random import Random
from typing import Final

from gossamer.parse.limits import MAX_ATTRIBUTES
from gossamer.parse.tokens import ATTRIBUTES, SIMPLE, any_of, ci

MAX_DEPTH: Final = 256
_MANY_TAGS: Final = 20_000
_LONG: Final = 16 * 1024
_HUGE: Final = 512 * 1024
_MAX_NAMES: Final = 4096
"""Names of elements that HTML does not know, and names of attributes."""
_MANY_NAMES: Final = 256
_PIECES: Final = 64
_PIECE: Final = 2048
_MAX_ROOTS: Final = 64
"""Of `html` and `body` tags, which add their attributes to the elements that are there already."""
_REOPENED: Final = 2_000_000
"""Formatting elements that may be opened again."""
_WALK: Final = 32

_FORMATTING: Final = any_of(*map(ci, "b big code em font i nobr s small strike strong tt u".split())).decode()
# Behind the start of any of these, an end tag may not be one, or may not close what was opened before.
_BARRIERS: Final = any_of(
    *map(
        ci,
        "applet caption iframe marquee math noembed noframes object plaintext script select style svg table td "
        "template textarea th title xmp".split(),
    )
).decode()
# Elements that take no room on the stack of open elements, or close their like when they open.
_FLAT: Final = frozenset(
    "a area base basefont bgsound body br caption col colgroup dd dt embed frame head hr html iframe img input keygen "
    "li link meta noembed noframes optgroup option p param plaintext rb rp rt rtc script source style tbody td "
    "textarea tfoot th thead title tr track wbr xmp".split()
)
_SHAPES: Final = frozenset(
    "animate circle ellipse fegaussianblur feoffset image line path polygon polyline rect stop use".split()
)
_FOREIGN: Final = _SHAPES | frozenset("svg g defs symbol lineargradient radialgradient clippath mask".split())
# No end tag reaches past these: those of formatting and unknown elements not past a block, no other past a table.
_SCOPES: Final = frozenset("applet button marquee object select svg math table template".split())
_BLOCKS: Final = _SCOPES | frozenset(
    "address article aside blockquote center details dir div dl fieldset figcaption figure footer form frameset h1 h2 "
    "h3 h4 h5 h6 header hgroup listing main menu nav noscript ol pre search section summary ul".split()
)

_KNOWN: Final = (
    _FLAT
    | _FOREIGN
    | _BLOCKS
    | frozenset(
        "abbr acronym audio b bdi bdo big canvas cite code data datalist del dfn em font i image ins kbd label legend "
        "map mark meter nobr output picture progress q ruby s samp small span strike strong sub sup time tt u var "
        "video".split()
    )
)

_ATTRIBUTES: Final = ATTRIBUTES.decode()
_REST: Final = rf"(?:{SIMPLE.decode()}>|{_ATTRIBUTES}>?)"
_ATTRIBUTE: Final = (
    r"[^ \t\n\r\f/>][^ \t\n\r\f/>=]*+(?:[ \t\n\r\f]*+=[ \t\n\r\f]*+(?:\"[^\"]*+\"|'[^']*+'|[^ \t\n\r\f>]*+))?+"
)
_NAME: Final = r"[A-Za-z][^ \t\n\r\f/>]*+"
_END: Final = r"(?=[ \t\n\r\f/>])"
_tag = re.compile(rf"<(/?)({_NAME})({SIMPLE.decode()}(?=>)|{_ATTRIBUTES})>?")
_attribute = re.compile(_ATTRIBUTE)
_attribute_name = re.compile(_ATTRIBUTE.replace("=]*+(", "=]*+)(", 1).replace("[", "([", 1))
_attributes_of_tags = re.compile(rf"<{_NAME}(?=[^>])({_ATTRIBUTES})")
_first_attributes = re.compile(rf"(?:[ \t\n\r\f/]*+{_ATTRIBUTE}){{0,{MAX_ATTRIBUTES}}}+")
_MATTERS: Final = r"(?i:href|src|rel|name|content|http-equiv)(?![^ \t\n\r\f/>=])"
# Past all others; it matches at the end, too, so that no part is read twice.
_next_that_matters = re.compile(
    rf"(?:[ \t\n\r\f/]++|(?!{_MATTERS}){_ATTRIBUTE})*+({_MATTERS}{_ATTRIBUTE.partition('*+')[2]})?+"
)
_crowded = re.compile(rf"<{_NAME}(?:[ \t\n\r\f/]*+{_ATTRIBUTE}){{{MAX_ATTRIBUTES + 1}}}")
# What such a tag has, and is much quicker to see: either it is long (an attribute takes two letters), or what seems to
# end it stands in a value.
_long_tag = re.compile(rf"<[A-Za-z][^>]{{{2 * MAX_ATTRIBUTES}}}")
_quoted_end = re.compile(r"=[ \t\n\r\f]*+(?:\"[^\">]*+>|'[^'>]*+>)")
_formatting_start = re.compile(rf"<{_FORMATTING}{_END}")
_formatting = re.compile(rf"</?{_FORMATTING}{_END}{_ATTRIBUTES}>?")
# Tags that are neither, by what is fast to see.
_QUICK: Final = rf"/?(?:[DGHJKLQRVWYZdghjklqrvwyz][^ \t\n\r\f/>]*+|(?:[aApP]|[sS][pP][aA][nN]){_END}){_REST}"
# The next formatting tag (groups 1 and 2) or barrier, past all other tags; or the end, so that it matches everywhere.
_next_opening = re.compile(
    rf"[^<]*+(?:<(?:{_QUICK}|(?!/?(?:{_FORMATTING}|{_BARRIERS}){_END}|[!?])(?:/?{_NAME}{_REST})?+)[^<]*+)*+"
    rf"(?:<(?:(/?)({_FORMATTING}){_END}|(?:/?{_BARRIERS}{_END}|[!?])){_REST}|\Z)"
)


def tame(source: str) -> str:
    """`source`, or where it is hostile something that gives nearly the same tree at a bounded cost."""
    tags = source.count("<")
    if len(source) > _LONG and _is_crowded(source):
        source = _tag.sub(_with_fewer_attributes, source)
    if len(source) > _HUGE:
        source = _with_fewer_names(source)
    if tags * tags > _REOPENED and tags * len(_formatting_start.findall(source)) > _REOPENED:
        if tags * _most_open(source) > _REOPENED:
            source = _formatting.sub("", source)
        tags = source.count("<")
    return _flattened(source) if tags > _MANY_TAGS else source


def _is_crowded(source: str) -> bool:
    """Whether a tag has more attributes than it may have."""
    if not _long_tag.search(source) and not _quoted_end.search(source):
        return False
    return _crowded.search(source) is not None


def _most_open(source: str) -> int:
    """How many formatting elements may be open at once, at the most."""
    count = most = 0
    closable: dict[str, int] = {}
    for slash, name in _next_opening.findall(source):
        name = name.lower()
        if not name:
            closable.clear()
        elif not slash:
            closable[name] = closable.get(name, 0) + 1
            count += 1
            most = max(most, count)
        elif closable.get(name):
            closable[name] -= 1
            count -= 1
    return most


def _with_fewer_attributes(tag: re.Match[str]) -> str:
    first = _first_attributes.match(tag[3])
    assert first is not None
    if not tag[3][first.end() :].strip(" \t\n\r\f/"):
        return tag[0]
    later = islice(_next_that_matters.finditer(tag[3], first.end(), first.end() + _HUGE), MAX_ATTRIBUTES)
    return f"<{tag[1]}{tag[2]} {first[0]} {' '.join(found[1] for found in later if found[1])} >"


def _with_fewer_names(source: str) -> str:
    if len(_some_names(source)) < _MANY_NAMES:
        return source
    names: set[str] = set()
    for tag in _attributes_of_tags.finditer(source):
        names.update(_attribute_name.findall(tag[1]))
        if len(names) > _MAX_NAMES:
            return source[: tag.start()]
    return source


def _some_names(source: str) -> set[str]:
    """Those of attributes in pieces of the page taken at random, but the same each time."""
    pick = Random(len(source))  # noqa: S311 - a sample
    names: set[str] = set()
    for _ in range(_PIECES):
        start = pick.randrange(len(source))
        for attributes in _attributes_of_tags.findall(source, start, start + _PIECE):
            names.update(_attribute_name.findall(attributes))
    return names


def _flattened(source: str) -> str:
    """Without the start tags that would nest elements more than MAX_DEPTH deep."""
    stack: list[str] = []
    foreign = False
    roots = 0
    unknown: set[str] = set()

    def judge(tag: re.Match[str]) -> str:
        nonlocal foreign, roots
        name = tag[2].lower()
        if name not in _KNOWN and name not in unknown:
            if tag[1] or len(unknown) >= _MAX_NAMES:
                return " "
            unknown.add(name)
        if tag[1]:
            _close(stack, name)
            return tag[0]
        if name in ("html", "body"):
            roots += 1
            return tag[0] if roots <= _MAX_ROOTS else " "
        foreign = name == "svg" or (foreign and name in _FOREIGN)
        if name in _FLAT or (foreign and name in _SHAPES):
            return tag[0]
        # A template nests at no cost, and without it its content would become part of the page.
        if len(stack) >= MAX_DEPTH and name != "template":
            return " "
        stack.append(name)
        return tag[0]

    return _tag.sub(judge, source)


def _close(stack: list[str], name: str) -> None:
    """Take `name` off the stack if a parser surely would; in doubt the stack stays too high, which is harmless."""
    barriers = _SCOPES if name in _BLOCKS else _BLOCKS
    for index in range(len(stack) - 1, max(len(stack) - _WALK, 0) - 1, -1):
        if stack[index] == name:
            if name == "form":  # what is open in it stays open
                del stack[index]
            else:
                del stack[index:]
            return
        if stack[index] in barriers:
            return
