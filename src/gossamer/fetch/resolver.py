"""Names to addresses, asked asynchronously and remembered (P5, K4)."""

from __future__ import annotations

import asyncio
import errno
import fnmatch
import ipaddress
import math
import os
import socket
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gossamer.config import connect_rule, dns_server
from gossamer.model.domain import wrong_name

if TYPE_CHECKING:
    from gossamer.fetch.name_servers import Found, NameServers

_LEAST_TTL, _MOST_TTL = 30.0, 86_400.0
_NEGATIVE_TTL = 60.0  # there is no such name, or it has no address
_FAILURE_TTL = 5.0  # no server could say
_MOST_NAMES = 100_000
_MOST_ASKED = 128  # names at a time
_MOST_OF_A_FAMILY = 4  # addresses of a name that are tried
_IPV6_TTL = 60.0
_HANDFUL = 8  # file descriptors
_INTERFACES = Path("/proc/net/if_inet6")
_NO_ROUTE = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT})


class ShortageError(Exception):
    """There is no file descriptor left to ask with, so nothing is known of the name."""


class Answer(NamedTuple):
    """All addresses of a name that can be reached from here. Without any, `why` is a clause about the name."""

    addresses: tuple[str, ...]
    until: float
    why: str = ""
    lasting: bool = False  # a server has said so


def has_ipv6() -> bool:
    """Whether this machine has an IPv6 address that is good beyond itself and its link."""
    try:
        return any(line.split()[3] in ("00", "40") for line in _INTERFACES.read_text().splitlines())
    except OSError:
        return False


def has_route(address: str) -> bool:
    """Whether the kernel knows a way there. Nothing is sent."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((address, 9))
    except OSError as error:
        return error.errno not in _NO_ROUTE
    return True


class Resolver:
    """Where to connect for a host.

    Invariant: while a name's answer holds, the name is not asked for; two questions for one name are never under way
    at a time, and never more than a fixed number of names.
    """

    def __init__(
        self,
        connect: Sequence[str],
        servers: Sequence[str],
        clock: Callable[[], float],
        ipv6: Callable[[], bool] = has_ipv6,
        reaches: Callable[[str], bool] = has_route,
    ) -> None:
        self._rules = [connect_rule(rule) for rule in connect]
        self._servers = [_server(*dns_server(server)) for server in servers]
        self._clock = clock
        self._ipv6, self._has_ipv6, self._ipv6_until = ipv6, False, -math.inf
        self._reaches = reaches
        self._answers: dict[str, Answer] = {}  # the oldest first
        self._asking: dict[str, asyncio.Future[Answer]] = {}
        self._turns = asyncio.Semaphore(_MOST_ASKED)
        self._dns: NameServers | None = None
        self.asked = 0  # names, of servers: those that were not at hand

    def redirect(self, name: str) -> tuple[str, int] | None:
        """Where a --connect rule sends this host."""
        for pattern, address, port in self._rules:
            if fnmatch.fnmatchcase(name, pattern):
                return address, port
        return None

    def known(self, name: str) -> Answer | None:
        """The answer for `name` if it is at hand, None when it must be asked for."""
        answer = self._answers.get(name)
        if answer is not None and answer.until > self._clock():
            return answer
        return None

    async def resolve(self, name: str) -> Answer:
        """ShortageError when it cannot be asked for."""
        known = self.known(name)
        if known is not None:
            return known
        address = literal(name)
        if address is not None:
            return Answer((address,), math.inf)
        asking = self._asking.get(name)
        if asking is None:
            asking = self._asking[name] = asyncio.ensure_future(self._ask(name))
            asking.add_done_callback(lambda _: self._asking.pop(name, None))
        return await asyncio.shield(asking)

    async def close(self) -> None:
        for asking in self._asking.values():
            asking.cancel()
        if self._dns is not None:
            await self._dns.close()

    async def _ask(self, name: str) -> Answer:
        if wrong_name(name):
            return Answer((), math.inf, "does not resolve", lasting=True)
        self.asked += 1
        async with self._turns:
            try:
                found = await self._name_servers().ask(name, self._families())
            except Exception:  # c-ares has many names for it
                if _few_descriptors():
                    raise ShortageError from None
                raise
        if not (found.answered or found.addresses) and _few_descriptors():  # nobody was asked, so nothing is known
            raise ShortageError
        answer = self._judge(found)
        self._remember(name, answer)
        return answer

    def _name_servers(self) -> NameServers:
        if self._dns is None:
            # Loaded with the first question: it takes 20 ms, and a crawl of addresses or --connect rules asks none.
            from gossamer.fetch.name_servers import NameServers

            self._dns = NameServers(self._servers, self._clock)
        return self._dns

    def _families(self) -> list[socket.AddressFamily]:
        now = self._clock()
        if now >= self._ipv6_until:
            self._has_ipv6, self._ipv6_until = self._ipv6(), now + _IPV6_TTL
        return [socket.AF_INET, socket.AF_INET6] if self._has_ipv6 else [socket.AF_INET]

    def _judge(self, found: Found) -> Answer:
        now = self._clock()
        if not found.addresses:
            if not found.answered:
                return Answer((), now + _FAILURE_TTL, "cannot be resolved now: no DNS server has an answer")
            why = "has no address" if found.exists else "does not resolve"
            return Answer((), now + _NEGATIVE_TTL, why, lasting=True)
        ttl = min(ttl for _, ttl in found.addresses) if found.whole else 0
        addresses = [address for address, _ in found.addresses]
        # Where nothing can be reached, connecting says so better than we could.
        reached = [address for address in addresses if self._reaches(address)] or addresses
        return Answer(_some_of_each(reached), now + min(max(ttl, _LEAST_TTL), _MOST_TTL))

    def _remember(self, name: str, answer: Answer) -> None:
        answers = self._answers
        answers.pop(name, None)
        if len(answers) >= _MOST_NAMES:
            now = self._clock()
            self._answers = answers = {key: value for key, value in answers.items() if value.until > now}
            for oldest in list(islice(answers, max(0, len(answers) - _MOST_NAMES * 9 // 10))):
                del answers[oldest]
        answers[name] = answer


def _some_of_each(addresses: list[str]) -> tuple[str, ...]:
    """In the order given, which servers change from answer to answer to share out the work."""
    old = [address for address in addresses if ":" not in address]
    new = [address for address in addresses if ":" in address]
    return tuple(dict.fromkeys(old[:_MOST_OF_A_FAMILY] + new[:_MOST_OF_A_FAMILY]))


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
