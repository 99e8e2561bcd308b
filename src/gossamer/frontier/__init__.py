"""The durable queues: what to visit, when, and what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gossamer.frontier.counts import Counts
from gossamer.frontier.notes import Finding, Payload

if TYPE_CHECKING:
    from gossamer.frontier.frontier import Frontier

__all__ = ["Counts", "Finding", "Frontier", "Payload"]


def __getattr__(name: str) -> Any:
    # Loaded when first asked for: `reader` is in this folder too, and needs little of it.
    if name != "Frontier":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from gossamer.frontier.frontier import Frontier

    globals()[name] = Frontier
    return Frontier
