"""An application beside a crawl, in a process of its own."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic
from typing import Final

from gossamer.agent.app_note import AppNote, folder_of, read_note
from gossamer.agent.companion import FIRST_REST, Companion
from gossamer.config import AppRule
from gossamer.errors import AppError, DamagedError

COMMAND: Final = (sys.executable, "-m", "gossamer", "apps", "run", "--leash")
_MOST_DEATHS: Final = 5  # in a row without a page seen: then it is left
_LOOK_EVERY: Final = 0.25  # seconds
_PATIENCE: Final = 600.0  # seconds that it may take at the end to see what is left


class AppProcess(Companion):
    """Invariant: one that failed by itself is not started again in this run, as it would meet the same page again; one
    that was killed is.
    """

    comfort = "the crawl and the other applications go on"

    def __init__(
        self,
        home: Path,
        rule: AppRule,
        notice: Callable[[str], None],
        command: Sequence[str] = COMMAND,
        rest: float = FIRST_REST,
    ) -> None:
        self.app = rule.name
        self.name = f"app {rule.name}"
        self.called = f"the application {rule.name}"
        self.failed = False
        self._folder = folder_of(home, rule.name)
        log = home / "logs" / f"app-{rule.name}.log"
        super().__init__((*command, "--dir", str(home), rule.name), log, notice, rest=rest)

    @property
    def state(self) -> str:
        if not self.failed:
            return super().state
        return f"stopped: {self._last_words().removeprefix('gossamer: ') or 'it ended'}"

    @property
    def process(self) -> str:
        """Its number, as it notes it; empty before it is started."""
        return "" if self._process is None else str(self._process.pid)

    def note(self) -> AppNote:
        try:
            return read_note(self._folder)
        except DamagedError:  # its own process says so
            return AppNote()

    async def keep_running(self) -> None:
        rest, deaths, seen = self._rest, 0, -1
        while not self.failed:
            self._start()
            while self.running:
                await asyncio.sleep(_LOOK_EVERY)
                self._trim()
            self._deaths += 1
            self._let_go()
            pages = self.note().pages
            deaths, seen = (deaths + 1 if pages == seen else 1), pages
            status = None if self._process is None else self._process.returncode
            if status in (AppError.exit_status, 2) or deaths >= _MOST_DEATHS:
                self.failed = True
                self._told = False
                self._tell_once("and is stopped")
                return
            self._tell_once(f"and is started again in {rest:g} s, and later if need be")
            await asyncio.sleep(rest)
            rest *= 2

    def finish(self) -> None:
        """It sees what is left, and ends."""
        if self._process is None or self.failed:
            return
        self._let_go()
        until = monotonic() + _PATIENCE
        while self._process.poll() is None and monotonic() < until:
            self._wait(0.1)
        if self._process.poll() is None:
            self.stop()
        elif self._process.returncode == AppError.exit_status:
            self.failed = True
            self._tell_once("and is stopped")
