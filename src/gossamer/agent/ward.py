"""A process that is kept running: started again when it dies, after longer and longer rests, until it has ended."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Final

from gossamer.agent.companion import FIRST_REST, ending
from gossamer.errors import SupervisorError

_LEASH: Final = "GOSSAMER_LEASH"  # in its environment: the number of a pipe that ends with its supervisor
_ENDS: Final = frozenset({0, 2, 130})  # statuses with which it has ended, and is not to be started again
_LONGEST_REST: Final = 60.0
_WELL: Final = 60.0  # seconds that it has run, after which earlier deaths are forgotten
_MOST_DEATHS: Final = 10  # in a row: whatever it is, another start does not help
_STOPPED: Final = 130
_obeyed = threading.Event()


class Ward:
    """Invariants: one process runs at most. It is on a leash: when this process is no more, it ends, too.

    `command` gives its arguments for a start so many seconds after the first one, which is after none. With `hear` it
    is one of several: in a group of its own, so that Ctrl-C is not for it, without standard input, and each line that
    it writes to stderr is heard. `before` is called before each start.
    """

    def __init__(
        self,
        called: str,
        command: Callable[[float], Sequence[str]],
        logs: Path,
        notice: Callable[[str], None],
        rest: float = FIRST_REST,
        *,
        hear: Callable[[str], None] | None = None,
        before: Callable[[], None] | None = None,
    ) -> None:
        self.called = called
        self._command = command
        self._logs = logs
        self._notice = notice
        self._rest = rest
        self._hear = hear
        self._before = before
        self._began = 0.0
        self._process: Process | None = None
        self._handle = -1  # of the process, not of its number, which another one may have later
        self._told = 0  # the signal that ends it
        self._retired = asyncio.Event()
        self.deaths = 0

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.returncode is None

    @property
    def state(self) -> str:
        """For people: how it is, and what became of it so far."""
        return said_of(self.running, self.deaths)

    async def keep_running(self) -> tuple[int, bytes]:
        """Until it has ended; gives its exit status and what it printed."""
        rest, deaths = self._rest, 0
        while True:
            started = monotonic()
            status, printed = await self._run_once()
            if status in _ENDS or self._retired.is_set():
                return status, printed
            self.deaths += 1
            if monotonic() - started > _WELL:
                rest, deaths = self._rest, 0
            deaths += 1
            how = ending(status)
            if deaths >= _MOST_DEATHS:
                raise SupervisorError(
                    f"{self.called} died {deaths} times in a row, the last time of {how}: see the messages above and"
                    f" {self._logs}, then run the same command again"
                )
            self._notice(f"supervisor: {self.called} died of {how} and is started again in {rest:g} s; nothing is lost")
            with suppress(TimeoutError):
                await asyncio.wait_for(self._retired.wait(), rest)
                return _STOPPED, b""
            rest = min(2 * rest, _LONGEST_REST)

    def tell(self, number: int) -> None:
        """Hand a signal on that ends it; it is not started again."""
        self._told = number
        self.retire()
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.send_signal(number)

    def retire(self) -> None:
        """When it ends, however it does, it is not started again."""
        self._retired.set()

    def kill(self) -> None:
        """At once, from any thread, also where it is stopped. It is started again."""
        with suppress(OSError):
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    async def _run_once(self) -> tuple[int, bytes]:
        if self._before is not None:
            self._before()
        leash, held = os.pipe()
        try:
            process = self._process = await asyncio.create_subprocess_exec(
                *self._command(monotonic() - self._began if self._began else 0.0),
                stdin=DEVNULL if self._hear else None,
                stdout=PIPE,
                stderr=PIPE if self._hear else None,
                pass_fds=(leash,),
                env={**os.environ, _LEASH: str(leash)},
                process_group=0 if self._hear else None,
            )
            self._began = self._began or monotonic()
            os.close(leash)
            leash = -1
            with suppress(OSError):
                self._handle = os.pidfd_open(process.pid)
            if self._told:
                process.send_signal(self._told)
            assert process.stdout is not None
            printed, _ = await asyncio.gather(process.stdout.read(), self._listen(process))
            return await process.wait(), printed
        finally:
            handle, self._handle = self._handle, -1
            for end in (leash, held, handle):
                if end >= 0:
                    os.close(end)

    async def _listen(self, process: Process) -> None:
        if process.stderr is None or self._hear is None:
            return
        while True:
            try:
                line = await process.stderr.readline()
            except ValueError:  # a line without an end: so much of it is left out
                continue
            if not line:
                return
            if text := line.decode("utf-8", "replace").rstrip():
                self._hear(text)


def said_of(running: bool, deaths: int) -> str:
    often = f", died {deaths} times" if deaths > 1 else ", died once" if deaths else ""
    return ("running" if running else "down, is started again") + often


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
