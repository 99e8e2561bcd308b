"""Visit -> Page | Fault, over real sockets."""

from gossamer.fetch.fetcher import Fetcher, Outcome
from gossamer.fetch.ports import Ports
from gossamer.fetch.resolver import Resolver
from gossamer.fetch.route import port_of, split_host

__all__ = ["Fetcher", "Outcome", "Ports", "Resolver", "port_of", "split_host"]
