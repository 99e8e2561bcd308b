"""The API described for people, from the OpenAPI document, with a form for each operation to try it."""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec
from fastapi import Request
from fastapi.responses import HTMLResponse
from markupsafe import Markup, escape

from gossamer.service.answers import schema_name
from gossamer.service.description import describe
from gossamer.service.pages.frame import Reader, new_router, render
from gossamer.service.problems import ProblemDocument

Schema = dict[str, Any]
Row = tuple[str, Markup, str]  # a name, its type, what is said of it

_STREAM: Final = "text/event-stream"
# What a body is shown with where a value has no default: harmless to send by mistake.
_EXAMPLES: Final = {"url": "https://www.example.org/", "urls": "https://www.example.org/", "query": "silk road"}
_HOST: Final = "www.example.org"

router = new_router()


class Field(msgspec.Struct, frozen=True):
    """A parameter in the form of its operation; `where` is query, path or header. `choices` are all its values, where
    these are listed. `plain`: it may be sent empty, so that a browser needs no script to send it.
    """

    name: str
    where: str
    text: str
    kind: Markup
    required: bool
    numeric: bool
    choices: list[str]
    value: str
    plain: bool


class Answer(msgspec.Struct, frozen=True):
    status: str
    text: str
    kinds: list[tuple[Markup, str]]  # what it holds, and as which type


class Operation(msgspec.Struct, frozen=True):
    name: str
    method: str
    path: str
    text: str
    fields: list[Field]
    body: str  # an example, empty where none is sent
    answers: list[Answer]
    refusals: str
    plain: bool  # a form without a script can send it

    @property
    def rows(self) -> list[Row]:
        return [(field.name, field.kind, field.text) for field in self.fields]


@router.get("/docs")
def docs(request: Request, caller: Reader) -> HTMLResponse:
    document = describe(request.app)
    schemas = document["components"]["schemas"]
    operations = [
        _operation(path, method, said, schemas)
        for path, methods in document["paths"].items()
        for method, said in methods.items()
    ]
    return render(
        request, "docs.html", caller, here="docs", about=document["info"], operations=operations,
        schemas=[(name, _said(schema), _rows(schema)) for name, schema in sorted(schemas.items())],
        problem=_kind({"$ref": schema_name(ProblemDocument)}),
    )  # fmt: skip


def _operation(path: str, method: str, said: Schema, schemas: dict[str, Schema]) -> Operation:
    fields = [_field(parameter) for parameter in said.get("parameters", ())]
    body = said.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    answers = {status: answer for status, answer in said["responses"].items() if int(status) < 400}
    kinds = [media for answer in answers.values() for media in answer.get("content", ())]
    return Operation(
        said["operationId"],
        method.upper(),
        path,
        said.get("description", ""),
        fields,
        "" if body is None else json.dumps(_example(body, schemas), indent=2),
        [
            Answer(
                status,
                answer["description"],
                [(_kind(held["schema"]), media) for media, held in answer.get("content", {}).items()],
            )
            for status, answer in answers.items()
        ],
        ", ".join(status for status in said["responses"] if status not in answers),
        method == "get" and _STREAM not in kinds and all(field.where == "query" for field in fields),
    )


def _field(parameter: Schema) -> Field:
    schema = parameter["schema"]
    kinds = [each for each in (schema, *schema.get("anyOf", ())) if "type" in each]
    kind = kinds[0]["type"]
    choices = kinds[0].get("enum", ["false", "true"] if kind == "boolean" else [])
    default = schema.get("default")
    value = "" if default is None else str(default).lower() if kind == "boolean" else str(default)
    said = " | ".join(choices) or kind
    if "minimum" in kinds[0] and "maximum" in kinds[0]:
        said += f", {kinds[0]['minimum']:,} to {kinds[0]['maximum']:,}"
    if value:
        said += f", default {value}"
    required = parameter["required"]
    return Field(
        parameter["name"],
        parameter["in"],
        parameter.get("description", ""),
        escape(said if required else f"{said}, optional"),
        required,
        kind in ("integer", "number"),
        choices,
        value,
        required or bool(value) or (kind == "string" and "anyOf" not in schema),
    )


def _said(schema: Schema) -> str:
    values = ", ".join(map(str, schema.get("enum", ())))
    return f"{schema.get('description', '')} {values}".strip()


def _rows(schema: Schema) -> list[Row]:
    return [(name, _kind(said), said.get("description", "")) for name, said in schema.get("properties", {}).items()]


def _kind(schema: Schema) -> Markup:
    """The type of a value; one with fields of its own leads to them."""
    name = schema.get("$ref", "").rpartition("/")[2]
    if name:
        return Markup('<a href="#{0}">{0}</a>').format(name)
    if "anyOf" in schema:
        return Markup(" or ").join(map(_kind, schema["anyOf"]))
    kind = schema.get("format") or schema.get("type", "value")
    if kind == "array":
        return Markup("list of {}").format(_kind(schema["items"]))
    if isinstance(schema.get("additionalProperties"), dict):
        return Markup("object of {}").format(_kind(schema["additionalProperties"]))
    return escape(kind)


def _example(schema: Schema, schemas: dict[str, Schema], name: str = "") -> Any:
    """A body as it may be sent: defaults where there are some."""
    if "default" in schema:
        return schema["default"]
    if "$ref" in schema:
        return _example(schemas[schema["$ref"].rpartition("/")[2]], schemas)
    if "anyOf" in schema:
        empty = {"type": "null"} in schema["anyOf"] and "$ref" not in schema["anyOf"][0]
        return None if empty else _example(schema["anyOf"][0], schemas, name)
    if "properties" in schema:
        return {each: _example(said, schemas, each) for each, said in schema["properties"].items()}
    kind = schema.get("type")
    if kind == "array":
        return [_example(schema["items"], schemas, name)]
    if kind in ("integer", "number"):
        return schema.get("minimum", 0)
    return _EXAMPLES.get(name, _HOST) if kind == "string" else None
