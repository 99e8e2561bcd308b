"""To which partition a host belongs, where some domains are pinned to agents.

Partitions are slices of a hash, so the domains below `.edu` are in all of them. A pin therefore has partitions of its
own, behind the others: `[partitions] ".edu" = "agent-a"` takes what is below edu out of the hashed ones. It has
several, so that when its agent fails the others share what it leaves behind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gossamer.config.pins import MOST_PINS, check_pin
from gossamer.errors import ConfigError
from gossamer.model.domain import partition_of, registered_domain

SLICES: Final = 8  # partitions of a pin
MOST_PARTITIONS: Final = 0xFFFE - MOST_PINS * SLICES  # keys of the frontier begin with two bytes, and two are taken


class Territory:
    """Invariant: all hosts of a registered domain are in one partition, the same on every agent with equal arguments.

    `pins` are in the order in which they were given: that of their partitions. A new one goes to the end.
    """

    def __init__(self, partitions: int, pins: Mapping[str, str] | None = None) -> None:
        if not 1 <= partitions <= MOST_PARTITIONS:
            raise ConfigError(f"a crawl has 1 to {MOST_PARTITIONS} partitions, not {partitions}")
        self.hashed = partitions
        self._agents = dict(pins or {})
        if len(self._agents) > MOST_PINS:
            raise ConfigError(f"there are more than {MOST_PINS} pins in [partitions]")
        for rule in self._agents:
            _check(rule)
        self._starts = {rule: partitions + SLICES * number for number, rule in enumerate(self._agents)}

    @property
    def partitions(self) -> int:
        """All of them, pinned ones included."""
        return self.hashed + SLICES * len(self._agents)

    @property
    def pins(self) -> tuple[str, ...]:
        """The rules, in the order of their partitions."""
        return tuple(self._agents)

    def partition(self, host: str) -> int:
        return self.place(registered_domain(host))

    def place(self, domain: str) -> int:
        """The partition of a registered domain."""
        rule = self.rule(domain)
        if rule is None:
            return partition_of(domain, self.hashed)
        return self._starts[rule] + partition_of(domain, SLICES)

    def rule(self, domain: str) -> str | None:
        """The longest rule that fits a registered domain: itself, or something that it is below."""
        if not self._agents:
            return None
        if domain in self._agents:
            return domain
        at = -1
        while (at := domain.find(".", at + 1)) >= 0:
            if domain[at:] in self._agents:
                return domain[at:]
        return None

    def pinned(self) -> dict[int, str]:
        """The agent of each partition that has one."""
        return {self._starts[rule] + number: agent for rule, agent in self._agents.items() for number in range(SLICES)}


def _check(rule: str) -> None:
    try:
        check_pin(rule)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    name = rule.removeprefix(".")
    whole = registered_domain(f"x{rule}" if rule[0] == "." else rule)
    if len(whole) < len(rule):
        raise ConfigError(f"[partitions] {rule!r} is a part of {registered_domain(name)!r}, which stays together")
