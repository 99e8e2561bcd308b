"""An agent among others: it says each second that it lives, and the others see when it does not.

A session is the key `sess.NAME`. Its value says whose it is, by a nonce, and counts beats, so that no two are alike. It
is changed by compare-and-set only: by its agent, to go on; by anybody, from the revision that has expired, to end it.
So of a late beat and a revocation one succeeds, and both sides learn which.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from enum import StrEnum
from typing import Final

import msgspec

from gossamer.cluster.coordinator import Coordinator, Entry
from gossamer.cluster.lease import Observer, Tenure, Terms, boot_time
from gossamer.config.pins import AGENT_NAME, is_agent_name
from gossamer.errors import ConfigError, NameTakenError, SessionLostError, UnavailableError

PREFIX: Final = "sess"


class Over(StrEnum):
    NOT = ""
    ENDED = "ended"  # by its agent
    REVOKED = "revoked"  # by others


class Told(msgspec.Struct, frozen=True):
    """How an agent is."""

    idle: bool = False  # nothing to visit, nothing to send, all partitions of the plan at hand
    plan: int = 0  # revision of the plan that it follows
    work: int = 0  # counts whatever it does
    polls: int = 0  # counts how often there was nothing to read
    pages: int = 0


class Beat(msgspec.Struct, frozen=True):
    """What the others know of an agent."""

    session: str  # a nonce
    beat: int
    home: str = ""  # of its directory, whose lock it holds
    weight: float = 1.0
    told: Told = Told()
    over: Over = Over.NOT
    by: str = ""  # nonce of who has ended it: values of a key are unlike each other
    lost: dict[str, int] = {}  # pages that agents of this name had stored in other directories, by `home`


def session_key(name: str) -> str:
    if not is_agent_name(name):
        raise ConfigError(f"{name!r} is no name of an agent: {AGENT_NAME}")
    return f"{PREFIX}.{name}"


def read_beat(entry: Entry | None) -> Beat | None:
    """None if there is none, or something that no agent writes."""
    try:
        return None if entry is None or entry.value is None else msgspec.json.decode(entry.value, type=Beat)
    except msgspec.MsgspecError:
        return None


def revoked(beat: Beat | None) -> bytes:
    """What is written in place of a session that has expired."""
    known = beat or Beat("", 0)
    over = msgspec.structs.replace(known, over=Over.REVOKED, by=secrets.token_hex(8))
    return msgspec.json.encode(over)


def _follower(before: Beat | None, beat: Beat) -> Beat:
    """What is known of the pages of an agent is known of who follows it under its name: they are in its directory, or,
    where it has another one, lost with the one before.
    """
    if before is None or not before.home:
        return beat
    pages = {**before.lost, before.home: before.told.pages}
    told = Told(pages=pages.pop(beat.home, 0))
    return msgspec.structs.replace(beat, told=told, lost={home: number for home, number in pages.items() if number})


def _is_free(beat: Beat | None, home: str) -> bool:
    return beat is not None and (bool(beat.over) or bool(home and beat.home == home))


class Session:
    """Invariant: while `may_fetch` says so, nobody else has revoked this session, nor will within the gap.

    When it is lost, it is for good: the agent stops, resets its connections, and begins another one.
    """

    def __init__(
        self, coordinator: Coordinator, name: str, beat: Beat, revision: int, tenure: Tenure, clock: Callable[[], float]
    ) -> None:
        self.name = name
        self._coordinator = coordinator
        self._beat = beat
        self._revision = revision
        self._next: bytes = b""  # on its way
        self._tenure = tenure
        self._clock = clock
        self._lost = False
        self._until = tenure.deadline  # asked several times a visit
        self.telling: Callable[[], Told] = Told

    @classmethod
    async def open(
        cls,
        coordinator: Coordinator,
        name: str,
        terms: Terms,
        *,
        home: str = "",
        weight: float = 1.0,
        clock: Callable[[], float] = boot_time,
        rest: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> Session:
        """Refuses a name under which another one lives; for that it may have to wait for a lease.

        `home` is a nonce kept in the agent's directory. Who has the lock of that directory knows that the process that
        had it before is no more, and does not wait.
        """
        key, observer = session_key(name), Observer(terms)
        while True:
            entry = await coordinator.get(key)
            there = read_beat(entry)
            beat, tenure = _follower(there, Beat(secrets.token_hex(8), 0, home, weight)), Tenure(terms)
            tenure.sent(clock())
            value = msgspec.json.encode(beat)
            if entry is None or entry.value is None:
                revision = await coordinator.create(key, value)
            elif _is_free(there, home) or (key, entry.revision) in observer.expired(clock()):
                revision = await coordinator.compare_and_set(key, value, entry.revision)
            elif observer.known(key) not in (0, entry.revision):
                raise NameTakenError(f"an agent {name} is at work already: give this one another name")
            else:
                observer.saw(key, entry.revision, clock())
                await rest(terms.renewal)
                continue
            if revision is None:
                raise NameTakenError(f"another agent {name} was first: give this one another name")
            tenure.accepted()
            return cls(coordinator, name, beat, revision, tenure, clock)

    @property
    def nonce(self) -> str:
        return self._beat.session

    @property
    def home(self) -> str:
        return self._beat.home

    @property
    def deadline(self) -> float:
        """On the clock CLOCK_BOOTTIME: after it, whoever sees this process may kill it."""
        return self._tenure.deadline

    def may_fetch(self) -> bool:
        return self._clock() < self._until

    async def renew(self) -> None:
        """One beat. SessionLostError: the others have given this agent up. UnavailableError: not known, try again."""
        if self._lost:
            raise SessionLostError(f"the session of {self.name} is over")
        if not self._next:
            self._beat = msgspec.structs.replace(self._beat, beat=self._beat.beat + 1, told=self.telling())
            self._next = msgspec.json.encode(self._beat)
        self._tenure.sent(self._clock())
        revision = await self._coordinator.compare_and_set(session_key(self.name), self._next, self._revision)
        if revision is None:
            self._lose()
            raise SessionLostError(f"the others have given {self.name} up: it was not heard of for too long")
        self._revision, self._next = revision, b""
        self._tenure.accepted()
        self._until = self._tenure.deadline

    def beat_due(self) -> float:
        """Seconds until the next beat."""
        return self._tenure.beat_due(self._clock())

    async def keep(self, rest: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        """Beat until the session is lost, which is raised, or the task is cancelled."""
        while True:
            await rest(self.beat_due())
            try:
                await self.renew()
            except UnavailableError:
                await rest(0.1)

    async def end(self) -> None:
        """So that others need not wait. To be called when nothing is fetched any more."""
        self._lose()
        over = msgspec.structs.replace(self._beat, over=Over.ENDED, by=secrets.token_hex(8))
        with suppress(UnavailableError):  # then they wait
            await self._coordinator.compare_and_set(session_key(self.name), msgspec.json.encode(over), self._revision)

    def _lose(self) -> None:
        self._lost = True
        self._tenure.lost()
        self._until = self._tenure.deadline
