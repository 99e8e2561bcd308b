"""Time as an argument: the wall clock, and one that moves only when told to."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    def now(self) -> float: ...


class SystemClock:
    """Seconds since 1970, as the machine tells them."""

    def now(self) -> float:
        return time.time()


class FakeClock:
    """Stands still until advanced.

    Invariant: never goes back. Calling it is the same as `now()`, so it also fits where a plain function is wanted.
    """

    __slots__ = ("_now",)

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self._now = now

    def now(self) -> float:
        return self._now

    __call__ = now

    def advance(self, seconds: float) -> float:
        if seconds < 0:
            raise ValueError(f"a clock cannot go back: advance({seconds})")
        self._now += seconds
        return self._now

    def advance_to(self, moment: float) -> None:
        """Unless it is later already."""
        self._now = max(self._now, moment)
