"""What a score is made of, in plain parts."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from tantivy import DocAddress, Query

from gossamer.index.snapshot import Snapshot

_PARTS: Final = ("text", "title", "links to it", "address", "other forms")
"""In the order of the schema's fields."""
_boost = re.compile(r"Boost x([0-9.e-]+) of").match
_field = re.compile(r"field=(\d+)").search


def why(snapshot: Snapshot, query: Query, address: DocAddress, score: float) -> list[tuple[str, float]]:
    """Each field with what its words add, then by what the sum is multiplied. Empty where it cannot be told."""
    try:
        told = json.loads(query.explain(snapshot.searcher, address).to_json())
    except ValueError:
        return []
    sums: dict[str, float] = {}
    _gather(told, 1.0, sums)
    parts = [
        (part, round(worth, 3)) for part, worth in sorted(sums.items(), key=lambda item: -item[1]) if worth >= 0.001
    ]
    base = float(told["value"])
    if base > 0 and abs(score / base - 1) >= 0.01:
        parts.append(("times, for links and place", round(score / base, 2)))
    return parts


def _gather(node: dict[str, Any], times: float, sums: dict[str, float]) -> None:
    """Invariant: what is added for a node is its share of the whole, boosts above it included."""
    description = node["description"]
    context = " ".join(node.get("context", ()))
    if "Phrase" in description or "Phrase" in context:
        sums["words together"] = sums.get("words together", 0.0) + node["value"] * times
        return
    if field := _field(context):
        number = int(field[1])
        part = _PARTS[number] if number < len(_PARTS) else "filters"
        sums[part] = sums.get(part, 0.0) + node["value"] * times
        return
    if boost := _boost(description):
        times *= float(boost[1])
    for detail in node.get("details", ()):
        _gather(detail, times, sums)
