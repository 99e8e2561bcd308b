"""A Fact: what the report knows of one capture. The fields are the columns of the Parquet files."""

from __future__ import annotations

from typing import Final

import msgspec

PAGE, SAME, ROBOTS, SOURCE = "page", "same", "robots", "source"


class Column(msgspec.Struct, frozen=True):
    """A column of the facts: its name, DuckDB's name of its type, and what it means."""

    name: str
    type: str
    meaning: str


COLUMNS: Final = (
    Column("url", "VARCHAR", "as the crawl spells it"),
    Column(
        "kind",
        "VARCHAR",
        "`page`, `same` (a page that was visited again and had not changed), `robots` (a robots.txt) or `source` (a"
        " sitemap or feed read for links)",
    ),
    Column("host", "VARCHAR", "with the port where it is not the usual one"),
    Column("domain", "VARCHAR", "the registered domain"),
    Column("suffix", "VARCHAR", "the public suffix below which that is registered; `address` where the host is one"),
    Column("status", "USMALLINT", "of HTTP"),
    Column("type", "VARCHAR", "media type as declared, without parameters; empty where none is"),
    Column("extension", "VARCHAR", "of the last part of the path, in lower case; empty where there is none"),
    Column("size", "UBIGINT", "bytes of the body, content encodings taken off"),
    Column("encoded_size", "UBIGINT", "bytes of the body as sent"),
    Column("depth", "USMALLINT", "links from a seed; null for what is no page"),
    Column("fetched_at", "DOUBLE", "seconds since 1970, UTC"),
    Column("server", "VARCHAR", "the header Server"),
    Column("address", "VARCHAR", "that answered; empty where it is not known"),
    Column("language", "VARCHAR", "tag of the language of an HTML page; empty where nothing shows it"),
    Column("charset", "VARCHAR", "encoding of an HTML page"),
    Column("title", "VARCHAR", "of an HTML page, its first 200 characters"),
    Column("links", "UINTEGER", "URLs that an HTML page with status 2xx links to, each once; null for all else"),
    Column("to_hosts", "VARCHAR[]", "the hosts of those links"),
    Column("to_domains", "VARCHAR[]", "the registered domain of each of these hosts"),
    Column("to_counts", "UINTEGER[]", "how many links lead to each of these hosts"),
    Column("redirect", "VARCHAR", "where a redirect leads"),
    Column("url_length", "USMALLINT", "characters"),
    Column("digest", "VARCHAR", "SHA-1 of the payload as sent, in base32"),
    Column("duplicate_of", "VARCHAR", "the URL whose payload is the same and was stored first"),
    Column("truncated", "VARCHAR", "why the end is missing: length, time or disconnect"),
    Column("last_modified", "DOUBLE", "as the server says, seconds since 1970"),
    Column("crawl_delay", "DOUBLE", "seconds that a robots.txt asks this crawler for"),
    Column("closed", "BOOLEAN", "whether a robots.txt closes the whole host to this crawler"),
    Column("file", "UINTEGER", "number of the WARC file"),
    Column("offset", "UBIGINT", "of the record in it"),
    Column("length", "UINTEGER", "of the record, compressed"),
    Column(
        "change",
        "VARCHAR",
        "what a visit to a page visited before found: changed, same, gone, new; empty for the first",
    ),
)


class Fact(msgspec.Struct, gc=False):
    """Invariant: the fields are those of COLUMNS, in their order."""

    url: str
    kind: str
    host: str
    domain: str
    suffix: str
    status: int
    type: str
    extension: str
    size: int
    encoded_size: int
    depth: int | None
    fetched_at: float
    server: str
    address: str
    language: str
    charset: str
    title: str
    links: int | None
    to_hosts: list[str]
    to_domains: list[str]
    to_counts: list[int]
    redirect: str
    url_length: int
    digest: str
    duplicate_of: str
    truncated: str
    last_modified: float | None
    crawl_delay: float | None
    closed: bool | None
    file: int
    offset: int
    length: int
    change: str


class Wanted(msgspec.Struct, frozen=True, gc=False):
    """A capture whose fact is to be made. `payload` is where the bytes of a revisit may be."""

    url: str
    kind: str
    depth: int | None
    status: int
    fetched_at: float
    digest: str
    place: tuple[int, int, int]  # WARC file, offset, length
    payload: tuple[int, int, int] | None = None
    latest: bool = True  # it is the last response to its URL
    change: str = ""
