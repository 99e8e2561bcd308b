"""Which page is in hand, on disk, so that one that kills its reader is met no third time."""

from __future__ import annotations

import os
import signal
import struct
from contextlib import suppress
from pathlib import Path
from typing import Final

from gossamer.model import Locator

_NOTE: Final = struct.Struct("<IQI")  # file, offset, deaths
_MOST_DEATHS: Final = 2
_MOST_SECONDS: Final = 60.0  # of CPU for one page


class InHand:
    """Invariant: while a page is read, the file names it. Whoever dies meanwhile leaves its name behind.

    `guarded`: a page that takes a minute of CPU ends the process, which even a library that hangs cannot prevent.
    """

    def __init__(self, path: Path, guarded: bool = False) -> None:
        self._suspect: tuple[int, int] | None = None
        self._deaths = 0
        self._guarded = guarded
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        note = os.pread(self._file, _NOTE.size, 0)
        if len(note) == _NOTE.size:
            file, offset, deaths = _NOTE.unpack(note)
            self._suspect, self._deaths = (file, offset), deaths + 1
        if guarded:
            signal.signal(signal.SIGPROF, signal.SIG_DFL)

    def take(self, place: Locator) -> bool:
        """Whether the page may be read: not if its reader has died of it twice."""
        known = (place.file, place.offset) == self._suspect
        if known and self._deaths >= _MOST_DEATHS:
            self._suspect = None
            return False
        with suppress(OSError):
            os.pwrite(self._file, _NOTE.pack(place.file, place.offset, self._deaths if known else 0), 0)
        if self._guarded:
            signal.setitimer(signal.ITIMER_PROF, _MOST_SECONDS)
        return True

    def put_down(self) -> None:
        if self._guarded:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
        with suppress(OSError):
            os.ftruncate(self._file, 0)

    def close(self) -> None:
        self.put_down()
        os.close(self._file)
