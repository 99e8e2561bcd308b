"""Fakes that ship: a simulated web, a tiny one for tests, DNS, a receiver of webhooks and a clock.

Tests, demo and benchmarks use the same.
"""

from gossamer.testing.clock import Clock, FakeClock, SystemClock
from gossamer.testing.dns import Manner, TinyDNS
from gossamer.testing.receiver import Receiver
from gossamer.testing.tinyweb import TinyWeb
from gossamer.testing.web import SimServer, World, reachable

__all__ = [
    "Clock",
    "FakeClock",
    "Manner",
    "Receiver",
    "SimServer",
    "SystemClock",
    "TinyDNS",
    "TinyWeb",
    "World",
    "reachable",
]
