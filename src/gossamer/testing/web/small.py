"""A small web in a thread of this process: what those that tests write down by hand have in common."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Self

from gossamer.testing.clock import Clock
from gossamer.testing.web.log import MemoryLog
from gossamer.testing.web.message import Reply, Request
from gossamer.testing.web.server import Server


class SmallWeb:
    """Invariant: it is served from the moment the `with` block is entered until that ends; `log` has every request."""

    def __init__(self, *, latency: float = 0.0, time_scale: float = 1.0, clock: Clock | None = None) -> None:
        self.log = MemoryLog(clock)
        self._server = Server(self, log=self.log, latency=latency, time_scale=time_scale)
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._stack.enter_context(self._server.in_thread())
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def port(self) -> int:
        return self._server.port

    @property
    def connect(self) -> str:
        """For `--connect`: every host is here."""
        return self._server.connect

    def answer(self, request: Request) -> bytes | Reply:
        raise NotImplementedError(f"{type(self).__name__} has no method `answer`: write one that gives a response")
