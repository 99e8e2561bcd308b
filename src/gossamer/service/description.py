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

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1d1c; --bg: #fbfbf9; --quiet: #6b706d; --line: #e3e5e1; --accent: #0b6b5d }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e8e6; --bg: #121413; --quiet: #9aa09c; --line: #2a2e2c; --accent: #4fd1b5 } }
body { font: 15px/1.45 system-ui; color: var(--ink); background: var(--bg); max-width: 720px; margin: 32px auto;
  padding: 0 16px }
h1 { font-size: 26px } h2 { font-size: 18px; margin: 32px 0 4px; overflow-wrap: anywhere }
code, h2 { font-family: ui-monospace, monospace } a { color: var(--accent) } .quiet { color: var(--quiet) }
table { border-collapse: collapse; width: 100%; font-size: 13px } caption { text-align: left; color: var(--quiet) }
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
    parts = [
        "<!DOCTYPE html>",
        f'<html lang="en"><meta charset="utf-8"><title>{escape(document["info"]["title"])} API</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{_STYLE}</style>",
        f"<h1>{escape(document['info']['title'])} API</h1>",
        f"<p>{escape(document['info']['description'])}</p>",
        '<p><a href="/openapi.json">openapi.json</a> describes the same for programs.</p>',
    ]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            parts += _operation(path, method, operation)
    return "\n".join(parts)


def _operation(path: str, method: str, operation: dict[str, Any]) -> list[str]:
    parts = [f"<h2>{escape(method.upper())} {escape(path)}</h2>", f"<p>{escape(operation.get('description', ''))}</p>"]
    parameters = operation.get("parameters", [])
    if parameters:
        parts.append("<table><caption>Parameters</caption>")
        parts += [
            f"<tr><th scope=row><code>{escape(each['name'])}</code><td>{escape(_values(each))}"
            f"<td>{escape(each.get('description', ''))}"
            for each in parameters
        ]
        parts.append("</table>")
    parts.append("<table><caption>Answers</caption>")
    for status, answer in operation["responses"].items():
        kinds = ", ".join(_kind(media, said) for media, said in answer.get("content", {}).items())
        parts.append(f"<tr><th scope=row>{escape(status)}<td>{escape(answer['description'])}<td>{escape(kinds)}")
    return [*parts, "</table>"]


def _values(parameter: dict[str, Any]) -> str:
    schema = parameter["schema"]
    kinds = [schema, *schema.get("anyOf", [])]
    said = [" | ".join(each["enum"]) if "enum" in each else each["type"] for each in kinds if "type" in each]
    lowest, highest = schema.get("minimum"), schema.get("maximum")
    bounds = f", {lowest} to {highest}" if lowest is not None else ""
    default = schema.get("default")
    usual = f", usually {default}" if default not in (None, "") else ""
    return f"{said[0] if said else 'value'}{bounds}{usual}" + ("" if parameter.get("required") else ", may be left out")


def _kind(media: str, said: dict[str, Any]) -> str:
    name = said.get("schema", {}).get("$ref", "").rpartition("/")[2]
    return f"{name} as {media}" if name else media
