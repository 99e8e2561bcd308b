"""Tasks that are to end, and do."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any


async def ended(tasks: Sequence[asyncio.Task[Any]]) -> None:
    """Cancelled until they have heard of it: a wait that was over at the same moment may have swallowed it."""
    while left := [task for task in tasks if not task.done()]:
        for task in left:
            task.cancel()
        await asyncio.wait(left, timeout=0.1)
    for task in tasks:
        if not task.cancelled():
            task.exception()  # heard of, or of no use any more
