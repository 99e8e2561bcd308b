"""Names to addresses, asked asynchronously and remembered (P5, K4)."""

from __future__ import annotations

import asyncio
import fnmatch
import ipaddress
import os
import socket
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from gossamer.config import connect_rule, dns_server

if TYPE_CHECKING:
    import aiodns

_LEAST_TTL, _MOST_TTL = 30.0, 86_400.0
_NEGATIVE_TTL = 60.0
_MOST_NAMES = 200_000
_HANDFUL = 8  # file descriptors


class ShortageError(Exception):
    """There is no file descriptor left to ask with, so nothing is known of the name."""


class Resolver:
    """Where to connect for a host.

    Invariant: while a name's answer holds, every connection to it goes to the same address; two questions for one
    name are never under way at a time.
    """

    def __init__(self, connect: Sequence[str], servers: Sequence[str], clock: Callable[[], float]) -> None:
        self._rules = [connect_rule(rule) for rule in connect]
        self._servers = [_server(*dns_server(server)) for server in servers]
        self._clock = clock
        self._answers: dict[str, tuple[str, float]] = {}  # name -> address ("" for none), good until
        self._asking: dict[str, asyncio.Future[str]] = {}
        self._dns: aiodns.DNSResolver | None = None

    def redirect(self, name: str) -> tuple[str, int] | None:
        """Where a --connect rule sends this host."""
        for pattern, address, port in self._rules:
            if fnmatch.fnmatchcase(name, pattern):
                return address, port
        return None

    def known(self, name: str) -> str | None:
        """The address of `name` if it is at hand; "" when it is known not to resolve, None when it must be asked."""
        answer = self._answers.get(name)
        if answer is not None and answer[1] > self._clock():
            return answer[0]
        return literal(name)

    async def resolve(self, name: str) -> str:
        """The address of `name`, or "" when there is none. ShortageError when it cannot be asked for."""
        known = self.known(name)
        if known is not None:
            return known
        asking = self._asking.get(name)
        if asking is None:
            asking = self._asking[name] = asyncio.ensure_future(self._ask(name))
            asking.add_done_callback(lambda _: self._asking.pop(name, None))
        return await asyncio.shield(asking)

    async def _ask(self, name: str) -> str:
        # Loaded with the first question: it takes 20 ms, and a crawl of addresses or --connect rules asks none.
        import aiodns

        if self._dns is None:
            self._dns = aiodns.DNSResolver(self._servers or None, timeout=3.0, tries=3, rotate=bool(self._servers))
        try:
            found = await self._dns.getaddrinfo(name, type=socket.SOCK_STREAM)
        except aiodns.error.DNSError:
            if _few_descriptors():  # nobody was asked, so nothing is known
                raise ShortageError from None
            self._remember(name, "", _NEGATIVE_TTL)
            return ""
        # IPv4 first: it works everywhere, and a connection is pinned to one address.
        nodes = sorted(found.nodes, key=lambda node: node.family != socket.AF_INET)
        address = nodes[0].addr[0].decode() if nodes else ""
        self._remember(name, address, min(max(nodes[0].ttl, _LEAST_TTL), _MOST_TTL) if nodes else _NEGATIVE_TTL)
        return address

    def _remember(self, name: str, address: str, seconds: float) -> None:
        if len(self._answers) >= _MOST_NAMES:
            now = self._clock()
            self._answers = {key: value for key, value in self._answers.items() if value[1] > now}
            if len(self._answers) >= _MOST_NAMES:
                self._answers.clear()
        self._answers[name] = (address, self._clock() + seconds)

    async def close(self) -> None:
        if self._dns is not None:
            await self._dns.close()


def literal(name: str) -> str | None:
    """The address that a host name in a URL is itself, if it is one."""
    if not (name[-1:].isdigit() or name[:1] == "["):
        return None
    try:
        return str(ipaddress.ip_address(name.strip("[]")))
    except ValueError:
        return None


def _few_descriptors() -> bool:
    """Whether a handful of file descriptors cannot be had."""
    taken: list[int] = []
    try:
        for _ in range(_HANDFUL):
            taken.append(os.dup(2))
    except OSError:
        return True
    finally:
        for number in taken:
            os.close(number)
    return False


def _server(address: str, port: int) -> str:
    if port == 53:
        return address
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
