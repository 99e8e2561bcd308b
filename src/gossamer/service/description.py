"""The OpenAPI document, from which clients are made. The page for people is `pages/docs.py`."""

from __future__ import annotations

from typing import Any

import msgspec
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from gossamer.service.answers import SCHEMAS, schema_name


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
