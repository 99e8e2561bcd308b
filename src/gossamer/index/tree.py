"""Hosts as a tree of domains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from gossamer.index.answer import DomainCount
from gossamer.model.domain import reversed_host, unreversed_host


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
