"""What the commits of an agent among others say of the partitions that are in its directory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from gossamer.config import Config
from gossamer.rules.territory import Territory

HELD: Final = "cluster"  # the name of that note in the frontier


class Held(msgspec.Struct):
    """Of each: up to which place of the log it has what others sent, and the token under which it was held last. Of two
    directories that have the same partition, the one with the higher token is right.
    """

    taken: dict[int, int] = {}
    tokens: dict[int, int] = {}


class Moved:
    """Which hosts are in no partition of an agent's. Remembers where hosts belong, which is asked for each search."""

    def __init__(self, config: Callable[[], Config]) -> None:
        """Partitions and pins are fixed when a crawl is made, so that they are looked up once."""
        self._config = config
        self._territory: Territory | None = None
        self._partitions: dict[str, int] = {}

    def among(self, hosts: Iterable[str], stored: bytes) -> frozenset[str]:
        if self._territory is None:
            config = self._config()
            pins = {pin.pattern: pin.agent for pin in config.partitions}
            self._territory = Territory(config.frontier.partitions, pins)
        held = read_held(stored).taken
        found = []
        for host in hosts:
            partition = self._partitions.get(host)
            if partition is None:
                partition = self._partitions[host] = self._territory.partition(host)
            if partition not in held:
                found.append(host)
        return frozenset(found)


def read_held(stored: bytes | None) -> Held:
    return Held() if stored is None else msgspec.msgpack.decode(stored, type=Held)
