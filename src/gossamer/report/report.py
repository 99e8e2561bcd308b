"""The report of a crawl: every table, made of facts that are brought up to date first."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from gossamer.errors import CrawlDirError, DamagedError
from gossamer.report import crawl_tables, fresh_tables
from gossamer.report.engine import Engine
from gossamer.report.making import Made, catch_up
from gossamer.report.others import Other
from gossamer.report.page_tables import crosstab_json, matrix, matrix_json, page_tables, suffix_links
from gossamer.report.rank_tables import rank_tables
from gossamer.report.shelf import Shelf
from gossamer.report.source import CrawlSource
from gossamer.report.sources import CrawlSources
from gossamer.report.table import Group, Table
from gossamer.report.views import open_facts

FORMAT = 1
_PATIENCE = 10.0  # seconds for one who follows the crawl, and is at it for a moment each time
_GROUPS = {
    "What came back": ("status_codes", "faults", "exclusions", "truncated"),
    "Servers": ("server_software", "server_versions"),
    "Domains": ("suffixes", "domains_by_pages", "domains_by_hosts", "hosts"),
    "Links": ("links_per_page", "linked_domains", "suffix_links", "link_matrix", "domain_links"),
    "Ranks": ("ranked_pages", "ranked_hosts", "ranked_domains"),
    "Documents": ("types", "extensions", "languages", "charsets", "sizes", "url_lengths"),
    "The crawl": ("speed", "strategy", "states", "depths", "url_depths", "robots"),
    "Freshness": ("revisits", "revisits_by_host", "freshness"),
    "What repeats itself": ("findings", "duplicates"),
}
_FORMS: dict[str, Callable[[Table], Any]] = {"matrix": matrix_json, "crosstab": crosstab_json}  # of JSON


class Report(msgspec.Struct):
    """Invariant: facts and frontier are as of one commit, if the facts could be brought up to date; `behind` says how
    many bytes of CDXJ were not read otherwise.
    """

    home: str
    made_at: float
    running: bool
    reason: str
    totals: dict[str, Any]
    tables: dict[str, Table]
    behind: int = 0
    missing: list[str] = []  # agents whose facts are not in it

    def groups(self) -> Iterator[Group]:
        """For people, who see in the matrix how much a domain links to itself."""
        tables = {**self.tables, "domain_links": _between(self.tables["domain_links"])}
        for title, names in _GROUPS.items():
            yield Group(title, [tables[name] for name in names])

    def as_json(self) -> dict[str, Any]:
        """docs/report.md has the names, which are stable."""
        return {
            "format": FORMAT,
            "dir": self.home,
            "made_at": self.made_at,
            "running": self.running,
            "reason": self.reason,
            "behind": self.behind,
            "missing": self.missing,
            "totals": self.totals,
            "tables": {
                name: _FORMS[table.chart](table) if table.chart in _FORMS else table.objects()
                for name, table in self.tables.items()
            },
        }


def _between(table: Table) -> Table:
    rows = [row for row in table.rows if row[0] != row[1]]
    about = "From registered domain to another."
    return msgspec.structs.replace(table, rows=rows, about=about, total=0)


def make_report(
    home: Path,
    watch: Callable[[Made], None] = lambda made: None,
    clock: Callable[[], float] = time.time,
    processes: int | None = None,
    others: Sequence[Other] = (),
    missing: Sequence[str] = (),
) -> Report:
    """`others` are agents elsewhere, and `missing` those of them who do not answer."""
    with CrawlSources(home, others) as source, facts_of(source, watch, processes) as (engine, behind):
        tables = page_tables(engine)
        tables["link_matrix"] = matrix(engine)
        tables["suffix_links"] = suffix_links(engine)
        outcomes = source.outcomes()
        for table in (
            crawl_tables.states(outcomes),
            crawl_tables.url_depths(outcomes),
            crawl_tables.faults(outcomes, source.statistics),
            crawl_tables.exclusions(outcomes),
            crawl_tables.findings(source.findings()),
            crawl_tables.speed(engine),
            crawl_tables.freshness(engine, clock()),
            crawl_tables.strategy(source.progress),
            fresh_tables.revisits(engine, source.progress),
            fresh_tables.revisits_by_host(engine, source.freshness),
            *rank_tables(engine, home),
        ):
            tables[table.name] = table
        totals = crawl_tables.totals(engine, outcomes, source.statistics, source.hosts)
        for table in tables.values():
            table.total = _total(table, totals)
        return Report(
            str(home),
            clock(),
            source.running,
            source.progress.reason,
            totals,
            dict(sorted(tables.items())),
            behind,
            list(missing),
        )


def _total(table: Table, totals: dict[str, Any]) -> int:
    """What shares are of: all there is, where a table shows the largest only or counts some twice; 0: of nothing."""
    if table.measure == "times":
        return 0
    if table.name in (
        "suffixes",
        "domains_by_pages",
        "domains_by_hosts",
        "hosts",
        "server_software",
        "server_versions",
    ):
        return int(totals[{"pages": "pages", "hosts": "hosts_with_pages"}[table.measure]])
    return round(sum(value or 0 for value in table.column(table.measure))) if table.measure else 0


def make_facts(home: Path, watch: Callable[[Made], None] = lambda made: None, processes: int | None = None) -> int:
    """Bring the facts up to date, and nothing else; how many captures that took."""
    made = 0
    with CrawlSources(home) as sources, Engine() as engine:
        for source in sources.parts:
            shelf = Shelf(source.directory.home / "facts")
            with shelf.taken() as ours:
                if not ours:
                    raise CrawlDirError(f"{shelf.home} is being written by another process. Wait for it.")
                made += catch_up(source, shelf, engine, watch, processes)
    return made


@contextmanager
def facts_of(
    sources: CrawlSources, watch: Callable[[Made], None], processes: int | None = None
) -> Iterator[tuple[Engine, int]]:
    """An engine with the views of `open_facts`, and bytes of CDXJ that they are behind.

    The facts of an agent are in DIR/facts. Where that cannot be written they are made for this once, in a temporary
    directory.
    """
    with tempfile.TemporaryDirectory(prefix="gossamer-facts-") as elsewhere, Engine() as engine:
        shelves = []
        for number, source in enumerate(sources.parts):
            shelf = Shelf(source.directory.home / "facts")
            try:
                _brought_up(source, shelf, engine, watch, processes)
            except CrawlDirError:
                shelf = Shelf(Path(elsewhere) / str(number))
                _brought_up(source, shelf, engine, watch, processes)
            shelves.append((source, shelf))
        behind = _opened(shelves, [path for other in sources.others for path in other.paths], engine)
        yield engine, behind + sum(other.figures.behind for other in sources.others)


def _brought_up(
    source: CrawlSource, shelf: Shelf, engine: Engine, watch: Callable[[Made], None], processes: int | None
) -> None:
    with shelf.taken(_PATIENCE) as ours:
        if ours:
            catch_up(source, shelf, engine, watch, processes)


def _opened(shelves: Sequence[tuple[CrawlSource, Shelf]], more: Sequence[Path], engine: Engine) -> int:
    for attempt in (1, 2):
        manifests = [shelf.read() for _, shelf in shelves]
        try:
            paths = [path for (_, shelf), found in zip(shelves, manifests, strict=True) for path in shelf.paths(found)]
            open_facts(engine, [*paths, *more])
            break
        except DamagedError:
            # Another process may have merged files in between.
            if attempt == 2:
                raise
    sizes = [source.sizes(found.places) for (source, _), found in zip(shelves, manifests, strict=True)]
    return sum(total - done for done, total in sizes)
