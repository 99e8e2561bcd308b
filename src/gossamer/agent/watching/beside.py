"""Delivery in a thread beside the process that indexes. Its parts are loaded when there is something to deliver."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
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
