"""One program that starts, watches and stops all others of a crawl (N14): the agent, and what runs beside it.

Each may die and is started again, after longer and longer rests; the others go on meanwhile (D7).
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec

from gossamer.agent.companion import FIRST_REST, Companion
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.ward import Ward, obey_leash, on_leash, said_of, supervised

__all__ = ["Supervisor", "obey_leash", "on_leash", "read_beside", "signals", "supervised", "write_beside"]

_LOOK_EVERY: Final = 0.25  # seconds
_NOTE: Final = "beside.json"


class Supervisor:
    """Invariants: one agent runs at most. The others are started when the agent has the directory, and outlive it.

    `command` is that of a `Ward`.
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
        self._beside = beside
        self._agent = Ward("the crawl", command, self._directory.logs, notice, rest)

    async def run(self) -> tuple[int, bytes]:
        """Until the crawl has ended; gives its exit status and what it printed. The others still run."""
        others = asyncio.create_task(self._start_others())
        try:
            # Ctrl-C reaches the agent, too: then this is the second time it hears of it, which does no harm.
            with signals(self._agent.tell):
                return await self._agent.keep_running()
        finally:
            others.cancel()
            await asyncio.gather(others, return_exceptions=True)
            forget_beside(self._directory)

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
                states["agent"] = said_of(self._directory.in_use(), self._agent.deaths)
                if states != said:
                    said = states
                    write_beside(self._directory, states)
                await asyncio.sleep(_LOOK_EVERY)
        finally:
            for task in tasks:
                task.cancel()


@contextmanager
def signals(stop: Callable[[int], None]) -> Iterator[None]:
    """SIGINT and SIGTERM are told to `stop`."""
    loop = asyncio.get_running_loop()
    numbers = (signal.SIGINT, signal.SIGTERM)
    for number in numbers:
        loop.add_signal_handler(number, stop, number)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


def write_beside(directory: CrawlDir, states: dict[str, str]) -> None:
    with suppress(OSError):
        fresh = directory.logs / f"{_NOTE}.new"
        fresh.write_bytes(msgspec.json.encode(states))
        fresh.replace(directory.logs / _NOTE)


def forget_beside(directory: CrawlDir) -> None:
    with suppress(OSError):
        (directory.logs / _NOTE).unlink(missing_ok=True)


def read_beside(directory: CrawlDir) -> dict[str, str]:
    """How the processes of a supervised crawl are; empty where there is no supervisor. One that was killed has left
    what it said last: this is for those who know that there is one.
    """
    try:
        return msgspec.json.decode((directory.logs / _NOTE).read_bytes(), type=dict[str, str])
    except (OSError, msgspec.MsgspecError):
        return {}
