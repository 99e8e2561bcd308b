"""What forms send, and whose they are."""

from __future__ import annotations

from typing import Annotated, Final
from urllib.parse import parse_qs

from fastapi import Depends, Request

from gossamer.service.callers import Caller
from gossamer.service.problems import Problem

_MOST_FIELDS: Final = 30
_NOT_OURS: Final = "This form is not of your login. Go back, load the page again, and send it from there."


async def fields(request: Request) -> dict[str, str]:
    """Of a form, those left empty included. Bodies are short: the service reads no more than limits.BODY_BYTES."""
    text = (await request.body()).decode("utf-8", "replace")
    try:
        found = parse_qs(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError:
        return {}
    return {name: values[0] for name, values in found.items()}


Fields = Annotated[dict[str, str], Depends(fields)]


def check_token(request: Request, caller: Caller, given: dict[str, str]) -> None:
    """Another site's page cannot know the token, and so cannot have a form sent on behalf of a login."""
    if not request.app.state.gate.sessions.form_token_holds(given.get("token", ""), caller.session):
        raise Problem(403, _NOT_OURS)


def own_path(target: str) -> str:
    """Where to go after a form: a path of ours. Browsers read //host and /\\host as another host."""
    own = target.startswith("/") and target[1:2] not in ("/", "\\") and target.isprintable()
    return target if own else "/"
