"""Pages that match and are not shown: older versions in another index, and those with the payload of another page.

Pages are named by their rank, which no two of an index share and whose last bits are the hash of the URL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import msgspec
from tantivy import DocAddress, Occur, Query

from gossamer.index.schema import key_in, schema
from gossamer.index.snapshot import Snapshot
from gossamer.model.domain import reversed_host, unreversed_host

MOST_COUNTED: Final = 10_000
"""Pages that match up to which those with the same payload are counted once: some milliseconds of work."""
_MOST_SHARED: Final = 50_000
"""Pages that an index has of hosts that another has as well, up to which it is known which of them are outdated."""
_MOST_HOSTS: Final = 10_000


class Elsewhere(msgspec.Struct, frozen=True):
    """Pages of which an index that is not here has a newer version: their hosts, and by which they are told apart."""

    hosts: tuple[str, ...]
    keys: frozenset[int]


class Outdated(NamedTuple):
    """By the number of their index, the ranks of pages of which another has a newer version."""

    ranks: dict[int, list[int]]
    complete: bool  # whether these are all


def outdated(snapshots: Mapping[int, Snapshot]) -> Outdated:
    hosts: dict[str, int] = {}
    if len(snapshots) > 1:
        for snapshot in snapshots.values():
            for name in snapshot.hosts:
                host = unreversed_host(name)
                hosts[host] = hosts.get(host, 0) + 1
    shared = [host for host, indexes in hosts.items() if indexes > 1]
    if not shared:
        return Outdated({}, complete=True)
    if len(shared) > _MOST_HOSTS:
        return Outdated({}, complete=False)
    pages: dict[int, list[tuple[int, int, DocAddress]]] = {}  # by the hash of the URL: index, rank, where it is
    for at, snapshot in snapshots.items():
        found = _of_hosts(snapshot, shared)
        if len(found) > _MOST_SHARED:
            return Outdated({}, complete=False)
        for rank, address in found:
            pages.setdefault(key_in(rank), []).append((at, rank, address))
    older: dict[int, list[int]] = {}
    for versions in pages.values():
        if len(versions) > 1:
            newest = max(versions, key=lambda version: (_fetched(snapshots, version), -version[0]))
            for at, rank, _ in versions:
                if at != newest[0]:
                    older.setdefault(at, []).append(rank)
    return Outdated(older, complete=True)


def versions(snapshot: Snapshot, hosts: Sequence[str]) -> dict[int, int] | None:
    """When each page of these hosts was fetched, by what pages are told apart by; None if they are too many."""
    found = _of_hosts(snapshot, hosts)
    if len(found) > _MOST_SHARED:
        return None
    fetched = snapshot.values("fetched", [address for _, address in found])
    return {key_in(rank): at for (rank, _), at in zip(found, fetched, strict=True)}


def ranks_of(snapshot: Snapshot, elsewhere: Elsewhere) -> list[int]:
    return [rank for rank, _ in _of_hosts(snapshot, elsewhere.hosts) if key_in(rank) in elsewhere.keys]


def _of_hosts(snapshot: Snapshot, hosts: Sequence[str]) -> list[tuple[int, DocAddress]]:
    """Ranks of the pages of these hosts, and where they are; one more than may be shared at most."""
    query = Query.term_set_query(schema(), "host", [reversed_host(host) for host in hosts])
    return snapshot.searcher.search(query, _MOST_SHARED + 1, count=False, order_by_field="rank").hits


def _fetched(snapshots: Mapping[int, Snapshot], version: tuple[int, int, DocAddress]) -> int:
    at, _, address = version
    return snapshots[at].values("fetched", [address])[0]


def copies(matches: Mapping[int, tuple[Snapshot, Query]]) -> dict[int, list[int]]:
    """By the number of their index, the ranks of pages that match and for which another is shown: of those with one
    payload that with the highest rank is. No more than `MOST_COUNTED` may match.
    """
    found: list[tuple[int, list[tuple[int, DocAddress]], list[int]]] = []  # of each index, and the digests
    for at, (snapshot, query) in matches.items():
        hits = snapshot.searcher.search(query, MOST_COUNTED, count=False, order_by_field="rank").hits
        found.append((at, hits, snapshot.values("digest", [address for _, address in hits])))
    if len(set().union(*(digests for *_, digests in found))) == sum(len(digests) for *_, digests in found):
        return {}
    ranked = [(hit[0], at, digest) for at, hits, digests in found for hit, digest in zip(hits, digests, strict=True)]
    ranked.sort(reverse=True)
    shown: set[int] = set()
    others: dict[int, list[int]] = {}
    for rank, at, digest in ranked:
        if digest in shown:
            others.setdefault(at, []).append(rank)
        else:
            shown.add(digest)
    return others


def without(query: Query, ranks: list[int] | None) -> Query:
    if not ranks:
        return query
    return Query.boolean_query([
        (Occur.Must, query), (Occur.MustNot, Query.term_set_query(schema(), "rank", ranks)),
    ])  # fmt: skip
