"""Watches added and removed, on behalf of somebody."""

from __future__ import annotations

import time
from pathlib import Path

from gossamer.agent import audit
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.watching.book import WatchBook, folder_of, has_watches, is_shared
from gossamer.agent.watching.watch import (
    MOST_AN_HOUR,
    MOST_REMEMBERED,
    Watch,
    checked_name,
    checked_query,
    new_id,
    new_secret,
)
from gossamer.config import FetchConfig, load
from gossamer.errors import ConfigError, ControlError, QueryError
from gossamer.index.matching import words_sought
from gossamer.index.query import parse, spelled
from gossamer.index.standing import StandingQuery

_LONGEST = 200  # characters of a query that is remembered by itself


def add_watch(
    home: Path,
    who: str,
    query: str,
    webhook: str = "",
    name: str = "",
    notify_earlier: bool = False,
    crawl: bool = False,
    remembered: bool = False,
) -> tuple[Watch, str]:
    """A new watch and its secret, which is given this once. What is wrong is said before anything is made. One that is
    `remembered` by itself is no change that somebody made, and not in the audit log.
    """
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
        made, secret = _say_added(home, query, webhook, name, notify_earlier, crawl, remembered)
    else:
        with WatchBook(home) as book:
            made, secret = book.add(query, webhook, name, notify_earlier, time.time(), crawl, remembered)
    if not remembered:
        audit.record(_logs(home), who, "watch add", after={"name": made.name, "query": made.query})
    return made, secret


def remember(home: Path, query: str) -> Watch | None:
    """Have a query that found nothing remembered; None where it is nothing to wait for. One that is watched already
    stays as it is, and of too many the oldest is forgotten.
    """
    wanted = _to_remember(query)
    if not wanted or not CrawlDir(home).settings.is_file():
        return None
    if has_watches(home):
        with WatchBook(home) as book:
            known = book.all()
        for watch in known:
            if watch.query.lower() == wanted.lower():
                return watch
        remembered = [watch for watch in known if watch.remembered]
        if len([watch for watch in remembered if watch.created_at > time.time() - 3600]) >= MOST_AN_HOUR:
            return None
        for watch in remembered[: max(0, len(remembered) + 1 - MOST_REMEMBERED)]:
            _remove(home, watch)
    return add_watch(home, "", wanted, crawl=True, remembered=True)[0]


def _to_remember(query: str) -> str:
    """A query as it was understood, if it has words and no dates: what is fetched from now on may match it."""
    try:
        tree = parse(query)
        text = spelled(tree)
        StandingQuery(text)
    except QueryError:
        return ""
    dated = any(field in text for field in ("after:", "before:"))
    return text if len(text) <= _LONGEST and not dated and any(words_sought(tree)) else ""


def _say_added(
    home: Path, query: str, webhook: str, name: str, notify_earlier: bool, crawl: bool, remembered: bool
) -> tuple[Watch, str]:
    """To all agents; what becomes of it is what the book has then."""
    from gossamer.agent.watching.records import Added
    from gossamer.agent.watching.sharing import say

    id_, secret = new_id(), new_secret() if webhook else ""
    chosen = checked_name(name, query, 1)
    given = bool(name), query.strip(), webhook, secret, notify_earlier, time.time(), crawl, remembered
    say(home, Added(id_, chosen, *given))
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
    _remove(home, found)
    audit.record(_logs(home), who, "watch remove", before={"name": found.name, "query": found.query})
    return found


def _remove(home: Path, watch: Watch) -> None:
    if is_shared(home):
        from gossamer.agent.watching.records import Removed
        from gossamer.agent.watching.sharing import say

        say(home, Removed(watch.id))
    else:
        with WatchBook(home) as book:
            book.remove(watch)


def fetch_settings(home: Path) -> FetchConfig:
    """Those of the crawl, which say whether private addresses may be called; the usual ones before it has begun."""
    settings = CrawlDir(folder_of(home).parent).settings
    return load(settings, resumed=True).fetch if settings.is_file() else load(None).fetch


def _logs(home: Path) -> Path:
    return CrawlDir(folder_of(home).parent).logs
