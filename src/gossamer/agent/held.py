"""What the commits of an agent among others say of the partitions that are in its directory."""

from __future__ import annotations

from typing import Final

import msgspec

HELD: Final = "cluster"  # the name of that note in the frontier


class Held(msgspec.Struct):
    """Of each: up to which place of the log it has what others sent, and the token under which it was held last. Of two
    directories that have the same partition, the one with the higher token is right.
    """

    taken: dict[int, int] = {}
    tokens: dict[int, int] = {}


def read_held(stored: bytes | None) -> Held:
    return Held() if stored is None else msgspec.msgpack.decode(stored, type=Held)
