"""The summary of a site: one host, what it has, what it is about, who links to it and to whom it links (D10)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from gossamer.errors import ConfigError
from gossamer.fetch.decode import decoded
from gossamer.model import Locator
from gossamer.model.url import host_of, seed_url
from gossamer.parse.charset import decide
from gossamer.parse.decoders import decode_as
from gossamer.report.engine import Engine
from gossamer.report.look import READ, shown
from gossamer.report.making import Made
from gossamer.report.report import FORMAT, facts_of
from gossamer.report.sources import CrawlSources
from gossamer.report.table import Field, Group, Table
from gossamer.report.terms import terms
from gossamer.report.writing import count, moment, size
from gossamer.store import RecordFiles

_SAMPLE: Final = 200  # pages of the host that are read for its terms, and as many of others
_TERMS: Final = 30
_MOST: Final = 100  # rows of a table
_PAGES = Field("pages", "Pages")
_LINKS = "SELECT host, unnest(to_hosts) AS target, unnest(to_counts) AS links FROM pages WHERE links > 0 AND"


class Site(msgspec.Struct):
    """Names of `totals` and of tables are stable: docs/report.md lists them."""

    host: str
    made_at: float
    totals: dict[str, Any]
    tables: dict[str, Table]

    def sentence(self) -> str:
        totals = self.totals
        named = f" “{totals['title']}”." if totals["title"] else ""
        return (
            f"{count(totals['pages'])} pages, {size(totals['bytes'])}; {count(totals['inside_links'])} links inside,"
            f" {count(totals['out_links'])} out to {count(totals['out_hosts'])} hosts,"
            f" {count(totals['in_links'])} in from {count(totals['in_hosts'])}.{named}"
        )

    def figures(self) -> list[tuple[str, str]]:
        totals = self.totals
        found = [
            ("Pages", count(totals["pages"])),
            ("of these 2xx", count(totals["ok"])),
            ("Bytes", size(totals["bytes"])),
            ("Deepest", str(totals["depth"] if totals["depth"] is not None else "")),
            ("Server", totals["server"]),
            ("Address", totals["address"]),
            ("First fetched", moment(totals["first_fetched_at"]) if totals["first_fetched_at"] else ""),
            ("Last fetched", moment(totals["last_fetched_at"]) if totals["last_fetched_at"] else ""),
            ("Crawl-delay", f"{totals['crawl_delay']:g} s" if totals["crawl_delay"] else "none"),
        ]
        return [(name, value) for name, value in found if value]

    def groups(self) -> list[Group]:
        return [Group("The site", list(self.tables.values()))]

    def as_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "host": self.host,
            "made_at": self.made_at,
            "totals": self.totals,
            "tables": {name: table.objects() for name, table in self.tables.items()},
        }


def make_site(
    home: Path,
    host: str,
    watch: Callable[[Made], None] = lambda made: None,
    clock: Callable[[], float] = time.time,
    processes: int | None = None,
) -> Site:
    url = seed_url(host)
    name = host_of(url) if url else host
    with CrawlSources(home) as source, facts_of(source, watch, processes) as (engine, _):
        if not engine.row("SELECT count(*) FROM facts WHERE host = ?", (name,))[0]:
            raise ConfigError(f"--host: nothing is stored of {name!r}; gossamer urls --dir {home} lists what is known")
        tables = {table.name: table for table in _tables(engine, source, name)}
        for table in tables.values():
            table.total = sum(table.column(table.measure))
        return Site(name, clock(), _totals(engine, name), tables)


def _totals(engine: Engine, host: str) -> dict[str, Any]:
    names = (
        "pages", "ok", "bytes", "depth", "first_fetched_at", "last_fetched_at", "server", "address", "domain", "title",
        "duplicate_pages",
    )  # fmt: skip
    found = engine.row(
        "SELECT count(*), count(*) FILTER (status BETWEEN 200 AND 299), coalesce(sum(size), 0)::UBIGINT, max(depth),"
        " min(fetched_at), max(fetched_at), coalesce(mode(server) FILTER (server <> ''), ''),"
        " coalesce(mode(address) FILTER (address <> ''), ''), coalesce(any_value(domain), ''),"
        " coalesce(arg_min(title, url_length) FILTER (title <> '' AND status = 200), ''),"
        " count(*) FILTER (duplicate_of <> '') FROM pages WHERE host = ?",
        (host,),
    )
    inside, outside, hosts = engine.row(
        "SELECT coalesce(sum(links) FILTER (target = ?), 0)::UBIGINT, coalesce(sum(links) FILTER (target <> ?),"
        f" 0)::UBIGINT, count(DISTINCT target) FILTER (target <> ?) FROM ({_LINKS} host = ?)",
        (host, host, host, host),
    )
    links, sources = engine.row(
        "SELECT coalesce(sum(links), 0)::UBIGINT, count(DISTINCT host) FROM"
        f" ({_LINKS} host <> ? AND list_contains(to_hosts, ?)) WHERE target = ?",
        (host, host, host),
    )
    delay, closed = engine.row("SELECT max(crawl_delay), bool_or(closed) FROM robots WHERE host = ?", (host,))
    return {
        **dict(zip(names, found, strict=True)),
        "inside_links": inside,
        "out_links": outside,
        "out_hosts": hosts,
        "in_links": links,
        "in_hosts": sources,
        "crawl_delay": delay,
        "robots_closed": bool(closed),
    }


def _tables(engine: Engine, source: CrawlSources, host: str) -> Iterator[Table]:
    own, others = list(_texts(engine, source, host, True)), list(_texts(engine, source, host, False))
    yield Table(
        "terms",
        "Main terms",
        f"Words that tell its pages from those of others, by {len(own)} of its pages and {len(others)} of others.",
        (Field("term", "Term", "text"), _PAGES, Field("elsewhere", "Pages of others")),
        list(terms(own, others, _TERMS)),
        "bars",
        "pages",
    )
    for column, title in (("language", "Languages"), ("status", "Status codes"), ("type", "Media types")):
        where = "links IS NOT NULL" if column == "language" else "true"
        rows = engine.rows(
            f"SELECT {column}, count(*) FROM pages WHERE host = ? AND {where} GROUP BY 1 ORDER BY 2 DESC, 1"
            f" LIMIT {_MOST}",
            (host,),
        )
        kind = Field(column, title, "number" if column == "status" else "text")
        yield Table(
            {"status": "status_codes"}.get(column, f"{column}s"), title, "", (kind, _PAGES), rows, "bars", "pages"
        )
    links = Field("links", "Links")
    yield Table(
        "in_links",
        "Linked from",
        "Hosts whose pages link here.",
        (Field("host", "Host", "text"), links, _PAGES),
        engine.rows(
            f"SELECT host, sum(links)::UBIGINT, count(*) FROM ({_LINKS} host <> ? AND list_contains(to_hosts, ?))"
            f" WHERE target = ? GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {_MOST}",
            (host, host, host),
        ),
        "bars",
        "links",
    )
    yield Table(
        "out_links",
        "Links to",
        "Hosts that its pages link to.",
        (Field("host", "Host", "text"), links, _PAGES),
        engine.rows(
            f"SELECT target, sum(links)::UBIGINT, count(*) FROM ({_LINKS} host = ?) WHERE target <> ? GROUP BY 1"
            f" ORDER BY 2 DESC, 1 LIMIT {_MOST}",
            (host, host),
        ),
        "bars",
        "links",
    )


def _texts(engine: Engine, source: CrawlSources, host: str, own: bool) -> Iterator[str]:
    """What some pages show, the same ones each time: those of the host, or of others in its language, since the usual
    words of a language tell nothing.
    """
    wanted = "links IS NOT NULL AND duplicate_of = '' AND size > 0"
    language = engine.row(f"SELECT mode(language) FROM pages WHERE host = ? AND {wanted}", (host,))[0]
    rows = engine.rows(
        f'SELECT url, file, "offset", length, type FROM pages WHERE {wanted} AND'
        f" {'host = ?' if own else 'host <> ? AND language = ?'} ORDER BY hash(url), url LIMIT {_SAMPLE}",
        (host,) if own else (host, language or ""),
    )
    most = source.config.fetch.max_body
    files = [RecordFiles(part.directories, most) for part in source.parts]
    try:
        for url, file, offset, length, kind in rows:
            place = Locator(file, offset, length)
            found = (records.read(place) for records in files)  # agents number their files alike
            record = next((record for record in found if record is not None and record.url == url), None)
            if record is not None:
                body = decoded(record.head, record.raw, most).body[:READ]
                yield shown(decode_as(body, decide(body, kind or None)[0]))
    finally:
        for records in files:
            records.close()
