"""The fetcher: many visits at once on one libcurl multi handle, woken by the event loop.

libcurl's `perform` serves every connection that has something to do in one call, which costs less per response than a
callback for each socket event. The kernel tells us when to call it: every socket is in one epoll set (edge-triggered,
put there once when it is opened), and that set is all the event loop watches (docs/decisions/0003-pycurl.md).
"""

from __future__ import annotations

import asyncio
import select
import socket
import ssl
from collections.abc import Callable
from time import perf_counter

import pycurl

from gossamer.config import FetchConfig
from gossamer.errors import ConfigError
from gossamer.fetch.guard import Guard
from gossamer.fetch.resolver import Resolver, literal
from gossamer.fetch.transfer import Limits, Transfer
from gossamer.model import Fault, Page, Reason, Visit
from gossamer.model.url import host_of

Outcome = tuple[Visit, Page | Fault]

_TICK = 0.05  # seconds: at least this often libcurl may look at its own time-outs
_EDGES = select.EPOLLIN | select.EPOLLOUT | select.EPOLLRDHUP | select.EPOLLET
_HEADERS = (
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "Accept-Language: *",
    "Accept-Encoding: gzip, deflate, br",
)


class Fetcher:
    """Invariant: `in_flight` visits have been started and not yet returned, never more than `connections`."""

    def __init__(
        self,
        config: FetchConfig,
        user_agent: str,
        types: tuple[str, ...],
        networks: tuple[str, ...],
        resolver: Resolver,
        clock: Callable[[], float],
        max_length: int = 0,
    ) -> None:
        self._clock = clock
        self._resolver = resolver
        self._loop = asyncio.get_running_loop()
        self._epoll = select.epoll()
        self._loop.add_reader(self._epoll.fileno(), self._on_events)
        self._opened: list[socket.socket] = []
        self._wake: asyncio.Future[None] | None = None
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, max(config.connections * 2, 64))
        self._multi.setopt(pycurl.M_PIPELINING, pycurl.PIPE_NOTHING)
        guard = Guard(config.allow_private, networks)
        limits = Limits(config.max_body, config.max_headers, types, max_length)
        options = _options(config, user_agent)
        self._new_transfer: Callable[[], Transfer] = lambda: Transfer(guard, limits, self._watch, options)
        self._free: list[Transfer] = []
        self._busy: dict[pycurl.Curl, Transfer] = {}
        self._connections = config.connections
        self._resolving: set[asyncio.Task[None]] = set()
        self._unresolved: list[Visit] = []
        self._faults: list[Outcome] = []
        self._spent = 0.0
        self._targets: dict[str, str] = {}
        self._request_tail = (
            f"\r\nUser-Agent: {user_agent}\r\n" + "".join(f"{line}\r\n" for line in _HEADERS) + "\r\n"
        ).encode()

    @property
    def in_flight(self) -> int:
        return len(self._busy) + len(self._resolving) + len(self._faults)

    @property
    def room(self) -> int:
        """How many more visits may be started now."""
        return self._connections - self.in_flight

    def start(self, visit: Visit) -> None:
        host = host_of(visit.url) if visit.robots else visit.host  # robots.txt may be redirected to another host
        target = self._targets.get(host)
        if target is None:
            target = self._target(host)
        if target is None:
            task = self._loop.create_task(self._resolve_and_start(visit))
            self._resolving.add(task)
            task.add_done_callback(self._resolving.discard)
        else:
            self._begin(visit, target)

    def spent(self) -> float:
        """Seconds spent on responses, waiting apart, since this was last asked."""
        spent, self._spent = self._spent, 0.0
        return spent

    def own_address(self, host: str, page: Page) -> str:
        """Where a host is; nothing when a --connect rule says where to go instead."""
        return "" if self._targets.get(host) else page.address

    async def wait(self, seconds: float) -> list[Outcome]:
        """Outcomes as soon as there are any, or none after this time."""
        done = self._collect()
        if not done and seconds > 0:
            await self._sleep(seconds)
            done = self._collect()
        return done

    def wake(self) -> None:
        """End a `wait` early."""
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    def abort(self) -> list[Visit]:
        """Drop everything in flight; gives the visits that were not finished."""
        unfinished = [visit for visit, _ in self._faults]
        self._faults.clear()
        for task in self._resolving:
            task.cancel()
        for curl, transfer in list(self._busy.items()):
            self._multi.remove_handle(curl)
            assert transfer.visit is not None
            unfinished.append(transfer.visit)
        self._busy.clear()
        unfinished += self._unresolved
        self._unresolved = []
        return unfinished

    async def close(self) -> None:
        self.abort()
        for transfer in self._free:
            transfer.curl.close()
        self._multi.close()
        self._loop.remove_reader(self._epoll.fileno())
        self._epoll.close()
        await self._resolver.close()

    # -- starting ----------------------------------------------------------------------------------------------------

    def _target(self, host: str) -> str | None:
        """ADDRESS:PORT for CONNECT_TO; nothing where the URL says it already; None when it must be resolved."""
        rule = self._resolver.redirect(host)
        if rule is not None:
            address, port = rule
            target = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
        elif literal(_name(host)) is not None:
            target = ""
        else:
            address_or_none = self._resolver.known(_name(host))
            if not address_or_none:
                return None
            # An answer of DNS holds for its time only, so it is not kept here.
            return f"[{address_or_none}]:" if ":" in address_or_none else f"{address_or_none}:"
        if len(self._targets) > 100_000:
            self._targets.clear()
        self._targets[host] = target
        return target

    async def _resolve_and_start(self, visit: Visit) -> None:
        self._unresolved.append(visit)
        name = _name(host_of(visit.url))
        address = await self._resolver.resolve(name)
        self._unresolved.remove(visit)
        if address:
            self._begin(visit, f"[{address}]:" if ":" in address else f"{address}:")
        else:
            self._faults.append((visit, Fault(Reason.DNS, True, f"{name} does not resolve", self._clock())))
        self.wake()

    def _begin(self, visit: Visit, target: str) -> None:
        transfer = self._free.pop() if self._free else self._new_transfer()
        transfer.begin(visit, target, self._clock())
        self._busy[transfer.curl] = transfer
        self._multi.add_handle(transfer.curl)

    # -- finishing ---------------------------------------------------------------------------------------------------

    def _collect(self) -> list[Outcome]:
        done, self._faults = self._faults, []
        if not self._busy:
            return done
        started = perf_counter()
        multi = self._multi
        multi.perform()
        if self._opened:
            for connection in self._opened:
                connection.close()
            self._opened.clear()
        now = self._clock()
        while True:
            left, finished, failed = multi.info_read()
            for curl in finished:
                done.append(self._finish(curl, 0, "", now))
            for curl, error, detail in failed:
                done.append(self._finish(curl, error, detail, now))
            if not left:
                self._spent += perf_counter() - started
                return done

    def _finish(self, curl: pycurl.Curl, error: int, detail: str, now: float) -> Outcome:
        self._multi.remove_handle(curl)
        transfer = self._busy.pop(curl)
        visit = transfer.visit
        assert visit is not None
        outcome = transfer.end(error, detail, self._request(visit.url), now)
        self._free.append(transfer)
        return visit, outcome

    def _request(self, url: str) -> bytes:
        """The request as libcurl sends it."""
        start = url.index("//") + 2
        cut = url.index("/", start)
        return b"GET %b HTTP/1.1\r\nHost: %b%b" % (url[cut:].encode(), url[start:cut].encode(), self._request_tail)

    # -- waiting -----------------------------------------------------------------------------------------------------

    def _watch(self, connection: socket.socket) -> None:
        # libcurl uses a duplicate, under which the kernel goes on reporting events after ours is closed.
        self._epoll.register(connection.fileno(), _EDGES)
        self._opened.append(connection)

    def _on_events(self) -> None:
        self._epoll.poll(0, 1024)
        self.wake()

    async def _sleep(self, seconds: float) -> None:
        if self._busy:
            own = self._multi.timeout()
            seconds = min(seconds, _TICK, own / 1000 if own >= 0 else _TICK)
        self._wake = self._loop.create_future()
        timer = self._loop.call_later(max(seconds, 0), self.wake)
        try:
            await self._wake
        finally:
            timer.cancel()
            self._wake = None


