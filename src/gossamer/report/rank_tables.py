"""The tables of the highest ranks, as `gossamer rank` has found them last; empty where it never ran."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from gossamer.errors import DamagedError
from gossamer.graph.ranks import DOMAINS, HOSTS, PAGES
from gossamer.report.engine import Engine
from gossamer.report.page_tables import MOST
from gossamer.report.rank import RankResult, read_result, top
from gossamer.report.table import Field, Table

_TIMES: Final = Field("times", "Times the mean", "times")
_LINKS: Final = Field("links", "Linked to by")
_SCORE: Final = Field("score", "PageRank", "score")
_OTHERS: Final = (_TIMES, _LINKS, Field("pages", "Pages stored"), _SCORE)
_TABLES: Final = {
    PAGES: (
        "Highest ranked pages",
        "PageRank, by links between pages, fetched or not.",
        (Field("url", "Page", "url"), _TIMES, _LINKS, _SCORE),
    ),
    HOSTS: (
        "Highest ranked hosts",
        "PageRank, by links between hosts: one from each host to each other.",
        (Field("host", "Host", "text"), *_OTHERS),
    ),
    DOMAINS: (
        "Highest ranked domains",
        "PageRank, by links between registered domains: one from each to each other.",
        (Field("domain", "Domain", "text"), *_OTHERS),
    ),
}


def rank_tables(engine: Engine, home: Path) -> list[Table]:
    result = read_result(home)
    return [_table(engine, home, name, result) for name in _TABLES]


def _table(engine: Engine, home: Path, name: str, result: RankResult | None) -> Table:
    title, about, fields = _TABLES[name]
    table = Table(f"ranked_{name}", title, about, fields, [], "bars", "times")
    if result is None:
        table.about = f"{about} The command gossamer rank makes it."
        return table
    nodes = result.levels[name].nodes
    try:
        rows = top(engine, home, name, MOST)
    except DamagedError:  # another process may be putting newer ones in their place
        rows = top(engine, home, name, MOST)
    for row in rows:
        if name == PAGES:
            _, url, _, _, score, links, _ = row
            table.rows.append((url, score * nodes, links, score))
        else:
            _, text, score, links, pages = row
            table.rows.append((text, score * nodes, links, pages, score))
    return table
