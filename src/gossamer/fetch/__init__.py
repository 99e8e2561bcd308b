"""Visit -> Page | Fault, over real sockets."""

from gossamer.fetch.access import Accesses
from gossamer.fetch.fetcher import Fetcher, Outcome
from gossamer.fetch.resolver import Resolver, ShortageError

__all__ = ["Accesses", "Fetcher", "Outcome", "Resolver", "ShortageError"]
