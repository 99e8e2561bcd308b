"""PageRank: the chance to be at a page, of somebody who follows links at random and now and then begins anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from gossamer.graph.edges import BLOCK, Edges

DAMPING: Final = 0.85
TOLERANCE: Final = 1e-6
MOST_ROUNDS: Final = 100

Ranks = NDArray[np.float64]


class Ranked(msgspec.Struct):
    """Scores, whose sum is 1; after how many rounds, and by how much the last of them changed all scores together."""

    scores: Ranks
    rounds: int
    change: float

    def settled(self, tolerance: float) -> bool:
        return self.change < tolerance


def pagerank(
    edges: Edges,
    counts: NDArray[np.bool_] | None = None,
    *,
    damping: float = DAMPING,
    tolerance: float = TOLERANCE,
    most_rounds: int = MOST_ROUNDS,
    watch: Callable[[int, float], None] = lambda number, change: None,
    block: int = BLOCK,
) -> Ranked:
    """Links are read from the disk, once a round; in memory are some 40 bytes a page.

    Pages without links lead everywhere alike. Those that do not count (`counts`) are no pages: no link leads to them or
    from them, and their score is 0.
    """
    nodes = edges.nodes
    counts = np.ones(nodes, bool) if counts is None else counts
    number = int(counts.sum())
    if not number:
        return Ranked(np.zeros(nodes), 0, 0.0)
    leads_nowhere = counts & (edges.out_degrees == 0)
    out = np.maximum(edges.out_degrees, 1).astype(np.float64)
    scores: Ranks = counts.astype(np.float64) / number
    change = 0.0
    for done in range(1, most_rounds + 1):
        share = scores / out
        base = (1.0 - damping + damping * float(scores[leads_nowhere].sum())) / number
        fresh: Ranks = counts.astype(np.float64) * base
        for first, last, sources in edges.blocks(block):
            fresh[first:last] += damping * _sums(share[sources], edges.starts[first : last + 1])
        fresh /= fresh.sum()
        change = float(np.abs(fresh - scores).sum())
        scores = fresh
        watch(done, change)
        if change < tolerance:
            break
    return Ranked(scores, done, change)


def _sums(values: Ranks, starts: NDArray[np.int64]) -> Ranks:
    """Of the values from each start to the next."""
    sums = np.zeros(len(starts) - 1)
    some = np.flatnonzero(starts[1:] > starts[:-1])
    if len(some):
        sums[some] = np.add.reduceat(values, starts[some] - starts[0])
    return sums
