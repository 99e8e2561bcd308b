"""How many connections a wanted speed takes. Pure; time is passed in."""

from __future__ import annotations

from math import ceil, sqrt

_FIRST = 8  # connections to begin with
_LONGEST = 30.0  # seconds of a measurement
_CLOSE, _FAR = (5.0, 400), (2.0, 40)  # its least seconds and, if _LONGEST allows them, pages, by the way to the target
_NEAR, _NO_MORE = 0.05, 0.1  # of the target: this near is on it, and this far is no longer
_CHANCE, _NO_CHANCE = 1.5, 3.0  # the same in standard deviations of what chance does to so many pages
_BUSY = 0.95  # share of the time that the machine is at work: more connections would wait for it
_FASTEST = 2.0  # times as many connections, from one measurement to the next
_FEWER = 0.9
_TELLING = 1.25  # times as many connections, after which is looked at what they have brought
_WORTH = 0.25  # of what they should have brought is the least that they must have
_HOLD, _LONGEST_HOLD = 60.0, 960.0  # seconds before more connections are tried again that were no use


class Adjustment:
    """The number of connections with which a crawl reaches a target, found by measuring.

    Invariants: `connections` is within the bounds. It grows only while all connections are in use, and what did not
    make the crawl faster is taken back and not tried again for a while, longer each time. `why` says in a sentence what
    limits the crawl; it is empty where that is not for connections to change.
    """

    def __init__(self, target: float, least: int, most: int, now: float) -> None:
        self.why = ""
        self._hold = _HOLD
        self._is_close = self._is_there = False
        self._pages, self._rested = 0, 0.0
        self._latency = 0.0
        self.connections = _FIRST
        self.change(target, least, most, now)

    def change(self, target: float, least: int, most: int, now: float) -> None:
        """Take up another target, in pages a second, and other bounds."""
        self._target, self._least, self._most = target, least, most
        self.connections = min(max(self.connections, least), most)
        self._grown_from: tuple[int, float] | None = None  # connections and speed before they were made more
        self._ceiling, self._ceiling_until = most, 0.0
        self._settle(now)

    def saw(self, in_flight: int, full: bool) -> None:
        """Count one turn of the loop; `full`: there was more to visit than connections."""
        self._turns += 1
        self._flying += in_flight
        self._full += full

    def look(self, now: float, pages: int, rested: float) -> bool:
        """Return whether the number of connections is another one now. `pages` have come so far, and so many seconds of
        the time so far were spent waiting for the network.
        """
        if now < self._until:
            return False
        if not self._measures:
            self._begin(now, pages, rested)
            return False
        seconds = now - self._since
        rate, flying = (pages - self._pages) / seconds, self._flying / max(self._turns, 1)
        self._latency = flying / rate if rate else _LONGEST
        busy = 1 - (rested - self._rested) / seconds
        before = self.connections
        self._decide(now, rate, flying, busy >= _BUSY, 2 * self._full > self._turns)
        if self.connections == before:
            self._begin(now, pages, rested)
            return False
        self._settle(now)
        return True

    def _settle(self, now: float) -> None:
        """Measure nothing until what was in flight has come in."""
        self._measures = False
        self._until = now + min(self._latency, _LONGEST)
        self._turns = self._flying = self._full = 0

    def _begin(self, now: float, pages: int, rested: float) -> None:
        self._measures, self._since, self._pages, self._rested = True, now, pages, rested
        least, enough = _CLOSE if self._is_close else _FAR
        self._until = now + min(max(least, enough / self._target, 2 * self._latency), _LONGEST)
        self._turns = self._flying = self._full = 0

    def _decide(self, now: float, rate: float, flying: float, busy: bool, full: bool) -> None:
        grown_from, self._grown_from = self._grown_from, None
        target, connections = self._target, self.connections
        grown = connections / grown_from[0] if grown_from is not None else 1.0
        chance = 1 / sqrt(max(target * (now - self._since), 1.0))
        near = target * (max(_NO_MORE, _NO_CHANCE * chance) if self._is_there else max(_NEAR, _CHANCE * chance))
        self._is_close, self._is_there = rate > target / _FASTEST, abs(rate - target) <= near
        if rate > target + near:
            self.connections = max(self._least, min(connections - 1, ceil(flying * target / rate)))
            self.why = self._said(f"{self.connections:,} connections are more than it takes")
        elif rate >= target - near:
            self.why = self._said(f"{connections:,} connections reach it")
            self._hold = _HOLD
        elif not full:
            self.why = ""
        elif busy and connections > self._least:
            self._go_back(now, max(self._least, int(connections * _FEWER)))
            self.why = f"this machine: more than {self.connections:,} connections only wait for it"
        elif connections >= self._most:
            self.why = (
                f"connections: all {connections:,} that there may be do not reach the target of {target:g} pages/s"
            )
        elif grown_from is not None and grown >= _TELLING and rate < grown_from[1] * (1 + _WORTH * (grown - 1)):
            self._go_back(now, grown_from[0])
            self.why = f"the servers or the line: more than {self.connections:,} connections brought no more pages"
        elif connections < self._ceiling or now >= self._ceiling_until:
            most = self._most if now >= self._ceiling_until else self._ceiling
            factor = min(target / rate, _FASTEST) if rate else _FASTEST
            self._grown_from = grown_from if 1 < grown < _TELLING else (connections, rate)
            self.connections = min(max(connections + 1, ceil(connections * factor)), most)
            self.why = self._said(f"{self.connections:,} connections are tried")

    def _go_back(self, now: float, connections: int) -> None:
        self.connections = self._ceiling = connections
        self._ceiling_until = now + self._hold
        self._hold = min(2 * self._hold, _LONGEST_HOLD)

    def _said(self, what: str) -> str:
        return f"the target of {self._target:g} pages/s: {what}"
