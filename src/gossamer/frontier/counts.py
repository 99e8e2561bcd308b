"""What the frontier counts, kept in every commit."""

from __future__ import annotations

import msgspec

from gossamer.rules.territory import SLICES, Territory

FORMAT = 2


class Counts(msgspec.Struct):
    """How many visits are in which state, and what the next request number is."""

    number: int = 0
    urls: int = 0
    queued: int = 0
    fetched: int = 0
    dead: int = 0
    excluded: int = 0
    hosts: int = 0
    aside: int = 0  # of those queued: in places that bring nothing new
    clean: bool = True
    format: int = FORMAT
    partitions: int = 0
    pins: tuple[str, ...] = ()  # domains whose partitions are the last of these
    revisits: int = 0  # visits that wait to be made again, their time having come
    due_from: int = 0  # none is due before
    enrolled: bool = False  # every visit that was settled is known to those that are made again
    surplus: int = 0  # entries of queues whose URLs have another one, of another priority
    rested: float = 0.0  # when the last run began that came after an abrupt end
    ended: float = 0.0  # when the last visits before the commit were begun
    requested: int = 0  # of those that wait to be made again: somebody has asked for them
    pattern_pages: dict[str, int] = {}  # pages stored for URLs that match a pattern with a cap


def territory_of(counts: Counts) -> Territory:
    """Which partition a host is in: keys depend on it."""
    return Territory(counts.partitions - SLICES * len(counts.pins), dict.fromkeys(counts.pins, ""))
