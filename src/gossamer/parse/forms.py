"""Forms of a page: where they lead, and what can be filled in."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final
from urllib.parse import urlencode

import msgspec
from resiliparse.parse.html import DOMNode

from gossamer.model.url import normalize
from gossamer.parse.charset import decode
from gossamer.parse.html import base_in, tree_of
from gossamer.parse.mime import Reader, reader_of

_MOST_FORMS: Final = 50
_MOST_FIELDS: Final = 100
_MOST_OPTIONS: Final = 200
_LONGEST: Final = 1000  # characters of a name or value
_TEXT: Final = frozenset(("text", "search", ""))
_USUAL: Final = "application/x-www-form-urlencoded"
_NEVER: Final = frozenset(("submit", "button", "image", "reset"))


class Field(msgspec.Struct, frozen=True):
    """`kind` is text, hidden, choice, checked, password, file or other; `options` are those of a choice; `long` is a
    text of several lines.
    """

    name: str
    kind: str
    value: str = ""
    options: tuple[str, ...] = ()
    long: bool = False


class Form(msgspec.Struct, frozen=True):
    """`action` is normalised, without its query where that is replaced (GET). `encoding` is how a body is written,
    where the form asks for another way than the usual one.
    """

    action: str
    method: str
    fields: tuple[Field, ...]
    encoding: str = ""

    def filled(self, given: dict[str, str]) -> str:
        """What a browser sends that has filled in these, and left the others as they are."""
        return urlencode([(each.name, given.get(each.name, each.value)) for each in self.fields if each.kind != "file"])

    def url(self, given: dict[str, str]) -> str | None:
        """Where it goes then; of GET."""
        return normalize(f"{self.action}?{self.filled(given)}")


def forms_of(body: bytes, url: str, content_type: str | None = None) -> list[Form]:
    """In their order. No bytes raise."""
    reader = reader_of(body, content_type)
    if reader in (Reader.NONE, Reader.TEXT) or b"<form" not in body.lower():
        return []
    tree = tree_of(decode(body, content_type)[0], reader)
    if tree.document is None:
        return []
    base = base_in(tree, url)
    found = []
    for node in islice(tree.document.get_elements_by_tag_name("form"), _MOST_FORMS):
        form = _form(node, base, url)
        if form is not None:
            found.append(form)
    return found


def _form(node: DOMNode, base: str, url: str) -> Form | None:
    method = (node.getattr("method") or "get").strip().lower()
    if method not in ("get", "post"):
        method = "get"  # as browsers have it
    action = normalize((node.getattr("action") or "").strip() or url, base)
    if action is None:
        return None
    if method == "get":
        action = action.partition("?")[0]
    fields = []
    for field in _fields(node):
        fields.append(field)
        if len(fields) > _MOST_FIELDS:
            return None
    encoding = (node.getattr("enctype") or "").strip().lower()[:_LONGEST] if method == "post" else ""
    return Form(action, method, tuple(fields), "" if encoding == _USUAL else encoding)


def _fields(form: DOMNode) -> Iterator[Field]:
    for node in form.query_selector_all("input, select, textarea"):
        name = (node.getattr("name") or "")[:_LONGEST]
        if not name or node.getattr("disabled") is not None:
            continue
        value = (node.getattr("value") or "")[:_LONGEST]
        if node.tag == "textarea":
            yield Field(name, "text", node.text[:_LONGEST], long=True)
        elif node.tag == "select":
            yield _choice(name, node)
        else:
            kind = (node.getattr("type") or "").strip().lower()
            if kind in _NEVER:
                continue
            if kind in ("checkbox", "radio"):
                if node.getattr("checked") is not None:
                    yield Field(name, "checked", value or "on")
                continue
            known = "text" if kind in _TEXT else kind if kind in ("hidden", "password", "file") else "other"
            yield Field(name, known, value)


def _choice(name: str, node: DOMNode) -> Field:
    options = []
    chosen = ""
    for option in islice(node.get_elements_by_tag_name("option"), _MOST_OPTIONS):
        value = option.getattr("value")
        text = (option.text.strip() if value is None else value)[:_LONGEST]
        options.append(text)
        if option.getattr("selected") is not None:
            chosen = text
    return Field(name, "choice", chosen or (options[0] if options else ""), tuple(options))
