"""Where a page of results ended, as text that means nothing to anyone else."""

from __future__ import annotations

import base64
from typing import Final

import msgspec
from xxhash import xxh3_64_intdigest

from gossamer.errors import QueryError

_MAX_LENGTH: Final = 4000
_MAX_START: Final = 10_000_000


class Place(msgspec.Struct, frozen=True, array_like=True):
    """How far one index was read: `start` results were worth more, and `taken` more of the same worth were taken.

    Where results have no worth (`is_scored`), `below` is the rank of the last one, and the others are 0.
    """

    start: int = 0
    taken: int = 0
    below: int = -1


class _Cursor(msgspec.Struct, frozen=True, array_like=True):
    query: int
    places: list[Place]


def write_cursor(query: str, places: list[Place]) -> str:
    packed = msgspec.msgpack.encode(_Cursor(_key(query), places))
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def read_cursor(cursor: str, query: str, indexes: int) -> list[Place]:
    if not cursor:
        return [Place()] * indexes
    try:
        if len(cursor) > _MAX_LENGTH:
            raise ValueError
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        found = msgspec.msgpack.decode(base64.b64decode(padded, b"-_", validate=True), type=_Cursor)
        if len(found.places) != indexes or any(
            not 0 <= place.start <= _MAX_START or not 0 <= place.taken <= _MAX_START or place.below >= 1 << 64
            for place in found.places
        ):
            raise ValueError
    except (ValueError, msgspec.MsgspecError):
        raise QueryError(
            0, "The cursor is not one that a search gave. Leave it out to begin with the first page."
        ) from None
    if found.query != _key(query):
        raise QueryError(0, "The cursor belongs to another query. Leave it out to begin with the first page.")
    return found.places


def _key(query: str) -> int:
    return xxh3_64_intdigest(query.encode("utf-8", "replace")) >> 32
