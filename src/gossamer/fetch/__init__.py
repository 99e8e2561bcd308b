"""Visit -> Page | Fault, over real sockets."""

from gossamer.fetch.access import Accesses
from gossamer.fetch.fetcher import Fetcher, Outcome
from gossamer.fetch.guard import Guard
from gossamer.fetch.options import certificates
from gossamer.fetch.ports import Ports
from gossamer.fetch.resolver import Answer, Resolver, ShortageError, has_ipv6
from gossamer.fetch.route import port_of, split_host

__all__ = [
    "Accesses",
    "Answer",
    "Fetcher",
    "Guard",
    "Outcome",
    "Ports",
    "Resolver",
    "ShortageError",
    "certificates",
    "has_ipv6",
    "port_of",
    "split_host",
]
