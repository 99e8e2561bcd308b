"""Pure decisions: what may be fetched and what belongs to the crawl. No I/O, no clock."""

from gossamer.rules.robots import ALLOW_ALL, DISALLOW_ALL, Robots, robots_allows, robots_from_status
from gossamer.rules.scope import Scope
from gossamer.rules.traps import looks_like_trap

__all__ = [
    "ALLOW_ALL",
    "DISALLOW_ALL",
    "Robots",
    "Scope",
    "looks_like_trap",
    "robots_allows",
    "robots_from_status",
]
