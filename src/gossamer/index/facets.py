"""How the pages that match are spread over sites, languages and time."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from tantivy import Query

from gossamer.index.snapshot import Snapshot
from gossamer.model.domain import unreversed_host

Facets = dict[str, list[tuple[str, int]]]

_SITES: Final = 10
_LANGUAGES: Final = 10
_ASKED: Final = 50
"""Of each index, so that those with the most over all are among them."""
_HOSTS: Final = 2_000
"""The same, where the tree of domains is made of them."""
_DAY: Final = 86_400
SPANS: Final = (("day", _DAY), ("week", 7 * _DAY), ("month", 30 * _DAY), ("year", 365 * _DAY))
"""Each has those before it in it, and begins with a day of UTC, as `after:` does; what is older is `older`."""


class Counted(NamedTuple):
    """How many pages match, and how they are spread; `hosts` are those with most, 50 or more of each index."""

    total: int
    facets: Facets
    hosts: dict[str, int]


def count_facets(matches: list[tuple[Snapshot, Query]], now: float, many_hosts: bool) -> Counted:
    sites: dict[str, int] = {}
    languages: dict[str, int] = {}
    ages = dict.fromkeys((*(name for name, _ in SPANS), "older"), 0)
    for snapshot, query in matches:
        found = snapshot.searcher.aggregate(query, _request(now, _HOSTS if many_hosts else _ASKED))
        for bucket in found["site"]["buckets"]:
            host = unreversed_host(bucket["key"])
            sites[host] = sites.get(host, 0) + bucket["doc_count"]
        for bucket in found["language"]["buckets"]:
            if bucket["key"]:
                languages[bucket["key"]] = languages.get(bucket["key"], 0) + bucket["doc_count"]
        for bucket in found["date"]["buckets"]:
            if bucket["key"] in ages:
                ages[bucket["key"]] += bucket["doc_count"]
    spans = [name for name, _ in SPANS]
    upto = [(name, sum(ages[other] for other in spans[: at + 1])) for at, name in enumerate(spans)]
    # Every page has a time, so the spans have all of them.
    facets = {
        "site": _most(sites, _SITES),
        "language": _most(languages, _LANGUAGES),
        "date": [*upto, ("older", ages["older"])],
    }
    return Counted(sum(ages.values()), facets, sites)


def start_of(now: float, seconds: int) -> int:
    """The midnight with which a span of whole days begins that has today in it."""
    return int(now) // _DAY * _DAY - seconds + _DAY


def _request(now: float, hosts: int) -> dict[str, Any]:
    ranges: list[dict[str, Any]] = []
    end: float | None = None
    for name, seconds in SPANS:
        start = float(start_of(now, seconds))
        ranges.append({"key": name, "from": start} | ({"to": end} if end is not None else {}))
        end = start
    ranges.append({"key": "older", "to": end})
    return {
        "site": {"terms": {"field": "host", "size": hosts, "split_size": 2 * hosts}},
        "language": {"terms": {"field": "language", "size": _ASKED}},
        "date": {"range": {"field": "fetched", "ranges": ranges}},
    }


def _most(counts: dict[str, int], number: int) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:number]
