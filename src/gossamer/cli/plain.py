"""What a crawl says where there is no terminal: a line now and then, a summary at the end, a status on request."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Self

from gossamer.agent.ending import ending
from gossamer.agent.progress import AppFigures, Progress, Summary
from gossamer.cli.numbers import count, rate, share, size, span

if TYPE_CHECKING:
    from gossamer.agent.index_status import IndexStatus


class PlainProgress:
    """One line every five seconds on stderr, for logs."""

    every = 5.0

    def __init__(self) -> None:
        self.last: Progress | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def update(self, progress: Progress) -> None:
        self.last = progress
        if progress.running:  # at the end the summary says it better
            self.notice(progress_line(progress))

    def notice(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    def say(self, text: str) -> None:
        """What goes on after the crawl itself."""
        self.notice(text)


def progress_line(progress: Progress) -> str:
    if progress.seeds_share < 1:
        read = f"{count(progress.seeds_read)} seeds read, {share(progress.seeds_share, 1)} of the files"
        return f"{span(progress.seconds)} · {read} · {count(progress.urls)} URLs known"
    pages = f"{count(progress.pages)} / {count(progress.max_pages)}" if progress.max_pages else count(progress.pages)
    parts = [
        span(progress.seconds),
        f"{pages} pages",
        rate(progress.pages_per_s),
        size(progress.bytes),
        f"queued {count(progress.queued)}",
        f"faults {count(progress.faults)}",
        f"hosts {count(progress.hosts_ready)} ready {count(progress.hosts_waiting)} waiting"
        f"{f' {count(progress.hosts_held)} held' if progress.hosts_held else ''} {count(progress.hosts_down)} down",
    ]
    if "harvest" in progress.strategy_figures:
        parts.append(f"harvest {share(progress.strategy_figures['harvest'], 1)}")
    if progress.keep_fresh:
        parts.append(f"fresh {share(progress.freshness, 1)}, due {count(progress.due)}")
    if progress.limit:
        parts.append(f"limited by {progress.limit.removeprefix('Limited by ').rstrip('.')}")
    return " · ".join(parts)


def summary_text(summary: Summary, home: Path) -> str:
    """What one would paste into a mail."""
    end = ending(summary)
    run = f"{span(summary.seconds)}, {span(summary.cpu_seconds)} of CPU"
    if isinstance(summary, Progress) and summary.seconds > 0:
        run += f", {_pages(summary.run_pages)}, {rate(summary.run_pages / summary.seconds)}"
    rows = [("crawl", f"{home}: {end}"), ("this run", run), *_totals(summary)]
    if isinstance(summary, Progress):
        rows += _breakdown(summary)
    return _table([*rows, ("data", str(home / "warc"))])


def _pages(number: int) -> str:
    return f"{count(number)} {'page' if number == 1 else 'pages'}"


def waiting_line(status: IndexStatus) -> str:
    """While the crawl has ended and its index has not."""
    if status.again:
        what = f"{status.again} That is done now: {share(status.done, status.total)}"
    elif status.done < status.total:
        what = f"{share(status.done, status.total)} of the pages are indexed"
    else:
        what = "the last pages are written again with the links that lead to them"
    return f"index: {what}; Ctrl-C skips this, and the next run goes on with it"


def searchable_text(summary: Summary, home: Path) -> str:
    return _table([("search", f"{_pages(summary.searchable)}: gossamer search QUERY --dir {home}")])


def status_text(progress: Progress, home: Path, now: float | None = None, index: IndexStatus | None = None) -> str:
    if progress.running:
        doing = "paused" if progress.paused else "running"
        state = f"{doing} for {span(progress.seconds)}" + (f", process {progress.pid}" if progress.pid else "")
    else:
        state = ending(progress) or "not running; the last run ended without a clean stop"
        state += "; it is paused" if progress.paused else ""
    rows = [("crawl", f"{home}: {state}")]
    if progress.updated_at:
        age = max(0.0, (time.time() if now is None else now) - progress.updated_at)
        rows.append(("as of", f"{span(age)} ago"))
    rows += _totals(progress)
    if progress.running:
        rows += [
            (
                "speed",
                f"{rate(progress.pages_per_s)} now · {rate(progress.mean_pages_per_s)} mean ·"
                f" {rate(progress.peak_pages_per_s)} peak · {size(progress.bytes_per_s)}/s",
            ),
            (
                "hosts",
                f"{count(progress.hosts_ready)} ready · {count(progress.hosts_waiting)} waiting ·"
                f"{f' {count(progress.hosts_held)} waiting for their domain ·' if progress.hosts_held else ''}"
                f" {count(progress.hosts_down)} down",
            ),
        ]
    rows.append(("queued", f"{count(progress.queued)} URLs, {count(progress.in_flight)} in flight"))
    rows += _breakdown(progress)
    if progress.running and progress.beside:
        rows.append(("beside", " · ".join(f"{name} {state}" for name, state in sorted(progress.beside.items()))))
    if progress.running and progress.limit:
        rows.append(("limit", progress.limit))
    if index is not None:
        skipped = f", {count(index.skipped)} could not be read" if index.skipped else ""
        rows.append(("search", f"{_pages(index.pages)}, {share(index.done, index.total)} indexed{skipped}"))
    return _table([*rows, ("data", str(home / "warc"))])


def _totals(summary: Summary) -> list[tuple[str, str]]:
    return [
        (
            "pages",
            f"{count(summary.pages)} ({count(summary.ok)} ok, {count(summary.pages - summary.ok)} other),"
            f" {size(summary.bytes)} received",
        ),
        (
            "URLs",
            f"{count(summary.urls)} known on {count(summary.hosts)} {'host' if summary.hosts == 1 else 'hosts'}:"
            f" {count(summary.excluded)} excluded, {count(summary.faults)} faults",
        ),
    ]


def apps_text(apps: Mapping[str, AppFigures]) -> str:
    """Who shares the speed: a line for each."""
    lines = []
    for name, app in apps.items():
        parts = [f"share {app.share:g}", f"{count(app.started)} visits ({count(app.failed)} failed)"]
        if app.requests or app.pages or app.records or app.state:
            asked = f"{count(app.new)} new, {count(app.left_out)} left out"
            parts.append(f"{count(app.requests)} requests ({asked})")
            parts.append(f"{count(app.pages)} pages seen, {count(app.records)} records")
        if app.state:
            parts.append(app.state)
        lines.append(f"{name:<9} {' · '.join(parts)}")
    return "\n".join(lines)


def _breakdown(progress: Progress) -> list[tuple[str, str]]:
    rows = []
    if progress.statuses:
        rows.append(("status", _mix(progress.statuses)))
    if progress.reasons:
        rows.append(("failed", _mix(progress.reasons)))  # tries, those that were repeated included
    if progress.duplicates or progress.aside:
        found = {"mirrors of hosts": "mirror", "barren places": "barren", "endless domains": "endless"}
        counts = {name: progress.findings.get(kind, 0) for name, kind in found.items()}
        repeated = f"{count(progress.duplicates)} pages the same as others · {count(progress.aside)} URLs put aside"
        rows.append(("repeated", " · ".join([repeated, *filter(None, [_mix(counts)])])))
    if progress.keep_fresh:
        rows.append(("fresh", " · ".join(fresh_facts(progress))))
    if progress.strategy_figures or progress.strategy_error:
        rows.append(("strategy", " · ".join(strategy_facts(progress))))
    if progress.apps:
        rows.append(("shares", apps_text(progress.apps).replace("\n", "\n" + " " * 10)))
    return rows


def fresh_facts(progress: Progress) -> list[str]:
    """Of pages that are visited again, the most telling first."""
    found = f"{count(progress.revisits_changed)} changed, {count(progress.revisits_unmodified)} unmodified"
    return [
        f"{share(progress.freshness, 1)} of copies",
        f"mean age {span(progress.age)}",
        f"{count(progress.due)} due",
        f"{count(progress.revisits)} visited again ({found})",
        f"{count(progress.gone)} gone",
    ]


def strategy_facts(progress: Progress) -> list[str]:
    """What a strategy says of itself."""
    if progress.strategy_error:
        return [f"{progress.strategy} was stopped", progress.strategy_error, "breadth-first since then"]
    figures = progress.strategy_figures.items()
    return [progress.strategy, *(f"{name.replace('_', ' ')} {_figure(name, value)}" for name, value in figures)]


def _figure(name: str, value: float) -> str:
    if name.startswith("harvest"):
        return share(value, 1)
    return count(value) if isinstance(value, int) else f"{value:,.1f}"


def _mix(counts: Mapping[str, int]) -> str:
    return " · ".join(f"{name} {count(number)}" for name, number in sorted(counts.items()) if number)


def _table(rows: list[tuple[str, str]]) -> str:
    return "\n".join(f"{label:<9} {text}" for label, text in rows)
