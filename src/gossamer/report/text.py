"""The report for a terminal: short, one screen or two."""

from __future__ import annotations

from typing import Final

from gossamer.report.html import lead
from gossamer.report.page_tables import folded
from gossamer.report.report import Report
from gossamer.report.site import Site
from gossamer.report.table import Table
from gossamer.report.writing import count, harmless, share, short, size, written

_ROWS: Final = 5
_BAR: Final = 20  # characters
_WIDTH: Final = 40  # of a label
_SUFFIXES: Final = 7  # of a crosstab
_CELL: Final = 9
_TABLES: Final = (
    "status_codes", "faults", "exclusions", "server_software", "suffixes", "domains_by_hosts", "domains_by_pages",
    "linked_domains", "suffix_links", "ranked_domains", "ranked_hosts", "ranked_pages", "types", "extensions",
    "languages",
)  # fmt: skip


def report_text(report: Report) -> str:
    totals = report.totals
    lines = [
        harmless(f"Report on the crawl in {report.home}"),
        lead(totals),
        f"{count(totals['urls'])} URLs known: {count(totals['fetched'])} fetched, {count(totals['queued'])} queued,"
        f" {count(totals['dead'])} given up, {count(totals['excluded'])} excluded"
        f" ({count(totals['robots_excluded'])} by robots.txt).",
        f"{count(totals['links'])} links, {_middle(totals['median_links'])} on a page in the middle;"
        f" {size(totals['median_size'] or 0)} a page in the middle;"
        f" {count(totals['duplicate_pages'])} pages repeat others,"
        f" {count(totals['findings'])} places repeat themselves.",
    ]
    if report.behind:
        lines.append("Another process is making facts: what it has not reached yet is not in here.")
    if report.missing:
        lines.append(f"Without what {', '.join(report.missing)} knows: no answer came.")
    for name in _TABLES:
        table = report.tables[name]
        lines += _grid(table) if table.chart == "crosstab" else _lines(table)
    return "\n".join(lines)


def site_text(site: Site) -> str:
    lines = [site.host, harmless(site.sentence())]
    lines += [f"{label:<14} {harmless(value)}" for label, value in site.figures()]
    for table in site.tables.values():
        lines += _lines(table, 10)
    return "\n".join(lines)


def _middle(value: float | None) -> str:
    return count(round(value)) if value is not None else "none"


def _lines(table: Table, shown: int = _ROWS) -> list[str]:
    if not table.rows:
        return []
    measure = [field.name for field in table.fields].index(table.measure)
    rows = sorted(table.rows, key=lambda row: -(row[measure] or 0))[:shown]
    most = max(rows[0][measure] or 0, 1)
    lines = ["", f"{table.title} ({table.fields[measure].title})"]
    for row in rows:
        label = (
            " ".join(
                filter(None, (written(field, value) for field, value in zip(table.fields[:measure], row, strict=False)))
            )
            if table.name == "status_codes"
            else written(table.fields[0], row[0])
        )
        label = label if len(label) <= _WIDTH else label[: _WIDTH - 1] + "…"
        bar = "█" * max(round(_BAR * (row[measure] or 0) / most), 1 if row[measure] else 0)
        number = written(table.fields[measure], row[measure] or 0)
        part = share(row[measure] or 0, table.total) if table.total else ""
        lines.append(f"  {label:<{_WIDTH}} {number:>12} {part:>6} {bar}")
    if len(table.rows) > shown:
        lines.append(f"  and {count(len(table.rows) - shown)} more")
    return lines


def _grid(table: Table) -> list[str]:
    if not table.rows:
        return []
    small = folded(table, _SUFFIXES)
    lines = ["", f"{table.title} (rows link to columns)", _row("", [row[0] for row in small.rows])]
    return lines + [_row(name, [short(links) for links in values]) for name, *values in small.rows]


def _row(label: str, values: list[str]) -> str:
    cut = [text if len(text) <= _CELL else text[: _CELL - 1] + "…" for text in map(harmless, [label, *values])]
    return f"  {cut[0]:<{_CELL}}" + "".join(f" {text:>{_CELL}}" for text in cut[1:])
