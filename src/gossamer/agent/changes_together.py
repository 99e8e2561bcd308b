"""New, changed and gone pages of several agents as one list."""

from __future__ import annotations

import base64
import binascii
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import msgspec

from gossamer.agent.changes import ChangedPage, Changes, ChangesPart, Wish
from gossamer.agent.parts import opened, visit_in
from gossamer.errors import CursorError

_MARK: Final = "~"  # before a cursor that is made of several
_MOST_AGENTS: Final = 1000


class Share(msgspec.Struct, frozen=True):
    """What one agent is asked for."""

    cursor: str
    since: float
    limit: int


Ask = Callable[[Mapping[str, Share]], Mapping[str, ChangesPart]]
"""Asks each agent for its share; gives what those say who answer."""


def changes_together(
    ask: Ask, agents: Sequence[str], cursor: str, since: float, limit: int, ended: Collection[str] = ()
) -> ChangesPart:
    """As `Changes.after`, by the time of fetching; what an agent does not answer comes when it does. Of those that have
    `ended` nothing more is expected, though it may come.

    Invariant: how far the cursor leads in an agent's list is exactly what was given of it.
    """
    begin, before = read_cursors(cursor) if cursor else (since, {})
    asked = {name: Share(before.get(name, ""), begin, limit) for name in agents}
    parts = dict(ask(asked))
    ordered = sorted(
        ((page, name) for name, part in parts.items() for page in part.changes), key=lambda each: each[0].fetched_at
    )
    taken = Counter(name for _, name in ordered[:limit])
    cut = {name for name, part in parts.items() if taken[name] < len(part.changes)}
    # Where a list is cut, its agent says how far that is: asked for so many, it gives the same again.
    again = ask({name: Share(before.get(name, ""), begin, taken[name]) for name in cut if taken[name]})
    kept = {name: part for name, part in parts.items() if name not in cut} | dict(again)
    given: list[ChangedPage] = sorted(
        (page for part in kept.values() for page in part.changes), key=lambda page: page.fetched_at
    )
    after = before | {name: part.next for name, part in kept.items()}
    silent = any(name not in parts and name not in ended for name in agents)
    more = bool(cut) or silent or any(part.more for part in kept.values())
    return ChangesPart(given, write_cursors(begin, after), more)


def newest_together(found: Sequence[tuple[list[ChangedPage], bool]], limit: int) -> tuple[list[ChangedPage], bool]:
    """Of lists of the newest, each with whether it is complete."""
    pages = sorted((page for each, _ in found for page in each), key=lambda page: page.fetched_at, reverse=True)
    return pages[:limit], len(pages) <= limit and all(complete for _, complete in found)


def write_cursors(since: float, cursors: Mapping[str, str]) -> str:
    packed = msgspec.msgpack.encode((int(since), dict(sorted(cursors.items()))))
    return _MARK + base64.urlsafe_b64encode(packed).decode().rstrip("=")


_Packed = tuple[Annotated[int, msgspec.Meta(ge=0, lt=253_402_300_800)], dict[str, str]]
_packed = msgspec.msgpack.Decoder(_Packed)


def read_cursors(text: str) -> tuple[float, dict[str, str]]:
    """From which moment on, and how far each agent's list was read."""
    try:
        if text[:1] != _MARK:
            raise ValueError
        packed = base64.b64decode(text[1:] + "=" * (-len(text[1:]) % 4), b"-_", validate=True)
        since, cursors = _packed.decode(packed)
        if len(cursors) > _MOST_AGENTS:
            raise ValueError
    except (binascii.Error, ValueError, msgspec.MsgspecError):
        raise CursorError("this is none that a list of changes gave") from None
    return float(since), cursors


@contextmanager
def changes_in(home: Path) -> Iterator[Callable[[str, float, int, Wish], ChangesPart]]:
    """`Changes.after` of the crawl in a directory, of however many agents it is."""
    with opened(home) as parts:
        frontiers = [part.frontier for part in parts]
        if len(parts) == 1:
            yield Changes(frontiers[0], parts[0].directory).after
            return
        elsewhere = visit_in(frontiers)
        agents = {
            part.directory.home.name: Changes(part.frontier, part.directory, elsewhere=elsewhere) for part in parts
        }

        def after(cursor: str, since: float, limit: int, wish: Wish) -> ChangesPart:
            def ask(asked: Mapping[str, Share]) -> Mapping[str, ChangesPart]:
                return {
                    name: agents[name].after(share.cursor, share.since, share.limit, wish)
                    for name, share in asked.items()
                }

            return changes_together(ask, sorted(agents), cursor, since, limit)

        yield after
