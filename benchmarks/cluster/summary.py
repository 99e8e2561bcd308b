"""Trials as lines and as the table of the documentation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import median

from cluster.faults import KINDS
from cluster.trial import Row


def line(row: Row) -> str:
    parts = [
        f"{row.kind} {row.seed}: {row.seconds:.0f} s, {row.agents} agents, {row.brokers} brokers, {row.pages:,} pages",
        f"lost {row.lost}, again {row.again} (<= {row.bound}), met {row.met}, closest {_seconds(row.closest)}",
    ]
    if row.fault is not None:
        parts.append(f"{row.victim} at {row.fault:.1f} s")
        parts.append(
            f"takeover of {row.hosts} hosts {_seconds(row.first)}/{_seconds(row.median)}/{_seconds(row.takeover)}"
        )
        parts.append(f"stopped {_seconds(row.stopped)}, joined {_seconds(row.joined)}, pause {_seconds(row.pause)}")
    if row.deaths:
        parts.append(f"deaths {row.deaths}")
    return "; ".join(parts)


def headings() -> list[str]:
    return [
        "what happens", "trials", "pages", "lost", "fetched again, median (most)", "two agents within 1 s",
        "nearest two came", "taken over after, median (most)", "no request for, most", "not as promised",
    ]  # fmt: skip


def summary(rows: Iterable[Row]) -> list[list[str]]:
    by_kind: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_kind[row.kind].append(row)
    return [_row(kind, found) for kind, found in by_kind.items()]


def _row(kind: str, rows: Sequence[Row]) -> list[str]:
    again = [row.again for row in rows]
    closest = [row.closest for row in rows if row.closest is not None]
    # Of a trial its last host; of one that joins its first request.
    late = [each for row in rows if (each := row.joined if kind == "join" else row.takeover) is not None]
    pauses = [row.pause for row in rows if row.pause is not None]
    return [
        KINDS[kind].says if kind in KINDS else kind,
        str(len(rows)),
        f"{sum(row.pages for row in rows):,}",
        str(sum(row.lost for row in rows)),
        f"{median(again):.0f} ({max(again)})",
        str(sum(row.met for row in rows)),
        _seconds(min(closest, default=None)),
        f"{_seconds(median(late))} ({_seconds(max(late))})" if late else "-",
        _seconds(max(pauses, default=None)),
        str(sum(bool(row.broken) for row in rows)),
    ]


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f} s"
