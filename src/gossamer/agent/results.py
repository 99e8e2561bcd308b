"""What became of what was asked for, by its tag: in the order of asking, each request once for ever."""

from __future__ import annotations

from typing import Final

import msgspec

from gossamer.agent.asked import read_tagged, start_of
from gossamer.errors import CursorError
from gossamer.frontier.reader import FrontierReader
from gossamer.model import Locator, State

_DIGITS: Final = 12


class Result(msgspec.Struct):
    """One request, and how its URL stands now."""

    url: str
    app: str
    asked_at: float
    state: State
    status: int = 0
    fetched_at: float = 0.0
    reason: str = ""
    stored: Locator | None = None


class ResultsPart(msgspec.Struct):
    """`next` is the cursor of those that follow; empty where there are none yet."""

    results: list[Result]
    next: str


def read_results(frontier: FrontierReader, tag: str, cursor: str, limit: int) -> ResultsPart:
    """Requests behind the cursor. As none is ever taken away or put between others, a cursor is good for ever."""
    if cursor and not (cursor.isascii() and cursor.isdigit() and len(cursor) <= _DIGITS):
        raise CursorError("The cursor is not one that a list of results gave. Leave it out to begin with the first.")
    after = int(cursor or 0)
    found: list[Result] = []
    last = ""
    for number, tagged in read_tagged(frontier.meta_rows(start_of(tag), f"{after + 1:0{_DIGITS}d}")):
        if len(found) >= limit:
            return ResultsPart(found, last)
        last = str(number)
        visit = frontier.visit(tagged.url)
        if visit is None:
            found.append(Result(tagged.url, tagged.app, tagged.at, State.QUEUED))
            continue
        outcome = visit.state, visit.status, visit.fetched_at, visit.reason, visit.stored
        found.append(Result(tagged.url, tagged.app, tagged.at, *outcome))
    return ResultsPart(found, "")
