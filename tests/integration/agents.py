"""Directories of two agents of one crawl, made of two real crawls, for tests of those who read them together.

a1 has visited a.test, c.test and d.test. Then it lost c.test by dying, and gave d.test up. a2 has visited b.test, and
c.test again, which had changed, and has d.test now.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from crawling import crawl
from indexing import caught_up

from gossamer.frontier.database import Database
from gossamer.frontier.keys import partition_prefix
from gossamer.model.domain import partition_of
from gossamer.testing import TinyWeb

WORDS = {
    "http://a.test/": "<title>Alpha</title><p>silk of the first spider",
    "http://a.test/more": "<title>More</title><p>silk and more silk",
    "http://b.test/": "<title>Beta</title><p>silk of the second spider",
    "http://c.test/": "<title>Gamma</title><p>a web between two trees",
    "http://d.test/": "<title>Delta</title><p>a web in a window",
}


@contextmanager
def small_web() -> Iterator[TinyWeb]:
    with TinyWeb() as web:
        for url, words in WORDS.items():
            links = "<p><a href=/more>more</a>" if url == "http://a.test/" else ""
            web.add_page(url, body=f"<!DOCTYPE html>{words}{links}".encode())
        yield web


def make(first: Path, second: Path, **options: Any) -> None:
    """The directories of both."""
    with small_web() as web:
        crawl(first, ["http://a.test/", "http://c.test/", "http://d.test/"], web.connect, **options)
        web.add_page("http://c.test/", body=f"<!DOCTYPE html>{WORDS['http://c.test/']} and a fence".encode())
        crawl(second, ["http://b.test/", "http://c.test/", "http://d.test/gone"], web.connect, **options)
    for home in (first, second):
        caught_up(home)
    drop(first, "d.test")


def drop(home: Path, domain: str) -> None:
    """All that a frontier knows of a partition, as if it had moved."""
    database = Database(home / "frontier", 8 << 20)
    prefix = partition_prefix(partition_of(domain, 256))
    database.visits.update({key: None for key, _ in database.scan_visits(prefix)})
    database.hosts.update({key: None for key, _ in database.scan_hosts(prefix, prefix)})
    database.commit()
    database.close()


def make_home(home: Path) -> None:
    """A crawl of two agents on one machine."""
    make(home / "agents" / "a1", home / "agents" / "a2")
    (home / "gossamer.toml").write_bytes((home / "agents" / "a1" / "gossamer.toml").read_bytes())
