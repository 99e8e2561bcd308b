"""The simulated web (P19): every page a pure function of seed, host, path and time, served over real sockets."""

from gossamer.testing.web.log import Arrival, ArrivalLog, FileLog, MemoryLog, NoLog
from gossamer.testing.web.message import End, Reply, Request
from gossamer.testing.web.server import Server, SimServer
from gossamer.testing.web.truth import Expected, Kind, reachable, walk
from gossamer.testing.web.world import World

__all__ = [
    "Arrival",
    "ArrivalLog",
    "End",
    "Expected",
    "FileLog",
    "Kind",
    "MemoryLog",
    "NoLog",
    "Reply",
    "Request",
    "Server",
    "SimServer",
    "World",
    "reachable",
    "walk",
]
