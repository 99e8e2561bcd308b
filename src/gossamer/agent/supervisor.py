"""One program that starts, watches and stops all others of a crawl (N14): the agent, and what runs beside it.

Each may die and is started again, after longer and longer rests; the others go on meanwhile (D7).
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Final

import msgspec

from gossamer.agent.companion import FIRST_REST, Companion
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.errors import SupervisorError

_LEASH: Final = "GOSSAMER_LEASH"  # in the agent's environment: the number of a pipe that ends with its supervisor
_ENDS: Final = frozenset({0, 2, 130})  # statuses with which a crawl has ended, and is not to be started again
_LONGEST_REST: Final = 60.0
_WELL: Final = 60.0  # seconds that an agent has run, after which earlier deaths are forgotten
_MOST_DEATHS: Final = 10  # in a row: whatever it is, another start does not help
_LOOK_EVERY: Final = 0.25  # seconds
_NOTE: Final = "beside.json"
_obeyed = threading.Event()


class Supervisor:
    """Invariants: one agent runs at most. The others are started when the agent has the directory, and outlive it.

    `command` gives the agent's arguments for a start so many seconds after the first one, which is after none.
    """

    def __init__(
        self,
        home: Path,
        command: Callable[[float], Sequence[str]],
        beside: Sequence[Companion],
        notice: Callable[[str], None],
        rest: float = FIRST_REST,
    ) -> None:
        self._directory = CrawlDir(home)
        self._command = command
        self._beside = beside
        self._notice = notice
        self._rest = rest
        self._began = 0.0
        self._process: asyncio.subprocess.Process | None = None
        self._told = 0  # the signal that ends it all
        self._stopping = asyncio.Event()
        self._deaths = 0

    async def run(self) -> tuple[int, bytes]:
        """Until the crawl has ended; gives its exit status and what it printed. The others still run."""
        tasks = [asyncio.create_task(self._start_others())]
        try:
            with self._signals():
                return await self._keep_running()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            with suppress(OSError):
                (self._directory.logs / _NOTE).unlink(missing_ok=True)

    async def _keep_running(self) -> tuple[int, bytes]:
        rest, deaths = self._rest, 0
        while True:
            started = monotonic()
            status, printed = await self._run_once()
            if status in _ENDS or self._told:
                return status, printed
            self._deaths += 1
            if monotonic() - started > _WELL:
                rest, deaths = self._rest, 0
            deaths += 1
            how = f"signal {-status}" if status < 0 else f"exit status {status}"
            if deaths >= _MOST_DEATHS:
                raise SupervisorError(
                    f"the crawl died {deaths} times in a row, the last time of {how}: see the messages above and"
                    f" {self._directory.logs}, then run the same command again"
                )
            self._notice(f"supervisor: the crawl died of {how} and is started again in {rest:g} s; nothing is lost")
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), rest)
                return 130, b""
            rest = min(2 * rest, _LONGEST_REST)

    async def _run_once(self) -> tuple[int, bytes]:
        leash, held = os.pipe()
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._command(monotonic() - self._began if self._began else 0.0),
                stdout=asyncio.subprocess.PIPE,
                pass_fds=(leash,),
                env={**os.environ, _LEASH: str(leash)},
            )
            self._began = self._began or monotonic()
            os.close(leash)
            leash = -1
            if self._told:
                self._process.send_signal(self._told)
            printed, _ = await self._process.communicate()
            assert self._process.returncode is not None
            return self._process.returncode, printed
        finally:
            for end in (leash, held):
                if end >= 0:
                    os.close(end)

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Ctrl-C reaches the agent, too: then this is the second time it hears of it, which does no harm."""
        loop = asyncio.get_running_loop()
        numbers = (signal.SIGINT, signal.SIGTERM)
        for number in numbers:
            loop.add_signal_handler(number, self._stop, number)
        try:
            yield
        finally:
            for number in numbers:
                loop.remove_signal_handler(number)

    def _stop(self, number: int) -> None:
        self._told = number
        self._stopping.set()
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.send_signal(number)

    async def _start_others(self) -> None:
        """And say how all are, wherever that has changed."""
        # Before that there is nothing to serve or to index.
        while not (self._directory.in_use() and self._directory.logs.is_dir()):  # noqa: ASYNC110 - nobody tells us
            await asyncio.sleep(_LOOK_EVERY)
        tasks = [asyncio.create_task(each.keep_running()) for each in self._beside]
        try:
            said: dict[str, str] = {}
            while True:
                states = {each.name: each.state for each in self._beside}
                often = f", died {self._deaths} times" if self._deaths > 1 else ", died once" if self._deaths else ""
                states["agent"] = ("running" if self._directory.in_use() else "down, is started again") + often
                if states != said:
                    said = states
                    self._write(states)
                await asyncio.sleep(_LOOK_EVERY)
        finally:
            for task in tasks:
                task.cancel()

    def _write(self, states: dict[str, str]) -> None:
        with suppress(OSError):
            fresh = self._directory.logs / f"{_NOTE}.new"
            fresh.write_bytes(msgspec.json.encode(states))
            fresh.replace(self._directory.logs / _NOTE)


def read_beside(directory: CrawlDir) -> dict[str, str]:
    """How the processes of a supervised crawl are; empty where there is no supervisor. One that was killed has left
    what it said last: this is for those who know that there is one.
    """
    try:
        return msgspec.json.decode((directory.logs / _NOTE).read_bytes(), type=dict[str, str])
    except (OSError, msgspec.MsgspecError):
        return {}


def on_leash() -> bool:
    """Whether this process is an agent that a supervisor has started."""
    return _LEASH in os.environ


def supervised() -> bool:
    """Whether this process is such an agent, and has obeyed."""
    return _obeyed.is_set()


def obey_leash() -> None:
    """End cleanly, as by SIGTERM, when the supervisor is no more. Its own children know nothing of the leash."""
    _obeyed.set()
    descriptor = int(os.environ.pop(_LEASH))
    os.set_inheritable(descriptor, False)

    def wait() -> None:
        with suppress(OSError):
            os.read(descriptor, 1)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()
