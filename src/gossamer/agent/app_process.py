"""Applications beside a crawl: each in a process of its own, or, of a crawl from Python, in a thread."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Final, Protocol

from gossamer.agent.app_note import AppNote, folder_of, read_note
from gossamer.agent.app_runner import AppRunner
from gossamer.agent.application import Application
from gossamer.agent.companion import FIRST_REST, Companion
from gossamer.config import AppRule
from gossamer.errors import AppError, DamagedError, GossamerError
from gossamer.store import StorePosition

COMMAND: Final = (sys.executable, "-m", "gossamer", "apps", "run", "--leash")
_MOST_DEATHS: Final = 5  # in a row without a page seen: then it is left
_LOOK_EVERY: Final = 0.25  # seconds
_PATIENCE: Final = 600.0  # seconds that it may take at the end to see what is left


class RunningApp(Protocol):
    """What a crawl knows of an application beside it."""

    name: str

    @property
    def state(self) -> str: ...
    @property
    def app(self) -> str: ...
    @property
    def failed(self) -> bool: ...
    def note(self) -> AppNote: ...
    async def keep_running(self) -> None: ...


def is_behind(running: RunningApp, position: StorePosition) -> bool:
    """Whether it may still ask for something because of what is stored."""
    return not running.failed and running.note().position != position


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
        return f"stopped: {self._last_words() or 'it ended'}" if self.failed else super().state

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


class AppThread:
    """An application given as an object. What it does to the interpreter, it does to the crawl."""

    def __init__(self, home: Path, name: str, application: Application, notice: Callable[[str], None]) -> None:
        self.app = name
        self.name = f"app {name}"
        self.failed = False
        self._why = ""
        self._home = home
        self._application = application
        self._notice = notice
        self._folder = folder_of(home, name)
        self._end = threading.Event()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def state(self) -> str:
        return f"stopped: {self._why}" if self.failed else "running" if self._thread is not None else "not begun"

    def note(self) -> AppNote:
        return read_note(self._folder)

    async def keep_running(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name=self.name, daemon=True)
            self._thread.start()

    def finish(self) -> None:
        """It sees what is left, and ends."""
        self._end.set()
        if self._thread is not None:
            self._thread.join()

    def stop(self) -> None:
        self._stop.set()
        self.finish()

    def _work(self) -> None:
        runner: AppRunner | None = None
        try:
            runner = AppRunner(self._home, self.app, self._application, self._notice)
            runner.follow(self._end.wait, self._stop.is_set)
        except (GossamerError, OSError) as error:
            self.failed, self._why = True, str(error)
            self._notice(f"application {self.app} failed ({error}) and is stopped; the crawl goes on")
            if runner is not None:
                with suppress(GossamerError, OSError):
                    runner.stopped(str(error))
        finally:
            if runner is not None:
                runner.close()
