"""What a query means: read by hand into a small tree, without knowing any index.

All words must be there; a space and a comma say the same. `"…"` is a phrase, `OR` stands between two alternatives and
binds closer than the space, `-` leaves out, parentheses group, and `site:` and the like filter. What stands in no field
that is known (`std::vector`, `12:30`) is a word. docs/search.md is the page for users.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

import msgspec
from ada_url import idna_to_ascii

from gossamer.errors import QueryError
from gossamer.index.words import words_of

MAX_LENGTH: Final = 1000
MAX_WORDS: Final = 32
_MAX_PIECES: Final = 64
"""Words in all, those that a written word falls apart into counted singly."""
_MAX_DEPTH: Final = 8

# One for one, so that positions stay: what other keyboards write for the signs of the language.
_SIGNS: Final = str.maketrans("，、،；＂“”„‟（）：－–—\u3000", ',,,,"""""():--- ')
_spaces = re.compile(r"[\s,]*+").match
_field = re.compile(r"(?i:(site|domain|lang|language|title|url|type|after|before)):").match
_host = re.compile(r"(?:\[[0-9a-f:.]{2,45}\]|[a-z0-9_](?:[a-z0-9_.-]{0,252}[a-z0-9_])?)(?::[0-9]{1,5})?").fullmatch
_language = re.compile(r"[a-z]{2,8}(?:-[a-z0-9]{1,8}){0,3}").fullmatch
_type = re.compile(r"[a-z0-9][a-z0-9.+-]{0,63}(?:/[a-z0-9.+*-]{1,63})?").fullmatch
_date = re.compile(r"([0-9]{4})(?:-([0-9]{1,2})(?:-([0-9]{1,2}))?)?").fullmatch
_NEEDS: Final = {
    "site": "a host, as in site:www.example.org",
    "domain": "a domain, as in domain:example.org",
    "lang": "a language, as in lang:en",
    "title": "a word or a phrase, as in title:harbour",
    "url": "a word, as in url:manual",
    "type": "a type, as in type:pdf or type:text/html",
    "after": "a date, as in after:2024, after:2024-05 or after:2024-05-31",
    "before": "a date, as in before:2024, before:2024-05 or before:2024-05-31",
}


class Word(msgspec.Struct, frozen=True, tag=True):
    """What was written without a space, or between quotation marks. `field` is empty, "title" or "url"."""

    text: str
    quoted: bool = False
    field: str = ""


class Filter(msgspec.Struct, frozen=True, tag=True):
    """Which pages may be found. Dates are seconds: `after` is part of what it allows, `before` is not."""

    kind: str  # site domain lang type after before
    value: str
    seconds: int = 0


class Not(msgspec.Struct, frozen=True, tag=True):
    part: Node


class Or(msgspec.Struct, frozen=True, tag=True):
    """Any of these; none of them is a `Not`."""

    parts: tuple[Node, ...]


class And(msgspec.Struct, frozen=True, tag=True):
    """All of these; at least one is no `Not`."""

    parts: tuple[Node, ...]


Node = Word | Filter | Not | Or | And


def parse(text: str) -> And:
    """Raises nothing but QueryError, with the position of what is wrong and a sentence that says what to do."""
    if len(text) > MAX_LENGTH:
        raise QueryError(MAX_LENGTH, f"The query is longer than {MAX_LENGTH:,} characters. Leave out some words.")
    return _Parser(text.translate(_SIGNS)).query()


def host_filter(kind: str, value: str, position: int = 0) -> Filter:
    """`site` or `domain`; a URL, or a host in any spelling, is understood."""
    name = value.strip().lower().partition("://")[2] or value.strip().lower()
    name = re.split(r"[/?#]", name, maxsplit=1)[0].rpartition("@")[2].strip(".")
    if name.startswith("*."):
        kind, name = "domain", name[2:]
    if not name.isascii():
        try:
            name = idna_to_ascii(name.partition(":")[0]).decode() + "".join(name.partition(":")[1:])
        except (ValueError, UnicodeError):
            name = ""
    if not _host(name):
        raise QueryError(position, f"{kind}: needs {_NEEDS[kind]}.")
    return Filter(kind, name)


def language_filter(value: str, position: int = 0) -> Filter:
    name = value.strip().lower().replace("_", "-")
    if not _language(name):
        raise QueryError(position, f"lang: needs {_NEEDS['lang']}.")
    return Filter("lang", name)


