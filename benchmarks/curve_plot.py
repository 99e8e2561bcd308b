"""The curves of curves.py as pictures: JSON to one SVG a curve, CPU of a page on the left and memory on the right."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

_WIDTH, _HEIGHT, _TOP, _BOTTOM = 820, 340, 62, 52
_PLOT, _MARGIN, _INSET = 320, 62, 28  # width of a panel, left of it, and what its points keep from its edges
_BAR, _APART, _STEEP = 48, 34, 0.3  # width of a bar; figures from each other; a rise that would cross a figure
_STEPS = (1, 2, 2.5, 5, 10)
_LOG = 20  # the largest is this many times the smallest: powers
_CPU, _RSS, _INDEX, _INK, _RULE = "#1d4ed8", "#b45309", "#2e7d32", "#374151", "#e5e7eb"


class Line(NamedTuple):
    name: str
    colour: str
    values: Sequence[float]


def ticks(highest: float, number: int = 5) -> list[float]:
    """Round figures from 0 to the first that is not below the highest, about so many."""
    if highest <= 0:
        return [0.0, 1.0]
    unit = 10.0 ** math.floor(math.log10(highest / number))
    step = next(unit * factor for factor in _STEPS if unit * factor * number >= highest)
    return [step * count for count in range(math.ceil(highest / step - 1e-9) + 1)]


def short(value: float) -> str:
    """1,000 as it is, 1e5 as 10 to the fifth, if it is one."""
    power = round(math.log10(value)) if value >= 1e4 else 0
    if power and value == 10**power:
        return "10" + str(power).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.1f}"


def places(values: Sequence[Any]) -> tuple[list[float], list[tuple[float, str]]]:
    """Where points stand between 0 and 1, and the labels below them.

    Words are spread evenly. Numbers of several magnitudes stand by their logarithms, each with its label; others stand
    from 0 on, above round figures.
    """
    if any(isinstance(value, str) for value in values):
        spread = [(number + 0.5) / len(values) for number in range(len(values))]
        return spread, list(zip(spread, values, strict=True))
    smallest, largest = min(values), max(values)
    if smallest > 0 and largest >= _LOG * smallest:
        whole = math.log(largest / smallest)
        stand = [math.log(value / smallest) / whole for value in values]
        return stand, [(place, short(value)) for place, value in zip(stand, values, strict=True)]
    marks = ticks(largest)
    return [value / marks[-1] for value in values], [(mark / marks[-1], short(mark)) for mark in marks]


def panel(left: float, title: str, heading: str, values: Sequence[Any], lines: Sequence[Line]) -> list[str]:
    """Axes from 0 on, a line or bars for each of `lines`, and the figure at each point."""
    marks = ticks(max(value for line in lines for value in line.values))
    bottom = _HEIGHT - _BOTTOM

    def x(place: float) -> float:
        return left + _INSET + place * (_PLOT - 2 * _INSET)

    def y(value: float) -> float:
        return bottom - max(0.0, value) / marks[-1] * (bottom - _TOP)

    parts = [text(left - 44, _TOP - 16, title, "start", weight="600")]
    for mark in marks:
        parts.append(f'<path d="M{left:.1f} {y(mark):.1f}H{left + _PLOT:.1f}" stroke="{_RULE}"/>')
        parts.append(text(left - 8, y(mark) + 4, short(mark), "end"))
    stand, labels = places(values)
    parts += [text(x(place), bottom + 20, str(label)) for place, label in labels]
    parts.append(text(left + _PLOT / 2, _HEIGHT - 10, heading))
    draw = bars if any(isinstance(value, str) for value in values) else curve
    for number, line in enumerate(lines):
        at = [(x(place), y(value), short(round(value))) for place, value in zip(stand, line.values, strict=True)]
        parts += draw(at, line.colour, bottom, number - (len(lines) - 1) / 2)
    if len(lines) > 1:
        for number, line in enumerate(lines):
            parts.append(text(left + _PLOT, _TOP - 16 - 15 * number, line.name, "end", line.colour))
    return parts


Shown = Sequence[tuple[float, float, str]]  # where in the picture, and the figure there


def curve(points: Shown, colour: str, _bottom: float, _aside: float) -> list[str]:
    """Figures that would stand in each other are left out; beside a rise they stand to its left."""
    parts = [f'<polyline points="{way(points)}" fill="none" stroke="{colour}" stroke-width="2.5"/>']
    taken = -math.inf
    for (x, y, figure), (next_x, next_y, _) in zip(points, [*points[1:], points[-1]], strict=True):
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>')
        if x - taken >= _APART:
            parts.append(text(x, y - 10, figure, "end" if y - next_y > _STEEP * (next_x - x) else "middle", colour))
            taken = x
    return parts


def way(points: Shown) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in points)


def bars(points: Shown, colour: str, bottom: float, aside: float) -> list[str]:
    parts = []
    for x, y, figure in points:
        middle = x + aside * (_BAR + 2)
        parts.append(
            f'<rect x="{middle - _BAR / 2:.1f}" y="{y:.1f}" width="{_BAR}" height="{bottom - y:.1f}" fill="{colour}"/>'
        )
        parts.append(text(middle, y - 8, figure, colour=colour))
    return parts


def text(x: float, y: float, words: str, anchor: str = "middle", colour: str = _INK, weight: str = "normal") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" font-weight="{weight}">'
        f"{escape(words)}</text>"
    )


def plotted(name: str, figures: Mapping[str, Any]) -> str:
    """The picture of one curve."""
    heading, points = figures["heading"], figures["points"]
    values = [point["value"] for point in points]
    cpu = [Line("the crawl", _CPU, [point["cpu_us"] for point in points])]
    if any(point["index_cpu_us"] for point in points):
        cpu.append(Line("the indexer", _INDEX, [point["index_cpu_us"] for point in points]))
    memory = [Line("memory", _RSS, [point["peak_rss"] / 1e6 for point in points])]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="system-ui, sans-serif"'
        ' font-size="13" role="img">',
        f"<title>{escape(f'CPU of a page and memory of one agent, by {name}: {heading}')}</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
        *panel(_MARGIN, "CPU of a page, µs", heading, values, cpu),
        *panel(2 * _MARGIN + _PLOT + 24, "peak memory, MB", heading, values, memory),
    ]
    return "\n".join([*parts, "</svg>", ""])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("figures", type=Path, help="what curves.py --json wrote")
    parser.add_argument("out", type=Path, help="a folder; one file a curve, curve-NAME.svg")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name, figures in json.loads(options.figures.read_text())["curves"].items():
        file = options.out / f"curve-{name}.svg"
        file.write_text(plotted(name, figures), encoding="utf-8")
        print(file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
