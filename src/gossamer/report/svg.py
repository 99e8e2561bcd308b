"""Charts as SVG, by hand: bars of a histogram and a line over time. Colours come from the page's style."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import ceil, floor, log10
from typing import Final

from gossamer.report.writing import short

_WIDTH, _WIDE, _HEIGHT = 640, 1240, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 8, 10, 34
_MOST_LABELS: Final = 14
_UNEVEN: Final = 200  # from which the largest is so much more than the smallest that only a log axis shows both


class Axis:
    """From values to heights. Linear from zero, or by powers of ten where values are very uneven."""

    def __init__(self, values: Sequence[float]) -> None:
        most = max(values, default=0)
        least = min((value for value in values if value > 0), default=1)
        self.log = most >= _UNEVEN * least > 0
        if self.log:
            self._low, self._high = floor(log10(least)), max(ceil(log10(most)), floor(log10(least)) + 1)
            self.ticks = [10.0**power for power in range(self._low, self._high + 1)]
        else:
            step = _step(most)
            self.ticks = [number * step for number in range(ceil(most / step) + 1)] if most else [0.0, 1.0]

    def y(self, value: float) -> float:
        if self.log:
            # The smallest has a height, too: nothing has none.
            share = (log10(value) - self._low + 0.15) / (self._high - self._low + 0.15) if value > 0 else 0.0
        else:
            share = value / self.ticks[-1]
        return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - share)


def _step(most: float) -> float:
    """About four ticks, at 1, 2 or 5 times a power of ten."""
    if most <= 0:
        return 1.0
    rough = most / 4
    power = 10.0 ** floor(log10(rough))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= rough)


def histogram(labels: Sequence[str], values: Sequence[float], title: str) -> str:
    axis = Axis(values)
    base = _HEIGHT - _BOTTOM
    width = (_WIDTH - _LEFT - _RIGHT) / max(len(values), 1)
    parts = [*_grid(axis, _WIDTH)]
    every = ceil(len(labels) / _MOST_LABELS)
    for number, (label, value) in enumerate(zip(labels, values, strict=True)):
        x, top = _LEFT + number * width, axis.y(value)
        parts.append(
            f'<rect class="bar" x="{x + 1:.1f}" y="{top:.1f}" width="{max(width - 2, 0.5):.1f}"'
            f' height="{max(base - top, 0):.1f}"><title>{escape(label)}: {value:,.0f}</title></rect>'
        )
        if number % every == 0:
            parts.append(f'<text class="x" x="{x + width / 2:.1f}" y="{base + 16}">{escape(label)}</text>')
    return _drawn(parts, title, axis, _WIDTH)


def series(labels: Sequence[str], values: Sequence[float], title: str) -> str:
    """Steps, over the whole width of a page: each value holds until the next."""
    axis = Axis(values)
    axis = axis if not axis.log else _Linear(values)
    base = _HEIGHT - _BOTTOM
    width = (_WIDE - _LEFT - _RIGHT) / max(len(values), 1)
    points = [f"M{_LEFT} {base}"]
    for number, value in enumerate(values):
        x = _LEFT + number * width
        points.append(f"L{x:.1f} {axis.y(value):.1f}L{x + width:.1f} {axis.y(value):.1f}")
    parts = [*_grid(axis, _WIDE), f'<path class="area" d="{"".join(points)}L{_WIDE - _RIGHT} {base}Z"/>']
    for number in sorted({0, len(labels) // 2, len(labels) - 1}) if labels else ():
        x = _LEFT + (number + 0.5) * width
        anchor = (
            ' style="text-anchor:start"' if number == 0 else ' style="text-anchor:end"' * (number == len(labels) - 1)
        )
        parts.append(f'<text class="x"{anchor} x="{x:.1f}" y="{base + 16}">{escape(labels[number])}</text>')
    return _drawn(parts, title, axis, _WIDE)


class _Linear(Axis):
    """Zero must be seen where a crawl stood still."""

    def __init__(self, values: Sequence[float]) -> None:
        self.log = False
        step = _step(max(values, default=0))
        self.ticks = [number * step for number in range(ceil(max(values, default=0) / step) + 1)] or [0.0, 1.0]


def _grid(axis: Axis, width: int) -> list[str]:
    lines = []
    for tick in axis.ticks:
        y = axis.y(tick)
        lines.append(f'<line class="grid" x1="{_LEFT}" x2="{width - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        lines.append(f'<text class="y" x="{_LEFT - 6}" y="{y + 4:.1f}">{_tick(tick)}</text>')
    return lines


def _tick(value: float) -> str:
    return short(value).replace(".0", "") if value >= 10 or value == int(value) else f"{value:g}"


def _drawn(parts: list[str], title: str, axis: Axis, width: int) -> str:
    scale = " (log scale)" if axis.log else ""
    if axis.log:
        parts.append(f'<text class="y" x="{width - _RIGHT}" y="{_HEIGHT - 2}">log scale</text>')
    return f'<svg viewBox="0 0 {width} {_HEIGHT}" role="img" aria-label="{escape(title)}{scale}">{"".join(parts)}</svg>'
