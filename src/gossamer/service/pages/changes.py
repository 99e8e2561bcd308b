"""The audit log as people read it: what was before and what is after, in few words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from gossamer.agent.audit import Change

_LONGEST: Final = 400  # characters of what is said of a change
_MOST: Final = 5  # of a list


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
            yield f"{name} {_difference(old[name], value)}"


def _difference(old: Any, new: Any) -> str:
    """Of lists, what came and what went; of all else, both."""
    had, has = _listed(old), _listed(new)
    if had is None or has is None:
        return f"{_value(old)} → {_value(new)}"
    gone = [item for item in had if item not in has]
    came = [item for item in has if item not in had]
    return ", ".join([*(f"− {item}" for item in gone[:_MOST]), *(f"+ {item}" for item in came[:_MOST])]) or "reordered"


def _listed(value: Any) -> list[str] | None:
    """Settings are written down as they stand in gossamer.toml."""
    if not (isinstance(value, str) and value[:1] == "["):
        return None
    try:
        found = json.loads(value)
    except ValueError:
        return None
    return [str(item) for item in found] if isinstance(found, list) else None


def _value(value: Any) -> str:
    if value is None:
        return "usual"
    if isinstance(value, list):
        return f"{len(value):,}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
