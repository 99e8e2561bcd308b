"""Fetches many pages at once and says what that cost: the Fetcher, or libcurl with as little around it as possible.

    python benchmarks/fetch_load.py fetcher|bare '{"scheme": "http", "address": "127.0.0.1:80", ...}'

A process for each measurement: what one leaves behind in memory and in libcurl's pools is not the next one's. The last
line of its output is one JSON object.
"""

from __future__ import annotations

import json
import resource
import select
import socket
import sys
import time
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import pycurl
import uvloop
from fetch_server import DOMAIN

from gossamer.config import FetchConfig, ScopeConfig
from gossamer.fetch import Fetcher, Resolver
from gossamer.fetch.options import options_of
from gossamer.model import Page, Visit

_USER_AGENT = "gossamer-benchmark/1 (+https://bench.test/)"
_IDLE = 0.5  # seconds
_TICK = 0.05  # seconds: as the Fetcher, so that time-outs cost both the same


class Fetches(NamedTuple):
    """What to fetch. Hosts take turns, each has one request at a time."""

    scheme: str
    address: str
    connections: int
    hosts: int
    requests: int
    warm_up: int
    page_size: int

    def url(self, number: int) -> str:
        return f"{self.scheme}://h{number % self.hosts}.{DOMAIN}/page-{number}.html"


class Cost(NamedTuple):
    """CPU is user and system time of the process; `idle_share` is the part of a second that it takes doing nothing."""

    requests: int
    seconds: float
    cpu_seconds: float
    idle_share: float

    @property
    def us(self) -> float:
        """Microseconds of CPU a request, without what an idle process takes."""
        return (self.cpu_seconds - self.idle_share * self.seconds) / self.requests * 1e6


class Turn:
    """Which URL is next, and when the measured part begins and ends.

    Invariant: at most one URL of a host is out, so no more than `connections` and no more than `hosts` are.
    """

    def __init__(self, load: Fetches) -> None:
        self._load = load
        self._free = deque(range(load.hosts))
        self._rounds = [0] * load.hosts
        self._done = 0
        self._began = (0.0, 0.0)
        self.out = 0

    @property
    def over(self) -> bool:
        return self._done >= self._load.warm_up + self._load.requests

    def next(self) -> tuple[int, str] | None:
        """A host and a URL of it, if one more may be fetched now."""
        if self.over or self.out >= self._load.connections or not self._free:
            return None
        host = self._free.popleft()
        self.out += 1
        self._rounds[host] += 1
        return host, self._load.url(self._rounds[host] * self._load.hosts + host)

    def came(self, host: int) -> None:
        self._free.append(host)
        self.out -= 1
        self._done += 1
        if self._done == self._load.warm_up:
            self._began = time.perf_counter(), time.process_time()

    def cost(self, idle_share: float) -> Cost:
        seconds, cpu = time.perf_counter() - self._began[0], time.process_time() - self._began[1]
        return Cost(self._done - self._load.warm_up, seconds, cpu, idle_share)


async def fetcher(load: Fetches) -> Cost:
    config = FetchConfig(connections=load.connections, allow_private=True, connect=(f"*={load.address}",))
    resolver = Resolver(config.connect, (), time.time)
    fetcher = Fetcher(config, _USER_AGENT, ScopeConfig().types, (), resolver, time.time)
    try:
        idle = await _idle(fetcher)
        turn = Turn(load)
        while not turn.over:
            while (found := turn.next()) is not None:
                host, url = found
                fetcher.start(Visit(url, f"h{host}.{DOMAIN}", 0, 4, host))
            for visit, outcome in await fetcher.wait(1.0):
                if not isinstance(outcome, Page) or outcome.status != 200 or len(outcome.raw) != load.page_size:
                    raise RuntimeError(f"{visit.url}: {str(outcome)[:500]}")
                turn.came(visit.number)
        return turn.cost(idle)
    finally:
        await fetcher.close()


async def _idle(fetcher: Fetcher) -> float:
    started, cpu = time.perf_counter(), time.process_time()
    while time.perf_counter() - started < _IDLE:
        await fetcher.wait(_TICK)
    return (time.process_time() - cpu) / (time.perf_counter() - started)


def bare(load: Fetches) -> Cost:
    """libcurl's multi handle and one epoll set, with the Fetcher's options and nothing else of it."""
    config = FetchConfig(connections=load.connections, allow_private=True)
    options = options_of(config, _USER_AGENT)
    multi = pycurl.CurlMulti()
    multi.setopt(pycurl.M_MAXCONNECTS, max(load.connections * 2, 64))
    multi.setopt(pycurl.M_PIPELINING, pycurl.PIPE_NOTHING)
    epoll = select.epoll()
    opened: list[socket.socket] = []
    handles: list[tuple[Any, list[bytes]]] = [
        _handle(options, load.address, epoll, opened) for _ in range(min(load.connections, load.hosts))
    ]
    busy: dict[Any, tuple[int, list[bytes]]] = {}
    turn = Turn(load)
    while not turn.over:
        while (found := turn.next()) is not None:
            host, url = found
            curl, body = handles.pop()
            curl.setopt(pycurl.URL, url)
            busy[curl] = host, body
            multi.add_handle(curl)
        multi.perform()
        while opened:
            opened.pop().close()
        left = 1
        came = False
        while left:
            left, finished, failed = multi.info_read()
            if failed:
                raise RuntimeError(f"{failed[0][2]}")
            for curl in finished:
                multi.remove_handle(curl)
                host, body = busy.pop(curl)
                if curl.getinfo(pycurl.RESPONSE_CODE) != 200 or sum(map(len, body)) != load.page_size:
                    raise RuntimeError(f"{load.url(host)}: {sum(map(len, body))} bytes")
                body.clear()
                handles.append((curl, body))
                turn.came(host)
                came = True
        if not came:
            own = multi.timeout()
            epoll.poll(min(_TICK, own / 1000) if own >= 0 else _TICK, 1024)
    return turn.cost(0.0)


def _handle(
    options: dict[int, object], address: str, epoll: select.epoll, opened: list[socket.socket]
) -> tuple[Any, list[bytes]]:
    def open_socket(purpose: int, where: Any) -> socket.socket:
        connection = socket.socket(*where[:3])
        epoll.register(connection.fileno(), select.EPOLLIN | select.EPOLLOUT | select.EPOLLRDHUP | select.EPOLLET)
        opened.append(connection)
        return connection

    curl = pycurl.Curl()
    body: list[bytes] = []
    head: deque[bytes] = deque(maxlen=32)
    for option, value in options.items():
        curl.setopt(option, value)
    curl.setopt(pycurl.CONNECT_TO, [f"::{address}"])
    curl.setopt(pycurl.HEADERFUNCTION, head.append)
    curl.setopt(pycurl.WRITEFUNCTION, body.append)
    curl.setopt(pycurl.OPENSOCKETFUNCTION, open_socket)
    return curl, body


PROGRAMS: dict[str, Callable[[Fetches], Cost]] = {"fetcher": lambda load: uvloop.run(fetcher(load)), "bare": bare}


def main() -> int:
    program, load = sys.argv[1:]
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    print(json.dumps(PROGRAMS[program](Fetches(**json.loads(load)))._asdict()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
