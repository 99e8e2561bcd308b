"""The service as a process beside a crawl. Loads nothing of it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from gossamer.agent.companion import Companion
from gossamer.service.listening import address_of, listen


class ServiceProcess(Companion):
    """Invariant: the socket is bound by this process, before the crawl begins: a port that is taken is told at once,
    and who asks while the service starts, or starts again, waits instead of being refused.
    """

    name = "service"
    called = "its process"

    def __init__(self, home: Path, port: int, notice: Callable[[str], None]) -> None:
        self._socket = listen("127.0.0.1", port, "--serve")
        self.address = address_of(self._socket)
        number = self._socket.fileno()
        command = (sys.executable, "-m", "gossamer", "serve", "--dir", str(home), "--socket", str(number))
        super().__init__(command, home / "logs" / "service.log", notice, sockets=(number,))

    def stop(self) -> None:
        super().stop()
        self._socket.close()
