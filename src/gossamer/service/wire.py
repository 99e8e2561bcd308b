"""The connection of a service to the broker of its crawl, in a thread with a loop of its own."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from typing import Final

from gossamer.cluster.broker import Broker, open_keys
from gossamer.cluster.lease import Terms
from gossamer.cluster.members import Members
from gossamer.cluster.nats_link import Link
from gossamer.cluster.nats_questions import NatsQuestions
from gossamer.cluster.session import Beat
from gossamer.cluster.shared import end_crawl
from gossamer.errors import ClusterError, ConfigError, UnavailableError

log = logging.getLogger(__name__)

_FIRST: Final = 3.0  # seconds that the first question waits for the connection
_AGAIN: Final = 1.0  # seconds between two attempts to connect
_LOOK: Final = 1.0  # seconds that changes of sessions are waited for


class Wire:
    """For any number of threads. Invariant: whatever the broker does, a caller waits for a bounded time.

    While there is no connection, one is sought; meanwhile nobody is known, or those that were.
    """

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._members: Members | None = None
        self._link: Link | None = None
        self._questions: NatsQuestions | None = None
        self._agents: dict[str, Beat] = {}
        self._tried = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="broker", daemon=True)
        self._thread.start()

    @property
    def connected(self) -> bool:
        """Waits for the first attempt."""
        self._tried.wait(_FIRST)
        return self._link is not None and self._link.client.is_connected

    def agents(self, wait: bool = True) -> Mapping[str, Beat]:
        """All that ever were, by name, with what they said last. `wait`: until it is known whether there are any."""
        if wait:
            self._tried.wait(_FIRST)
        return self._agents

    def ask(self, asked: Mapping[str, bytes], patience: Callable[[str], float]) -> Future[dict[str, bytes]]:
        """As `Questions.ask`."""
        asking = self._ask(asked, patience)
        try:
            return asyncio.run_coroutine_threadsafe(asking, self._loop)
        except RuntimeError:  # it was closed at this moment
            asking.close()
            nothing: Future[dict[str, bytes]] = Future()
            nothing.set_result({})
            return nothing

    def end_crawl(self, who: str) -> None:
        """All agents stop. UnavailableError if that could not be said."""
        asyncio.run_coroutine_threadsafe(self._end(who), self._loop).result(2 * _FIRST)

    def close(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._task.cancel)
            self._thread.join(5)

    def _run(self) -> None:
        self._task = self._loop.create_task(self._keep())
        with suppress(asyncio.CancelledError):
            self._loop.run_until_complete(self._task)
        self._loop.close()

    async def _keep(self) -> None:
        try:
            while True:
                try:
                    if self._members is None:
                        await self._connect()
                    assert self._members is not None
                    await self._members.look(_LOOK)
                    self._agents = self._members.known()
                    self._tried.set()
                except (ClusterError, ConfigError) as error:
                    if not self._tried.is_set():
                        log.warning("%s", error)
                    self._tried.set()
                    await asyncio.sleep(_AGAIN)
        finally:
            if self._link is not None:
                await self._link.close()

    async def _connect(self) -> None:
        self._link = self._link or await self._broker.connect("service")
        self._members = await Members.open(await open_keys(self._link), Terms())
        self._questions = NatsQuestions(self._link)

    async def _ask(self, asked: Mapping[str, bytes], patience: Callable[[str], float]) -> dict[str, bytes]:
        if self._questions is None:
            raise UnavailableError("the broker is not connected, so that other agents cannot be asked: try again")
        return await self._questions.ask(asked, patience)

    async def _end(self, who: str) -> None:
        if self._link is None:
            raise UnavailableError("the broker is not connected, so that other agents cannot be told: try again")
        await end_crawl(await open_keys(self._link), "stopped", who)
