"""Captures to Facts: what a worker process does."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from email.utils import parsedate_to_datetime
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec

from gossamer.config import Config, user_agent
from gossamer.fetch.decode import decoded
from gossamer.model import Locator, Page
from gossamer.model.domain import is_address, registered_domain, without_port
from gossamer.model.media_type import media_type_of
from gossamer.model.url import host_of, normalize, split
from gossamer.parse import LinkScanner
from gossamer.report.fact import PAGE, ROBOTS, Fact, Wanted
from gossamer.report.look import clean, look
from gossamer.rules.robots import Robots, product_token
from gossamer.rules.robots_tag import robots_tag
from gossamer.store import Record, RecordFiles

HTML: Final = ("text/html", "application/xhtml+xml")
_MOST_HOSTS: Final = 500  # of one page's links
_LONGEST: Final = 200  # characters of a header
_extension = re.compile(r"\.([A-Za-z0-9]{1,10})\Z")
_encode = msgspec.json.Encoder().encode_lines


class Places(msgspec.Struct, frozen=True):
    """What a worker must know to read captures."""

    directories: list[Path]
    config: Config


class FactReader:
    """Invariant: a page that cannot be read gives a fact, too, with what its line of CDXJ says."""

    def __init__(self, places: Places) -> None:
        config = places.config
        self._most = config.fetch.max_body
        self._files = RecordFiles(places.directories, self._most)
        self._token = product_token(user_agent(config.fetch)).lower()
        self._obey = config.parse.nofollow
        kinds = frozenset(kind for kind in config.parse.follow if kind.partition(":")[0] != "header")
        self._scanner = LinkScanner(kinds, self._obey)

    def lines(self, batch: Iterable[Wanted]) -> bytes:
        """Facts as lines of JSON."""
        return _encode([self.fact(wanted) for wanted in batch])

    def links(self, batch: Iterable[Wanted]) -> bytes:
        """Where pages lead, as lines of JSON."""
        return _encode(list(self._links(batch)))

    def fact(self, wanted: Wanted) -> Fact:
        fact = _bare(wanted)
        try:
            found = self._read(wanted)
            if found is not None:
                self._fill(fact, *found)
        except Exception:  # noqa: S110 - whatever a page does to its reader, the next one is read
            pass
        return fact

    def _read(self, wanted: Wanted) -> tuple[Record, bytes] | None:
        """A record, and its payload where that is to be had."""
        record = self._files.read(Locator(*wanted.place))
        if record is None or record.url != wanted.url:
            return None
        if record.refers_to is not None and wanted.payload is not None:
            first = self._files.read(Locator(*wanted.payload))
            if first is not None and first.refers_to is None and first.digest == record.digest:
                return record, first.raw
        return record, record.raw

    def _fill(self, fact: Fact, record: Record, raw: bytes) -> None:
        page = Page(record.url, record.status, record.head, raw, b"", record.fetched_at, 0.0, record.address)
        headers = {name.lower(): value for name, value in reversed(page.headers)}
        body = decoded(record.head, raw, self._most).body
        fact.fetched_at, fact.truncated, fact.address = record.fetched_at, record.truncated, record.address
        fact.encoded_size, fact.size = len(raw), len(body)
        fact.server = clean(headers.get("server", ""))
        fact.last_modified = _date(headers.get("last-modified", ""))
        if record.refers_to is not None and record.refers_to[0] != record.url:
            fact.duplicate_of = record.refers_to[0]
        declared = media_type_of([value for name, value in page.headers if name.lower() == "content-type"])
        fact.type = clean(declared.essence) if declared else ""
        if fact.kind == ROBOTS and 200 <= record.status < 300:
            rules = Robots.parse(body, self._token)
            fact.crawl_delay, fact.closed = rules.crawl_delay, not rules.allows("/")
        if 300 <= record.status < 400:
            fact.redirect = _target(headers.get("location"), record.url)
        elif fact.kind == PAGE and fact.type in (*HTML, "") and (fact.type or body.lstrip()[:1] == b"<"):
            content_type = str(declared) if declared else None
            fact.charset, fact.title, fact.language = look(body, content_type)
            if 200 <= record.status < 300:
                self._count_links(fact, self._targets(record, body, content_type))

    def _targets(self, record: Record, body: bytes, content_type: str | None) -> list[str]:
        if self._obey and robots_tag(record.head, self._token)[1]:
            return []
        return self._scanner.scan(body, record.url, content_type).urls

    def _count_links(self, fact: Fact, urls: list[str]) -> None:
        hosts = Counter(map(host_of, urls)).most_common(_MOST_HOSTS)
        fact.links = len(urls)
        fact.to_hosts, fact.to_counts = [name for name, _ in hosts], [count for _, count in hosts]
        fact.to_domains = [registered_domain(name) for name in fact.to_hosts]

    def _links(self, batch: Iterable[Wanted]) -> Iterator[dict[str, str]]:
        for wanted in batch:
            try:
                found = self._read(wanted)
                targets = [] if found is None else self._leads(*found)
            except Exception:  # noqa: S112 - as above
                continue
            for kind, url in targets:
                yield {"source": wanted.url, "target": url, "kind": kind}

    def _leads(self, record: Record, raw: bytes) -> list[tuple[str, str]]:
        page = Page(record.url, record.status, record.head, raw, b"", record.fetched_at, 0.0, "")
        if 300 <= record.status < 400:
            target = _target(page.header("location"), record.url)
            return [("redirect", target)] if target else []
        declared = media_type_of([value for name, value in page.headers if name.lower() == "content-type"])
        if not 200 <= record.status < 300 or (declared and declared.essence not in HTML):
            return []
        body = decoded(record.head, raw, self._most).body
        return [("link", url) for url in self._targets(record, body, str(declared) if declared else None)]


def _target(location: str | None, url: str) -> str:
    """Where a redirect leads; empty where it says nothing, as a 304."""
    return normalize(location, url) or "" if location else ""


def _bare(wanted: Wanted) -> Fact:
    """What is known of a capture before its record is read."""
    host = host_of(wanted.url)
    domain, suffix = domain_and_suffix(host)
    path = split(wanted.url)[1].partition("?")[0]
    extension = _extension.search(path)
    return Fact(
        wanted.url, wanted.kind, host, domain, suffix, wanted.status, "", extension[1].lower() if extension else "",
        0, 0, wanted.depth, wanted.fetched_at, "", "", "", "", "", None, [], [], [], "",
        min(len(wanted.url), 65535), wanted.digest.removeprefix("sha1:"), "", "", None, None, None,
        *wanted.place, wanted.change,
    )  # fmt: skip


@lru_cache(maxsize=16_384)
def domain_and_suffix(host: str) -> tuple[str, str]:
    domain, name = registered_domain(host), without_port(host)
    if is_address(name):
        return domain, "address"
    # Where the host is a public suffix itself, it is its own domain, and its own suffix.
    return domain, domain.partition(".")[2] or domain


def _date(text: str) -> float | None:
    if not text:
        return None
    try:
        seconds = parsedate_to_datetime(text[:_LONGEST]).timestamp()
    except (ValueError, OverflowError, TypeError, IndexError):
        return None
    return seconds if 0 < seconds < 1e11 else None
