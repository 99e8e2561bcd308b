"""The report of the crawl, made by a process beside the service: it may take minutes and much memory."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread
from typing import Final

import msgspec

_SECONDS: Final = 3600.0  # a report that takes longer is given up
_NICE: Final = 10
_LONGEST_LINE: Final = 500  # characters


class ReportState(msgspec.Struct, frozen=True):
    """`made_at` is 0 where there is none. `said` is how far the next one is, or why it was not made."""

    path: Path
    made_at: float
    making: bool
    since: float = 0.0
    said: str = ""
    failed: bool = False


class ReportMaker:
    """Invariants: one report is made at a time; a report is there whole, or the one before it is."""

    def __init__(self, home: Path, command: tuple[str, ...] = (sys.executable, "-m", "gossamer")) -> None:
        self._home = home
        self._path = home / "facts" / "report.html"
        self._command = command
        self._lock = Lock()
        self._process: subprocess.Popen[str] | None = None
        self._since = 0.0
        self._said = ""
        self._failed = False

    def state(self) -> ReportState:
        try:
            made_at = self._path.stat().st_mtime
        except OSError:
            made_at = 0.0
        making = self._process is not None
        return ReportState(self._path, made_at, making, self._since, self._said, self._failed and not making)

    def make(self, clock: Callable[[], float] = time.time) -> None:
        """Begin, unless one is being made."""
        with self._lock:
            if self._process is not None:
                return
            self._since, self._said, self._failed = clock(), "", False
            try:
                self._path.parent.mkdir(exist_ok=True)
                self._process = subprocess.Popen(
                    [*self._command, "report", "--dir", str(self._home), "--out", str(self._path)],
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                    text=True, errors="replace", start_new_session=True,
                )  # fmt: skip
            except OSError as error:
                self._said, self._failed = f"It could not be begun: {error.strerror}.", True
                return
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, self._process.pid, _NICE)
            Thread(target=self._follow, args=(self._process,), daemon=True).start()

    def close(self) -> None:
        process = self._process
        if process is not None:
            _end(process)

    def _follow(self, process: subprocess.Popen[str]) -> None:
        """Hear what it says of its progress, and see to it that it ends."""
        watch = Thread(target=self._limit, args=(process,), daemon=True)
        watch.start()
        assert process.stderr is not None
        with process.stderr as lines:
            for line in lines:
                if text := line.strip():
                    self._said = text[:_LONGEST_LINE]
        status = process.wait()
        watch.join()
        with self._lock:
            self._failed = status != 0
            self._said = self._said.removeprefix("gossamer: ") if status else ""
            self._process = None

    def _limit(self, process: subprocess.Popen[str]) -> None:
        try:
            process.wait(_SECONDS)
        except subprocess.TimeoutExpired:
            self._said = "It took too long and was given up."
            _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    with suppress(OSError):  # it has ended meanwhile
        os.killpg(process.pid, signal.SIGKILL)
