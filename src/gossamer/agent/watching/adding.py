"""Watches added and removed, on behalf of somebody."""

from __future__ import annotations

import time
from pathlib import Path

from gossamer.agent import audit
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.watching.book import WatchBook, folder_of, has_watches, is_shared
from gossamer.agent.watching.watch import Watch, checked_name, checked_query, new_id, new_secret
from gossamer.config import FetchConfig, load
from gossamer.errors import ConfigError, ControlError


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
    if is_shared(home):
        made, secret = _say_added(home, query, webhook, name, notify_earlier)
    else:
        with WatchBook(home) as book:
            made, secret = book.add(query, webhook, name, notify_earlier, time.time())
    audit.record(_logs(home), who, "watch add", after={"name": made.name, "query": made.query})
    return made, secret


def _say_added(home: Path, query: str, webhook: str, name: str, notify_earlier: bool) -> tuple[Watch, str]:
    """To all agents; what becomes of it is what the book has then."""
    from gossamer.agent.watching.records import Added
    from gossamer.agent.watching.sharing import say

    id_, secret = new_id(), new_secret() if webhook else ""
    chosen = checked_name(name, query, 1)
    say(home, Added(id_, chosen, bool(name), query.strip(), webhook, secret, notify_earlier, time.time()))
    with WatchBook(home) as book:
        found = book.find(id_)
        if found is None:
            book.check_room(chosen, bool(name))
            raise ControlError("the watch was added and removed at this moment: try again")
        return found, secret


def remove_watch(home: Path, who: str, name: str) -> Watch:
    if is_shared(home):
        from gossamer.agent.watching.sharing import bring_up

        bring_up(home)
    if not has_watches(home):
        raise ConfigError(f"there is no watch {name[:80]!r}: this crawl has none")
    with WatchBook(home) as book:
        found = book.known(name)
        if not is_shared(home):
            book.remove(found)
    if is_shared(home):
        from gossamer.agent.watching.records import Removed
        from gossamer.agent.watching.sharing import say

        say(home, Removed(found.id))
    audit.record(_logs(home), who, "watch remove", before={"name": found.name, "query": found.query})
    return found


def fetch_settings(home: Path) -> FetchConfig:
    """Those of the crawl, which say whether private addresses may be called; the usual ones before it has begun."""
    settings = CrawlDir(folder_of(home).parent).settings
    return load(settings, resumed=True).fetch if settings.is_file() else load(None).fetch


def _logs(home: Path) -> Path:
    return CrawlDir(folder_of(home).parent).logs
