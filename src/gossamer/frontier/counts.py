"""What the frontier counts, kept in every commit."""

from __future__ import annotations

import msgspec

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
    revisits: int = 0  # visits that wait to be made again, their time having come
    due_from: int = 0  # none is due before
    enrolled: bool = False  # every visit that was settled is known to those that are made again
    pattern_pages: dict[str, int] = {}  # pages stored for URLs that match a pattern with a cap
