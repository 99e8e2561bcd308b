"""The durable queues: what to visit, when, and what became of it."""

from gossamer.frontier.frontier import Counts, Frontier

__all__ = ["Counts", "Frontier"]
