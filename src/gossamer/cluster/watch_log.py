"""The port to the log of watches: one order of all that is said of them, which every agent reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec


class Said(msgspec.Struct, frozen=True, gc=False):
    sequence: int
    data: bytes


class WatchLog(Protocol):
    """Invariants: sequences rise, also over the loss of all that the broker had; what was acknowledged is durable; all
    who read get the same, in the same order.

    What raised an UnavailableError may have been done, now or later: what is read must be safe to be taken twice.
    """

    @property
    def identity(self) -> str:
        """Of this log: another one after the broker has lost its data."""

    async def append(self, about: str, data: bytes) -> int:
        """`about` is the id of a watch, or nothing. LogFullError: it takes no more until watches are removed."""

    async def read(self, after: int, patience: float) -> Sequence[Said]:
        """What comes after a sequence, some at a time; nothing if there is none within so many seconds."""

    async def end(self) -> int:
        """The last sequence."""

    async def forget(self, about: str) -> None:
        """What was said about a watch that is no more need not be kept."""

    async def close(self) -> None: ...
