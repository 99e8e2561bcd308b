"""Which part of the web a frontier has: all of it, or, among several agents, some partitions, which come and go."""

from __future__ import annotations

from gossamer.rules.territory import Territory


class Share:
    """The whole: one agent."""

    divided = False

    def __init__(self, territory: Territory) -> None:
        self.territory = territory
        self.place = territory.place

    def is_away(self, prefix: bytes) -> bool:
        """Whether what these keys are about is for others."""
        return False

    def is_ours(self, prefix: bytes) -> bool:
        """Whether it is for nobody else."""
        return True

    def is_closed(self, prefix: bytes) -> bool:
        return False

    def rested(self, prefix: bytes, since: float) -> tuple[float, float]:
        """Nobody is visited before its delay has passed since then, nor before the gap has (0, 0: at once)."""
        return since, 0.0


class Part(Share):
    """Some partitions. Invariant: `owned` are those of which everything is in the database, and whose hosts may be
    visited; of the `closing` ones everything is there too, and nobody is visited any more.

    `crosses`: what is found of other partitions is visited here all the same, beside their owners.
    """

    divided = True

    def __init__(self, territory: Territory, gap: float, crosses: bool = False) -> None:
        super().__init__(territory)
        self._crosses = crosses
        self.owned: set[bytes] = set()
        self.closing: set[bytes] = set()
        self._gap = gap
        self._since: dict[bytes, float] = {}

    def is_away(self, prefix: bytes) -> bool:
        return prefix[:2] not in self.owned and (not self._crosses or prefix[:2] in self.closing)

    def is_ours(self, prefix: bytes) -> bool:
        return prefix[:2] in self.owned

    @property
    def crosses(self) -> bool:
        return self._crosses

    def is_closed(self, prefix: bytes) -> bool:
        return prefix[:2] in self.closing

    def rested(self, prefix: bytes, since: float) -> tuple[float, float]:
        return max(since, self._since.get(prefix[:2], 0.0)), self._gap

    def take(self, partition: bytes, now: float) -> None:
        """Another agent may have visited its hosts until now."""
        self.owned.add(partition)
        self.closing.discard(partition)
        self._since[partition] = now

    def close(self, partition: bytes) -> None:
        self.owned.discard(partition)
        self.closing.add(partition)

    def leave(self, partition: bytes) -> None:
        self.owned.discard(partition)
        self.closing.discard(partition)
