"""Robots rules, packed and unpacked; many hosts have the same."""

from __future__ import annotations

from functools import lru_cache

from gossamer.frontier import keys
from gossamer.rules.robots import Robots

Rules = tuple[Robots, float]  # until when they hold


@lru_cache(maxsize=1024)
def _unpacked(packed: bytes) -> Robots:
    return Robots.from_bytes(packed)


def read_rules(value: bytes) -> Rules:
    expires, packed = keys.read_robots(value)
    return _unpacked(packed), expires


def pack_rules(rules: Rules) -> bytes:
    robots, expires = rules
    return keys.pack_robots(expires, robots.to_bytes())
