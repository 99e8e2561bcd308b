"""What a visit to a known page has found, and what the page is worth."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from gossamer.model import Change
from gossamer.regex import compiled_later
from gossamer.rules.change_rate import DAY
from gossamer.rules.policy import USUAL_PRIORITY

_SEED_WORTH: Final = 2.0  # what a page is worth that somebody named, beside one that was found
_NO_PAGE_WORTH: Final = 1 / 8  # what an error or a redirect is worth beside a page
_NEWS_WORTH: Final = 4.0  # what a new page is worth that is found on it; until then it is missed altogether
_EIGHTHS: Final = 8
_MOST_BELIEVED: Final = 30 * DAY  # of what servers say of the future
_HALF: Final = 0.5  # as much of it is believed
_max_age = compiled_later(r"(?<![a-z-])max-age\s*+=\s*+\"?+([0-9]{1,10})", re.I)
_says_nothing = compiled_later(r"(?<![a-z-])no-(?:cache|store)(?![a-z])", re.I)

FOR_GOOD: Final = frozenset({301, 308, 410})
"""Statuses that are believed at once when a page has become that; others may pass."""


class Found(msgspec.Struct, frozen=True, gc=False):
    """What a visit has found of a page."""

    change: Change = Change.NEW
    text: int = 0  # a hash of its main text; 0: not known
    gained: int = 0  # links on it to URLs that were not known
    holds: float = 0.0  # seconds for which it need not be visited again, by what its server says
    changed_at: float = 0.0  # when it changed last, by its server, if that can be believed
    missing: int = 0  # visits in a row that found nothing, this one included
    unmodified: bool = False  # its server says so, and has sent no body (304)
    again: float | None = None  # seconds after which the strategy wants to see it again
    is_page: bool = True  # rather than an error, a redirect, or a sitemap


FIRST: Final = Found()
"""Of a page that was not visited before, and of which nothing more is to be known."""


def worth(depth: int, priority: int, gained: int, is_page: bool) -> float:
    """Of a page, beside one of the usual priority that was found somewhere and leads to nothing new. `gained`: new URLs
    at a change, in eighths: where new pages are announced, to look is worth more.
    """
    found = (_SEED_WORTH if not depth else 1.0) * (1 + _NEWS_WORTH * gained / _EIGHTHS)
    if priority >= 0:
        found *= 2 ** ((USUAL_PRIORITY - priority) / 2)
    return found if is_page else found * _NO_PAGE_WORTH


def gained_on_average(before: int, gained: int) -> int:
    """In eighths, after one more change."""
    return min((3 * before + gained * _EIGHTHS) // 4, 255)


def said_to_hold(cache_control: str | None) -> float:
    """Seconds for which a page need not be visited again: half of how long its server says that it may be kept."""
    if cache_control and not _says_nothing.search(cache_control) and (told := _max_age.search(cache_control)):
        return min(float(told[1]), _MOST_BELIEVED) * _HALF
    return 0.0


def moment_of(date: str | None) -> float:
    """Of an HTTP date; 0 where it is none."""
    from email.utils import parsedate_to_datetime  # many modules, which not every crawl needs

    try:
        return max(parsedate_to_datetime(date).timestamp(), 0.0) if date else 0.0
    except (ValueError, OverflowError, TypeError, IndexError):
        return 0.0
