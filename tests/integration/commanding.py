"""A crawl that runs beside the test that commands it."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvloop
from crawling import NAMES

from gossamer.agent import Control, Summary
from gossamer.agent.crawl import Crawl
from gossamer.config import load

WHO = "user tester"


class Running:
    """Invariant: while the thread is alive the crawl has the directory, or is about to."""

    def __init__(self, home: Path, seeds: Iterable[str], *connect: str, **options: Any) -> None:
        given = {"delay": "0", "scope": "any", "allow_private": True, "connect": connect, "retry_wait": "10ms"}
        kept = home / "gossamer.toml" if (home / "gossamer.toml").exists() else None
        asked = {"connect": connect, **options} if kept else {**given, **options}
        config = load(kept, {NAMES[key]: value for key, value in asked.items()}, resumed=True)
        self.home = home
        self.notices: list[str] = []
        self.summary: Summary | None = None
        self.failed: BaseException | None = None
        self._crawl = Crawl(config, home, seeds, self.notices.append)
        self._began = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._began.wait(30)
        assert self.failed is None, self.failed

    def _run(self) -> None:
        try:
            self.summary = uvloop.run(self._crawl.run(ready=lambda _: self._began.set(), signals=False))
        except BaseException as error:
            self.failed = error
        finally:
            self._began.set()

    @property
    def control(self) -> Control:
        return Control(self.home, WHO)

    def end(self, timeout: float = 30) -> Summary:
        """Wait for it to end by itself."""
        self._thread.join(timeout)
        assert not self._thread.is_alive(), "the crawl goes on"
        assert self.failed is None, self.failed
        assert self.summary is not None
        return self.summary


@contextmanager
def running(home: Path, seeds: Iterable[str], *connect: str, **options: Any) -> Iterator[Running]:
    """Stopped at the end, if it has not ended."""
    crawl = Running(home, seeds, *connect, **options)
    try:
        yield crawl
    finally:
        if crawl._crawl.agent is not None and crawl.summary is None:
            crawl._crawl.agent.stop()
        crawl._thread.join(30)
