"""The report as a page that stands alone: no request leaves it, it prints, and it is whole without its script."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator
from hashlib import sha256
from html import escape
from importlib.resources import files
from math import log
from typing import Any, Final

from gossamer.report import svg
from gossamer.report.report import Report
from gossamer.report.site import Site
from gossamer.report.table import Field, Group, Kind, Table
from gossamer.report.writing import count, harmless, moment, share, short, size, span, written

_SHOWN: Final = 20  # rows of a table at first; the others are folded
_FOLDED: Final = 200
_LONGEST: Final = 2000  # characters of any text
_TEXTS: Final = ("text", "url")
_FIGURES: Final[tuple[tuple[str, str, Kind], ...]] = (
    ("pages", "Pages", "count"), ("ok", "of these 2xx", "count"), ("urls", "URLs known", "count"),
    ("queued", "queued", "count"), ("dead", "given up", "count"), ("excluded", "excluded", "count"),
    ("hosts_with_pages", "Hosts with pages", "count"), ("domains", "Domains", "count"),
    ("addresses", "Addresses", "count"), ("body_bytes", "Bytes of bodies", "size"),
    ("received_bytes", "Bytes received", "size"), ("median_size", "Median size", "size"),
    ("links", "Links", "count"), ("median_links", "Median links a page", "count"),
    ("robots_requests", "robots.txt requests", "count"), ("robots_excluded", "URLs robots.txt excludes", "count"),
    ("failed_tries", "Failed tries", "count"), ("duplicate_pages", "Pages that repeat others", "count"),
)  # fmt: skip


def report_page(report: Report) -> str:
    totals = report.totals
    groups = list(report.groups())
    figures = [(title, written(Field(name, title, kind), totals[name])) for name, title, kind in _FIGURES]
    notes = [f"{count(report.behind)} bytes of CDXJ were not read yet: another process is at it."] * bool(report.behind)
    if report.missing:
        notes.append(f"Without what {', '.join(report.missing)} knows: no answer came.")
    if report.running:
        notes.append("The crawl was running; this is how it stood at its last commit.")
    return _page(f"Crawl report: {report.home}", report.made_at, lead(totals), notes, figures, groups)


def site_page(site: Site) -> str:
    return _page(f"Site summary: {site.host}", site.made_at, site.sentence(), [], site.figures(), site.groups())


def lead(totals: dict[str, Any]) -> str:
    first, last = totals["first_fetched_at"], totals["last_fetched_at"]
    when = "" if first is None else f" Fetched in {span(last - first)}, from {moment(first)} to {moment(last)}."
    return (
        f"{count(totals['pages'])} pages from {count(totals['hosts_with_pages'])} hosts of"
        f" {count(totals['domains'])} domains, {size(totals['body_bytes'])}.{when}"
    )


def _page(
    title: str,
    made_at: float,
    sentence: str,
    notes: Iterable[str],
    figures: Iterable[tuple[str, str]],
    groups: list[Group],
) -> str:
    style, script = _file("page.css"), _file("page.js")
    # Nothing may be loaded, and no script runs but ours, whatever a page of the web wrote into a title.
    allowed = b64encode(sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{allowed}'; base-uri 'none'; "
        "form-action 'none'"
    )
    contents = "".join(f'<a href="#{_id(group.title)}">{_text(group.title)}</a>' for group in groups)
    shown = "".join(f"<div><dt>{_text(name)}</dt><dd>{_text(value)}</dd></div>" for name, value in figures)
    return "".join(
        (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n',
            '<meta name="viewport" content="width=device-width,initial-scale=1">\n',
            '<meta name="referrer" content="no-referrer">\n<meta name="robots" content="noindex">\n',
            f"<title>{_text(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n",
            f'<header><h1>{_text(title)}</h1><p class="quiet">Made {moment(made_at)}</p>',
            f'<p class="lead">{_text(sentence)}</p>',
            *(f'<p class="note">{_text(note)}</p>' for note in notes),
            f'</header>\n<dl class="figures">{shown}</dl>\n<nav aria-label="Contents">{contents}</nav>\n<main>\n',
            *(part for group in groups for part in _group(group)),
            "</main>\n<footer>Made by gossamer. All text from the web is shown as text.</footer>\n",
            f"<script>{script}</script>\n</body>\n</html>\n",
        )
    )


def _group(group: Group) -> Iterator[str]:
    yield f'<h2 id="{_id(group.title)}">{_text(group.title)}</h2>\n<section class="tables">\n'
    for table in group.tables:
        yield _article(table)
    yield "</section>\n"


def _article(table: Table) -> str:
    crowded = len(table.fields) > 5 or any(field.kind in ("moment", "url") for field in table.fields)
    wide = ' class="wide"' if crowded or table.chart in ("matrix", "crosstab", "series") else ""
    button = f'<button type="button" data-table="t-{table.name}">Copy as CSV</button>' if table.rows else ""
    head = f'<div class="head"><h3>{_text(table.title)}</h3>{button}</div><p class="about">{_text(table.about)}</p>'
    if not table.rows:
        return f'<article{wide}>{head}<p class="empty">None.</p></article>\n'
    if table.chart in ("matrix", "crosstab"):
        body = _matrix(table)
    elif table.chart in ("histogram", "series"):
        body = f"{_chart(table)}<details><summary>Table</summary>{_rows(table, _FOLDED)}</details>"
    else:
        body = _rows(table, _SHOWN)
    return f"<article{wide}>{head}{body}</article>\n"


def _chart(table: Table) -> str:
    values = [float(value) for value in table.column(table.measure)]
    first = table.fields[0]
    if table.chart == "series":
        return svg.series([moment(value) for value in table.column(first.name)], values, table.title)
    return svg.histogram([_bucket(first, value) for value in table.column(first.name)], values, table.title)


def _bucket(field: Field, value: Any) -> str:
    return size(value) if field.kind == "size" else short(value)


def _rows(table: Table, shown: int) -> str:
    most = max((float(value or 0) for value in table.column(table.measure)), default=0.0) if table.measure else 0.0
    head = "".join(_heading(field) for field in table.fields)
    body = "".join(f"<tr>{''.join(_cells(table, row, most))}</tr>" for row in table.rows[:shown])
    left = len(table.rows) - shown
    more = f'<p class="empty">{count(left)} more in the JSON form.</p>' if left > 0 else ""
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{_text(table.title)}"><table id="t-{table.name}">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{more}"
    )


def _heading(field: Field) -> str:
    return f'<th scope="col"{"" if field.kind in _TEXTS else " class=n"}>{_text(field.title)}</th>'


def _raw(field: Field, value: Any) -> Any:
    """For the copy as CSV: more digits than are shown."""
    if not isinstance(value, float):
        return "" if value is None else value
    return f"{value:.6g}" if field.kind == "score" else f"{value:.3f}".rstrip("0").rstrip(".")


def _cells(table: Table, row: tuple[Any, ...], most: float) -> Iterator[str]:
    for field, value in zip(table.fields, row, strict=True):
        text = _text(written(field, value))
        if field.kind in _TEXTS:
            yield f'<td class="{"u" if field.kind == "url" else "t"}"><bdi>{text}</bdi></td>'
            continue
        raw = _raw(field, value)
        bar = field.name == table.measure and most > 0
        if bar:
            part = f"<i>{share(value or 0, table.total)}</i> " if table.total and field.kind == "count" else ""
            width = f"{100 * float(value or 0) / most:.1f}%"
            yield f'<td class="n bar" data-v="{raw}" style="--w:{width}">{part}{text}</td>'
        else:
            yield f'<td class="n" data-v="{raw}">{text}</td>'


def _matrix(table: Table) -> str:
    names = [field.title for field in table.fields[1:]]
    sums = 1 if table.chart == "crosstab" else 0  # at the end of each row, and of each column
    inner = len(names) - sums
    most = max((value for row in table.rows[:inner] for value in row[1 : inner + 1]), default=0)
    head = "".join(f'<th scope="col" class="c"><span>{_text(harmless(name, 60))}</span></th>' for name in names)
    body = []
    for number, row in enumerate(table.rows):
        heat = inner if number < inner else 0
        cells = [*(_heat(value, most) for value in row[1 : heat + 1]), *(_sum(value) for value in row[heat + 1 :])]
        body.append(f'<tr><th scope="row" class="r">{_text(harmless(row[0], 60))}</th>{"".join(cells)}</tr>')
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{_text(table.title)}">'
        f'<table class="matrix" id="t-{table.name}"><thead><tr><th></th>{head}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def _sum(value: int) -> str:
    return f'<td class="sum" data-v="{value}" title="{value:,}">{short(value)}</td>'


def _heat(value: int, most: int) -> str:
    if not value:
        return '<td data-v="0"></td>'
    heat = 90 * log(1 + value) / log(1 + most)
    deep = ' class="deep"' if heat > 55 else ""
    return f'<td{deep} data-v="{value}" title="{value:,}" style="--h:{heat:.0f}%">{short(value)}</td>'


def _text(text: str) -> str:
    return escape(harmless(text, _LONGEST), quote=True)


def _id(title: str) -> str:
    return "-".join(title.lower().split())


def _file(name: str) -> str:
    return (files("gossamer.report") / name).read_text(encoding="utf-8")
