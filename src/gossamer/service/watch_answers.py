"""What is answered of watches, as JSON."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated
from urllib.parse import urlsplit

import msgspec

from gossamer.agent.watching.watch import Tally, Told, Watch, WatchHit

Moment = Annotated[datetime, msgspec.Meta(tz=True)]


class WatchEntry(msgspec.Struct):
    """A standing query and how it fares. `hits` pages are listed, `earlier` of them were in the index before it; `seen`
    are all that matched. Of the hits that are to be told `waiting` wait, `done` were taken, `dead` were given up.
    `webhook` is whole for admins only, and else where it is. `crawl`: what matching pages link to is visited next.
    `remembered`: it was added by itself, for a search that found nothing, and ends 30 days later.
    """

    id: str
    name: str
    query: str
    webhook: str
    notify_earlier: bool
    created_at: Moment | None
    hits: int
    earlier: int
    seen: int
    waiting: int
    done: int
    dead: int
    newest_at: Moment | None
    last_try_at: Moment | None
    next_try_at: Moment | None
    last_status: int | None
    trouble: str
    taken_up: bool
    crawl: bool
    remembered: bool


class WatchesAnswer(msgspec.Struct):
    """`next` is the cursor of the watches that follow, empty where there are none."""

    watches: list[WatchEntry]
    total: int
    next: str


class WatchAdded(msgspec.Struct):
    """`secret` signs the calls to the webhook; it is given this once."""

    watch: WatchEntry
    secret: str


class WatchRemoved(msgspec.Struct):
    id: str
    name: str


class HitEntry(msgspec.Struct):
    """A page that matched. `snippet` is HTML: escaped text with `<mark>`. `told` is empty where nobody is told."""

    id: str
    url: str
    title: str
    snippet: str
    fetched_at: Moment | None
    found_at: Moment | None
    language: str
    earlier: bool
    told: Told


class HitsAnswer(msgspec.Struct):
    """In the order in which they were found. `next` is the cursor of what comes after these, now or later; where `more`
    is false, that is nothing yet. With `newest` it is the other way round, and ends.
    """

    hits: list[HitEntry]
    next: str
    more: bool


SCHEMAS = (WatchesAnswer, WatchAdded, WatchRemoved, HitsAnswer)


def watch_entry(watch: Watch, tally: Tally, whole: bool) -> WatchEntry:
    webhook = watch.webhook if whole else place_of(watch.webhook)
    return WatchEntry(
        watch.id, watch.name, watch.query, webhook, watch.notify_earlier, _moment(watch.created_at), tally.hits,
        tally.earlier, tally.seen, tally.waiting, tally.done, tally.dead, _moment(tally.newest_at),
        _moment(tally.last_try_at), _moment(tally.next_try_at), tally.last_status or None, tally.trouble,
        tally.taken_up, watch.crawl, watch.remembered,
    )  # fmt: skip


def hit_entry(hit: WatchHit) -> HitEntry:
    return HitEntry(
        hit.id, hit.url, hit.title, hit.snippet, _moment(hit.fetched_at), _moment(hit.found_at), hit.language,
        hit.earlier, hit.told,
    )  # fmt: skip


def place_of(webhook: str) -> str:
    """Where calls go, without what may be a secret: many webhooks have one in their path."""
    parts = urlsplit(webhook)
    return f"{parts.scheme}://{parts.netloc}/" if webhook else ""


def _moment(seconds: float) -> datetime | None:
    return datetime.fromtimestamp(seconds, UTC) if seconds else None
