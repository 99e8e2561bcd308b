"""The log in NATS: some streams, each with the subjects of many partitions.

u.STREAM.own.PARTITION    claims; the sequence of the last one is the token
u.STREAM.in.PARTITION     URLs from anyone
u.STREAM.done.PARTITION   the owner's, refused by the broker unless the token is still the last claim
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from typing import Final, TypeVar

from nats.errors import Error as NatsError
from nats.js.api import DiscardPolicy, RetentionPolicy, StorageType, StreamConfig, StreamInfo

from gossamer.cluster.log import Extent, Kind, Record
from gossamer.cluster.nats_follow import Follow
from gossamer.cluster.nats_link import Link, Message, RefusedError
from gossamer.errors import LogFullError, LogRewoundError, TokenLostError, UnavailableError

_CLAIM_ROOM: Final = 1 << 16  # bytes that a full stream gets more, so that a partition can be taken at all
# Seconds before the next try of what the broker calls a race: it refuses all else while something fenced is on its way.
_RESTS: Final = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)

T = TypeVar("T")


class NatsLog:
    """Invariant: one fenced append of a partition is on its way at a time: the broker refuses the others as a race."""

    def __init__(self, link: Link, partitions: int, streams: int) -> None:
        self._link = link
        self._partitions = partitions
        self._streams = streams
        self._busy = [asyncio.Lock() for _ in range(partitions)]

    @classmethod
    async def open(
        cls, link: Link, partitions: int, *, streams: int = 1, replicas: int = 1, limit: int = 1 << 30
    ) -> NatsLog:
        """`limit` is in bytes, for each stream. Streams that are there stay as they are."""
        log = cls(link, partitions, streams)
        for number in range(streams):
            wanted = StreamConfig(
                name=_stream(number),
                subjects=[f"u.{number:02d}.>"],
                retention=RetentionPolicy.LIMITS,
                storage=StorageType.FILE,
                discard=DiscardPolicy.NEW,  # what was acknowledged is never dropped for what comes later
                max_bytes=limit,
                num_replicas=replicas,
            )
            # The client knows no name yet for what lets several messages be written as one.
            await link.make_stream(_stream(number), {**wanted.as_dict(), "allow_atomic": True})
        return log

    async def owner(self, partition: int) -> Record | None:
        subject = self._subject(Kind.OWN, partition)
        last = await self._link.last(self._stream(partition), subject)
        return None if last is None else Record(last.sequence, Kind.OWN, last.data, partition)

    async def claim(self, partition: int, data: bytes, token: int) -> int:
        subject = self._subject(Kind.OWN, partition)
        async with self._busy[partition]:
            for rest in _RESTS:
                await asyncio.sleep(rest)
                try:
                    return await self._link.publish(subject, data, expected=token)
                except (RefusedError, UnavailableError) as error:
                    # Whether refused or not heard of, it may have been this one, sent before.
                    owner = await self.owner(partition)
                    if owner is not None and owner.sequence != token:
                        if owner.data == data:
                            return owner.sequence
                        raise TokenLostError(f"partition {partition} was taken by another agent first") from error
                except LogFullError:
                    await self._make_room(partition)
            raise UnavailableError(f"partition {partition} cannot be claimed now: try again")

    async def send(self, partition: int, batch: bytes) -> int:
        return await self._link.publish(self._subject(Kind.IN, partition), batch)

    async def append(self, partition: int, token: int, data: bytes) -> int:
        subject, own = self._subject(Kind.DONE, partition), self._subject(Kind.OWN, partition)
        async with self._busy[partition]:
            for rest in _RESTS:
                await asyncio.sleep(rest)
                try:
                    return await self._link.publish(subject, data, expected=token, expected_on=own)
                except RefusedError as error:
                    owner = await self.owner(partition)
                    if owner is None or owner.sequence != token:
                        raise TokenLostError(f"partition {partition} has another owner now") from error
            raise UnavailableError(f"the log of partition {partition} is contended: try again")

    async def write(self, sent: Sequence[tuple[int, bytes]], done: Sequence[tuple[int, int, bytes]]) -> int:
        """One stream only: what is in several cannot be written as one."""
        assert self._streams == 1
        messages = [Message(self._subject(Kind.IN, partition), data) for partition, data in sent]
        for partition, token, data in done:
            own = self._subject(Kind.OWN, partition)
            messages.append(Message(self._subject(Kind.DONE, partition), data, token, own))
        for rest in _RESTS:
            await asyncio.sleep(rest)
            try:
                return await self._link.publish_all(messages)
            except RefusedError as error:
                lost = await self._lost(done)
                if lost:
                    raise TokenLostError(f"partitions {lost} have other owners now", tuple(lost)) from error
        raise UnavailableError("the log is contended: try again")

    async def _lost(self, done: Sequence[tuple[int, int, bytes]]) -> list[int]:
        tokens = {partition: token for partition, token, _ in done}
        owners = await asyncio.gather(*(self.owner(partition) for partition in tokens))
        for (partition, token), owner in zip(tokens.items(), owners, strict=True):
            if owner is None or owner.sequence < token:
                raise LogRewoundError(
                    f"the broker has lost the claim {token} of partition {partition}, and what was before"
                )
        return [
            partition
            for (partition, token), owner in zip(tokens.items(), owners, strict=True)
            if owner is not None and owner.sequence != token
        ]

    async def follow(self, partitions: Sequence[int], after: int) -> NatsReader:
        assert self._streams == 1
        await self._check_end(0, after)
        subjects = [self._subject(Kind.IN, partition) for partition in partitions]
        return NatsReader(Follow(self._link, self._stream(0), subjects, after + 1))

    async def read(self, partition: int, after: int) -> NatsReader:
        await self._check_end(partition, after)
        subjects = [self._subject(kind, partition) for kind in Kind]
        return NatsReader(Follow(self._link, self._stream(partition), subjects, after + 1))

    async def _check_end(self, partition: int, after: int) -> None:
        extent = await self.extent(partition)
        if extent.last < after:
            raise LogRewoundError(
                f"{self._stream(partition)} ends at {extent.last}, and {after} was read already:"
                " the broker has lost its end, which must be sent again"
            )

    async def trim(self, partition: int, before: int) -> None:
        """By subject: a purge of the stream would take the last claims with it, and with them all tokens."""
        if before <= 1:
            return  # a purge up to nothing would be one of everything
        stream = self._stream(partition)
        for kind in (Kind.IN, Kind.DONE):
            await self._done(self._link.js.purge_stream(stream, seq=before, subject=self._subject(kind, partition)))
        await self._done(self._link.js.purge_stream(stream, subject=self._subject(Kind.OWN, partition), keep=1))

    async def extent(self, partition: int) -> Extent:
        info = await self._info(partition)
        return Extent(info.state.last_seq, info.state.bytes, info.config.max_bytes or 0)

    async def _make_room(self, partition: int) -> None:
        config = (await self._info(partition)).config
        config.max_bytes = (config.max_bytes or 0) + _CLAIM_ROOM
        await self._done(self._link.js.update_stream(config))

    async def _info(self, partition: int) -> StreamInfo:
        return await self._done(self._link.js.stream_info(self._stream(partition)))

    async def _done(self, asked: Awaitable[T]) -> T:
        try:
            return await asked
        except (NatsError, OSError, TimeoutError) as error:
            self._link.troubles += 1
            raise UnavailableError(
                f"the broker did not do it ({str(error) or type(error).__name__}): try again"
            ) from error

    def _number(self, partition: int) -> int:
        return partition * self._streams // self._partitions

    def _stream(self, partition: int) -> str:
        return _stream(self._number(partition))

    def _subject(self, kind: Kind, partition: int) -> str:
        return f"u.{self._number(partition):02d}.{kind}.{partition}"


class NatsReader:
    def __init__(self, follow: Follow) -> None:
        self._follow = follow

    async def next(self, patience: float) -> list[Record]:
        found = []
        for stored in await self._follow.next(patience):
            _, _, kind, partition = stored.subject.split(".")
            found.append(Record(stored.sequence, Kind(kind), stored.data, int(partition)))
        return found

    async def close(self) -> None:
        await self._follow.close()


def _stream(number: int) -> str:
    return f"U{number:02d}"
