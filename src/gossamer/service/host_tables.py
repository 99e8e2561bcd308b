"""Which hosts and domains a crawl is mostly about, and which give it trouble: the heads of long lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import nlargest, nsmallest
from typing import Final, Literal

import msgspec

from gossamer.frontier.reader import HostCounts
from gossamer.model import Reason
from gossamer.model.domain import registered_domain

ROWS: Final = 10
BusyOrder = Literal["pages", "queued", "host"]
SlowOrder = Literal["failures", "next", "queued", "host"]
_SLOW: Final = 5.0  # seconds between visits that a host asks for: more than that is slow

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
        busy={
            "pages": _most(hosts, lambda host: (host.pages, host.queued)),
            "queued": _most(hosts, lambda host: (host.queued, host.pages)),
            "host": nsmallest(ROWS, hosts, key=lambda host: host.name),
        },
        slow={
            "failures": _most(slow, lambda host: (host.failures, host.due)),
            "next": nsmallest(ROWS, slow, key=lambda host: (host.due, host.name)),
            "queued": _most(slow, lambda host: (host.queued, host.failures)),
            "host": nsmallest(ROWS, slow, key=lambda host: host.name),
        },
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


def _most(hosts: Sequence[HostCounts], by: Callable[[HostCounts], tuple[float, float]]) -> list[HostCounts]:
    return nlargest(ROWS, hosts, key=by)


def _domains(hosts: Sequence[HostCounts]) -> list[DomainTotal]:
    totals: dict[str, DomainTotal] = {}
    for host in hosts:
        name = registered_domain(host.name)
        total = totals.get(name) or totals.setdefault(name, DomainTotal(name))
        total.hosts += 1
        total.pages += host.pages
        total.queued += host.queued
    return nlargest(ROWS, totals.values(), key=lambda total: (total.pages, total.queued))
