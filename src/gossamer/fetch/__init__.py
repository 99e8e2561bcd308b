"""Visit -> Page | Fault, over real sockets."""

from gossamer.fetch.fetcher import Fetcher, Outcome
from gossamer.fetch.resolver import Resolver

__all__ = ["Fetcher", "Outcome", "Resolver"]
