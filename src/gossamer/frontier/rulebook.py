"""The robots rules of hosts, at hand for those visited lately."""

from __future__ import annotations

from gossamer.frontier import keys
from gossamer.frontier.database import Database
from gossamer.frontier.hosts import HostQueue
from gossamer.rules.robots import Robots

_AT_HAND = 20_000  # origins


class Rulebook:
    """Invariant: rules at hand are those in the database or its changes."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._at_hand: dict[str, tuple[Robots, float]] = {}

    def rules(self, host: HostQueue, origin: str, now: float) -> Robots | None:
        """What holds for an origin; None when that is not known, or no longer."""
        known = self._at_hand.get(origin)
        if known is None:
            stored = self._database.get(self._key(host, origin))
            if stored is None:
                return None
            expires, packed = keys.read_robots(stored)
            known = (Robots.from_bytes(packed), expires)
            self._keep(origin, known)
        return known[0] if known[1] > now else None

    def learn(self, host: HostQueue, origin: str, robots: Robots, expires: float) -> None:
        self._keep(origin, (robots, expires))
        self._database.changes[self._key(host, origin)] = keys.pack_robots(expires, robots.to_bytes())

    def _keep(self, origin: str, rules: tuple[Robots, float]) -> None:
        if len(self._at_hand) >= _AT_HAND:
            for old in list(self._at_hand)[: _AT_HAND // 4]:
                del self._at_hand[old]
        self._at_hand[origin] = rules

    @staticmethod
    def _key(host: HostQueue, origin: str) -> bytes:
        return keys.robots_key(host.partition, host.name, origin.partition(":")[0])
