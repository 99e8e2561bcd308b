"""The curve of a simulated crawl's freshness, beside policies that know the rates: JSON of freshness.py to SVG."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 720, 360, 56, 150, 24, 44
_COLOURS = {"optimum": "#2e7d32", "uniform": "#6b7280", "proportional": "#b45309"}
_OURS, _INK = "#1d4ed8", "#374151"


def plotted(figures: dict[str, Any]) -> str:
    days, step = figures["days"], figures["step"]
    curve = [fresh for fresh, _ in figures["learned"]]
    policies = {name: fresh for name, (fresh, _) in figures["policies"].items()}

    def x(day: float) -> float:
        return _LEFT + day / days * (_WIDTH - _LEFT - _RIGHT)

    def y(fresh: float) -> float:
        return _HEIGHT - _BOTTOM - fresh * (_HEIGHT - _TOP - _BOTTOM)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="system-ui, sans-serif"'
        ' font-size="13" role="img">',
        "<title>Freshness of a simulated crawl over time, beside three policies that know all rates</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
    ]
    for tenth in range(0, 11, 2):
        level = y(tenth / 10)
        parts.append(f'<path d="M{_LEFT} {level:.1f}H{_WIDTH - _RIGHT}" stroke="#e5e7eb"/>')
        parts.append(
            f'<text x="{_LEFT - 8}" y="{level + 4:.1f}" text-anchor="end" fill="#374151">{tenth * 10} %</text>'
        )
    for day in range(0, days + 1, 10):
        parts.append(
            f'<text x="{x(day):.1f}" y="{_HEIGHT - _BOTTOM + 20}" text-anchor="middle" fill="{_INK}">{day}</text>'
        )
    parts.append(f'<text x="{x(days / 2):.1f}" y="{_HEIGHT - 6}" text-anchor="middle" fill="{_INK}">days</text>')
    labels = [(fresh, name, _COLOURS[name]) for name, fresh in policies.items()]
    for fresh, _, colour in labels:
        parts.append(f'<path d="M{_LEFT} {y(fresh):.1f}H{_WIDTH - _RIGHT}" stroke="{colour}" stroke-dasharray="5 4"/>')
    points = " ".join(f"{x((number + 0.5) * step):.1f},{y(fresh):.1f}" for number, fresh in enumerate(curve))
    parts.append(f'<polyline points="{points}" fill="none" stroke="{_OURS}" stroke-width="2.5"/>')
    labels.append((curve[-1], "gossamer", _OURS))
    last = -100.0
    for fresh, name, colour in sorted(labels, reverse=True):
        last = max(y(fresh), last + 16)
        parts.append(f'<text x="{_WIDTH - _RIGHT + 8}" y="{last + 4:.1f}" fill="{colour}">{name} {fresh:.1%}</text>')
    return "\n".join([*parts, "</svg>", ""])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("figures", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    options.out.write_text(plotted(json.loads(options.figures.read_text())["policies"]), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
