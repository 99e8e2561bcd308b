"""The port to what all agents agree on: a few keys with revisions."""

from __future__ import annotations

from typing import Protocol

import msgspec


class Entry(msgspec.Struct, frozen=True, gc=False):
    """`value` is None when the key was removed. Revisions of a key only rise, also over its removal."""

    key: str
    value: bytes | None
    revision: int


class Watch(Protocol):
    """Invariant: per key, entries come in the order of their revisions; the newest comes always, older ones may not."""

    async def next(self, patience: float) -> list[Entry]:
        """What is new: first the newest entry of every key, then changes. Empty if the broker says that there is none.

        Raises UnavailableError when the broker does not say anything; nothing is missed by calling it again.
        """

    async def close(self) -> None: ...


class Coordinator(Protocol):
    """Invariant: of those who change a key from the same revision, one succeeds.

    Every value must be unlike all others of its key, by a nonce: after a time-out a change is looked for by its value.
    An UnavailableError means that it may have been done, or may be done later.
    """

    @property
    def troubles(self) -> int:
        """Counts up whenever the broker was not heard of."""

    async def get(self, key: str) -> Entry | None:
        """As of now. None if there never was one; one without a value if it was removed."""

    async def create(self, key: str, value: bytes) -> int | None:
        """The revision; None if the key is there."""

    async def compare_and_set(self, key: str, value: bytes, revision: int) -> int | None:
        """The new revision; None if the key is no longer at `revision`. At 0 it has never been there."""

    async def remove(self, key: str, revision: int) -> int | None:
        """The same, but nothing is there then."""

    async def watch(self, prefix: str) -> Watch:
        """All keys that begin with the words of `prefix`: `sess` for `sess.a` and `sess.b`."""
