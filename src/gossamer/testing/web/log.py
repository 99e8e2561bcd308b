"""The arrival log: every request as the server saw it, so that politeness is judged from the server's side."""

from __future__ import annotations

import math
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import msgspec

from gossamer.errors import ConfigError
from gossamer.testing.clock import Clock

_FLUSH_LINES = 1_000

# A request as the server has it: host, path, method, user agent, connection, and of the response its status and bytes;
# whether it was conditional; the address it came from. A plain tuple, as every request makes one.
Row = tuple[bytes, bytes, bytes, bytes, int, int, int, bool, str]


class Arrival(NamedTuple):
    """One request: `time` is monotonic, `wall` is seconds since 1970 on the clock of the web that was asked.

    `status` is 0 where no HTTP response was sent. `bytes` are those of the response, head included; 0 where it is sent
    in parts whose number nobody knows before. `conditional`: the client asked for the page if it had changed.
    `address` is the client's. `ended` is when the response had been written or the connection was lost, on the clock of
    `time`; infinite while neither has happened, and in logs that do not note it.
    """

    time: float
    wall: float
    host: str
    path: str
    method: str
    user_agent: str
    connection: int
    status: int
    bytes: int = 0
    conditional: bool = False
    address: str = ""
    ended: float = math.inf

    @property
    def url(self) -> str:
        return f"http://{self.host}{self.path}"


class ArrivalLog(ABC):
    """Where the server tells of each request, at the moment it has the answer and before it sends it.

    Invariant: arrivals are in order, and their `time` never decreases. Safe to read from another thread.
    """

    @abstractmethod
    def add(self, row: Row) -> None: ...

    def end(self, connection: int) -> None:  # noqa: B027 - most logs do not note it
        """The request under way on this connection is over: there is at most one."""

    @property
    @abstractmethod
    def arrivals(self) -> list[Arrival]: ...

    def flush(self) -> None:  # noqa: B027 - most logs have nothing to flush
        pass

    def close(self) -> None:  # noqa: B027
        pass

    def by_host(self) -> dict[str, list[Arrival]]:
        found: defaultdict[str, list[Arrival]] = defaultdict(list)
        for arrival in self.arrivals:
            found[arrival.host].append(arrival)
        return dict(found)

    def min_gap(self, host: str, robots: bool = True) -> float:
        """Least seconds between two requests to a host, infinite with fewer than two. `robots` counts /robots.txt."""
        times = [a.time for a in self.arrivals if a.host == host and (robots or a.path != "/robots.txt")]
        return min((later - earlier for earlier, later in pairwise(times)), default=float("inf"))

    def requests_per_url(self) -> Counter[str]:
        return Counter(arrival.url for arrival in self.arrivals)


class NoLog(ArrivalLog):
    """Remembers nothing: for long runs nobody asks about."""

    def add(self, row: Row) -> None:
        pass

    @property
    def arrivals(self) -> list[Arrival]:
        return []


class MemoryLog(ArrivalLog):
    """Keeps all arrivals in memory, as bytes until somebody asks. `clock` is that of the web, else the machine's."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._rows: list[tuple[float, float, Row]] = []
        self._open: dict[int, int] = {}  # connection -> its row
        self._ends: list[float] = []  # of each row
        self._wall = clock.now if clock else time.time
        self._awaited = 0
        self._reached = threading.Event()

    def add(self, row: Row) -> None:
        self._open[row[4]] = len(self._rows)
        self._ends.append(math.inf)
        self._rows.append((time.monotonic(), self._wall(), row))
        if len(self._rows) == self._awaited:
            self._reached.set()

    def end(self, connection: int) -> None:
        row = self._open.pop(connection, None)
        if row is not None:
            self._ends[row] = time.monotonic()

    def wait_for(self, requests: int, timeout: float) -> bool:
        """Until this many have come in all, from another thread; false when they have not in time."""
        self._reached.clear()
        self._awaited = requests
        return len(self._rows) >= requests or self._reached.wait(timeout)

    def clear(self) -> None:
        self._open.clear()
        self._ends.clear()
        self._rows.clear()

    @property
    def arrivals(self) -> list[Arrival]:
        return self.since(0)

    def since(self, first: int) -> list[Arrival]:
        """Those from this one on: who looks again and again need not read the old ones."""
        return [
            Arrival(
                at, wall, _host(host), _text(path), _text(method), _text(agent), number, status, size, conditional,
                address, self._ends[row],
            )
            for row, (at, wall, (host, path, method, agent, number, status, size, conditional, address)) in enumerate(
                self._rows[first:], first
            )
        ]  # fmt: skip


class _Line(msgspec.Struct):
    time: float
    host: str
    path: str
    user_agent: str
    connection: int
    method: str
    status: int
    bytes: int = 0
    conditional: bool = False
    wall: float = 0.0
    address: str = ""


class FileLog(ArrivalLog):
    """One JSON line per request. Lines wait in memory until the server's flush, each half second and at its end.

    `time` is seconds since 1970 on a clock that does not jump while the server runs, `wall` on that of the web.
    """

    def __init__(self, path: Path, clock: Clock | None = None) -> None:
        try:
            self._file = path.open("wb")
        except OSError as error:
            raise ConfigError(f"The log {path} cannot be written ({error.strerror}): choose another file.") from error
        self._path = path
        self._lines: list[bytes] = []
        self._encode = msgspec.json.Encoder().encode
        self._offset = time.time() - time.monotonic()
        self._wall = clock.now if clock else time.time

    def add(self, row: Row) -> None:
        host, path, method, agent, number, status, size, conditional, address = row
        now, wall = time.monotonic() + self._offset, self._wall()
        who, how = _text(agent), _text(method)
        line = _Line(now, _host(host), _text(path), who, number, how, status, size, conditional, wall, address)
        self._lines.append(self._encode(line))
        if len(self._lines) >= _FLUSH_LINES:
            self.flush()

    @property
    def arrivals(self) -> list[Arrival]:
        """What is in the file; the last half second may be missing while the server runs."""
        lines = msgspec.json.Decoder(list[_Line]).decode(b"[" + b",".join(self._path.read_bytes().splitlines()) + b"]")
        return [Arrival(**msgspec.structs.asdict(line)) for line in lines]

    def flush(self) -> None:
        if self._lines:
            self._lines.append(b"")
            self._file.write(b"\n".join(self._lines))
            self._lines = []
            self._file.flush()

    def close(self) -> None:
        if not self._file.closed:
            self.flush()
            self._file.close()


def _text(data: bytes) -> str:
    return data.decode("latin-1")


def _host(data: bytes) -> str:
    return data.decode("latin-1").lower().removesuffix(":80")
