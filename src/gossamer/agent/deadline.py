"""Until when an agent may fetch, where a supervisor sees it without asking: a stopped process answers nobody.

The time is one of CLOCK_BOOTTIME. It stands twice in a file of 16 bytes that both have in memory.
"""

from __future__ import annotations

import mmap
import os
import struct
from pathlib import Path
from typing import Final

QUIET: Final = 0.0  # nothing is fetched: there is nothing to be killed for
_TIME: Final = struct.Struct("d")  # 8 bytes at an address that is a multiple of 8: stored at once
_BYTES: Final = 2 * _TIME.size


class Deadline:
    """Invariant: what is read is what was written last, or, of a writer that was stopped while it wrote, the earlier of
    the two; never a time later than both, and never quiet while one of the two is a time.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            os.ftruncate(descriptor, _BYTES)
            self._shared = mmap.mmap(descriptor, _BYTES)
        finally:
            os.close(descriptor)

    def write(self, value: float) -> None:
        _TIME.pack_into(self._shared, 0, value)
        _TIME.pack_into(self._shared, _TIME.size, value)

    def read(self) -> float:
        times = [_TIME.unpack_from(self._shared, place)[0] for place in (_TIME.size, 0)]
        return min((time for time in times if time > QUIET), default=QUIET)

    def past(self, now: float) -> bool:
        """Whether whoever wrote it may be killed."""
        deadline = self.read()
        return deadline > QUIET and now >= deadline

    def close(self) -> None:
        self._shared.close()


def deadline_file(home: Path) -> Path:
    """Of the agent whose directory this is."""
    return home / "logs" / "deadline"
