"""The durable queues: what to visit, when, and what became of it."""

from gossamer.frontier.counts import Counts
from gossamer.frontier.frontier import Frontier

__all__ = ["Counts", "Frontier"]
