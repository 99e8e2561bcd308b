"""How a command that follows a crawl learns that it is to end: by a signal, or by its standard input."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Callable


class Stopped:
    """Whether Ctrl-C or SIGTERM came; what is done is committed before the end."""

    def __init__(self) -> None:
        self._came = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)

    def __call__(self) -> bool:
        return self._came

    def _on_signal(self, *_: object) -> None:
        self._came = True


def waiting(stopped: Stopped) -> Callable[[float], bool]:
    def wait(seconds: float) -> bool:
        if seconds and not stopped():
            time.sleep(seconds)
        return stopped()

    return wait


def wait_for_input(seconds: float) -> bool:
    """Whether standard input has ended; nothing is ever written to it."""
    try:
        readable, _, _ = select.select([sys.stdin], [], [], seconds)
    except (OSError, ValueError):
        return True
    return bool(readable) and not os.read(sys.stdin.fileno(), 4096)
