"""The tables of pages that are visited again: what that has found, and how fresh the copies are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from gossamer.agent.progress import Progress
from gossamer.report.engine import Engine
from gossamer.report.page_tables import MOST
from gossamer.report.table import Field, Table

_FIELDS: Final = (
    Field("pages", "Pages"),
    Field("revisits", "Visited again"),
    Field("changed", "Found changed"),
    Field("gone", "Found gone"),
    Field("freshness", "Fresh, estimated", "share"),
    Field("age", "Mean age, estimated", "seconds"),
)
_ABOUT: Final = "Visits to known pages. Age is how long a copy has not been what its server shows; 0 while it is."
_AGAIN: Final = "count(*), count(*) FILTER (change = 'changed'), count(*) FILTER (change = 'gone')"
_OK: Final = "status BETWEEN 200 AND 299"


def revisits(engine: Engine, progress: Progress) -> Table:
    """One row, of all pages; none where no page was ever visited again."""
    (pages,) = engine.row(f"SELECT count(*) FROM pages WHERE {_OK}")
    found = engine.row(f"SELECT {_AGAIN} FROM facts WHERE change <> ''")
    estimates = (progress.freshness, progress.age) if progress.keep_fresh else (None, None)
    rows = [(pages, *found, *estimates)] if found[0] or progress.keep_fresh else []
    return Table("revisits", "Pages visited again", _ABOUT, _FIELDS, rows)


def revisits_by_host(engine: Engine, estimate: Callable[[Iterable[str]], Mapping[str, tuple[float, float]]]) -> Table:
    """`estimate`: share of fresh copies and mean age of hosts, of those of which they are known."""
    found = engine.rows(
        f"SELECT host, coalesce(here.pages, 0), again.* EXCLUDE host FROM"
        f" (SELECT host, {_AGAIN} FROM facts WHERE change <> '' GROUP BY host) AS again"
        f" LEFT JOIN (SELECT host, count(*) AS pages FROM pages WHERE {_OK} GROUP BY host) AS here USING (host)"
        f" ORDER BY 3 DESC, 1 LIMIT {MOST}"
    )
    unknown: tuple[Any, ...] = (None, None)
    estimates = estimate(row[0] for row in found)
    rows = [(*row, *estimates.get(row[0], unknown)) for row in found]
    fields = (Field("host", "Host", "text"), *_FIELDS)
    return Table("revisits_by_host", "Pages visited again, by host", _ABOUT, fields, rows, "bars", "revisits")
