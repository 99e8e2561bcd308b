"""What became of commands, kept for the page to which a form leads back."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from threading import Lock
from typing import Final

import msgspec

_KEPT: Final = 1000


class Outcome(msgspec.Struct, frozen=True):
    """`later`: it is not done yet, and will be."""

    title: str
    place: str  # of its control
    text: str
    at: float
    seconds: float = 0.0  # until it was in effect
    ok: bool = True
    later: bool = False


class Outcomes:
    """Invariant: an outcome is shown to the key that asked for it and to nobody else; the oldest are forgotten."""

    def __init__(self) -> None:
        self._found: OrderedDict[str, tuple[str, Outcome]] = OrderedDict()
        self._lock = Lock()

    def keep(self, key: str, outcome: Outcome) -> str:
        """Gives the name under which it is found."""
        name = secrets.token_urlsafe(9)
        with self._lock:
            self._found[name] = key, outcome
            if len(self._found) > _KEPT:
                self._found.popitem(last=False)
        return name

    def find(self, key: str, name: str) -> Outcome | None:
        whose, outcome = self._found.get(name, ("", None))
        return outcome if whose == key else None
