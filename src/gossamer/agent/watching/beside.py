"""What is done for watches in a thread: delivery beside the process that indexes, whose parts are loaded when there is
something to deliver; beside the one that answers other agents, all that they share.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Final

from gossamer.config import FetchConfig
from gossamer.errors import GossamerError

_LOOK_EVERY: Final = 1.0  # seconds: others may have added hits, or have let go of delivering
_WHILE_SENDING: Final = 0.25
_AT_THE_END: Final = 10.0  # seconds for what is due when the process that indexes ends
_FIRST_REST: Final = 1.0  # seconds after what should not happen
_LONGEST_REST: Final = 300.0


class DeliveryThread:
    """Invariant: whatever goes wrong here, the work beside it goes on."""

    def __init__(self, home: Path, config: FetchConfig, notice: Callable[[str], None]) -> None:
        self._home = home
        self._config = config
        self._notice = notice
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._idle = threading.Event()
        self._end = False
        self._thread: threading.Thread | None = None

    def poke(self) -> None:
        """There may be something to send."""
        with self._lock:
            self._idle.clear()
            self._wake.set()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="delivery", daemon=True)
            self._thread.start()

    def finish(self, seconds: float = _AT_THE_END) -> None:
        """Let what is due now go out, for so long at most, and end."""
        if self._thread is None:
            return
        self.poke()
        self._idle.wait(seconds)
        self._end = True
        self._wake.set()
        self._thread.join(_LOOK_EVERY)

    def _run(self) -> None:
        rest = _FIRST_REST
        while not self._end:
            try:
                self._deliver()
            except Exception as error:
                self._idle.set()
                self._notice(f"watches: webhooks are not called now, and again in {rest:g} s: {error}")
                self._rest(rest)
                rest = min(2 * rest, _LONGEST_REST)

    def _deliver(self) -> None:
        from gossamer.agent.watching.delivery import Delivery

        delivery = Delivery(self._home, self._config)
        try:
            while not self._end:
                self._wake.clear()
                if not delivery.step(_WHILE_SENDING):
                    self._nothing_is_due()
        finally:
            with suppress(GossamerError):
                delivery.close()

    def _nothing_is_due(self) -> None:
        with self._lock:
            if self._wake.is_set():
                return
            self._idle.set()
        self._wake.wait(_LOOK_EVERY)

    def _rest(self, seconds: float) -> None:
        until = monotonic() + seconds
        while not self._end and monotonic() < until:
            self._wake.wait(_LOOK_EVERY)
            self._wake.clear()


@contextmanager
def sharing_beside(home: Path, notice: Callable[[str], None]) -> Iterator[None]:
    """The watches of this directory are those of all agents, and calls are made, until the end of the block."""
    over = threading.Event()

    def run() -> None:
        from gossamer.agent.watching.sharing import keep

        while not over.is_set():
            try:
                keep(home, over.is_set, notice)
            except Exception as error:
                notice(f"watches: they are not shared now, and again in {_LONGEST_REST / 10:g} s: {error!r}")
                over.wait(_LONGEST_REST / 10)

    thread = threading.Thread(target=run, name="watches", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(_AT_THE_END)
