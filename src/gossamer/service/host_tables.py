"""Which hosts and domains a crawl is mostly about, and which give it trouble: the heads of long lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from heapq import nlargest, nsmallest
from typing import Any, Final, Literal

import msgspec

from gossamer.frontier.reader import HostCounts
from gossamer.model import Reason
from gossamer.model.domain import registered_domain

ROWS: Final = 10
BusyOrder = Literal["pages", "queued", "host"]
SlowOrder = Literal["failures", "next", "queued", "host"]
_SLOW: Final = 5.0  # seconds between visits that a host asks for: more than that is slow

Key = Callable[[HostCounts], Any]
BUSY: Final[dict[str, Key]] = {
    "pages": lambda host: (host.pages, host.queued),
    "queued": lambda host: (host.queued, host.pages),
    "host": lambda host: host.name,
}
SLOW: Final[dict[str, Key]] = {
    "failures": lambda host: (host.failures, host.due),
    "next": lambda host: (host.due, host.name),
    "queued": lambda host: (host.queued, host.failures),
    "host": lambda host: host.name,
}
_ASCENDING: Final = ("host", "next")

_WHY: Final[dict[str, str]] = {
    Reason.DNS: "name does not resolve",
    Reason.CONNECT: "no connection",
    Reason.PROXY: "proxy unusable",
    Reason.TIMEOUT: "no answer in time",
    Reason.TLS: "TLS fails",
    Reason.CLOSED: "cuts answers short",
    Reason.PROTOCOL: "no HTTP",
    Reason.TOO_LARGE: "headers too long",
    Reason.BUSY: "busy (429, 503)",
    Reason.ROBOTS_5XX: "robots.txt fails (5xx)",
    Reason.ROBOTS_UNREACHABLE: "robots.txt fails",
}


class DomainTotal(msgspec.Struct):
    name: str
    hosts: int = 0
    pages: int = 0
    queued: int = 0


class HostTables(msgspec.Struct):
    """Each list has ROWS rows at most, for every order that people can choose."""

    busy: dict[str, list[HostCounts]] = {}
    slow: dict[str, list[HostCounts]] = {}
    slow_hosts: int = 0
    domains: list[DomainTotal] = []
    complete: bool = True


def tables_of(hosts: Sequence[HostCounts], complete: bool) -> HostTables:
    slow = [host for host in hosts if is_slow(host)]
    return HostTables(
        busy={order: heads(hosts, order, BUSY) for order in BUSY},
        slow={order: heads(slow, order, SLOW) for order in SLOW},
        slow_hosts=len(slow),
        domains=_domains(hosts),
        complete=complete,
    )


def is_slow(host: HostCounts) -> bool:
    """Whether it keeps the crawl waiting: it has something that is wanted, and fails, or asks for a long delay."""
    return bool(host.queued and (host.failures or host.added_delay or host.crawl_delay > _SLOW))


def why_slow(host: HostCounts) -> str:
    """The reason of its failures, or of its delay."""
    if host.failures:
        return said(host.trouble) or "no answer"
    if host.added_delay:
        return _WHY[Reason.BUSY]
    return f"robots.txt asks for {host.crawl_delay:g} s"


def said(reason: str) -> str:
    """A reason in a few words."""
    return _WHY.get(reason, reason.replace("_", " "))


def heads(hosts: Sequence[HostCounts], order: str, keys: Mapping[str, Key]) -> list[HostCounts]:
    first = nsmallest if order in _ASCENDING else nlargest
    return first(ROWS, hosts, key=keys[order])


def _domains(hosts: Sequence[HostCounts]) -> list[DomainTotal]:
    totals: dict[str, DomainTotal] = {}
    for host in hosts:
        name = registered_domain(host.name)
        total = totals.get(name) or totals.setdefault(name, DomainTotal(name))
        total.hosts += 1
        total.pages += host.pages
        total.queued += host.queued
    return nlargest(ROWS, totals.values(), key=lambda total: (total.pages, total.queued))
