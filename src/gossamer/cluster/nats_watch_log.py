"""The log of watches in NATS: one stream, `W00`, with a subject for each watch (`w.ID`) and one for all (`w.all`)."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Final

import msgspec
from nats.errors import Error as NatsError
from nats.js.api import DiscardPolicy, RetentionPolicy, StorageType, StreamConfig

from gossamer.cluster.broker import replicas_of
from gossamer.cluster.nats_follow import Follow
from gossamer.cluster.nats_link import Link
from gossamer.cluster.watch_log import Said
from gossamer.errors import UnavailableError

_STREAM: Final = "W00"
_ALL: Final = "all"
_LIMIT: Final = 1 << 30  # bytes
_id = re.compile(r"w[0-9a-f]{12}").fullmatch


class _State(msgspec.Struct):
    last_seq: int = 0


class _Info(msgspec.Struct):
    created: str = ""
    state: _State = msgspec.field(default_factory=_State)


class NatsWatchLog:
    """Invariant: a stream begins at the milliseconds of its making, so that one that replaces a lost one goes on behind
    it: sequences are also the numbers by which hits are known to others.
    """

    def __init__(self, link: Link, identity: str) -> None:
        self._link = link
        self.identity = identity
        self._follow: Follow | None = None
        self._next = -1  # the sequence from which it gives what it has not given yet

    @classmethod
    async def find(cls, link: Link) -> NatsWatchLog | None:
        """None where nothing was ever said."""
        info = await _info(link)
        return cls(link, info.created) if info.created else None

    @classmethod
    async def open(cls, link: Link, clock: Callable[[], float] = time.time) -> NatsWatchLog:
        wanted = StreamConfig(
            name=_STREAM,
            subjects=["w.*"],
            retention=RetentionPolicy.LIMITS,
            storage=StorageType.FILE,
            discard=DiscardPolicy.NEW,
            max_bytes=_LIMIT,
            num_replicas=replicas_of(link),
            first_seq=int(clock() * 1000),
        )
        await link.make_stream(_STREAM, wanted.as_dict())
        return cls(link, (await _info(link)).created)

    async def append(self, about: str, data: bytes) -> int:
        assert not about or _id(about), about
        return await self._link.publish(f"w.{about or _ALL}", data)

    async def read(self, after: int, patience: float) -> list[Said]:
        if self._follow is None or after + 1 != self._next:
            await self.close()
            self._follow = Follow(self._link, _STREAM, ["w.*"], after + 1)
        try:
            found = await self._follow.next(patience)
        except UnavailableError:
            await self.close()
            raise
        self._next = found[-1].sequence + 1 if found else after + 1
        return [Said(each.sequence, each.data) for each in found]

    async def end(self) -> int:
        return (await _info(self._link)).state.last_seq

    async def forget(self, about: str) -> None:
        assert _id(about), about
        try:
            await self._link.js.purge_stream(_STREAM, subject=f"w.{about}")
        except (NatsError, OSError, TimeoutError) as error:
            raise UnavailableError(f"the broker did not do it ({error}): try again") from error

    async def close(self) -> None:
        follow, self._follow = self._follow, None
        if follow is not None:
            await follow.close()


async def _info(link: Link) -> _Info:
    answer = await link.ask(f"$JS.API.STREAM.INFO.{_STREAM}")
    try:
        return msgspec.json.decode(answer, type=_Info)
    except msgspec.MsgspecError as error:
        raise UnavailableError(f"the broker does not say what {_STREAM} is ({error}): try again") from error
