"""What is known of a watch, of a page that matched it, and of the calls that tell of it."""

from __future__ import annotations

import re
import secrets
from base64 import b64encode
from typing import Final, Literal

import msgspec

from gossamer.errors import ConfigError, QueryError
from gossamer.index.standing import StandingQuery

MOST_WATCHES: Final = 5_000
MOST_HITS: Final = 100_000
"""Pages of a watch that are listed; what matches beyond that is only counted."""
MOST_REMEMBERED: Final = 100
"""Queries that found nothing and are remembered by themselves; one more, and the oldest is forgotten."""
MOST_AN_HOUR: Final = 50
"""Of these, new ones: whoever searches for nonsense drives out the others slowly, and fills no log."""
REMEMBERED_FOR: Final = 30 * 86400.0  # seconds
MOST_STARTS: Final = 100
"""Pages of a watch from which the crawl goes on."""
MOST_EARLIER_STARTS: Final = 10
"""Of these, pages that were in the index before the watch: the best."""
START_PRIORITY: Final = 1
"""Of what such a page links to."""
LONGEST_NAME: Final = 64
SECRET: Final = "whsec_"  # noqa: S105
"""What secrets begin with, so that one is recognised where it should not be."""
_NAME: Final = re.compile(r"[^\W_][\w .@-]{0,63}")

Told = Literal["", "waiting", "done", "dead"]
"""What became of telling of a hit; nothing: it is not to be told."""


class Watch(msgspec.Struct, frozen=True):
    """A standing query. Without `webhook` it only collects. `crawl`: what matching pages link to is visited next.
    `remembered`: a search found nothing, and nobody asked for a watch; it ends after REMEMBERED_FOR.
    """

    number: int  # in its book
    id: str
    name: str
    query: str
    webhook: str
    notify_earlier: bool
    created_at: float
    crawl: bool = False
    remembered: bool = False


class WatchHit(msgspec.Struct, frozen=True):
    """A page that matched. `earlier`: it was in the index before the watch. `number` grows with each."""

    number: int
    id: str
    url: str
    title: str
    snippet: str  # HTML: escaped text with <mark>
    fetched_at: float
    found_at: float
    language: str
    earlier: bool
    told: Told


class Tally(msgspec.Struct):
    """How a watch fares. `seen` are all pages that matched, also those that are no longer listed."""

    hits: int = 0
    earlier: int = 0
    seen: int = 0
    waiting: int = 0  # hits to be told
    done: int = 0
    dead: int = 0
    newest_at: float = 0.0
    last_try_at: float = 0.0
    next_try_at: float = 0.0
    last_status: int = 0
    trouble: str = ""  # why the last call failed; nothing where it did not
    taken_up: bool = False  # by the process that indexes


def new_id() -> str:
    return "w" + secrets.token_hex(6)


def new_secret() -> str:
    return SECRET + b64encode(secrets.token_bytes(32)).decode()


def checked_name(name: str, query: str, number: int) -> str:
    """The name given, or one made of the query's words."""
    if not name:
        words = re.sub(r"[^\w]+", "-", query.lower()).strip("-_")[:40].strip("-_")
        return words or f"watch-{number}"
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"--name: {name[:80]!r} is not a name: 1 to {LONGEST_NAME} letters, digits, spaces and . _ @ -, the first "
            "a letter or digit"
        )
    return name


def checked_query(text: str) -> StandingQuery:
    """Raises QueryError that says where and why."""
    try:
        return StandingQuery(text.strip())
    except QueryError as error:
        raise QueryError(error.position, f"query, from character {error.position + 1} on: {error.why}") from None
