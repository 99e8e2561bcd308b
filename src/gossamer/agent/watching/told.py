"""What is said of watches and their hits to programs, as JSON."""

from __future__ import annotations

from datetime import UTC, datetime

from gossamer.agent.watching.watch import Tally, Watch, WatchHit


def watch_fields(watch: Watch, tally: Tally) -> dict[str, object]:
    return {
        "id": watch.id,
        "name": watch.name,
        "query": watch.query,
        "webhook": watch.webhook,
        "notify_earlier": watch.notify_earlier,
        "crawl": watch.crawl,
        "remembered": watch.remembered,
        "created_at": moment(watch.created_at),
        "hits": tally.hits,
        "earlier": tally.earlier,
        "seen": tally.seen,
        "waiting": tally.waiting,
        "done": tally.done,
        "dead": tally.dead,
        "newest_at": moment(tally.newest_at),
        "last_try_at": moment(tally.last_try_at),
        "next_try_at": moment(tally.next_try_at),
        "last_status": tally.last_status or None,
        "trouble": tally.trouble,
        "taken_up": tally.taken_up,
    }


def hit_fields(hit: WatchHit) -> dict[str, object]:
    return {
        "id": hit.id,
        "url": hit.url,
        "title": hit.title,
        "snippet": hit.snippet,
        "fetched_at": moment(hit.fetched_at),
        "found_at": moment(hit.found_at),
        "language": hit.language,
        "earlier": hit.earlier,
        "told": hit.told,
    }


def moment(seconds: float) -> datetime | None:
    return datetime.fromtimestamp(seconds, UTC) if seconds else None
