"""The log between agents: what commits leave for it is sent, what others have sent is taken in (S6, K3, D11)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Final

from gossamer.agent.outbox import Outbox, Parcel
from gossamer.cluster.batch import Group, decode
from gossamer.cluster.log import MOST_AT_ONCE, Log, Reader
from gossamer.errors import BatchError, LogFullError, TokenLostError, UnavailableError

_AGAIN_AFTER: Final = 0.2  # seconds after the broker was not heard of
_WHILE_FULL: Final = 0.5
_PATIENCE: Final = 1.0  # seconds for which news are waited for
_QUICK: Final = 0.15  # the same while there is nothing else to do: it is to be known soon that there is none


class Exchange:
    """Invariants: a partition's diffs are appended with the token under which it is held, in the order of their
    commits. `taken[partition]` is a place in the log up to which everything is in the frontier.
    """

    def __init__(
        self,
        log: Log,
        outbox: Outbox,
        receive: Callable[[Group], None],
        lose: Callable[[Iterable[int]], None],
        notice: Callable[[str], None],
    ) -> None:
        """`lose` hears of partitions that others have taken."""
        self._log = log
        self._outbox = outbox
        self._receive = receive
        self._lose = lose
        self._notice = notice
        self._reader: Reader | None = None
        self._wanted = False  # another reader
        self._waiters: list[tuple[int, int, asyncio.Future[int]]] = []  # parcel, partition
        self.tokens: dict[int, int] = {}
        self.taken: dict[int, int] = {}
        self.appended: dict[int, int] = {}  # sequence of the last diff of each partition, since it is held
        self.bytes_since: dict[int, int] = {}  # of a partition's diffs since its last checkpoint
        self.work = 0  # messages that went or came
        self.polls = 0  # times that there was nothing to read
        self.bytes = 0  # sent
        self.urls = 0  # received
        self.full = False
        self.quick = False

    # -- sending -----------------------------------------------------------------------------------------------------

    async def send(self) -> None:
        """Until it is cancelled."""
        while True:
            await self._outbox.waiting.wait()
            await self.send_once()

    async def send_once(self) -> bool:
        """Whether the log has the oldest of what waits."""
        parcels = self._outbox.next(MOST_AT_ONCE)
        try:
            await self._write(parcels)
        except TokenLostError as error:
            self.drop(error.partitions)
            self._lose(error.partitions)
        except LogFullError as error:
            if not self.full:
                self._notice(f"cluster: {error}; no pages are visited until then")
            self.full = True
            await asyncio.sleep(_WHILE_FULL)
        except UnavailableError:
            await asyncio.sleep(_AGAIN_AFTER)
        else:
            self.full = False
            return True
        return False

    async def _write(self, parcels: list[Parcel]) -> None:
        sent = [each for parcel in parcels for each in parcel.sent]
        done = [(partition, self.tokens[partition], data) for parcel in parcels for partition, data in parcel.done]
        sequences: list[int] = []
        # As one, but for a commit of more messages than the broker takes so: links go first then.
        while len(sent) - len(sequences) + len(done) > MOST_AT_ONCE and len(sequences) < len(sent):
            part = sent[len(sequences) : len(sequences) + MOST_AT_ONCE]
            last = await self._log.write(part, [])
            sequences += range(last - len(part) + 1, last + 1)
        rest = sent[len(sequences) :]
        places: list[int] = []
        while rest or len(places) < len(done):
            part_done = done[len(places) : len(places) + MOST_AT_ONCE - len(rest)]
            last = await self._log.write(rest, part_done)
            first = last - len(rest) - len(part_done) + 1
            sequences += range(first, first + len(rest))
            places += range(first + len(rest), last + 1)
            rest = []
        self._acknowledged(parcels, sent, sequences, places)

    def _acknowledged(
        self, parcels: list[Parcel], sent: list[tuple[int, bytes]], sequences: list[int], places: list[int]
    ) -> None:
        place = iter(places)
        for parcel in parcels:
            for partition, data in parcel.done:
                self.appended[partition] = next(place)
                self.bytes_since[partition] = self.bytes_since.get(partition, 0) + len(data)
            self._tell(parcel.number)
        self.work += len(sequences) + len(places)
        self.bytes += sum(parcel.size for parcel in parcels)
        kept = [(partition, sequence, data) for (partition, data), sequence in zip(sent, sequences, strict=True)]
        self._outbox.acknowledged(parcels, kept)

    def _tell(self, number: int) -> None:
        for waiter in [each for each in self._waiters if each[0] <= number]:
            self._waiters.remove(waiter)
            if not waiter[2].done():
                waiter[2].set_result(self.appended.get(waiter[1], 0))

    async def flushed(self, partition: int) -> int:
        """When all that is committed now is in the log: the sequence of the partition's last diff, 0 if it has none."""
        if not self._outbox.pending:
            return self.appended.get(partition, 0)
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiters.append((self._outbox.last, partition, future))
        return await future

    # -- holding -----------------------------------------------------------------------------------------------------

    def hold(self, partition: int, token: int, taken: int) -> None:
        """From now on what others send to it is taken in, from there on."""
        self.tokens[partition] = token
        self.taken[partition] = taken
        self.appended[partition] = token
        self.bytes_since.setdefault(partition, 0)
        self._wanted = True
        self.work += 1

    def checkpointed(self, partition: int) -> None:
        if partition in self.bytes_since:
            self.bytes_since[partition] = 0

    def distrust(self, partition: int) -> None:
        """The log has not what was done before: a checkpoint must be made soon."""
        self.bytes_since[partition] = 1 << 62

    def reopen(self) -> None:
        """Other partitions are to be read for: of one that is given up, what comes now is for the next owner."""
        self._wanted = True

    def drop(self, partitions: Iterable[int]) -> None:
        for partition in partitions:
            self.tokens.pop(partition, None)
            self.taken.pop(partition, None)
            self.appended.pop(partition, None)
            self.bytes_since.pop(partition, None)
        self._outbox.lost(partitions)
        self._wanted = True
        self.work += 1

    # -- receiving ---------------------------------------------------------------------------------------------------

    async def follow(self, read: Callable[[int], bool]) -> None:
        """Until it is cancelled. `read`: whether a partition is to be read for."""
        while True:
            try:
                await self._look(read)
            except UnavailableError:
                await asyncio.sleep(_AGAIN_AFTER)

    async def _look(self, read: Callable[[int], bool]) -> None:
        if self._wanted or self._reader is None:
            await self._begin(read)
        if self._reader is None:
            self.polls += 1
            await asyncio.sleep(_AGAIN_AFTER)
            return
        records = await self._reader.next(0.0 if self._wanted else _QUICK if self.quick else _PATIENCE)
        if not records:
            self.polls += 1
            return
        for record in records:
            if not read(record.partition) or record.sequence <= self.taken.get(record.partition, 0):
                continue
            self._take(record.partition, record.sequence, record.data)
        self._read_to(records[-1].sequence, read)

    async def _begin(self, read: Callable[[int], bool]) -> None:
        self._wanted = False
        if self._reader is not None:
            await self._reader.close()
            self._reader = None
        partitions = [partition for partition in self.taken if read(partition)]
        if partitions:
            self._reading = frozenset(partitions)
            self._reader = await self._log.follow(partitions, min(self.taken[partition] for partition in partitions))

    def _take(self, partition: int, sequence: int, data: bytes) -> None:
        self.work += 1
        try:
            groups = decode(data)
        except BatchError as error:
            self._notice(f"cluster: message {sequence} for partition {partition} is left out: {error}")
            return
        for group in groups:
            self.urls += len(group.urls)
            self._receive(group)

    def _read_to(self, sequence: int, read: Callable[[int], bool]) -> None:
        for partition in self._reading:
            if read(partition) and self.taken.get(partition, sequence) < sequence:
                self.taken[partition] = sequence
