"""What scores are made of, in plain parts."""

from __future__ import annotations

import math
from typing import Final

from tantivy import DocAddress, Occur, Query

from gossamer.index.matching import TOGETHER
from gossamer.index.query import And
from gossamer.index.schema import schema, url_term
from gossamer.index.snapshot import Snapshot

Parts = list[tuple[str, float]]

_NAMES: Final = {
    "title": "title",
    "body": "text",
    "stems": "other forms",
    "anchors": "links to it",
    "address": "address",
    TOGETHER: "words together",
}


def why(snapshot: Snapshot, tree: And, shown: list[tuple[DocAddress, str]]) -> list[Parts]:
    """For each result (where it is, its URL): what each field adds, and by what the sum is multiplied.

    Each field is asked once for all results, which is far less work than an explanation of each.
    """
    urls = [Query.term_query(schema(), "url", url_term(url), "basic") for _, url in shown]
    only = Query.const_score_query(Query.boolean_query([(Occur.Should, query) for query in urls]), 0.0)
    worth: dict[tuple[int, int], dict[str, float]] = {}
    for field, query in snapshot.matcher.parts(tree):
        found = snapshot.searcher.search(
            Query.boolean_query([(Occur.Must, only), (Occur.Must, query)]), len(shown), count=False
        )
        for score, address in found.hits:
            parts = worth.setdefault((address.segment_ord, address.doc), {})
            parts[_NAMES[field]] = parts.get(_NAMES[field], 0.0) + score
    weights = snapshot.searcher.fast_field_values("weight", [address for address, _ in shown])
    return [
        _told(worth.get((address.segment_ord, address.doc), {}), math.log2(2 + float(weight or 0.0)))
        for (address, _), weight in zip(shown, weights, strict=True)
    ]


def _told(worth: dict[str, float], factor: float) -> Parts:
    parts = [(name, round(added, 3)) for name, added in sorted(worth.items(), key=lambda item: -item[1]) if added > 0]
    return [*parts, ("times, for links and place", round(factor, 2))] if factor >= 1.005 else parts
