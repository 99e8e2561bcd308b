"""Pages, links and URLs of a crawl as files for other programs: Parquet, CSV or JSON lines, by the name of the file."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec

from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.graph_reader import gather_links
from gossamer.agent.parts import readable_parts
from gossamer.errors import ConfigError
from gossamer.graph.log import frames_of
from gossamer.graph.reading import links_in
from gossamer.model import State, VisitRecord
from gossamer.report.engine import KINDS, Engine, files_of, kind_of
from gossamer.report.fact import COLUMNS, Column
from gossamer.report.making import Made, batches_of, processes_for
from gossamer.report.report import facts_of
from gossamer.report.sources import CrawlSources
from gossamer.report.workers import Workers

Watch = Callable[[Made], None]

LINKS: Final = (
    Column("source", "VARCHAR", "URL of the page"),
    Column("target", "VARCHAR", "URL that it links to, each once a page"),
    Column("kind", "VARCHAR", "`link`, or `redirect` where the response was one"),
)
URLS: Final = (
    Column("url", "VARCHAR", "as the crawl spells it"),
    Column("state", "VARCHAR", "`queued`, `fetched`, `dead` or `excluded`"),
    Column("status", "USMALLINT", "of the last response; null where there was none"),
    Column("depth", "USMALLINT", "links from a seed"),
    Column("fetched_at", "TIMESTAMP", "of the last visit, UTC"),
    Column("tries", "USMALLINT", "how often it was tried"),
    Column("reason", "VARCHAR", "why it is dead or excluded"),
)
_MOMENTS: Final = ("fetched_at", "last_modified")
_PART: Final = 256 << 20  # bytes of JSON that become one part
_TOLD: Final = 20_000  # URLs between two words on how far it is

_encode = msgspec.json.Encoder().encode_lines


def checked(out: Path) -> str:
    """The kind of file that is to be written; says what can be, where it is none."""
    kind = kind_of(out)
    if not kind:
        raise ConfigError(
            f"--out: {str(out)!r} is no file that can be written; let it end with one of {', '.join(KINDS)}"
        )
    if not out.absolute().parent.is_dir():
        raise ConfigError(f"--out: there is no directory {str(out.parent)!r}")
    return kind


def export_pages(home: Path, out: Path, watch: Watch, processes: int | None = None) -> int:
    """The facts of every page, as it was seen last. How many."""
    kind = checked(out)
    with CrawlSources(home) as source, facts_of(source, watch, processes) as (engine, _):
        engine.copy(f"SELECT {', '.join(map(_exported, COLUMNS))} FROM pages", out, kind)
        return int(engine.row("SELECT count(*) FROM pages")[0])


def _exported(column: Column) -> str:
    """Moments as such: everybody else has a type for them."""
    quoted = f'"{column.name}"'
    return f"make_timestamp(({quoted} * 1e6)::BIGINT) AS {quoted}" if column.name in _MOMENTS else quoted


def export_links(home: Path, out: Path, watch: Watch, processes: int | None = None) -> int:
    """Every link of every page, as it was seen last. How many."""
    kind = checked(out)
    with CrawlSources(home) as source:
        return _written(_links(source, watch, processes), LINKS, out, kind)


def _links(sources: CrawlSources, watch: Watch, processes: int | None) -> Iterator[bytes]:
    for source in sources.parts:
        with Workers(source.places, processes_for(source, {}, processes)) as workers:
            yield from workers.results("links", batches_of(source, watch))


def export_graph(home: Path, out: Path, watch: Watch) -> int:
    """Every link of the link graph, of each page as it was seen last. How many."""
    kind = checked(out)
    homes = [part.home for part in readable_parts(home)]
    for part in homes:
        gather_links(part, lambda gathered: watch(Made(gathered.captures, gathered.done, gathered.total)))
    frames = [held for part in homes for held in frames_of(CrawlDir(part).graph)]
    with tempfile.TemporaryDirectory(prefix=".gossamer-", dir=out.absolute().parent) as scratch:
        rows = links_in(frames, Path(scratch), lambda done, total: watch(Made(done, done, total)))
        return _written((_encode([link._asdict() for link in some]) for some in rows), LINKS, out, kind)


def export_urls(home: Path, out: Path, watch: Watch) -> int:
    """Every known URL and what became of it. How many."""
    kind = checked(out)
    with CrawlSources(home) as source:
        return _written(_lines(source.visits(), source.urls, watch), URLS, out, kind)


def _lines(visits: Iterable[VisitRecord], total: int, watch: Watch) -> Iterator[bytes]:
    names = {state: state.name.lower() for state in State}
    rows = (
        {
            "url": visit.url,
            "state": names[visit.state],
            "status": visit.status or None,
            "depth": visit.depth,
            "fetched_at": _moment(visit.fetched_at),
            "tries": visit.tries,
            "reason": visit.reason or None,
        }
        for visit in visits
    )
    done = 0
    while chunk := list(islice(rows, _TOLD)):
        done += len(chunk)
        watch(Made(done, done, max(total, done)))
        yield _encode(chunk)


def _moment(seconds: float) -> str | None:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S") if seconds else None


def _written(results: Iterable[bytes], columns: tuple[Column, ...], out: Path, kind: str) -> int:
    """Lines of JSON into one file, part by part: what lies on the disk as JSON meanwhile is bounded."""
    with tempfile.TemporaryDirectory(prefix=".gossamer-", dir=out.absolute().parent) as scratch, Engine() as engine:
        lines, parts = Path(scratch) / "lines", list[Path]()
        rows = 0
        file = open(lines, "wb")  # noqa: SIM115 - closed below, in the middle of a part or not
        try:
            for result in results:
                file.write(result)
                rows += result.count(b"\n")
                if file.tell() >= _PART:
                    file.close()
                    parts.append(_part(engine, lines, columns, len(parts)))
                    file = open(lines, "wb")  # noqa: SIM115
        finally:
            file.close()
        parts.append(_part(engine, lines, columns, len(parts)))
        engine.copy(f"SELECT * FROM {files_of(parts)}", out, kind)
        return rows


def _part(engine: Engine, lines: Path, columns: tuple[Column, ...], number: int) -> Path:
    part = lines.with_name(f"part-{number:06d}.parquet")
    engine.copy_lines(lines, columns, part)
    return part
