"""The crawl's figures over time: rings of samples, each coarser and longer than the one before, kept in the commit.

A ring has a fixed number of slots, and a slot is written once a step: a crawl of years takes 500 kB, and a
commit some dozens of bytes more.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import msgspec

from gossamer.agent.progress import Progress
from gossamer.agent.statistics import Statistics
from gossamer.frontier.counts import Counts

if TYPE_CHECKING:
    from gossamer.frontier.reader import FrontierReader

HISTORY: Final = "history "  # in the frontier, before the number of a ring and of a slot


class Ring(msgspec.Struct, frozen=True):
    step: int  # seconds between two samples
    slots: int

    @property
    def span(self) -> int:
        return self.step * self.slots


RINGS: Final = (Ring(2, 480), Ring(60, 400), Ring(600, 1100), Ring(10_800, 3000))  # 16 min, 6.7 h, 7.6 days, a year


class Sample(msgspec.Struct, array_like=True, gc=False):
    """Totals over all runs at one moment. What is on disk has these in this order: new ones go to the end."""

    at: float
    ok: int = 0  # 2xx
    redirects: int = 0  # 3xx
    refusals: int = 0  # 4xx
    errors: int = 0  # 5xx, and statuses that are none
    faults: int = 0  # failed tries
    excluded: int = 0  # visits that found something not wanted
    bytes: int = 0
    urls: int = 0
    queued: int = 0
    revisits: int = 0  # visits to what had been visited before
    changed: int = 0  # of these found a change
    unmodified: int = 0  # of these were answered without a body
    gone: int = 0  # pages that are there no more
    freshness: float = 1.0  # estimated share of copies that are what their servers show, at that moment


def sample_of(statistics: Statistics, counts: Counts, now: float, fresh: Progress | None = None) -> Sample:
    """`fresh`: what the crawl says of pages that it visits again."""
    fresh = fresh or Progress()
    classes = statistics.status_classes()
    ok, redirects, refusals = (classes.get(name, 0) for name in ("2xx", "3xx", "4xx"))
    return Sample(
        now,
        ok,
        redirects,
        refusals,
        statistics.pages - ok - redirects - refusals,
        statistics.failures,
        statistics.left_out,
        statistics.bytes,
        counts.urls,
        counts.queued,
        fresh.revisits,
        fresh.revisits_changed,
        fresh.revisits_unmodified,
        fresh.gone,
        round(fresh.freshness, 4),
    )


class History:
    """Invariant: a ring has one sample for each of its steps in which there was a commit, the newest in the place of
    those that it has no room for.
    """

    def __init__(self, before: Sample) -> None:
        """`before`: as of the last commit of the run before, at 0 where there was none."""
        self._turns = [-1] * len(RINGS)
        # A run that was killed has no last sample, and what came after its last one in a ring must not be taken for
        # something that came while nothing ran.
        self._before = before if before.at else None

    def taken(self, sample: Sample, last: bool) -> dict[str, bytes]:
        """What a commit keeps. The last of a run is kept in any case: what came after its step began is in it."""
        kept = {}
        if self._before is not None:
            packed = msgspec.msgpack.encode(self._before)
            kept = {_slot(number, int(self._before.at // ring.step)): packed for number, ring in enumerate(RINGS)}
            self._before = None
        for number, ring in enumerate(RINGS):
            turn = int(sample.at // ring.step)
            if turn != self._turns[number] or (last and not number):
                self._turns[number] = turn
                kept[_slot(number, turn)] = msgspec.msgpack.encode(sample)
        return kept


def _slot(ring: int, turn: int) -> str:
    return f"{HISTORY}{ring} {turn % RINGS[ring].slots}"


def read_history(frontier: FrontierReader, rings: Iterable[int] = range(len(RINGS))) -> list[Sample]:
    """What these rings hold, the oldest first. Times may be far apart where no crawl ran."""
    decode = msgspec.msgpack.Decoder(Sample).decode
    found = [decode(value) for number in rings for value in frontier.metas(f"{HISTORY}{number} ")]
    return sorted({sample.at: sample for sample in found}.values(), key=lambda sample: sample.at)
