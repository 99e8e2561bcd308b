"""Watches added and removed, on behalf of somebody."""

from __future__ import annotations

import time
from pathlib import Path

from gossamer.agent import audit
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.watching.book import WatchBook, folder_of, has_watches
from gossamer.agent.watching.watch import Watch, checked_name, checked_query
from gossamer.config import FetchConfig, load
from gossamer.errors import ConfigError


def add_watch(
    home: Path, who: str, query: str, webhook: str = "", name: str = "", notify_earlier: bool = False
) -> tuple[Watch, str]:
    """A new watch and its secret, which is given this once. What is wrong is said before anything is made."""
    CrawlDir(home).check()
    checked_query(query)
    checked_name(name, query, 1)
    if webhook:
        from gossamer.fetch.webhook import Webhooks

        webhooks = Webhooks(fetch_settings(home))
        try:
            webhook = webhooks.checked(webhook)
        finally:
            webhooks.close()
    book = WatchBook(home)
    try:
        made, secret = book.add(query, webhook, name, notify_earlier, time.time())
    finally:
        book.close()
    audit.record(_logs(home), who, "watch add", after={"name": made.name, "query": made.query})
    return made, secret


def remove_watch(home: Path, who: str, name: str) -> Watch:
    if not has_watches(home):
        raise ConfigError(f"there is no watch {name[:80]!r}: this crawl has none")
    book = WatchBook(home)
    try:
        found = book.known(name)
        book.remove(found)
    finally:
        book.close()
    audit.record(_logs(home), who, "watch remove", before={"name": found.name, "query": found.query})
    return found


def fetch_settings(home: Path) -> FetchConfig:
    """Those of the crawl, which say whether private addresses may be called; the usual ones before it has begun."""
    settings = CrawlDir(folder_of(home).parent).settings
    return load(settings, resumed=True).fetch if settings.is_file() else load(None).fetch


def _logs(home: Path) -> Path:
    return CrawlDir(folder_of(home).parent).logs
