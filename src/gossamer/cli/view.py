"""The live view of a crawl on a terminal: eight lines that move only when data moves, and one
more each where it keeps fresh and where a strategy has something to say.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.live import Live
from rich.text import Text

from gossamer.agent.progress import Progress
from gossamer.cli.numbers import count, rate, share, size, span
from gossamer.cli.plain import fresh_facts, strategy_facts

_LABEL = 8
# The terminal's own colours, so that light and dark both stay legible; the shades tell the parts apart without them.
_STATUSES = {
    "2xx": ("green", "█", "#"),
    "3xx": ("cyan", "▓", "="),
    "4xx": ("yellow", "▒", "+"),
    "5xx": ("red", "░", "-"),
    "fault": ("magenta", "╳", "x"),
    "other": ("blue", "▚", "o"),
}


class LiveView:
    """Draws over itself on stderr; notices scroll above it. Gone at the end, when the summary takes its place."""

    every = 0.5

    def __init__(self, home: Path, console: Console | None = None) -> None:
        self.last: Progress | None = None
        self._home = home
        self._live = Live(
            console=console or Console(file=sys.stderr, highlight=False),
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def update(self, progress: Progress) -> None:
        self.last = progress
        self._live.update(render(progress, self._home), refresh=True)

    def say(self, text: str) -> None:
        """What goes on after the crawl itself, in place of its view."""
        self._live.update(Text(text, style="dim"), refresh=True)

    def notice(self, text: str) -> None:
        self._live.console.print(Text(text), soft_wrap=True)


def render(progress: Progress, home: Path) -> RenderableType:
    return _View(progress, home)


class _View:
    """Lines of any width: what does not fit is left out from the right, whole facts at a time."""

    def __init__(self, progress: Progress, home: Path) -> None:
        self.progress, self.home = progress, home

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        coloured = console.color_system is not None and not console.no_color
        room = max(10, options.max_width - _LABEL)
        for label, value in self._lines(room, coloured, options.ascii_only):
            line = Text.assemble((f"{label:<{_LABEL}}", "dim"), value, no_wrap=True)
            line.truncate(options.max_width, overflow="crop" if options.ascii_only else "ellipsis")
            yield line

    def _lines(self, room: int, coloured: bool, ascii_only: bool) -> Iterator[tuple[str, Text]]:
        p, dot = self.progress, " | " if ascii_only else " · "
        yield "crawl", self._bar(room, dot, ascii_only)
        yield (
            "speed",
            _fit(
                room,
                dot,
                f"{rate(p.pages_per_s)} now",
                f"{rate(p.mean_pages_per_s)} mean",
                f"{rate(p.peak_pages_per_s)} peak",
                f"{size(p.bytes_per_s)}/s",
                f"{count(p.in_flight)} in flight",
            ),
        )
        yield (
            "hosts",
            _fit(
                room,
                dot,
                f"{count(p.hosts_ready)} ready",
                f"{count(p.hosts_waiting)} waiting",
                *((f"{count(p.hosts_held)} waiting for their domain",) if p.hosts_held else ()),
                f"{count(p.hosts_down)} down",
            ),
        )
        yield (
            "URLs",
            _fit(room, dot, f"{count(p.urls)} known", f"{count(p.queued)} queued", f"{count(p.excluded)} excluded"),
        )
        if p.keep_fresh:
            yield "fresh", _fit(room, dot, *fresh_facts(p))
        if p.strategy_figures or p.strategy_error:
            yield "order", _fit(room, dot, *strategy_facts(p))
        if p.apps:
            yield "visits", _fit(room, dot, *(f"{name} {count(app.started)}" for name, app in p.apps.items()))
        yield "status", self._strip(room, dot, coloured, ascii_only)
        limit = p.limit.removeprefix("Limited by ").rstrip(".")
        yield "limit", _fit(room, dot, *filter(None, [limit, _slowest(p.stages, ascii_only)]))
        warc = str(self.home / "warc")
        received = f"{dot}{size(p.bytes)} received"
        yield "data", Text(_short(warc, room - len(received), ascii_only) + received)
        yield "stop", Text("Ctrl-C stops cleanly; the same command goes on")

    def _bar(self, room: int, dot: str, ascii_only: bool) -> Text:
        p = self.progress
        done, facts = _done(p)
        width = max(10, min(40, room // 3))
        filled = int(width * done)
        full, empty = ("#", ".") if ascii_only else ("━", "─")
        bar = Text.assemble((full * filled, "green"), (empty * (width - filled), "dim"), " ")
        return bar.append_text(_fit(room - width - 1, dot, *facts))

    def _strip(self, room: int, dot: str, coloured: bool, ascii_only: bool) -> Text:
        counts = _mix(self.progress)
        if not counts:
            return Text("no answers yet", style="dim")
        # Without colours the legend shows each part's shade; where there is no room, the order must do.
        marks = {name: "" if coloured else _STATUSES[name][2 if ascii_only else 1] + " " for name in counts}
        facts = [f"{marks[name]}{name} {count(number)}" for name, number in counts.items()]
        if len(dot.join(facts)) + 9 > room:
            dot, facts = " ", [f"{name} {count(number)}" for name, number in counts.items()]
        width = max(8, min(40, room - len(dot.join(facts)) - 1))
        strip = Text()
        for name, cells in zip(counts, _shares(list(counts.values()), width), strict=True):
            colour, shade, letter = _STATUSES[name]
            mark = letter if ascii_only else "█" if coloured else shade
            strip.append(mark * cells, style=colour)
        legend = _fit(room - width - 1, dot, *facts)
        for name in counts:
            legend.highlight_words([name], style=_STATUSES[name][0])
        return strip.append(" ").append_text(legend)


def _done(p: Progress) -> tuple[float, list[str]]:
    """How far the crawl is (0 to 1) and what to say of it; without a limit, the share of known URLs."""
    spent = f"{span(p.seconds)} so far"
    if p.seeds_share < 1:
        facts = [f"{count(p.seeds_read)} seeds read", share(p.seeds_share, 1)]
        if p.seeds_share > 0:
            facts.append(f"{span(p.seconds * (1 - p.seeds_share) / p.seeds_share)} left")
        return p.seeds_share, [*facts, spent]
    by_pages = p.pages / p.max_pages if p.max_pages else 0.0
    by_time = p.seconds / p.time_limit if p.time_limit else 0.0
    left = []
    if p.max_pages and p.mean_pages_per_s > 0:
        left.append(max(0, p.max_pages - p.pages) / p.mean_pages_per_s)
    if p.time_limit:
        left.append(max(0.0, p.time_limit - p.seconds))
    remaining = [f"{span(min(left))} left"] if left else []
    if p.max_pages and by_pages >= by_time:
        facts = [f"{count(p.pages)} / {count(p.max_pages)} pages", *remaining, share(p.pages, p.max_pages)]
        return min(1.0, by_pages), [*facts, spent]
    if p.time_limit:
        return min(1.0, by_time), [f"{count(p.pages)} pages", *remaining, share(p.seconds, p.time_limit), spent]
    settled = max(0, p.urls - p.queued)
    known = f"{share(settled, p.urls)} of known URLs"
    return (settled / p.urls if p.urls else 0.0), [f"{count(p.pages)} pages", known, spent]


def _mix(p: Progress) -> dict[str, int]:
    counts = dict.fromkeys(_STATUSES, 0)
    for name, number in p.statuses.items():
        counts[name if name in counts else "other"] += number
    counts["fault"] += p.faults
    return {name: number for name, number in counts.items() if number}


def _shares(numbers: Sequence[int], width: int) -> list[int]:
    """Cells for each number, adding up to `width`; what exists has at least one, so that rare faults are seen."""
    total = sum(numbers)
    cells = [max(1, int(width * number / total)) for number in numbers]
    cells[cells.index(max(cells))] += width - sum(cells)
    return cells


def _slowest(stages: Mapping[str, float], ascii_only: bool) -> str:
    if not stages:
        return ""
    name, cost = max(stages.items(), key=lambda stage: stage[1])
    return f"slowest stage {name}, {cost:,.0f} {'us' if ascii_only else 'µs'}"


def _fit(room: int, dot: str, *facts: str) -> Text:
    """As many facts as there is room for, the first always."""
    line = facts[0] if facts else ""
    for fact in facts[1:]:
        if len(line) + len(dot) + len(fact) > room:
            break
        line += dot + fact
    return Text(line)


def _short(path: str, room: int, ascii_only: bool) -> str:
    """The end of a path says more than its beginning."""
    mark = "..." if ascii_only else "…"
    return path if len(path) <= room else mark + path[-max(4, room - len(mark)) :]
