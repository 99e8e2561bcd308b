"""DNS servers, all asked at once: the first good answer holds (P5, K4)."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Sequence
from typing import NamedTuple

import aiodns
import pycares

_TIMEOUT, _TRIES = 1.5, 3  # c-ares doubles the first each time: a silent server is given up after about ten seconds
_MOST_WAITING = 256  # questions to one server
_CHANNEL_TTL = 30.0  # seconds: no longer than the shortest answer holds
_PATIENCE = 0.5  # seconds that addresses of one family wait for those of the other
_FLAGS = pycares.ARES_FLAG_EDNS | pycares.ARES_FLAG_NOSEARCH
_UNSORTED = 1 << 7  # ARES_AI_NOSORT: libcurl has its own order
_NO_SUCH_NAME = frozenset({pycares.errno.ARES_ENOTFOUND, pycares.errno.ARES_EBADNAME})

Addresses = list[tuple[str, int]]


class Found(NamedTuple):
    """What servers say of a name: addresses with the seconds they hold, or none for good (`exists`), or no answer."""

    addresses: Addresses
    answered: bool = True
    exists: bool = True
    whole: bool = True  # both families answered


_NO_ANSWER = Found([], answered=False)


class NameServers:
    """Invariant: a server is never waited for longer than another needs to answer."""

    def __init__(self, servers: Sequence[str], clock: Callable[[], float]) -> None:
        """`servers` as c-ares writes them; none are those of the system, also when they change."""
        self._given = list(servers)
        self._servers = [_Server(address) for address in self._given or _system_servers()]
        self._gone: list[_Server] = []
        self._clock = clock
        self._renewed = clock()

    async def ask(self, name: str, families: Sequence[socket.AddressFamily]) -> Found:
        if self._clock() - self._renewed >= _CHANNEL_TTL:
            self._renewed = self._clock()
            await self._renew()
        asked = [server for server in self._servers if server.waiting < _MOST_WAITING] or self._servers
        races = [asyncio.ensure_future(_race(asked, name, family)) for family in families]
        try:
            return await _joined(races)
        finally:
            for race in races:
                race.cancel()

    async def _renew(self) -> None:
        for server in self._servers:
            await server.renew()
        done, self._gone = self._gone, []
        if not self._given:
            known = {server.address: server for server in self._servers}
            self._servers = [
                known.pop(address) if address in known else _Server(address) for address in _system_servers()
            ]
            self._gone = list(known.values())  # questions to these may be under way
        for server in done:
            await server.close()

    async def close(self) -> None:
        for server in [*self._gone, *self._servers]:
            await server.close()


class _Server:
    """One server, with channels of its own, so that c-ares never asks another in its stead.

    c-ares keeps what it hears: as many answers as there are, and that a name has no address for up to an hour. So a
    channel is replaced twice a minute, and what is remembered is for `Resolver` to say.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self._channels: dict[bool, aiodns.DNSResolver] = {}  # by whether search domains are used
        self._old: list[aiodns.DNSResolver] = []
        self.waiting = 0

    def ask(self, name: str, family: socket.AddressFamily) -> asyncio.Future[pycares.AddrInfoResult]:
        search = "." not in name
        channel = self._channels.get(search)
        if channel is None:
            flags = None if search else _FLAGS
            channel = aiodns.DNSResolver([self.address], timeout=_TIMEOUT, tries=_TRIES, flags=flags)
            self._channels[search] = channel
        self.waiting += 1
        question = channel.getaddrinfo(name, family=family, type=socket.SOCK_STREAM, flags=_UNSORTED)
        question.add_done_callback(self._answered)
        return question

    def _answered(self, question: asyncio.Future[pycares.AddrInfoResult]) -> None:
        self.waiting -= 1
        if not question.cancelled():
            question.exception()  # looked at, though perhaps another server was faster

    async def renew(self) -> None:
        done, self._old = self._old, list(self._channels.values())  # questions may be under way on the last ones
        self._channels = {}
        for channel in done:
            await channel.close()

    async def close(self) -> None:
        for channel in [*self._old, *self._channels.values()]:
            await channel.close()


async def _race(servers: Sequence[_Server], name: str, family: socket.AddressFamily) -> Found:
    """The first answer; a failure is none while another server may still know better."""
    waiting = {server.ask(name, family) for server in servers}
    while waiting:
        done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for question in done:
            found = _read(question)
            if found.answered:
                return found
    return _NO_ANSWER


def _read(question: asyncio.Future[pycares.AddrInfoResult]) -> Found:
    try:
        answer = question.result()
    except aiodns.error.DNSError as error:
        if error.args[0] in _NO_SUCH_NAME:
            return Found([], exists=False)
        return Found([]) if error.args[0] == pycares.errno.ARES_ENODATA else _NO_ANSWER
    ttls = [alias.ttl for alias in answer.cnames]
    return Found([(node.addr[0].decode(), min(node.ttl, *ttls) if ttls else node.ttl) for node in answer.nodes])


async def _joined(races: Sequence[asyncio.Future[Found]]) -> Found:
    """What the families' answers say together. That a name does not exist holds for both."""
    done, waiting = await asyncio.wait(races, return_when=asyncio.FIRST_COMPLETED)
    if waiting and all(race.result().exists for race in done):
        has_addresses = any(race.result().addresses for race in done)
        await asyncio.wait(waiting, timeout=_PATIENCE if has_addresses else None)
    found = [race.result() for race in races if race.done()]
    answered = all(one.answered for one in found)
    exists = all(one.exists for one in found)
    return Found(
        [address for one in found for address in one.addresses],
        answered=answered or not exists,
        exists=exists,
        whole=answered and len(found) == len(races),
    )


def _system_servers() -> list[str]:
    channel = pycares.Channel()
    try:
        return list(channel.servers)
    finally:
        channel.close()
