"""The files that pages need: one style sheet, small scripts, one icon. Their addresses change with their content, so
that browsers keep them for good.
"""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path
from typing import Final

from fastapi import APIRouter
from fastapi.responses import Response

from gossamer.service.problems import Problem

_FOLDER: Final = Path(__file__).parent / "static"
_TYPES: Final = {
    "gossamer.css": "text/css; charset=utf-8",
    "dashboard.js": "text/javascript; charset=utf-8",
    "docs.js": "text/javascript; charset=utf-8",
    "gossamer.js": "text/javascript; charset=utf-8",
    "controls.js": "text/javascript; charset=utf-8",
    "hours.js": "text/javascript; charset=utf-8",
    "report.js": "text/javascript; charset=utf-8",
    "gossamer.svg": "image/svg+xml",
}
_comments = re.compile(rb"/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/")
_spaces = re.compile(rb"\s++")
_around = re.compile(rb" ?([{};,>]) ?")


def squeezed(css: bytes) -> bytes:
    """A style sheet without what only people need: comments, indentation, the last semicolon of a rule."""
    text = _around.sub(rb"\1", _spaces.sub(b" ", _comments.sub(b"", css)))
    return text.replace(b": ", b":").replace(b";}", b"}").strip()


def _content(name: str) -> bytes:
    content = (_FOLDER / name).read_bytes()
    return squeezed(content) if name.endswith(".css") else content


_FILES: Final = {name: _content(name) for name in _TYPES}
_STAMPS: Final = {name: sha256(content).hexdigest()[:12] for name, content in _FILES.items()}

router = APIRouter(include_in_schema=False)


def asset(name: str) -> str:
    return f"/static/{name}?{_STAMPS[name]}"


@router.get("/static/{path}")
def static(path: str) -> Response:
    """For everyone: the page to log in needs them, and they say nothing."""
    content = _FILES.get(path)
    if content is None:
        raise Problem(404, "There is no such file.")
    headers = {"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}
    return Response(content, media_type=_TYPES[path], headers=headers)
