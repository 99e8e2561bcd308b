"""The audit log as people read it: what was before and what is after, in few words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from gossamer.agent.audit import Change

_LONGEST: Final = 400  # characters of what is said of a change
_MOST: Final = 5  # of a list
_LISTS: Final = ("policy.blocklist", "fetch.schedule")


class Said(msgspec.Struct, frozen=True):
    at: str
    who: str
    what: str
    text: str


def said_of(change: Change) -> Said:
    text = "; ".join(_parts(change.before, change.after))
    short = text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
    return Said(change.at[:19].replace("T", " ") + " UTC", change.who, change.what, short)


def _parts(before: Any, after: Any) -> Iterator[str]:
    if not isinstance(after, dict):
        if after not in (None, ""):
            yield str(after)
        return
    old = before if isinstance(before, dict) else {}
    for name, value in after.items():
        if value in ("", [], None) and name not in old:
            continue
        if name not in old:
            yield f"{name} {_value(value)}"
        elif old[name] != value:
            yield f"{name} {_difference(name, old[name], value)}"


def _difference(name: str, old: Any, new: Any) -> str:
    """Of lists, what came and what went; of all else, both."""
    if name not in _LISTS:
        return f"{_value(old)} → {_value(new)}"
    had, has = _listed(old), _listed(new)
    gone = [f"− {item}" for item in had if item not in has]
    came = [f"+ {item}" for item in has if item not in had]
    more = len(gone) + len(came) - _MOST
    return ", ".join([*gone, *came][:_MOST]) + (f" and {more:,} more" if more > 0 else "")


def _listed(value: Any) -> list[str]:
    """As settings are shown."""
    return [] if value in ("", "none") else str(value).split(", ")


def _value(value: Any) -> str:
    if value is None:
        return "usual"
    if isinstance(value, list):
        return f"{len(value):,}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
