"""What the processes of a crawl take of this machine, and what its files take of the disk."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from gossamer.agent.statistics import resident

_TICK: Final = os.sysconf("SC_CLK_TCK")
_MOST_FILES: Final = 50_000  # of a folder that are looked at


class Usage:
    """How much of a core a process has used since it was last looked at.

    Invariant: a process that is not there, or that is another one under the same number, has used nothing.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._pid = 0
        self._at = self._seconds = 0.0
        self.core = 0.0
        self.memory = 0

    def look(self, pid: int, word: str = "") -> None:
        """`word` is one of its command line: numbers of processes are used again."""
        if word and not _has_word(pid, word):
            pid = 0
        now, seconds = self._clock(), cpu_seconds(pid) if pid else 0.0
        same = pid == self._pid and now > self._at
        self.core = max(0.0, (seconds - self._seconds) / (now - self._at)) if same else 0.0
        self._pid, self._at, self._seconds = pid, now, seconds
        self.memory = resident(pid) if pid else 0


def _has_word(pid: int, word: str) -> bool:
    try:
        return word.encode() in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False


def cpu_seconds(pid: int) -> float:
    """User and system time; 0 where it cannot be read."""
    try:
        # The name, in parentheses, may hold anything; what follows it are numbers.
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICK
    except (OSError, ValueError, IndexError):
        return 0.0


def size_of(folder: Path) -> int:
    """Bytes of the files in a folder and those below it."""
    total, files, folders = 0, 0, [folder]
    while folders and files < _MOST_FILES:
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                files += 1
                with suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(Path(entry.path))
                    else:
                        total += entry.stat(follow_symlinks=False).st_size
    return total
