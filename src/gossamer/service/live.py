"""What happens in the crawl, told to all who listen as server-sent events."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any, Final

import anyio.to_thread
import msgspec
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from gossamer.service.callers import Caller, Gate
from gossamer.service.picture import Picture, Watcher

log = logging.getLogger(__name__)

MEDIA_TYPE: Final = "text/event-stream"
HEARTBEAT: Final = 15.0  # seconds without news after which a sign of life is sent
RETRY: Final = 2000  # milliseconds after which a browser connects again
_PACE: Final = 1.0  # seconds between two pictures
_HOSTS_PACE: Final = 5.0  # seconds between two looks at all hosts


class Live:
    """Invariants: the crawl is looked at once a second for all streams together, and not at all while there are none.
    A stream that is slow misses pictures, and keeps no other one waiting. After `end` there are none.
    """

    def __init__(self, watcher: Watcher, pace: float = _PACE) -> None:
        self._watcher = watcher
        self._pace = pace
        self._streams = 0
        self._tasks: list[asyncio.Task[None]] = []
        self._picture: Picture | None = None
        self._number = 0
        self._news = asyncio.Event()
        self._ended = False

    async def pictures(self) -> AsyncGenerator[Picture]:
        """The newest at once, then each new one; until the service stops."""
        self._streams += 1
        if self._streams == 1:
            self._tasks = [asyncio.create_task(self._look()), asyncio.create_task(self._look_at_hosts())]
        seen = 0 if self._picture is None else self._number - 1
        try:
            while not self._ended:
                news = self._news
                if self._number > seen and self._picture is not None:
                    seen = self._number
                    yield self._picture
                else:
                    await news.wait()
        finally:
            self._streams -= 1
            if not self._streams:
                for task in self._tasks:
                    task.cancel()
                self._picture = None  # who comes next is not told what was

    def end(self) -> None:
        """The service stops: it does not wait for those who listen."""
        self._ended = True
        self._news.set()

    async def _look(self) -> None:
        while True:
            try:
                picture = await anyio.to_thread.run_sync(self._watcher.picture)
            except Exception:  # what is shown gets old, and says so
                log.exception("the crawl cannot be looked at")
            else:
                self._tell(picture)
            await asyncio.sleep(self._pace)

    def _tell(self, picture: Picture) -> None:
        if picture is not self._picture:
            self._picture = picture
            self._number += 1
            self._news.set()
            self._news = asyncio.Event()

    async def _look_at_hosts(self) -> None:
        while True:
            await anyio.to_thread.run_sync(self._watcher.look_at_hosts)
            await asyncio.sleep(_HOSTS_PACE)


class EventStream(StreamingResponse):
    """Invariant: when the one who listens has gone, so has what made the events."""

    media_type = MEDIA_TYPE

    def __init__(self, content: AsyncGenerator[bytes], status_code: int = 200) -> None:
        super().__init__(content, status_code)
        self._events = content

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with aclosing(self._events):
            await super().__call__(scope, receive, send)


def event(name: str, data: Any, number: str = "") -> bytes:
    """One event. JSON has no line feeds, so that it is one line."""
    head = f"id: {number}\n" if number else ""
    return f"event: {name}\n{head}data: ".encode() + msgspec.json.encode(data) + b"\n\n"


async def stream(
    live: Live, gate: Gate, caller: Caller, tell: Callable[[Picture], bytes], clock: Callable[[], float]
) -> AsyncGenerator[bytes]:
    """What `tell` says of each picture, until the caller may no longer ask or the service stops. The last event, `end`,
    gives the reason, so that a browser need not guess.
    """
    yield f"retry: {RETRY}\n\n".encode()
    told = clock()
    async with aclosing(live.pictures()) as pictures:
        async for picture in pictures:
            if not gate.holds(caller):
                yield event("end", {"reason": "key"})
                return
            now = clock()
            said = tell(picture)
            if not said and now - told >= HEARTBEAT:
                said = b": nothing new\n\n"
            if said:
                told = now
                yield said
    yield event("end", {"reason": "service"})
