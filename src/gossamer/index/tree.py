"""Hosts as a tree of domains: of all pages one level at a time, of results the largest domains of all levels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from heapq import heapify, heappop, heappush
from typing import Final

from gossamer.index.answer import DomainCount, FoundDomain
from gossamer.model.domain import is_address, reversed_host, unreversed_host, without_port

MOST_DOMAINS: Final = 100
"""Domains of an answer, on all levels together."""


def children(hosts: Iterable[Mapping[str, int]], under: str) -> list[DomainCount]:
    """The domains directly below `under`, the largest first, from reversed names of hosts and their pages.

    An address, and a host with a port, is a leaf directly below the top, or below the name it has.
    """
    prefix = reversed_host(under.lower().strip(".")) if under else ""
    together: Counter[str] = Counter()
    for counts in hosts:
        together.update(counts)
    found: dict[str, DomainCount] = {}
    for key, pages in together.items():
        name = _child(key, prefix)
        if name is None:
            continue
        domain = found.setdefault(name, DomainCount(name, 0, 0, False))
        domain.hosts += 1
        domain.pages += pages
        domain.has_children |= key != reversed_host(name)
    return sorted(found.values(), key=lambda domain: (-domain.pages, domain.name))


def _child(key: str, prefix: str) -> str | None:
    """The name directly below `prefix` on the way to the host `key`; None if it is not on the way."""
    if prefix:
        if not key.startswith(prefix) or key[len(prefix) : len(prefix) + 1] not in (".", ":"):
            return None
        start = len(prefix) + 1
        if key[start - 1] == ":":
            return unreversed_host(key)
    else:
        start = 0
        if key[:1] == "[" or (unreversed_host(key) == key and "." in key):
            return key
    end = min((at for at in (key.find(".", start), key.find(":", start)) if at >= 0), default=len(key))
    return unreversed_host(key[:end])


def tree_of(hosts: Mapping[str, int]) -> list[FoundDomain]:
    """Make the tree of these hosts, which come with their pages. A host with a port is below its name."""
    top = FoundDomain("", 0, 0, 0, [])
    known: dict[str, FoundDomain] = {}
    for host, pages in hosts.items():
        above = top
        for name in _names(host):
            found = known.get(name)
            if found is None:
                found = known[name] = FoundDomain(name, 0, 0, 0, [])
                above.domains.append(found)
            found.hosts += 1
            found.pages += pages
            above = found
        above.own += pages
    return top.domains


def _names(host: str) -> list[str]:
    """The names on the way from the top to a host, which is the last."""
    name = without_port(host)
    labels = [name] if is_address(name) else name.split(".")
    names = [".".join(labels[at:]) for at in range(len(labels) - 1, -1, -1)]
    return names if name == host else [*names, host]


def merged(trees: Iterable[list[FoundDomain]]) -> list[FoundDomain]:
    """Make one tree of several: a domain that is in more than one has the pages of all."""
    together: dict[str, list[FoundDomain]] = {}
    for tree in trees:
        for found in tree:
            together.setdefault(found.name, []).append(found)
    return [
        FoundDomain(
            name,
            sum(each.hosts for each in same),
            sum(each.pages for each in same),
            sum(each.own for each in same),
            merged(each.domains for each in same),
        )
        for name, same in together.items()
    ]


def largest(tree: list[FoundDomain], most: int = MOST_DOMAINS) -> list[FoundDomain]:
    """Copy the domains with most pages, each below the one that it belongs to, the largest first."""
    kept: list[FoundDomain] = []
    waiting = [(-found.pages, found.name, found, kept) for found in tree]
    heapify(waiting)
    while waiting and most > 0:
        _, _, found, place = heappop(waiting)
        copy = FoundDomain(found.name, found.hosts, found.pages, found.own, [])
        place.append(copy)
        most -= 1
        for each in found.domains:
            heappush(waiting, (-each.pages, each.name, each, copy.domains))
    return kept