class _Parser:
    """Invariant: `_at` never goes back, so that a query is read in one pass."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._words = 0
        self._pieces = 0

    def query(self) -> And:
        found = self._all(0)
        if self._at < len(self._text):
            raise QueryError(self._at, "This parenthesis closes none. Take it away, or open one before it.")
        if found is None:
            raise QueryError(0, "There is no word to search for. Type one.")
        return found

    def _all(self, depth: int) -> And | None:
        """What stands up to the end or a closing parenthesis; None if that is nothing."""
        start = self._at
        parts: list[Node] = []
        joined = -1  # where an OR waits for what follows it
        while True:
            self._skip()
            at = self._at
            if at == len(self._text) or self._text[at] == ")":
                break
            if (operator := self._operator()) == "OR":
                if not parts or joined >= 0:
                    raise QueryError(at, "OR needs a word on each side. Write or in small letters if it is a word.")
                joined = at
                continue
            if operator == "AND":
                continue
            part = self._part(depth)
            if operator == "NOT" and part is not None and not isinstance(part, Not):
                part = Not(part)
            if part is None:
                continue
            if joined >= 0:
                before = parts.pop()
                if isinstance(part, Not) or isinstance(before, Not):
                    raise QueryError(
                        joined,
                        "What is left out with - cannot be one side of OR. Put the - before parentheses instead.",
                    )
                part = Or((*before.parts, part)) if isinstance(before, Or) else Or((before, part))
                joined = -1
            parts.append(part)
        if joined >= 0:
            raise QueryError(joined, "OR needs a word on each side. Write or in small letters if it is a word.")
        if not parts:
            return None
        if all(isinstance(part, Not) for part in parts):
            raise QueryError(start, "There are only words to leave out here. Add one that pages must have.")
        return And(tuple(parts))

    def _part(self, depth: int) -> Node | None:
        text, at = self._text, self._at
        following = text[at + 1 : at + 2]
        # Two dashes are an option's (`--verbose`), and a dash alone is nothing.
        if text[at] == "-" and following.strip() and following not in "-,)":
            self._at += 1
            part = self._part(depth)
            return None if part is None else Not(part)
        if text[at] == "(":
            return self._group(depth)
        if text[at] == '"':
            return self._word(self._phrase(), at, quoted=True)
        if field := _field(text, at):
            self._at = field.end()
            return self._in_field(field[1].lower(), at)
        return self._word(self._written(), at)

    def _group(self, depth: int) -> Node | None:
        at = self._at
        if depth == _MAX_DEPTH:
            raise QueryError(at, f"Parentheses are more than {_MAX_DEPTH} deep here. Write it more simply.")
        self._at += 1
        found = self._all(depth + 1)
        if self._at == len(self._text):
            raise QueryError(at, "This parenthesis is never closed. Add a ) behind what belongs together.")
        self._at += 1
        return found.parts[0] if found is not None and len(found.parts) == 1 else found

    def _in_field(self, name: str, at: int) -> Node | None:
        name = "lang" if name == "language" else name
        quoted = self._text[self._at : self._at + 1] == '"'
        value = self._phrase() if quoted else self._written()
        if not value.strip():
            raise QueryError(at, f"{name}: needs {_NEEDS[name]}. There must be no space behind the colon.")
        if name in ("title", "url"):
            found = self._word(value, at, quoted, name)
            if found is None:
                raise QueryError(at, f"{name}: needs {_NEEDS[name]}.")
            return found
        if name in ("site", "domain"):
            return host_filter(name, value, at)
        if name == "lang":
            return language_filter(value, at)
        if name == "type":
            if not _type(value.lower()):
                raise QueryError(at, f"type: needs {_NEEDS['type']}.")
            return Filter("type", value.lower().removesuffix("/*"))
        return self._dated(name, value, at)

    def _dated(self, name: str, value: str, at: int) -> Filter:
        found = _date(value)
        try:
            if found is None:
                raise ValueError
            day = datetime(int(found[1]), int(found[2] or 1), int(found[3] or 1), tzinfo=UTC)
        except ValueError:
            raise QueryError(at, f"{name}: needs {_NEEDS[name]}. {value[:20]} is none.") from None
        return Filter(name, value, int(day.timestamp()))

    def _word(self, value: str, at: int, quoted: bool = False, field: str = "") -> Word | None:
        """None where nothing in it can be searched: a sign alone."""
        pieces = words_of(value)
        if not pieces:
            return None
        self._words += 1
        self._pieces += sum(len(piece) if not piece.isascii() else 1 for piece in pieces)
        if self._words > MAX_WORDS or self._pieces > _MAX_PIECES * 4:
            raise QueryError(at, f"There are more than {MAX_WORDS} words. Leave out those from here on.")
        return Word(value.strip(), quoted, field)

    def _phrase(self) -> str:
        at = self._at
        end = self._text.find('"', at + 1)
        if end < 0:
            raise QueryError(at, 'This quotation mark is never closed. Add a " at the end of the phrase.')
        self._at = end + 1
        return self._text[at + 1 : end]

    def _written(self) -> str:
        """Up to a space, a comma or a quotation mark; parentheses within it are part of it, as in `print(x)`."""
        text, at = self._text, self._at
        inside = 0
        while self._at < len(text):
            sign = text[self._at]
            if sign.isspace() or sign == '"' or (sign in ",)" and not inside):
                break
            inside += (sign == "(") - (sign == ")")
            self._at += 1
        return text[at : self._at]

    def _skip(self) -> None:
        found = _spaces(self._text, self._at)
        assert found is not None
        self._at = found.end()

    def _operator(self) -> str:
        """OR, AND or NOT in capitals, or `|`, standing alone."""
        text, at = self._text, self._at
        for spelled, name in (("OR", "OR"), ("AND", "AND"), ("NOT", "NOT"), ("||", "OR"), ("|", "OR"), ("&&", "AND")):
            end = at + len(spelled)
            if text.startswith(spelled, at) and (end == len(text) or text[end].isspace() or text[end] in ',()"'):
                self._at = end
                if name == "NOT":
                    self._skip()
                    if self._at == len(text) or text[self._at] == ")":
                        raise QueryError(at, "NOT needs a word behind it. Write not in small letters if it is a word.")
                return name
        return ""


def spelled(node: Node) -> str:
    """A query that means the same, as simple as it can be written."""
    if isinstance(node, And):
        return " ".join(_grouped(part) for part in node.parts)
    if isinstance(node, Or):
        return _in_parentheses(" OR ".join(_grouped(part) for part in node.parts))
    if isinstance(node, Not):
        return "-" + _grouped(node.part)
    if isinstance(node, Filter):
        return f"{node.kind}:{node.value}"
    text = f'"{node.text}"' if node.quoted else node.text
    return f"{node.field}:{text}" if node.field else text


def _grouped(node: Node) -> str:
    return _in_parentheses(spelled(node)) if isinstance(node, And) else spelled(node)


def _in_parentheses(text: str) -> str:
    # A word like `print(x` would take the closing one for its own.
    return f"({text} )" if text.count("(") > text.count(")") else f"({text})"
