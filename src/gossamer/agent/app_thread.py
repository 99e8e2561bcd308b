"""An application of a crawl from Python, in a thread of the same process."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from gossamer.agent.app_note import AppNote, folder_of, read_note
from gossamer.agent.application import Application
from gossamer.errors import GossamerError

if TYPE_CHECKING:
    from gossamer.agent.app_runner import AppRunner


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
        self.process = f"thread {secrets.token_hex(8)}"

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
        from gossamer.agent.app_runner import AppRunner  # who has no applications need not wait for it

        runner: AppRunner | None = None
        try:
            runner = AppRunner(self._home, self.app, self._application, self._notice, process=self.process)
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
