"""The hours of a schedule as a week that can be drawn and painted (P11), and back as lines of text."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import msgspec

from gossamer.agent import numbers
from gossamer.config import Hours, hours

DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_WEEK: Final = frozenset(range(7))
_DAY: Final = 24 * 60
HIGH: Final = 10.0


class Caps(NamedTuple):
    """What holds at some hours; None is the crawl's own cap, 0 is no cap."""

    rate: float | None = None
    bandwidth: int | None = None
    pause: bool = False

    @property
    def kind(self) -> str:
        if self.pause:
            return "pause"
        if self == USUAL:
            return "usual"
        return "cap" if self.rate or self.bandwidth else "free"

    def words(self) -> str:
        """For people."""
        if self.pause:
            return "paused"
        said = []
        if self.rate is not None:
            said.append(f"{self.rate:g} pages/s" if self.rate else "no cap on pages")
        if self.bandwidth is not None:
            said.append(f"{numbers.size(self.bandwidth)}/s" if self.bandwidth else "no cap on bytes")
        return " and ".join(said) or "as usual"

    def text(self) -> str:
        """As a line of the schedule has it."""
        if self.pause:
            return "pause"
        said = [] if self.rate is None else [f"rate={self.rate:.15g}"]
        if self.bandwidth is not None:
            said.append(f"bandwidth={self.bandwidth}")
        return " ".join(said)


USUAL: Final = Caps()
Run = tuple[int, int, Caps]  # from minute, to minute


class Bar(msgspec.Struct, frozen=True):
    """What holds for a while, as it is drawn: in hours from the left, and HIGH from the ground."""

    x: float
    width: float
    height: float
    kind: str
    words: str


class Row(msgspec.Struct, frozen=True):
    """Days that are alike."""

    name: str
    days: str  # their numbers, 0 is Monday
    bars: list[Bar]


class Week:
    """Invariant: the runs of a day cover it without a gap or an overlap, and no two neighbours are alike."""

    def __init__(self, days: Sequence[Sequence[Run]]) -> None:
        self.days = [_joined(runs) for runs in days]

    @classmethod
    def of(cls, lines: Sequence[str]) -> Week:
        """Raises ValueError, as `hours` does."""
        spans = [hours(line) for line in lines]
        marks = sorted({0, _DAY, *(span.start for span in spans), *(span.end for span in spans)})
        return cls([[(start, end, _first(spans, day, start)) for start, end in pairwise(marks)] for day in range(7)])

    def at(self, day: int, minute: int) -> Caps:
        return next(caps for start, end, caps in self.days[day] if start <= minute < end)

    def painted(self, days: Collection[int], start: int, end: int, caps: Caps) -> Week:
        """With something else on these days between two minutes."""
        found = []
        for day, runs in enumerate(self.days):
            if day in days:
                before = [(a, min(b, start), old) for a, b, old in runs if a < start]
                after = [(max(a, end), b, old) for a, b, old in runs if b > end]
                runs = [*before, (start, end, caps), *after]
            found.append(runs)
        return Week(found)

    def lines(self) -> list[str]:
        """The fewest that say it: days that are alike together, what goes on after midnight in one."""
        found: dict[tuple[Caps, int, int], set[int]] = {}
        for day, runs in enumerate(self.days):
            for start, end, caps in runs:
                if caps != USUAL:
                    found.setdefault((caps, start, end), set()).add(day)
        for (caps, start, end), days in list(found.items()):
            if end == _DAY and start:
                _over_midnight(found, caps, start, days)
        return [
            " ".join(filter(None, (_days(days), _times(start, end), caps.text())))
            for (caps, start, end), days in sorted(found.items(), key=lambda item: (min(item[1]), item[0][1]))
        ]

    def rows(self, rate: float = 0.0, each: bool = False) -> list[Row]:
        """Days that are alike in one row, or each day in its own. `rate` is the crawl's own cap."""
        caps = [caps for runs in self.days for _, _, caps in runs]
        top = max([rate, *(each.rate or 0.0 for each in caps)]) * (1 if rate else 1.5)
        groups: dict[object, list[int]] = {}
        for day, runs in enumerate(self.days):
            groups.setdefault(day if each else tuple(runs), []).append(day)
        return [
            Row(_days(days) or "Every day", "".join(map(str, days)), list(_bars(self.days[days[0]], rate, top)))
            for days in groups.values()
        ]

    def spent(self) -> dict[str, int]:
        """Minutes of the week by kind."""
        found = dict.fromkeys(("usual", "cap", "free", "pause"), 0)
        for runs in self.days:
            for start, end, caps in runs:
                found[caps.kind] += end - start
        return found


def _bars(runs: Sequence[Run], usual: float, top: float) -> Iterator[Bar]:
    """As high as the cap is, of the highest there is; without one as high as can be."""
    for start, end, caps in runs:
        rate = usual if caps.rate is None else caps.rate
        height = 0.0 if caps.pause else max(1.0, round(HIGH * rate / top, 2)) if rate else HIGH
        said = f"{_times(start, end) or 'all day'}: {caps.words()}"
        yield Bar(round(start / 60, 3), round((end - start) / 60, 3), height, caps.kind, said)


def painted(lines: Sequence[str], paint: str, caps: str) -> Week:
    """A week of lines, with hours painted over: `paint` is days, first and last hour (`01234 8 17`), `caps` as in a
    line, or `usual`. Raises ValueError, saying what was expected.
    """
    week = Week.of(lines)
    if not paint:
        return week
    wanted = USUAL if caps == "usual" else _caps(hours(caps))
    days, first, last = paint.split(" ")
    start, end = int(first), int(last) + 1
    if not (set(days) <= set("0123456") and 0 <= start < end <= 24):
        raise ValueError("days and hours of a week")
    return week.painted({int(day) for day in days}, 60 * start, 60 * end, wanted)


def _caps(span: Hours) -> Caps:
    return Caps(span.rate, span.bandwidth, span.pause)


def _first(spans: Sequence[Hours], day: int, minute: int) -> Caps:
    for span in spans:
        if span.hold(day, minute):
            return _caps(span)
    return USUAL


def _joined(runs: Sequence[Run]) -> list[Run]:
    found: list[Run] = []
    for start, end, caps in runs:
        if start >= end:
            continue
        if found and found[-1][2] == caps:
            found[-1] = (found[-1][0], end, caps)
        else:
            found.append((start, end, caps))
    return found


def _over_midnight(found: dict[tuple[Caps, int, int], set[int]], caps: Caps, start: int, days: set[int]) -> None:
    """Put an evening and the morning after it together, where they are of the same days."""
    mornings = {(day + 1) % 7 for day in days}
    for other, first, end in list(found):
        if other == caps and not first and end < start and found[caps, 0, end] == mornings:
            del found[caps, start, _DAY], found[caps, 0, end]
            found[caps, start, end] = days
            return


def _days(days: Collection[int]) -> str:
    """Mon-Fri or Sat,Sun; empty for all."""
    if set(days) >= _WEEK:
        return ""
    said = []
    left = sorted(days)
    while left:
        first = last = left.pop(0)
        while left and left[0] == last + 1:
            last = left.pop(0)
        said.append(DAYS[first] if first == last else f"{DAYS[first]}{'-' if last - first > 1 else ','}{DAYS[last]}")
    return ",".join(said)


def _times(start: int, end: int) -> str:
    whole = start == 0 and end == _DAY
    return "" if whole else f"{start // 60:02d}:{start % 60:02d}-{end // 60:02d}:{end % 60:02d}"
