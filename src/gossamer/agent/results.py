"""What became of what was asked for, by its tag: in the order of asking, each request once for ever."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from gossamer.agent.asked import Tagged, read_tagged, start_of
from gossamer.agent.changes_together import read_cursors, write_cursors
from gossamer.errors import CursorError
from gossamer.frontier.reader import FrontierReader
from gossamer.model import Locator, State, VisitRecord

_DIGITS: Final = 12


class Result(msgspec.Struct):
    """One request, and how its URL stands now. `agent`: the one that has it, among several; `stored` is in its files.
    `kept`: there is a copy, there or elsewhere.
    """

    url: str
    app: str
    asked_at: float
    state: State = State.QUEUED
    status: int = 0
    fetched_at: float = 0.0
    reason: str = ""
    stored: Locator | None = None
    kept: bool = False
    agent: str = ""


class ResultsPart(msgspec.Struct):
    """`next` is the cursor of those that follow; empty where there are none yet."""

    results: list[Result]
    next: str


class TaggedPart(msgspec.Struct):
    """Requests with a tag, with their numbers; whether more follow."""

    requests: list[tuple[int, Tagged]]
    more: bool


def tagged_after(frontier: FrontierReader, tag: str, after: int, limit: int) -> TaggedPart:
    found: list[tuple[int, Tagged]] = []
    for number, tagged in read_tagged(frontier.meta_rows(start_of(tag), f"{after + 1:0{_DIGITS}d}")):
        if len(found) >= limit:
            return TaggedPart(found, True)
        found.append((number, tagged))
    return TaggedPart(found, False)


def result_of(tagged: Tagged, visit: VisitRecord | None, agent: str = "") -> Result:
    if visit is None:  # it is on its way to whom it belongs
        return Result(tagged.url, tagged.app, tagged.at)
    outcome = visit.state, visit.status, visit.fetched_at, visit.reason, visit.stored
    return Result(tagged.url, tagged.app, tagged.at, *outcome, bool(visit.stored or visit.digest), agent)


def read_results(frontier: FrontierReader, tag: str, cursor: str, limit: int) -> ResultsPart:
    """Requests behind the cursor. As none is ever taken away or put between others, a cursor is good for ever."""
    if cursor and not (cursor.isascii() and cursor.isdigit() and len(cursor) <= _DIGITS):
        raise _no_cursor()
    part = tagged_after(frontier, tag, int(cursor or 0), limit)
    found = [result_of(tagged, frontier.visit(tagged.url)) for _, tagged in part.requests]
    return ResultsPart(found, str(part.requests[-1][0]) if part.more else "")


def results_together(
    ask: Callable[[Mapping[str, int]], Mapping[str, TaggedPart]],
    visits: Callable[[Sequence[str]], Mapping[str, tuple[str, VisitRecord]]],
    agents: Sequence[str],
    cursor: str,
    limit: int,
) -> ResultsPart:
    """The lists of several agents as one. `ask`: each for its requests behind a number; who does not answer is asked
    from the same number on the next time. `visits`: who knows these URLs best, and what.

    Invariant: of each agent's list that is given which stands between its number in the cursor and that in `next`, so
    that a cursor is good for ever here, too.
    """
    after = _read_cursor(cursor)
    parts = ask({name: after.get(name, 0) for name in agents})
    lists = {name: part.requests for name, part in parts.items()}
    taken = dict.fromkeys(lists, 0)
    given: list[Tagged] = []
    while len(given) < limit and (left := [name for name in lists if taken[name] < len(lists[name])]):
        # The first of whoever was asked first: each list keeps its order, whatever its clock did.
        first = min(left, key=lambda name: (lists[name][taken[name]][1].at, name))
        number, tagged = lists[first][taken[first]]
        after[first], taken[first] = number, taken[first] + 1
        given.append(tagged)
    more = any(taken[name] < len(part.requests) or part.more for name, part in parts.items())
    known = visits(list({tagged.url: None for tagged in given}))
    found = []
    for tagged in given:
        agent, visit = known.get(tagged.url, ("", None))
        found.append(result_of(tagged, visit, agent))
    return ResultsPart(found, write_cursors(0, {name: str(number) for name, number in after.items()}) if more else "")


def _read_cursor(cursor: str) -> dict[str, int]:
    if not cursor:
        return {}
    try:
        numbers = read_cursors(cursor)[1]
    except CursorError:
        raise _no_cursor() from None
    if not all(number.isascii() and number.isdigit() and len(number) <= _DIGITS for number in numbers.values()):
        raise _no_cursor()
    return {name: int(number) for name, number in numbers.items()}


def _no_cursor() -> CursorError:
    return CursorError("The cursor is not one that a list of results gave. Leave it out to begin with the first.")
