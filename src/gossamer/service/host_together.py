"""Lists of hosts of several agents as one. A host is one agent's, but for a moment in which it moves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import nlargest

from gossamer.frontier.reader import HostCounts
from gossamer.service.host_list import HostPage, Order, sort_key, write_cursor
from gossamer.service.host_tables import BUSY, ROWS, SLOW, HostTables, heads


def hosts_together(found: Sequence[HostPage], order: Order, limit: int) -> HostPage:
    """Of parts that begin behind the same host, each with `limit` hosts if it has so many."""
    key = sort_key(order)
    hosts = sorted(_once(host for part in found for host in part.hosts), key=key)
    more = len(hosts) > limit or any(part.next for part in found)
    shown = hosts[:limit]
    return HostPage(
        shown,
        sum(part.total for part in found),
        all(part.complete for part in found),
        write_cursor(*key(shown[-1])) if more and shown else "",
    )


def tables_together(found: Sequence[HostTables]) -> HostTables:
    return HostTables(
        busy={
            order: heads(_once(host for each in found for host in each.busy.get(order, [])), order, BUSY)
            for order in BUSY
        },
        slow={
            order: heads(_once(host for each in found for host in each.slow.get(order, [])), order, SLOW)
            for order in SLOW
        },
        slow_hosts=sum(each.slow_hosts for each in found),
        domains=nlargest(
            ROWS, (domain for each in found for domain in each.domains), key=lambda total: (total.pages, total.queued)
        ),
        complete=all(each.complete for each in found),
    )


def _once(hosts: Iterable[HostCounts]) -> list[HostCounts]:
    """Of two with one name, the one that has more: an agent that lost it by dying has not gone on with it."""
    known: dict[str, HostCounts] = {}
    for host in hosts:
        other = known.get(host.name)
        if other is None or (host.pages, host.queued) > (other.pages, other.queued):
            known[host.name] = host
    return list(known.values())
