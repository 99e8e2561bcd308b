"""The OpenAPI document, from which clients are made (S2), and a page for people that says the same."""

from __future__ import annotations

import base64
from hashlib import sha256
from html import escape
from typing import Any

import msgspec
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from gossamer.service.answers import SCHEMAS, schema_name
from gossamer.service.problems import ProblemDocument

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1d1c; --bg: #fbfbf9; --quiet: #6b706d; --line: #e3e5e1; --accent: #0b6b5d }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e8e6; --bg: #121413; --quiet: #9aa09c; --line: #2a2e2c; --accent: #4fd1b5 } }
body { font: 15px/1.45 system-ui; color: var(--ink); background: var(--bg); max-width: 720px; margin: 32px auto;
  padding: 0 16px }
h1 { font-size: 26px } h2 { font-size: 18px; margin: 32px 0 4px; overflow-wrap: anywhere }
code, h2 { font-family: ui-monospace, monospace } a { color: var(--accent) } .quiet { color: var(--quiet) }
table { border-collapse: collapse; width: 100%; font-size: 13px } caption { text-align: left; color: var(--quiet) }
p { margin: 8px 0 }
th, td { text-align: left; vertical-align: top; padding: 4px 8px 4px 0; border-top: 1px solid var(--line) }
"""
STYLE_SOURCE = "'sha256-" + base64.b64encode(sha256(_STYLE.encode()).digest()).decode() + "'"


def describe(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document of the app. The answers are described by their structs."""
    if not app.openapi_schema:
        document = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes, tags=app.openapi_tags
        )
        template = schema_name(type("{name}", (), {}))
        _, schemas = msgspec.json.schema_components(SCHEMAS, ref_template=template)
        document.setdefault("components", {}).setdefault("schemas", {}).update(schemas)
        app.openapi_schema = document
    return app.openapi_schema


def page(document: dict[str, Any]) -> str:
    """For people, without a line of script."""
    about = document["info"]
    parts = [
        "<!DOCTYPE html>",
        f'<html lang="en"><meta charset="utf-8"><title>{escape(about["title"])} API</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{_STYLE}</style>",
        f"<h1>{escape(about['title'])} API</h1>",
        f"<p>{escape(about['description'])}</p>",
        '<p><a href="/openapi.json">openapi.json</a> describes the same for programs.</p>',
    ]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            parts += _operation(path, method, operation)
    for name, schema in sorted(document["components"]["schemas"].items()):
        parts += _fields(name, schema)
    return "\n".join(parts)


def _operation(path: str, method: str, operation: dict[str, Any]) -> list[str]:
    parts = [f"<h2>{escape(method.upper())} {escape(path)}</h2>", f"<p>{escape(operation.get('description', ''))}</p>"]
    rows = [
        (each["name"], escape(_values(each)), each.get("description", "")) for each in operation.get("parameters", ())
    ]
    parts += _table("Parameters", rows)
    refusals = []
    for status, answer in operation["responses"].items():
        if int(status) >= 400:
            refusals.append(status)
            continue
        kinds = [f"{_kind(said['schema'])} as {escape(media)}" for media, said in answer.get("content", {}).items()]
        parts.append(f"<p><b>{escape(status)}</b> {escape(answer['description'])} {', '.join(kinds)}")
    problem = _kind({"$ref": schema_name(ProblemDocument)})
    return [*parts, f"<p class=quiet>Refusals: {escape(', '.join(refusals))}, each a {problem}."]


def _fields(name: str, schema: dict[str, Any]) -> list[str]:
    """A kind of answer, under its name."""
    rows = [(field, _kind(said), said.get("description", "")) for field, said in schema.get("properties", {}).items()]
    values = ", ".join(map(str, schema.get("enum", ())))
    said = f"{schema.get('description', '')} {values}".strip()
    return [f'<h2 id="{escape(name)}">{escape(name)}</h2>', f"<p>{escape(said)}</p>", *_table("Fields", rows)]


def _table(caption: str, rows: list[tuple[str, str, str]]) -> list[str]:
    """Of names, what is HTML already, and what is said of them."""
    if not rows:
        return []
    cells = [f"<tr><th scope=row><code>{escape(name)}</code><td>{kind}<td>{escape(said)}" for name, kind, said in rows]
    return [f"<table><caption>{caption}</caption>", *cells, "</table>"]


def _kind(schema: dict[str, Any]) -> str:
    """The type of a value, in HTML: those with fields of their own lead to them."""
    name = schema.get("$ref", "").rpartition("/")[2]
    if name:
        return f'<a href="#{escape(name)}">{escape(name)}</a>'
    if "anyOf" in schema:
        return " or ".join(map(_kind, schema["anyOf"]))
    kind = schema.get("format") or schema.get("type", "value")
    if kind == "array":
        return f"list of {_kind(schema['items'])}"
    if isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_kind(schema['additionalProperties'])}"
    return escape(kind)


def _values(parameter: dict[str, Any]) -> str:
    schema = parameter["schema"]
    kinds = [each for each in (schema, *schema.get("anyOf", ())) if "type" in each]
    said = " | ".join(kinds[0]["enum"]) if "enum" in kinds[0] else kinds[0]["type"]
    if "minimum" in kinds[0] and "maximum" in kinds[0]:
        said += f", {kinds[0]['minimum']} to {kinds[0]['maximum']}"
    if schema.get("default") not in (None, ""):
        said += f", usually {schema['default']}"
    return said if parameter["required"] else f"{said}, may be left out"
