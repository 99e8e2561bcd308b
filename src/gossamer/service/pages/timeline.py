"""Visits as marks on a line of time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from gossamer.service.pages.charts import OUTCOMES

WIDE: Final = 1000.0
_MARK: Final = 4.0


class Event(msgspec.Struct, frozen=True):
    """`changed` is empty where it is not known."""

    at: float
    status: int  # 0: no response
    words: str
    url: str = ""
    changed: str = ""

    @property
    def outcome(self) -> str:
        """As charts call it."""
        return OUTCOMES[min(self.status // 100, 5) - 2] if self.status >= 200 else "faults"


class Mark(msgspec.Struct, frozen=True):
    x: float
    width: float
    outcome: str
    words: str


def marks(events: Sequence[Event]) -> list[Mark]:
    """From the oldest at the left to the newest at the right."""
    if not events:
        return []
    first, last = min(event.at for event in events), max(event.at for event in events)
    scale = (WIDE - _MARK) / (last - first) if last > first else 0.0
    return [Mark(round((event.at - first) * scale, 1), _MARK, event.outcome, event.words) for event in events]
