"""The coordinator in NATS: a key-value bucket, which is a stream with one message kept for each key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from nats.errors import Error as NatsError
from nats.js.api import KeyValueConfig
from nats.js.errors import APIError

from gossamer.cluster.coordinator import Entry
from gossamer.cluster.nats_follow import Follow
from gossamer.cluster.nats_link import Link, RefusedError, Stored
from gossamer.errors import UnavailableError

_REMOVED: Final = {"KV-Operation": "DEL"}
_key = re.compile(r"[A-Za-z0-9_=-]{1,80}+(?:\.[A-Za-z0-9_=-]{1,80}+){0,7}+").fullmatch
_EXISTS: Final = frozenset({10058})  # a stream of that name with other settings
_MOST_BYTES: Final = 64 << 20


class NatsCoordinator:
    """Reads are asked of the bucket's leader; no TTL is used, as that would be the broker's clock."""

    def __init__(self, link: Link, bucket: str) -> None:
        self._link = link
        self._bucket = bucket
        self._stream = f"KV_{bucket}"

    @classmethod
    async def open(cls, link: Link, bucket: str, replicas: int = 1) -> NatsCoordinator:
        """Of several who make it at once, all get the same."""
        wanted = KeyValueConfig(bucket=bucket, history=1, replicas=replicas, direct=False, max_bytes=_MOST_BYTES)
        try:
            await link.js.create_key_value(wanted)
        except APIError as error:
            if error.err_code not in _EXISTS:
                raise _not_made(bucket, error) from error
        except (NatsError, OSError, TimeoutError) as error:
            raise _not_made(bucket, error) from error
        return cls(link, bucket)

    @property
    def troubles(self) -> int:
        return self._link.troubles

    async def get(self, key: str) -> Entry | None:
        stored = await self._link.last(self._stream, self._subject(key))
        return None if stored is None else _entry(key, stored)

    async def create(self, key: str, value: bytes) -> int | None:
        made = await self._change(key, value, 0, {})
        if made is not None:
            return made
        there = await self.get(key)
        if there is None or there.value is not None:
            return None
        return await self._change(key, value, there.revision, {})

    async def compare_and_set(self, key: str, value: bytes, revision: int) -> int | None:
        return await self._change(key, value, revision, {})

    async def remove(self, key: str, revision: int) -> int | None:
        return await self._change(key, b"", revision, _REMOVED)

    async def watch(self, prefix: str) -> NatsWatch:
        self._subject(prefix)
        start = f"$KV.{self._bucket}."
        return NatsWatch(Follow(self._link, self._stream, [f"{start}{prefix}.>"]), len(start))

    def _subject(self, key: str) -> str:
        assert _key(key), key
        return f"$KV.{self._bucket}.{key}"

    async def _change(self, key: str, value: bytes, revision: int, headers: Mapping[str, str]) -> int | None:
        """After a time-out it is not known whether it was done. Then what is there is compared with what was sent, as
        values are unlike each other. What was done later than that is found when the caller tries again.
        """
        try:
            return await self._link.publish(self._subject(key), value, expected=revision, headers=headers)
        except RefusedError as error:
            there = await self.get(key)
            if there is not None and there.revision == revision:
                raise UnavailableError(f"others change {key} at this moment: try again") from error
            return None if there is None or not _is(there, value) else there.revision
        except UnavailableError:
            there = await self.get(key)
            if there is not None and there.revision > revision and _is(there, value):
                return there.revision
            raise


class NatsWatch:
    def __init__(self, follow: Follow, start: int) -> None:
        self._follow = follow
        self._start = start  # of the key, in a subject

    async def next(self, patience: float) -> list[Entry]:
        return [_entry(stored.subject[self._start :], stored) for stored in await self._follow.next(patience)]

    async def close(self) -> None:
        await self._follow.close()


def _is(there: Entry, value: bytes) -> bool:
    return (there.value or b"") == value


def _entry(key: str, stored: Stored) -> Entry:
    removed = stored.headers.get("KV-Operation") is not None
    return Entry(key, None if removed else stored.data, stored.sequence)


def _not_made(bucket: str, error: Exception) -> UnavailableError:
    return UnavailableError(f"the broker does not keep {bucket} ({str(error) or type(error).__name__}): try again")
