"""Links in HTTP headers: `Link: <https://h.example/2>; rel="next"; title="Page 2"` (RFC 8288)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import unquote

from gossamer.model import Link
from gossamer.model.url import normalize
from gossamer.parse.directives import is_nofollow, refresh_target
from gossamer.regex import compiled_later

MAX_LINKS: Final = 1000
_MAX_PARAMETERS: Final = 32
_MAX_TEXT: Final = 512
_QUOTED: Final = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?+'
# A target, and its parameters up to a comma that is in no quoted string.
_link = compiled_later(rf'[^<]*+<([^>]*+)>([^",]*+(?:{_QUOTED}[^",]*+)*+)', re.S)
_parameter = compiled_later(rf"[^;\"]*+(?:;[ \t]*+)++([^ \t;=\"]++)[ \t]*+(?:=[ \t]*+({_QUOTED}|[^;]*+))?+", re.S)
_escaped = compiled_later(r"\\(.)", re.S)


def header_links(headers: Iterable[tuple[str, str]], url: str) -> list[Link]:
    """The links of a response's headers, of kind `header:REL`; `Refresh` is one too. No text raises.

    They are relative to the response's own `url`, and not to a base element. A link that says it belongs to another
    page (`anchor`) is none of this one.
    """
    links: list[Link] = []
    for name, value in headers:
        wanted = name.lower()
        if wanted == "link":
            links += _links_in(value, url, MAX_LINKS - len(links))
        elif wanted == "refresh":
            target = refresh_target(value)
            refreshed = None if target is None else normalize(target, url)
            if refreshed is not None and len(links) < MAX_LINKS:
                links.append(Link(refreshed, "header:refresh"))
    return links


def _links_in(value: str, url: str, room: int) -> Iterable[Link]:
    position = 0
    while room > 0 and (found := _link.match(value, position)) is not None:
        position = found.end()
        target = normalize(found[1], url)
        if target is None:
            continue
        parameters = _parameters(found[2])
        if "anchor" in parameters and normalize(parameters["anchor"], url) != url:
            continue
        relation = " ".join(parameters.get("rel", "").lower().split())
        text = _extended(parameters.get("title*", "")) or parameters.get("title", "")
        kind = f"header:{relation}" if relation else "header"
        yield Link(target, kind, " ".join(text.split())[:_MAX_TEXT], is_nofollow(relation))
        room -= 1


def _parameters(text: str) -> dict[str, str]:
    """Names in lower case; of parameters of one name the first counts."""
    parameters: dict[str, str] = {}
    position = 0
    while len(parameters) < _MAX_PARAMETERS and (found := _parameter.match(text, position)) is not None:
        position = found.end()
        value = (found[2] or "").strip(" \t")
        if value[:1] == '"':
            closed = len(value) > 1 and value[-1] == '"'
            value = _escaped.sub(r"\1", value[1:-1] if closed else value[1:])
        parameters.setdefault(found[1].lower(), value)
    return parameters


def _extended(value: str) -> str:
    """A text with its encoding and language in front: `UTF-8'de'n%c3%a4chste` (RFC 8187)."""
    encoding, mark, text = value.partition("'")
    text = text.partition("'")[2]
    if not mark or encoding.lower() not in ("utf-8", "iso-8859-1"):
        return ""
    return unquote(text, encoding)
