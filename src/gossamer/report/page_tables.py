"""The tables that are made of facts: one query each over `pages`, `robots` and `domain_links`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final

import msgspec

from gossamer.report.engine import Engine
from gossamer.report.table import Chart, Field, Table

MOST: Final = 1000  # rows of a table
TOP: Final = 20  # domains of the tables, domains and suffixes of the matrices
SUM: Final = "Sum"
OTHERS: Final = "(others)"  # all suffixes beyond the largest; no host name has parentheses

_PAGES = Field("pages", "Pages")
_BYTES = Field("bytes", "Bytes", "size")
_HOSTS = Field("hosts", "Hosts")


class Question(msgspec.Struct, frozen=True):
    """A table and the query that fills it, whose columns are its fields."""

    name: str
    title: str
    about: str
    fields: tuple[Field, ...]
    query: str
    chart: Chart = "bars"
    measure: str = "pages"

    def ask(self, engine: Engine) -> Table:
        rows = engine.rows(self.query)
        return Table(self.name, self.title, self.about, self.fields, rows, self.chart, self.measure)


def _by(column: str, name: str, title: str, about: str, label: str, empty: str, where: str = "true") -> Question:
    """How many pages and hosts there are of each value of a column."""
    value = f"CASE WHEN {column} = '' THEN '{empty}' ELSE {column} END"
    return Question(
        name,
        title,
        about,
        (Field(label, title, "text"), _PAGES, _HOSTS, _BYTES),
        f"SELECT {value}, count(*), count(DISTINCT host), sum(size)::UBIGINT FROM pages WHERE {where}"
        f" GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {MOST}",
    )


def _doubling(column: str, where: str = "true") -> str:
    """Pages by powers of two: 0, 1, 2-3, 4-7 …"""
    power = f"CASE WHEN {column} = 0 THEN -1 ELSE floor(log2({column}))::INTEGER END"
    first = "CASE WHEN power < 0 THEN 0 ELSE (1::UBIGINT << power) END"
    last = "CASE WHEN power < 0 THEN 0 ELSE (2::UBIGINT << power) - 1 END"
    return (
        f"SELECT {first}, {last}, pages FROM (SELECT {power} AS power, count(*) AS pages FROM pages"
        f" WHERE {where} GROUP BY 1) ORDER BY 1"
    )


_RANGE = (Field("from", "From"), Field("to", "To"), _PAGES)
_SIZES = (Field("from", "From", "size"), Field("to", "To", "size"), _PAGES)
_DOMAIN = (Field("domain", "Domain", "text"), _HOSTS, Field("addresses", "Addresses"), _PAGES, _BYTES)
_COUNTED = "count(DISTINCT host), count(DISTINCT address) FILTER (address <> ''), count(*), sum(size)::UBIGINT"
_PRODUCT = "CASE WHEN server = '' THEN '(not said)' ELSE regexp_extract(server, '^[^/ (]*') END"

QUESTIONS: Final = (
    Question(
        "status_codes",
        "Status codes",
        "The last response to each URL that was fetched.",
        (Field("status", "Status", "number"), Field("meaning", "Meaning", "text"), _PAGES, _HOSTS, _BYTES),
        "SELECT status, '', count(*), count(DISTINCT host), sum(size)::UBIGINT FROM pages GROUP BY 1 ORDER BY 1",
    ),
    Question(
        "server_software",
        "Server software",
        "By the header Server, without versions. A host that says several things counts for each.",
        (Field("server", "Server", "text"), _HOSTS, _PAGES),
        f"SELECT {_PRODUCT}, count(DISTINCT host), count(*) FROM pages GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {MOST}",
        measure="hosts",
    ),
    Question(
        "server_versions",
        "Server software with versions",
        "The header Server as it is sent.",
        (Field("server", "Server", "text"), _HOSTS, _PAGES),
        "SELECT server, count(DISTINCT host), count(*) FROM pages WHERE server <> '' GROUP BY 1"
        f" ORDER BY 2 DESC, 1 LIMIT {MOST}",
        measure="hosts",
    ),
    Question(
        "suffixes",
        "Top-level domains",
        "Public suffixes: what names are registered below.",
        (
            Field("suffix", "Suffix", "text"),
            Field("domains", "Domains"),
            _HOSTS,
            Field("addresses", "Addresses"),
            _PAGES,
            _BYTES,
        ),
        f"SELECT suffix, count(DISTINCT domain), {_COUNTED} FROM pages GROUP BY 1 ORDER BY 5 DESC, 1 LIMIT {MOST}",
    ),
    Question(
        "domains_by_pages",
        f"Top {TOP} domains by pages",
        "Registered domains.",
        _DOMAIN,
        f"SELECT domain, {_COUNTED} FROM pages GROUP BY 1 ORDER BY 4 DESC, 1 LIMIT {TOP}",
    ),
    Question(
        "domains_by_hosts",
        f"Top {TOP} domains by hosts",
        "Registered domains.",
        _DOMAIN,
        f"SELECT domain, {_COUNTED} FROM pages GROUP BY 1 ORDER BY 2 DESC, 4 DESC, 1 LIMIT {TOP}",
        measure="hosts",
    ),
    Question(
        "hosts",
        "Hosts with most pages",
        "gossamer report --host NAME says more of one.",
        (
            Field("host", "Host", "text"),
            _PAGES,
            _BYTES,
            Field("links", "Links"),
            Field("newest", "Newest copy", "moment"),
        ),
        "SELECT host, count(*), sum(size)::UBIGINT, coalesce(sum(links), 0)::UBIGINT, max(fetched_at) FROM pages"
        f" GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {MOST}",
    ),
    Question(
        "links_per_page",
        "Links per page",
        "HTML pages with status 2xx; a URL that a page links to twice counts once.",
        _RANGE,
        _doubling("links", "links IS NOT NULL"),
        "histogram",
    ),
    Question(
        "linked_domains",
        "Domains linked to from others",
        "Links from pages of other registered domains, fetched or not.",
        (Field("domain", "Domain", "text"), Field("links", "Links"), Field("domains", "From domains")),
        "SELECT target, sum(links)::UBIGINT, count(*) FROM domain_links WHERE source <> target GROUP BY 1"
        f" ORDER BY 2 DESC, 1 LIMIT {MOST}",
        measure="links",
    ),
    Question(
        "domain_links",
        "Links between domains",
        "From registered domain to registered domain, links within one included.",
        (Field("source", "From", "text"), Field("target", "To", "text"), Field("links", "Links")),
        f"SELECT source, target, links FROM domain_links ORDER BY 3 DESC, 1, 2 LIMIT {MOST}",
        measure="links",
    ),
    _by("type", "types", "Media type", "As declared.", "type", "(none)"),
    _by("extension", "extensions", "File extension", "Of the path.", "extension", "(none)"),
    _by("language", "languages", "Language", "HTML pages, by what they declare and show.", "language", "(not known)",
        "links IS NOT NULL"),
    _by("charset", "charsets", "Encoding", "HTML pages.", "charset", "(not known)", "links IS NOT NULL"),
    Question(
        "sizes",
        "Sizes",
        "Bytes of the body, content encodings taken off.",
        _SIZES,
        _doubling("size"),
        "histogram",
    ),
    Question(
        "depths",
        "Depth",
        "Links from a seed.",
        (Field("depth", "Depth", "number"), _PAGES, _HOSTS),
        "SELECT depth, count(*), count(DISTINCT host) FROM pages WHERE depth IS NOT NULL GROUP BY 1 ORDER BY 1",
        "histogram",
    ),
    Question(
        "url_lengths",
        "Lengths of URLs",
        "Characters.",
        _RANGE,
        "SELECT least(url_length // 10, 50) * 10, CASE WHEN url_length < 500 THEN (url_length // 10) * 10 + 9"
        " ELSE 2083 END, count(*) FROM pages GROUP BY ALL ORDER BY 1",
        "histogram",
    ),
    Question(
        "duplicates",
        "Pages that are the same",
        "2xx pages with the same payload, byte for byte; the largest groups.",
        (
            Field("url", "One of them", "url"),
            _PAGES,
            _HOSTS,
            Field("size", "Size of each", "size"),
        ),
        "SELECT arg_min(url, (fetched_at, url)), count(*), count(DISTINCT host), max(size)"
        " FROM pages WHERE status BETWEEN 200 AND 299 AND size > 0 GROUP BY digest HAVING count(*) > 1"
        f" ORDER BY 2 DESC, 1 LIMIT {MOST}",
    ),
    Question(
        "truncated",
        "Pages cut short",
        "Why the end of a page is missing.",
        (Field("reason", "Reason", "text"), _PAGES, _HOSTS),
        "SELECT truncated, count(*), count(DISTINCT host) FROM pages WHERE truncated <> '' GROUP BY 1 ORDER BY 2 DESC",
    ),
    Question(
        "robots",
        "Answers for robots.txt",
        "The last one of each host. 4xx means that everything is allowed, 5xx that nothing is.",
        (
            Field("status", "Status", "number"),
            _HOSTS,
            Field("closed", "Closed to us"),
            Field("with_delay", "With Crawl-delay"),
            Field("longest_delay", "Longest", "seconds"),
        ),
        "SELECT status, count(DISTINCT host), count(*) FILTER (closed), count(*) FILTER (crawl_delay > 0),"
        " max(crawl_delay) FROM robots GROUP BY 1 ORDER BY 1",
        measure="hosts",
    ),
)  # fmt: skip


def page_tables(engine: Engine) -> dict[str, Table]:
    tables = {question.name: question.ask(engine) for question in QUESTIONS}
    for name in ("links_per_page", "sizes"):
        tables[name].rows = _filled(tables[name].rows, lambda start: max(2 * start, 1))
    tables["url_lengths"].rows = _filled(tables["url_lengths"].rows, lambda start: start + 10)
    tables["depths"].rows = _filled(tables["depths"].rows, lambda start: start + 1, last=False)
    codes = tables["status_codes"]
    codes.rows = [(status, meaning(status), *rest) for status, _, *rest in codes.rows]
    return tables


def _filled(rows: list[tuple[Any, ...]], after: Callable[[int], int], last: bool = True) -> list[tuple[Any, ...]]:
    """With the ranges in between of which there is nothing: a histogram shows them. `last`: a range names its end."""
    if not rows:
        return rows
    known = {row[0]: row for row in rows}
    filled, start = [], rows[0][0]
    while start <= rows[-1][0]:
        empty = (start, after(start) - 1, 0) if last else (start, 0, 0)
        filled.append(known.get(start, empty))
        start = after(start)
    return filled


def meaning(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def matrix(engine: Engine) -> Table:
    """Links between the domains with most pages: a row for each that links, a column for each that is linked to."""
    names = [
        row[0] for row in engine.rows(f"SELECT domain FROM pages GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT {TOP}")
    ]
    found = {
        (source, target): links
        for source, target, links in engine.rows(
            "SELECT source, target, links FROM domain_links"
            " WHERE list_contains(?, source) AND list_contains(?, target)",
            (names, names),
        )
    }
    fields = (Field("source", "From", "text"), *(Field(name, name) for name in names))
    rows: list[tuple[Any, ...]] = [(one, *(found.get((one, other), 0) for other in names)) for one in names]
    return Table(
        "link_matrix",
        "Links between the largest domains",
        "From the domain of the row to that of the column.",
        fields,
        rows,
        "matrix",
    )


def suffix_links(engine: Engine) -> Table:
    """Count links from each public suffix to each, as of .ac.th to .co.th.

    The suffixes with most links have a row and a column each, all others share one, so that the sums are of all links.
    """
    suffix = (
        "CASE WHEN starts_with({0}, '[') OR regexp_full_match({0}, '[0-9.]+') THEN 'address'"
        " WHEN contains({0}, '.') THEN substr({0}, strpos({0}, '.') + 1) ELSE {0} END"
    )
    found: Counter[tuple[str, str]] = Counter()
    for source, target, links in engine.rows(
        f"SELECT {suffix.format('source')}, {suffix.format('target')}, sum(links)::UBIGINT FROM domain_links"
        " GROUP BY ALL"
    ):
        found[source, target] = links
    # A fact names at most so many hosts; where the other links of its page lead is not known.
    for source, links in engine.rows(
        "SELECT suffix, sum(links - list_sum(to_counts))::UBIGINT AS more FROM pages WHERE links > 0 GROUP BY 1"
        " HAVING more > 0"
    ):
        found[source, OTHERS] += links
    return _crosstab(found, TOP)


def folded(table: Table, most: int) -> Table:
    """Return a crosstab with fewer suffixes: what is left out goes into `(others)`."""
    names = [field.name for field in table.fields[1:-1]]
    cells = {(row[0], name): links for row in table.rows[:-1] for name, links in zip(names, row[1:], strict=False)}
    return _crosstab(Counter(cells), most)


def _crosstab(found: Counter[tuple[str, str]], most: int) -> Table:
    ends: Counter[str] = Counter()
    for (source, target), links in found.items():
        for end in {source, target} - {OTHERS}:
            ends[end] += links
    names = [name for name, _ in sorted(ends.items(), key=lambda item: (-item[1], item[0]))[:most]]
    shown = set(names)
    if len(ends) > len(names) or any(OTHERS in pair for pair in found):
        names.append(OTHERS)
    cells: Counter[tuple[str, str]] = Counter()
    for (source, target), links in found.items():
        cells[source if source in shown else OTHERS, target if target in shown else OTHERS] += links
    rows: list[tuple[Any, ...]] = []
    for source in names:
        links_to = [cells[source, target] for target in names]
        rows.append((source, *links_to, sum(links_to)))
    if rows:
        rows.append((SUM, *(sum(row[column] for row in rows) for column in range(1, len(names) + 2))))
    return Table(
        "suffix_links",
        "Links between top-level domains",
        "From the public suffix of the row to that of the column: what names are registered below, such as ac.th.",
        (Field("source", "From", "text"), *(Field(name, name) for name in names), Field("sum", SUM)),
        rows,
        "crosstab",
    )


def matrix_json(table: Table) -> dict[str, Any]:
    """The domains, and for each of them its links to each of them."""
    return {"domains": [row[0] for row in table.rows], "links": [list(row[1:]) for row in table.rows]}


def crosstab_json(table: Table) -> dict[str, Any]:
    """The suffixes, for each of them its links to each of them, and the sums of rows, columns and all."""
    *rows, sums = table.rows or [(SUM, 0)]
    return {
        "suffixes": [row[0] for row in rows],
        "links": [list(row[1:-1]) for row in rows],
        "from": [row[-1] for row in rows],
        "to": list(sums[1:-1]),
        "total": sums[-1],
    }
