"""Watches shared by agents on several machines: a book follows the log of all, and what is found here goes to it."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gossamer.agent.broker_file import read_broker
from gossamer.agent.watching.adding import fetch_settings
from gossamer.agent.watching.book import WatchBook, folder_of, has_watches, is_shared
from gossamer.agent.watching.delivery import hold
from gossamer.agent.watching.records import Record, Removed, Tried, about, encode
from gossamer.agent.watching.replica import Replica
from gossamer.agent.watching.teller import AFTER_OTHERS, Teller
from gossamer.cluster.watch_log import WatchLog
from gossamer.errors import ClusterError, ConfigError, ControlError, LogFullError

if TYPE_CHECKING:
    from gossamer.cluster.nats_link import Link

_AT_ONCE: Final = 200  # records of the outbox between two looks at the log
_LOOK_EVERY: Final = 0.5  # seconds that the log is waited for, while the outbox may fill
_WHILE_CALLING: Final = 0.05
_NOTHING_YET: Final = 1.0  # seconds between two looks for the first watch
_AGAIN: Final = 1.0  # seconds after the broker was not heard of
_AT_THE_END: Final = 2.0  # seconds for what is under way then


class Sharing:
    """Invariants: what is in the outbox leaves it when the log has it; the book is what the log says."""

    def __init__(
        self,
        book: WatchBook,
        name: str,
        log: WatchLog,
        notice: Callable[[str], None] = lambda _: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.replica = Replica(book, name, notice, clock)
        self._book = book
        self.log = log
        self._notice = notice
        self._full = False
        self._unsaid: list[Tried] = []

    async def catch_up(self) -> None:
        """All that the log has now, and that this directory has for it."""
        self.replica.join(self.log.identity, await self.log.end())
        await self._send()
        await self._read_to(await self.log.end())

    async def say(self, record: Record) -> None:
        """Until it is in the book."""
        await self._read_to(await self.log.append(about(record), encode(record)))
        if isinstance(record, Removed):
            with suppress(ClusterError):  # it only takes room
                await self.log.forget(record.watch)

    async def step(self, patience: float, teller: Teller | None = None) -> None:
        await self._send()
        patience = _WHILE_CALLING if teller is not None and teller.in_flight else patience
        self.replica.apply(await self.log.read(self.replica.position, patience))
        if teller is None:
            return
        teller.begin()
        self._unsaid += teller.ended(0.0)
        while self._unsaid:
            await self.log.append(self._unsaid[0].watch, encode(self._unsaid[0]))
            teller.settled(self._unsaid.pop(0))
        for trying in teller.wanted():
            await self.log.append(trying.watch, encode(trying))

    @property
    def is_quiet(self) -> bool:
        """Whether the log has all that was found here."""
        return not self._book.rows("SELECT 1 FROM outbox LIMIT 1") and not self._unsaid

    async def _send(self) -> None:
        ask = "SELECT number, about, data FROM outbox ORDER BY number LIMIT ?"
        for number, subject, data in self._book.rows(ask, (_AT_ONCE,)):
            try:
                await self.log.append(subject, data)
            except LogFullError as error:
                if not self._full:
                    self._notice(f"watches: what is found waits, since {error}; remove watches that nobody needs")
                self._full = True
                return
            self._full = False
            with self._book.changing() as base:
                base.execute("DELETE FROM outbox WHERE number = ?", (number,))

    async def _read_to(self, end: int) -> None:
        while self.replica.position < end:
            said = await self.log.read(self.replica.position, _LOOK_EVERY)
            self.replica.apply(said)
            if not said:
                return  # the last ones were forgotten meanwhile


@asynccontextmanager
async def _linked(home: Path) -> AsyncIterator[tuple[Link, str]]:
    """The broker of a directory, and the name of its agent."""
    from gossamer.cluster.engine import need_client

    need_client()
    broker = read_broker(home)
    link = await broker.connect(f"watches {broker.name}")
    try:
        yield link, broker.name
    finally:
        await link.close()


async def _log_on(link: Link, make: bool) -> WatchLog | None:
    from gossamer.cluster.nats_watch_log import NatsWatchLog

    return await (NatsWatchLog.open(link) if make else NatsWatchLog.find(link))


@asynccontextmanager
async def shared(home: Path, *, make: bool) -> AsyncIterator[Sharing | None]:
    """The book of a directory, as new as the log. `make`: also where there is no watch yet; None else."""
    async with _linked(home) as (link, name):
        log = await _log_on(link, make or has_watches(home))
        if log is None:
            yield None
            return
        with WatchBook(home) as book:
            sharing = Sharing(book, name, log)
            await sharing.catch_up()
            yield sharing
        await log.close()


def say(home: Path, record: Record) -> None:
    """To all agents. UnavailableError if the broker does not take it."""

    async def said() -> None:
        async with shared(home, make=True) as sharing:
            assert sharing is not None
            await sharing.say(record)

    asyncio.run(said())


def bring_up(home: Path) -> None:
    """The book of a directory, where no process keeps it up to date. ClusterError if the broker is not heard of."""
    if not is_shared(home) or is_kept(home):
        return

    async def brought() -> None:
        async with shared(home, make=False):
            pass

    asyncio.run(brought())


def is_kept(home: Path) -> bool:
    """Whether a process keeps the book up to date, and makes the calls."""
    if not folder_of(home).is_dir():
        return False
    lock = hold(folder_of(home))
    if lock is None:
        return True
    os.close(lock)
    return False


def let_out(home: Path, seconds: float) -> None:
    """Wait until what was found here is said and told, for so long at most, where a process is at it."""
    if not (is_shared(home) and has_watches(home) and is_kept(home)):
        return
    until = time.monotonic() + seconds
    with WatchBook(home) as book:
        while time.monotonic() < until and book.rows(
            "SELECT 1 FROM outbox UNION ALL SELECT 1 FROM claimed UNION ALL "
            "SELECT 1 FROM hits WHERE tell = 1 AND call IS NULL UNION ALL SELECT 1 FROM telling WHERE by != '' LIMIT 1"
        ):
            time.sleep(0.05)


def keep(
    home: Path, stopped: Callable[[], bool], notice: Callable[[str], None], *, forever: bool = True
) -> tuple[int, int]:
    """Follow the log and make calls until `stopped`, or until nothing is due; how many were taken, and tries failed.

    What goes wrong is said, and tried again.
    """
    while not stopped():
        try:
            if not is_kept(home):
                return asyncio.run(_keep(home, stopped, notice, forever))
            if not forever:
                raise ControlError("another process of this directory makes the calls: nothing is to be done here")
        except (ClusterError, ConfigError, ControlError, OSError) as error:
            if not forever:
                raise
            notice(f"watches: {error}")
        _rest(_AGAIN, stopped)
    return 0, 0


async def _keep(
    home: Path, stopped: Callable[[], bool], notice: Callable[[str], None], forever: bool
) -> tuple[int, int]:
    async with _linked(home) as (link, name):
        while (log := await _log_on(link, has_watches(home))) is None:
            if stopped() or not forever:
                return 0, 0
            await asyncio.to_thread(_rest, _NOTHING_YET, stopped)
        with WatchBook(home) as book:
            lock = hold(book.folder)
            if lock is None:
                raise ControlError("another process of this directory has begun to make the calls")
            sharing = Sharing(book, name, log, notice)
            after_others = AFTER_OTHERS if forever else 0.0  # nobody else may be there
            teller = Teller(sharing.replica, fetch_settings(home), after_others=after_others)
            try:
                await _follow(sharing, teller, link, stopped, notice, forever)
            finally:
                teller.close()
                os.close(lock)
        return teller.told, teller.failed


async def _follow(
    sharing: Sharing,
    teller: Teller,
    link: Link,
    stopped: Callable[[], bool],
    notice: Callable[[str], None],
    forever: bool,
) -> None:
    """What is under way when it is stopped has some more seconds."""
    behind, until = True, float("inf")
    while time.monotonic() < until:
        try:
            if behind:
                log = await _log_on(link, True)
                assert log is not None
                sharing.log = log
                await sharing.catch_up()
                behind = False
            if stopped():
                until = min(until, time.monotonic() + _AT_THE_END)
            busy = teller.in_flight if stopped() else forever or teller.has_work
            if not busy and sharing.is_quiet:
                return
            await sharing.step(_WHILE_CALLING if stopped() else _LOOK_EVERY, teller)
        except ClusterError as error:
            # It may have lost its data, and the log with it.
            if not behind:
                notice(f"watches: {error}")
            behind = True
            if not forever or stopped():
                raise
            await asyncio.to_thread(_rest, _AGAIN, stopped)


def _rest(seconds: float, stopped: Callable[[], bool]) -> None:
    until = time.monotonic() + seconds
    while not stopped() and time.monotonic() < until:
        time.sleep(0.05)
