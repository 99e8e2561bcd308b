"""The indexing process that a crawl starts, keeps running, and waits for at its end.

It is on a leash: its standard input is a pipe that nothing is written to. When the crawl ends, however it ends, the
pipe closes, and the process catches up and ends, too.
"""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Final

from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.index_status import IndexStatus, read_status

_LOOK_EVERY: Final = 1.0  # seconds
_FIRST_REST: Final = 2.0  # before it is started again; doubles each time
_LONGEST_REST: Final = 300.0
_LAST_COMMIT: Final = 2.5  # seconds that it has to end by itself when it is told to
_LONGEST_LOG: Final = 1 << 20

COMMAND: Final = (sys.executable, "-m", "gossamer", "index", "--follow", "--leash", "--dir")


class IndexProcess:
    """Invariant: at most one process runs; a crawl never fails because of it."""

    def __init__(
        self, home: Path, notice: Callable[[str], None], command: tuple[str, ...] = COMMAND, rest: float = _FIRST_REST
    ) -> None:
        self._directory = CrawlDir(home)
        self._notice = notice
        self._command = (*command, str(home))
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = rest
        self._told = False
        self._spent = _children()

    @property
    def cpu_seconds(self) -> float:
        """User and system, of the processes that have ended."""
        return _children() - self._spent

    def status(self) -> IndexStatus:
        """What it said last of itself."""
        return read_status(self._directory.index) or IndexStatus()

    async def keep_running(self) -> None:
        """Start it, and again whenever it has died, after longer and longer rests."""
        rest = self._rest
        while True:
            self._start()
            while self._process is not None and self._process.poll() is None:  # noqa: ASYNC110 - it tells nobody
                await asyncio.sleep(_LOOK_EVERY)
            self._tell_once(f"and is started again in {rest:g} s, and later if need be")
            await asyncio.sleep(rest)
            rest = min(2 * rest, _LONGEST_REST)

    def finish(self, watch: Callable[[IndexStatus], None], every: float) -> IndexStatus:
        """Wait until it has caught up. Ctrl-C, or SIGTERM, ends the waiting and the process."""
        if self._process is None:
            return self.status()
        before = {number: signal.signal(number, _interrupted) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            self._let_go()
            told = monotonic() - every
            while self._process.poll() is None:
                if monotonic() - told >= every:
                    told = monotonic()
                    watch(self.status())
                self._wait(0.1)
            if self._process.returncode:
                self._tell_once("so some pages cannot be found yet; gossamer index --dir DIR goes on with it")
        except KeyboardInterrupt:
            self.stop()
            self._notice("index: not caught up; the next run, or gossamer index, goes on with it")
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        return self.status()

    def stop(self) -> None:
        """It commits what it has, and ends within seconds; what is left the next run goes on with."""
        process = self._process
        if process is None:
            return
        process.terminate()
        self._let_go()
        until = monotonic() + _LAST_COMMIT
        while process.poll() is None and monotonic() < until:
            self._wait(0.05)
        process.kill()  # which is as good: its commits are whole
        process.wait()

    def _start(self) -> None:
        log = self._directory.logs / "indexer.log"
        try:
            if log.exists() and log.stat().st_size > _LONGEST_LOG:
                log.replace(log.with_suffix(".log.1"))
            with open(log, "ab") as errors:
                self._let_go()
                self._process = subprocess.Popen(
                    self._command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    process_group=0,  # Ctrl-C is for the crawl, which then sees to this one
                    env={**os.environ, "PYTHONUNBUFFERED": "1"},
                )
        except OSError as error:
            self._process = None
            self._tell_once(f"({error})")

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
            why = self._last_words()
            ended = f"the indexing process ended{f' ({why})' if why else ''}"
            self._notice(f"index: {ended} {what}; pages are stored all the same")

    def _last_words(self) -> str:
        try:
            lines = (self._directory.logs / "indexer.log").read_text("utf-8", "replace").strip().splitlines()
        except OSError:
            return ""
        return lines[-1][:300] if lines else ""


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def _children() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime
