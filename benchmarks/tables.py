"""Tables that read well in a terminal and paste into a document."""

from __future__ import annotations

from collections.abc import Sequence


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Markdown with aligned columns: the first to the left, the others to the right."""
    widths = [max(len(cell) for cell in column) for column in zip(headings, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        aligned = [
            cell.ljust(width) if number == 0 else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return f"| {' | '.join(aligned)} |"

    rule = [("-" * width) if number == 0 else ("-" * (width - 1) + ":") for number, width in enumerate(widths)]
    return "\n".join([line(headings), line(rule), *(line(row) for row in rows)])


def figure(number: float | None) -> str:
    """Three digits that count, and a dash where nothing was measured."""
    if number is None:
        return "-"
    if abs(number) >= 100:
        return f"{number:,.0f}"
    return f"{number:.1f}" if abs(number) >= 10 else f"{number:.2f}"
