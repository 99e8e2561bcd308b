"""The facts as the queries see them: each page once, as it was when it was last seen new or changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gossamer.report.engine import Engine, files_of
from gossamer.report.fact import COLUMNS


def open_facts(engine: Engine, paths: Sequence[Path]) -> None:
    """Make `facts` (every capture), `pages`, `robots`, `checked` (when pages were last found unchanged, by hashes of
    their URLs) and `domain_links`.
    """
    if paths:
        engine.rows(f"CREATE OR REPLACE VIEW facts AS SELECT * FROM {files_of(paths)}")
    else:
        columns = ", ".join(f'NULL::{column.type} AS "{column.name}"' for column in COLUMNS)
        engine.rows(f"CREATE OR REPLACE VIEW facts AS SELECT {columns} WHERE false")
    for view, kind in (("pages", "page"), ("robots", "robots")):
        _open_latest(engine, view, kind)
    engine.rows(
        "CREATE OR REPLACE TEMP TABLE checked AS SELECT hash(url) AS page, max(fetched_at) AS checked_at FROM facts"
        " WHERE kind = 'same' GROUP BY 1"
    )
    engine.rows(
        "CREATE OR REPLACE TEMP TABLE domain_links AS SELECT source, target, sum(links)::UBIGINT AS links FROM"
        " (SELECT domain AS source, unnest(to_domains) AS target, unnest(to_counts) AS links FROM pages"
        " WHERE links > 0) GROUP BY ALL"
    )


def _open_latest(engine: Engine, view: str, kind: str) -> None:
    """Most crawls fetch a URL once, and all facts are the latest. Where they do not, the hashes of the latest are kept
    in a table: strings need not be sorted for it. The place alone is not enough: agents number their files alike, and
    may have the same URL at the same place.
    """
    rows, urls = engine.row(f"SELECT count(*), count(DISTINCT hash(url)) FROM facts WHERE kind = '{kind}'")
    if rows == urls:
        engine.rows(f"CREATE OR REPLACE VIEW {view} AS SELECT * FROM facts WHERE kind = '{kind}'")
        return
    engine.rows(
        f"CREATE OR REPLACE TEMP TABLE latest_{view} AS SELECT page, newest.file AS file, newest.place AS place,"
        " newest.at AS at, newest.content AS content FROM (SELECT hash(url) AS page,"
        " max({'at': fetched_at, 'file': file, 'place': \"offset\", 'content': hash(digest)}) AS newest"
        f" FROM facts WHERE kind = '{kind}' GROUP BY 1)"
    )
    engine.rows(
        f"CREATE OR REPLACE VIEW {view} AS SELECT facts.* FROM facts SEMI JOIN latest_{view} AS latest ON"
        ' facts.file = latest.file AND facts."offset" = latest.place AND facts.fetched_at = latest.at'
        " AND hash(facts.digest) = latest.content AND hash(facts.url) = latest.page"
        f" WHERE kind = '{kind}'"
    )
