"""The curves of several agents as one: what all had counted together, moment by moment."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Sequence
from operator import attrgetter
from typing import Any, Final

from gossamer.agent.history import RINGS, Sample

_STEP: Final = RINGS[0].step
_LATE: Final = 10.0  # seconds after which an agent without a sample keeps the others' from being shown no longer
_COUNTS: Final = tuple(name for name in Sample.__struct_fields__ if name not in ("at", "freshness"))
_counts = attrgetter(*_COUNTS)
_at = attrgetter("at")


class Curves:
    """Invariant: a sum is of all agents; before the first sample of one, it counts with that."""

    def __init__(self) -> None:
        self._kept: dict[str, list[Sample]] = {}
        self._sums: dict[int, Sample] = {}  # of moments of which nothing more is to come

    def replace(self, agent: str, samples: Sequence[Sample]) -> None:
        """All that is kept of it."""
        if self._kept.get(agent) != samples:
            self._kept[agent] = sorted(samples, key=_at)
            self._sums.clear()

    def add(self, agent: str, samples: Sequence[Sample]) -> None:
        kept = self._kept.setdefault(agent, [])
        last = kept[-1].at if kept else 0.0
        kept += sorted((sample for sample in samples if sample.at > last), key=_at)

    def keep(self, agents: Collection[str]) -> None:
        """Forget all others."""
        if gone := self._kept.keys() - set(agents):
            self._kept = {name: samples for name, samples in self._kept.items() if name not in gone}
            self._sums.clear()

    def clear(self) -> None:
        self._kept.clear()
        self._sums.clear()

    def all(self) -> list[Sample]:
        """Every sample of one agent; of several, sums in steps."""
        kept = [samples for samples in self._kept.values() if samples]
        if len(kept) < 2:
            return list(kept[0]) if kept else []
        newest = max(samples[-1].at for samples in kept)
        final = min(samples[-1].at for samples in kept if samples[-1].at > newest - _LATE)
        times = [list(map(_at, samples)) for samples in kept]
        steps = sorted({int(at // _STEP) * _STEP for each in times for at in each if at < final})
        for step in steps:
            if step not in self._sums:
                self._sums[step] = _sum(kept, times, float(step))
        return [*(self._sums[step] for step in steps), _sum(kept, times, final)]


def _sum(kept: Sequence[Sequence[Sample]], times: Sequence[Sequence[float]], at: float) -> Sample:
    totals = [0.0] * len(_COUNTS)
    pages = fresh = 0.0
    for samples, moments in zip(kept, times, strict=True):
        number = bisect_right(moments, at)
        after = samples[min(number, len(samples) - 1)]
        before = samples[max(0, number - 1)]
        share = (at - before.at) / (after.at - before.at) if after.at > before.at and at > before.at else 0.0
        low: tuple[Any, ...] = _counts(before)
        high: tuple[Any, ...] = _counts(after)
        for place, (first, last) in enumerate(zip(low, high, strict=True)):
            totals[place] += first + (last - first) * share
        pages += before.ok
        fresh += before.ok * before.freshness
    whole = {name: round(total) for name, total in zip(_COUNTS, totals, strict=True)}
    return Sample(at, **whole, freshness=fresh / pages if pages else 1.0)