def _name(host: str) -> str:
    """The host without its port."""
    if host[:1] == "[":
        return host[: host.index("]") + 1]
    return host.partition(":")[0]


def _options(config: FetchConfig, user_agent: str) -> dict[int, object]:
    """The same for every handle."""
    return {
        pycurl.NOSIGNAL: 1,
        pycurl.PROTOCOLS: pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS,
        pycurl.FOLLOWLOCATION: 0,
        pycurl.PROXY: "",
        pycurl.USERAGENT: user_agent,
        pycurl.HTTPHEADER: list(_HEADERS),
        # Bodies are stored as they came: still chunked, still compressed.
        pycurl.HTTP_TRANSFER_DECODING: 0,
        pycurl.HTTP_CONTENT_DECODING: 0,
        pycurl.HTTP_VERSION: pycurl.CURL_HTTP_VERSION_2TLS if config.http2 else pycurl.CURL_HTTP_VERSION_1_1,
        pycurl.PATH_AS_IS: 1,
        pycurl.BUFFERSIZE: 65536,
        pycurl.TIMEOUT_MS: int(config.timeout * 1000),
        pycurl.CONNECTTIMEOUT_MS: int(config.connect_timeout * 1000),
        pycurl.LOW_SPEED_LIMIT: 1,
        pycurl.LOW_SPEED_TIME: max(1, int(config.low_speed_time)),
        # Verified always: there is no option that turns it off.
        pycurl.SSL_VERIFYPEER: 1,
        pycurl.SSL_VERIFYHOST: 2,
        pycurl.CAINFO: _certificates(config.ca_file),
    }


def _certificates(path: str) -> str:
    if not path:
        return ssl.get_default_verify_paths().cafile or _own_certificates()
    try:
        ssl.create_default_context(cafile=path)
    except OSError as error:
        raise ConfigError(
            f"fetch.ca_file: {path} is no file of certificates ({error.strerror or error}). "
            "Name a file in PEM format, or leave the option empty to trust the system's."
        ) from error
    return path


def _own_certificates() -> str:
    """For systems that have no bundle of root certificates, or not where OpenSSL looks for it."""
    import certifi

    return certifi.where()
