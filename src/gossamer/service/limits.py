"""How much may be asked: sizes, times, numbers; and how often by one caller."""

from __future__ import annotations

import math
from collections import OrderedDict
from threading import Lock

URL_BYTES = 8 << 10  # path and query
HEADER_BYTES = 16 << 10
BODY_BYTES = 64 << 10
PAGES_BYTES = 256 << 20  # of stored pages that are being sent, over all connections
REQUEST_SECONDS = 10.0  # until an answer begins
IDLE_SECONDS = 20.0  # for a head to arrive, and for a reader to take what was sent
REQUESTS_AT_ONCE = 64
STREAMS_AT_ONCE = 32  # of events, which last
CONNECTIONS = 512
PEER_CONNECTIONS = 64  # of one address, unless it is this machine, where a proxy may be
THREADS = 8  # in which what blocks is done

KEY_RATE = 50.0  # requests a second by one key, where it has no rate of its own
BURST_SECONDS = 2.0  # how much of its rate may come at once
FAILURE_RATE = 0.2  # wrong keys a second from one peer
FAILURE_BURST = 10
_REMEMBERED = 10_000  # callers


class Room:
    """Bytes that answers hold in memory until they are sent. One that is larger than all the room is let in alone."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._taken = 0
        self._lock = Lock()

    def take(self, size: int) -> bool:
        with self._lock:
            fits = not self._taken or self._taken + size <= self.size
            self._taken += size * fits
            return fits

    def give_back(self, size: int) -> None:
        with self._lock:
            self._taken -= size


class Buckets:
    """A bucket of tokens for each caller, in which one is put every 1/rate seconds.

    Invariant: over any time t a caller gets at most `burst + rate * t`; those forgotten, the longest unseen, would
    mostly be full again.
    """

    def __init__(self) -> None:
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens, as of when

    def take(self, caller: str, rate: float, burst: float, now: float) -> float:
        """0.0 if a token was there; otherwise the seconds after which one will be."""
        tokens, then = self._left.pop(caller, (burst, now))
        tokens = min(burst, tokens + max(0.0, now - then) * rate)
        wait = 0.0 if tokens >= 1.0 else (1.0 - tokens) / rate
        self._left[caller] = (tokens if wait else tokens - 1.0, now)
        if len(self._left) > _REMEMBERED:
            self._left.popitem(last=False)
        return wait


def retry_after(seconds: float) -> dict[str, str]:
    """The header, in whole seconds, never too early."""
    return {"Retry-After": str(max(1, math.ceil(seconds)))}
