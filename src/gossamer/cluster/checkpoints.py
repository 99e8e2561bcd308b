"""Partitions as they were at a place in the log: in the object store, and named by a key of the coordinator.

    object  ckpt/PARTITION/TOKEN/SEQUENCE-NONCE   written once, under the token of who wrote it
    key     ckpt.PARTITION                        names the last two; changed after the object is whole

An object that no key names is not a checkpoint: it is being written, or its writer died, or lost its partition.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import secrets
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Annotated, Final

import msgspec

from gossamer.cluster.coordinator import Coordinator, Entry, Watch
from gossamer.cluster.objects import Objects
from gossamer.errors import ClusterError, ObjectsError, TokenLostError, UnavailableError

PREFIX: Final = "ckpt"
_LONGEST: Final = 4000  # bytes of a key's value
_TRIES: Final = 20  # of a change that others were faster with each time
_partition = re.compile(rf"{PREFIX}\.(0|[1-9]\d{{0,4}}+)").fullmatch
_object = re.compile(rf"{PREFIX}/(\d{{1,5}}+)/(\d{{1,20}}+)/[^/]+").fullmatch
_nonce = re.compile(r"[0-9a-f]{16}").fullmatch

_Partition = Annotated[int, msgspec.Meta(ge=0, le=0xFFFF)]
_Position = Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]


class Checkpoint(msgspec.Struct, frozen=True):
    """`file` follows from the rest but for its nonce, so that no key can name anything else."""

    file: Annotated[str, msgspec.Meta(max_length=100)]
    partition: _Partition
    token: _Position  # of who wrote it
    sequence: _Position  # of the last `done` record that is in it
    taken: _Position  # all `in` records up to here are in it
    size: _Position
    digest: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]  # SHA-256
    made_at: Annotated[float, msgspec.Meta(ge=0, le=1e11)]

    def __post_init__(self) -> None:
        start = _folder(self.partition, self.token) + f"{self.sequence}-"
        if not self.file.startswith(start) or not _nonce(self.file[len(start) :]):
            raise ValueError(f"a checkpoint is not in {start}")

    @property
    def covers(self) -> int:
        """No record of the log up to this one is needed by who has this checkpoint."""
        return min(self.sequence, self.taken)


class Kept(msgspec.Struct, frozen=True):
    """What a key holds."""

    last: Checkpoint
    before: Checkpoint | None = None
    nonce: Annotated[str, msgspec.Meta(max_length=64)] = ""


class Checkpoints:
    """Invariants: a checkpoint that `load` gives was whole when the key named it. None is replaced by one of a lower
    token, nor by an earlier one of the same token. What a key names is not deleted; who has a token deletes what no key
    names of it and of lower ones, and only after the key has it: nobody with a lower one can name anything then.

    A token is used by one of these only.
    """

    def __init__(self, coordinator: Coordinator, objects: Objects, clock: Callable[[], float] = time.time) -> None:
        self._coordinator = coordinator
        self._objects = objects
        self._clock = clock
        self._busy: defaultdict[int, asyncio.Lock] = defaultdict(asyncio.Lock)  # one save of a partition at a time

    async def save(
        self, partition: int, token: int, sequence: int, taken: int, pieces: AsyncIterator[bytes]
    ) -> Checkpoint:
        """TokenLostError: somebody with a higher token has saved it. UnavailableError: it may have been done or not; a
        later one will do.
        """
        async with self._busy[partition]:
            _refuse(await self._kept(partition), partition, token, sequence)  # before all the bytes are sent
            file = _folder(partition, token) + f"{sequence}-{secrets.token_hex(8)}"
            tally = _Tally(pieces)
            try:
                await self._objects.put(file, tally.pieces())
            except ObjectsError:
                # Who has taken the partition sweeps away what is half written.
                _refuse(await self._kept(partition), partition, token, sequence)
                raise
            made = Checkpoint(file, partition, token, sequence, taken, tally.size, tally.digest(), self._clock())
            try:
                kept = await self._name(made)
            except UnavailableError:
                raise  # the key may name it yet: if not, it is swept away after the next one
            except ClusterError:
                with suppress(ObjectsError):
                    await self._objects.delete(file)
                raise
            with suppress(ObjectsError):  # then after the next one
                await self._sweep(kept)
            return made

    async def load(self, partition: int) -> Checkpoint | None:
        """The last one. ClusterError if the key holds something else: an empty partition is not what it stands for."""
        kept = await self._kept(partition)
        return kept.last if kept else None

    async def load_before(self, partition: int) -> Checkpoint | None:
        """The one before, for when the last cannot be read. The log still has what came after it."""
        kept = await self._kept(partition)
        return kept.before if kept else None

    async def open(self, checkpoint: Checkpoint) -> AsyncIterator[bytes]:
        """Nothing of it may be relied on before its end: it is there that it is known to be the one that was saved."""
        tally = _Tally(self._objects.get(checkpoint.file))
        async for piece in tally.pieces():
            if tally.size > checkpoint.size:
                break
            yield piece
        if (tally.size, tally.digest()) != (checkpoint.size, checkpoint.digest):
            raise ObjectsError(
                f"the checkpoint {checkpoint.file} is damaged ({tally.size} of {checkpoint.size} bytes were read): "
                "take the one before, and look after the disk that holds it"
            )

    async def _kept(self, partition: int) -> Kept | None:
        return _decoded(await self._coordinator.get(_key(partition)))

    async def _name(self, made: Checkpoint) -> Kept:
        key = _key(made.partition)
        for _ in range(_TRIES):
            entry = await self._coordinator.get(key)
            there = _decoded(entry)
            _refuse(there, made.partition, made.token, made.sequence)
            kept = Kept(made, there.last if there else None, secrets.token_hex(8))
            value = msgspec.json.encode(kept)
            if await self._coordinator.compare_and_set(key, value, entry.revision if entry else 0) is not None:
                return kept
        raise UnavailableError(f"others change {key} all the time: try again")

    async def _sweep(self, kept: Kept) -> None:
        named = {kept.last.file, kept.before.file if kept.before else ""}
        for name in await self._objects.names(f"{PREFIX}/{kept.last.partition}"):
            found = _object(name)
            if found and name not in named and int(found[2]) <= kept.last.token:
                await self._objects.delete(name)


class Passed:
    """How far the checkpoints of all partitions have come, as one agent sees it. What it says may be old, never early:
    what was sent to a partition up to there need not be kept by who has sent it.
    """

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._taken: dict[int, int] = {}

    @classmethod
    async def open(cls, coordinator: Coordinator) -> Passed:
        return cls(await coordinator.watch(PREFIX))

    async def close(self) -> None:
        await self._watch.close()

    async def look(self, patience: float) -> bool:
        """Take up what is new, waiting for it so long. Whether there was something; UnavailableError as the watch."""
        found = await self._watch.next(patience)
        for entry in found:
            self._take(entry)
        return bool(found)

    def passed(self) -> dict[int, int]:
        """By partition, the position up to which `in` records are in its last checkpoint."""
        return dict(self._taken)

    def _take(self, entry: Entry) -> None:
        known = _partition(entry.key)
        if known is None or int(known[1]) > 0xFFFF:
            return
        partition = int(known[1])
        try:
            kept = _decoded(entry)
        except ClusterError:
            kept = None  # then all is kept
        if kept is None:
            self._taken.pop(partition, None)
        else:
            self._taken[partition] = kept.last.taken


class _Tally:
    """Counts what goes through."""

    def __init__(self, pieces: AsyncIterator[bytes]) -> None:
        self.size = 0
        self._pieces = pieces
        self._hash = hashlib.sha256()

    async def pieces(self) -> AsyncIterator[bytes]:
        async for piece in self._pieces:
            self.size += len(piece)
            self._hash.update(piece)
            yield piece

    def digest(self) -> str:
        return self._hash.hexdigest()


def _key(partition: int) -> str:
    return f"{PREFIX}.{partition}"


def _folder(partition: int, token: int) -> str:
    return f"{PREFIX}/{partition}/{token}/"


def _refuse(there: Kept | None, partition: int, token: int, sequence: int) -> None:
    if there is not None and (there.last.token, there.last.sequence) > (token, sequence):
        raise TokenLostError(f"a newer checkpoint of partition {partition} is there: this agent has lost the partition")


def _decoded(entry: Entry | None) -> Kept | None:
    if entry is None or entry.value is None:
        return None
    try:
        if len(entry.value) > _LONGEST:
            raise ValueError("it is too long")
        kept = msgspec.json.decode(entry.value, type=Kept)
        if {_key(one.partition) for one in (kept.last, kept.before) if one} != {entry.key}:
            raise ValueError("it is of another partition")
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise ClusterError(
            f"the broker's key {entry.key} cannot be read ({error}): are all agents of one version?"
        ) from error
    return kept
