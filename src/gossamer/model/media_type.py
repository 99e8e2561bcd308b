"""Media types as the MIME Sniffing Standard parses them, and what several Content-Type headers say together."""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from gossamer.regex import compiled_later

_WORD = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_ESSENCE = re.compile(rf"[ \t\r\n]*({_WORD}/{_WORD})[ \t\r\n]*(?:;|\Z)")
_TOKEN = compiled_later(_WORD)
_VALUE = compiled_later(r"[\t -~\x80-\xff]*")
_NAME = compiled_later(r"[ \t\r\n]*([^;=]*)(=?)")
_PLAIN_VALUE = compiled_later(r"[^;]*")
_QUOTED = compiled_later(r'"((?:[^"\\]|\\.)*)(?:"|(\\?)\Z)', re.S)
_UP_TO_SEMICOLON = compiled_later(r"[^;]*;?")
_ESCAPED = compiled_later(r"\\(.)", re.S)
_PART_OF_LIST = re.compile(r'((?:[^",]|"(?:[^"\\]|\\.)*(?:"|\\?\Z))*)(,|\Z)', re.S)
_WHITESPACE = " \t\r\n"


class MediaType(msgspec.Struct, frozen=True):
    """`essence` is in lower case, as the names of parameters are; their order is that of the header."""

    essence: str
    parameters: dict[str, str]

    def __str__(self) -> str:
        return self.essence + "".join(f";{name}={_spelled(value)}" for name, value in self.parameters.items())


def parse_media_type(text: str) -> MediaType | None:
    """None when it is no media type. Parameters that are broken are left out, and of two of a name the second."""
    found = _ESSENCE.match(text)
    if found is None:
        return None
    parameters: dict[str, str] = {}
    text = text.rstrip(_WHITESPACE)
    at = found.end()
    while at < len(text):
        name, at = _next(_NAME, text, at)
        if not name[2]:
            at += 1  # the semicolon
            continue
        if text[at : at + 1] == '"':
            quoted, at = _next(_QUOTED, text, at)
            value = _ESCAPED.sub(r"\1", quoted[1]) + (quoted[2] or "")
            _, at = _next(_UP_TO_SEMICOLON, text, at)
        else:
            plain, at = _next(_PLAIN_VALUE, text, at)
            value = plain[0].rstrip(_WHITESPACE)
            at += 1
            if not value:
                continue
        key = name[1].lower()
        if _TOKEN.fullmatch(key) and _VALUE.fullmatch(value) and key not in parameters:
            parameters[key] = value
    return MediaType(found[1].lower(), parameters)


def media_type_of(values: list[str]) -> MediaType | None:
    """What the values of all Content-Type headers of a response mean, as the Fetch Standard has it: the last that is
    a media type counts, and a charset holds on as long as the type does not change.
    """
    result: MediaType | None = None
    charset = None
    for part in _split(", ".join(values)):
        found = parse_media_type(part)
        if found is None or found.essence == "*/*":
            continue
        if result is None or found.essence != result.essence:
            charset = found.parameters.get("charset")
        elif "charset" in found.parameters:
            charset = found.parameters["charset"]
        elif charset is not None:
            found.parameters["charset"] = charset
        result = found
    return result


def _split(text: str) -> list[str]:
    """At the commas outside quotes."""
    return [found[1].strip(" \t") for found in _PART_OF_LIST.finditer(text)]


def _next(pattern: re.Pattern[str], text: str, at: int) -> tuple[re.Match[str], int]:
    found = pattern.match(text, at)
    assert found is not None  # every pattern used here matches the empty string, or what was seen to be there
    return found, found.end()


def _spelled(value: str) -> str:
    if _TOKEN.fullmatch(value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


_types_in = re.compile(rb"\ncontent-type[ \t]*+:[ \t]*+([^\r\n]*+)", re.I).findall


def content_type_of(head: bytes) -> str | None:
    """As the crawl understood it; None where the head says nothing that can be."""
    return _content_type(b"\n".join(_types_in(head)))


@lru_cache(maxsize=1024)
def _content_type(values: bytes) -> str | None:
    found = media_type_of([value.decode("latin-1") for value in values.split(b"\n")])
    return None if found is None else str(found)
