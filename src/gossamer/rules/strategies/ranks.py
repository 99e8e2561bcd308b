"""Scores to priorities, by how they compare with those met lately."""

from __future__ import annotations

from typing import Final

_BINS: Final = 200
_FADE: Final = 0.5
_FADE_EVERY: Final = 50_000  # scores
# The best so much of all scores have these priorities; the rest has the one after the last.
_SHARES: Final = (0.02, 0.05, 0.10, 0.20, 0.35, 0.50, 0.75)
_AGAIN_EVERY: Final = 500  # scores after which the bounds are found anew


class Ranks:
    """Scores of any spread fill all priorities. Invariant: memory is that of the bins; old scores fade."""

    def __init__(self) -> None:
        self._counts = [0.0] * (_BINS + 1)
        self._seen = 0
        self._bounds = [0.8, 0.65, 0.5, 0.4, 0.3, 0.2, 0.1]  # until there is something to compare with

    def priority(self, score: float) -> int:
        """From 1, of the best, to 8."""
        self._counts[min(_BINS, max(0, int(score * _BINS)))] += 1
        self._seen += 1
        if self._seen % _AGAIN_EVERY == 0:
            self._find_bounds()
        for place, bound in enumerate(self._bounds, 1):
            if score >= bound:
                return place
        return len(_SHARES) + 1

    def _find_bounds(self) -> None:
        if self._seen >= _FADE_EVERY:
            self._counts = [count * _FADE for count in self._counts]
            self._seen = 0
        total, above, place = sum(self._counts), 0.0, _BINS
        bounds = []
        for share in _SHARES:
            while place > 0 and above + self._counts[place] <= share * total:
                above += self._counts[place]
                place -= 1
            bounds.append((place + 1) / _BINS)
        self._bounds = bounds

    def kept(self) -> list[float]:
        return self._counts

    def take(self, counts: list[float]) -> None:
        """What `kept` gave."""
        if len(counts) == len(self._counts):
            self._counts = counts
            self._find_bounds()
