"""The port to the log: for each partition who owns it, which URLs others found for it, and what its owner has done."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final, Protocol

import msgspec

MOST_AT_ONCE: Final = 900
"""Messages of one `write`: the broker takes a thousand."""


class Kind(StrEnum):
    OWN = "own"  # a claim; its sequence is the token
    IN = "in"  # a batch of URLs from anyone
    DONE = "done"  # from the owner: outcomes, and URLs found in its own pages


class Record(msgspec.Struct, frozen=True, gc=False):
    sequence: int
    kind: Kind
    data: bytes
    partition: int = -1


class Extent(msgspec.Struct, frozen=True, gc=False):
    """Of the stream that a partition shares with others."""

    last: int  # sequence
    size: int  # bytes
    limit: int


class Reader(Protocol):
    """Invariant: all records of a partition that were not trimmed, in the order of their sequences, each once."""

    async def next(self, patience: float) -> list[Record]:
        """Empty if the broker says that there are none. UnavailableError if it says nothing; then call it again."""

    async def close(self) -> None: ...


class Log(Protocol):
    """Invariants: sequences rise; what was acknowledged is durable. Once a claim is acknowledged, no `append` with an
    earlier token ever succeeds, whoever sent it and whenever it arrives.

    All may happen twice where an UnavailableError was raised: what is read must be safe to be taken twice.
    """

    async def owner(self, partition: int) -> Record | None:
        """The last claim."""

    async def claim(self, partition: int, data: bytes, token: int) -> int:
        """Take a partition whose last claim is `token`, 0 if there is none. The new token, or TokenLostError.

        `data` must be unlike all other claims of the partition. A full log takes claims.
        """

    async def send(self, partition: int, batch: bytes) -> int:
        """Hand URLs to whoever owns them. LogFullError: keep them, stop finding more, try later."""

    async def append(self, partition: int, token: int, data: bytes) -> int:
        """TokenLostError: another one owns the partition, and nothing was written."""

    async def write(self, sent: Sequence[tuple[int, bytes]], done: Sequence[tuple[int, int, bytes]]) -> int:
        """All of it or nothing, in this order: batches for partitions of others, then what was done, as partition,
        token and data. Gives the sequence of the last; those before have the ones before. TokenLostError names the
        partitions that have another owner.
        """

    async def follow(self, partitions: Sequence[int], after: int) -> Reader:
        """Of all these, the batches of URLs after that sequence."""

    async def read(self, partition: int, after: int) -> Reader:
        """From the first record after that sequence. LogRewoundError if the log ends before it.

        A new owner has read all that the old one has written when it reads its own claim.
        """

    async def trim(self, partition: int, before: int) -> None:
        """Records of lower sequences are in a checkpoint and not needed. The last claim stays whatever its sequence."""

    async def extent(self, partition: int) -> Extent: ...
