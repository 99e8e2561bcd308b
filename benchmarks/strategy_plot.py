"""Relevant pages by pages fetched, a curve for each strategy: JSON of strategies.py to one SVG for each locality."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from curve_plot import short, text, ticks

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 720, 360, 64, 190, 36, 48
_COLOURS = {
    "focused": "#1d4ed8",
    "focused, not learning": "#2e7d32",
    "breadth-first": "#6b7280",
    "importance": "#b45309",
}
_APART = 16  # between two names


def plotted(share: str, figures: dict[str, Any]) -> str:
    runs, first = figures["runs"], figures["first"]
    marks = ticks(max(run["curve"][-1] for run in runs.values()))

    def x(pages: float) -> float:
        return _LEFT + pages / first * (_WIDTH - _LEFT - _RIGHT)

    def y(relevant: float) -> float:
        return _HEIGHT - _BOTTOM - relevant / marks[-1] * (_HEIGHT - _TOP - _BOTTOM)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="system-ui, sans-serif"'
        ' font-size="13" role="img">',
        f"<title>Relevant pages by pages fetched, where {share} of the links stay with their topic</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
        text(_LEFT - 44, 18, f"relevant pages; topical locality {share}", "start", weight="600"),
    ]
    for mark in marks:
        parts.append(f'<path d="M{_LEFT} {y(mark):.1f}H{_WIDTH - _RIGHT}" stroke="#e5e7eb"/>')
        parts.append(text(_LEFT - 8, y(mark) + 4, short(mark), "end"))
    for pages in ticks(first):
        parts.append(text(x(pages), _HEIGHT - _BOTTOM + 20, short(pages)))
    parts.append(text(x(first / 2), _HEIGHT - 8, "pages fetched"))
    last = -1e9
    for name, run in sorted(runs.items(), key=lambda item: -item[1]["curve"][-1]):
        curve, colour = run["curve"], _COLOURS[name]
        points = [(0, 0), *((first * (number + 1) / len(curve), value) for number, value in enumerate(curve))]
        way = " ".join(f"{x(pages):.1f},{y(value):.1f}" for pages, value in points)
        parts.append(f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="2.5"/>')
        last = max(y(curve[-1]), last + _APART)
        parts.append(text(_WIDTH - _RIGHT + 8, last + 4, f"{name} {curve[-1]:,}", "start", colour))
    return "\n".join([*parts, "</svg>", ""])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("figures", type=Path, help="what strategies.py --json wrote")
    parser.add_argument("out", type=Path, help="a folder; one file a locality, focused-SHARE.svg")
    options = parser.parse_args()
    for share, figures in json.loads(options.figures.read_text())["focused"].items():
        (options.out / f"focused-{share}.svg").write_text(plotted(share, figures), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
