"""A process that a crawl starts beside itself, keeps running, and stops at its end.

It is on a leash: its standard input is a pipe that nothing is written to. When the crawl ends, however it ends, the
pipe closes, and the process ends, too.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Final

_LOOK_EVERY: Final = 0.25  # seconds
FIRST_REST: Final = 0.25  # before it is started again; doubles each time
_WELL: Final = 60.0  # seconds that it has run, after which what was before is forgotten
_LONGEST_REST: Final = 300.0
_PATIENCE: Final = 2.5  # seconds that it has to end by itself when it is told to
_LONGEST_LOG: Final = 1 << 20


class Companion:
    """Invariant: at most one process runs; a crawl never fails because of it."""

    name = "companion"
    called = "a process beside the crawl"
    comfort = "the crawl goes on"

    def __init__(
        self,
        command: Sequence[str],
        log: Path,
        notice: Callable[[str], None],
        *,
        sockets: Sequence[int] = (),
        rest: float = FIRST_REST,
    ) -> None:
        self._command = tuple(command)
        self._log = log
        self._notice = notice
        self._sockets = tuple(sockets)
        self._rest = rest
        self._told = False
        self._process: subprocess.Popen[bytes] | None = None
        self._log_from = 0  # where in the log the words of this process begin
        self._deaths = 0

    @property
    def state(self) -> str:
        """For people: how it is, and what became of it so far."""
        often = f", died {self._deaths} times" if self._deaths > 1 else ", died once" if self._deaths else ""
        return ("running" if self.running else "down, is started again") + often

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    async def keep_running(self) -> None:
        """Start it, and again whenever it has died, after longer and longer rests."""
        rest = self._rest
        while True:
            self._start()
            started = monotonic()
            while self.running:
                await asyncio.sleep(_LOOK_EVERY)
                self._trim()
            self._deaths += 1
            if monotonic() - started > _WELL:
                rest = self._rest
            self._tell_once(f"and is started again in {rest:g} s, and later if need be")
            await asyncio.sleep(rest)
            rest = min(2 * rest, _LONGEST_REST)

    def stop(self) -> None:
        """It ends within seconds."""
        process = self._process
        if process is None:
            return
        process.terminate()
        self._let_go()
        until = monotonic() + _PATIENCE
        while process.poll() is None and monotonic() < until:
            self._wait(0.05)
        process.kill()  # whatever it was at: what it writes is whole at every moment
        process.wait()

    def _start(self) -> None:
        try:
            self._trim()
            with open(self._log, "ab") as errors:
                self._log_from = errors.tell()
                self._let_go()
                self._process = subprocess.Popen(
                    self._command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    process_group=0,  # Ctrl-C is for the crawl, which then sees to this one
                    pass_fds=self._sockets,
                    env={**os.environ, "PYTHONUNBUFFERED": "1"},
                )
        except OSError as error:
            self._process = None
            if not self._told:
                self._told = True
                self._notice(f"{self.name}: {self.called} cannot be started ({error}); {self.comfort}")

    def _trim(self) -> None:
        """Keep the log short, also that of a process that writes to it for weeks: it appends, so that the file may be
        emptied under it. What it writes in between is lost.
        """
        with suppress(OSError):
            if self._log.stat().st_size > _LONGEST_LOG:
                import shutil

                shutil.copyfile(self._log, self._log.with_suffix(".log.1"))
                os.truncate(self._log, 0)
                self._log_from = 0

    def _let_go(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()

    def _wait(self, seconds: float) -> None:
        assert self._process is not None
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)

    def _tell_once(self, what: str) -> None:
        if not self._told:
            self._told = True
            self._notice(f"{self.name}: {self._ended()} {what}; {self.comfort}")

    def _ended(self) -> str:
        """Say that the process ended, how, and what it wrote last."""
        how = "" if self._process is None else f" with {ending(self._process.wait())}"
        words = self._last_words()
        return f"{self.called} ended{how}{f' ({words})' if words else ''}"

    def _last_words(self) -> str:
        try:
            with open(self._log, "rb") as log:
                log.seek(self._log_from)
                lines = log.read().decode("utf-8", "replace").strip().splitlines()
        except OSError:
            return ""
        return lines[-1][:300] if lines else ""


def ending(status: int) -> str:
    """Say in words what the exit status of a process means: `exit status 1` or `signal 9 (SIGKILL)`."""
    if status >= 0:
        return f"exit status {status}"
    with suppress(ValueError):  # a real-time signal has no name
        return f"signal {-status} ({signal.Signals(-status).name})"
    return f"signal {-status}"
