"""Calendars that go on for ever: pages of days that nobody has written anything about yet (K11).

A calendar links every month to the next, so it leads a crawl out of the years in which there is anything. What counts
is a date in the URL, later than two years after this one. Earlier dates are mostly real: newspapers have their pages of
1863 under /1863/05/06/. So a date before 1970 counts only where the URL says that it is a calendar.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from time import gmtime
from typing import Final

from gossamer.regex import compiled_later

_FIRST: Final = 1970
_AHEAD: Final = 2  # years
_LONGEST: Final = 400  # characters of a URL that is looked at closely: calendars have short ones

# Names of calendars, and of other pages by time; alone or at the beginning of a word: /calendar/, ?cal_month=.
_CALENDAR: Final = r"cal(?:end[a-z]+)?|kalender|agenda"
_BY_TIME: Final = r"events?|even(?:ement|to)s?|veranstaltung(?:en)?|termine|schedule|diary"
_MONTH: Final = r"(?:0[1-9]|1[0-2])"
_DAY: Final = r"(?:0[1-9]|[12]\d|3[01])"
_ANY_MONTH: Final = r"(?:0?[1-9]|1[0-2])"
_ANY_DAY: Final = r"(?:0?[1-9]|[12]\d|3[01])"
_END: Final = r"(?=[/?&]|\Z)"
# The names of parameters that choose the day to show. Not those that end a span: 2099-12-31 there means no end.
_DATE_NAMES: Final = (
    r"(?:(?:cal|event|view|show|start|current|tribe-bar|selected)[a-z]*[_-]?)?(?:date|day|month|week)|m|ym|dt|when"
)

_YEAR = compiled_later(r"[/=]([12]\d{3})")
_Search = Callable[[str, int], re.Match[str] | None]


_is_dated = re.compile(
    rf"[/=](?:19|20)\d\d[/-]?{_ANY_MONTH}(?:[/-]?{_ANY_DAY})?/?(?=[?&]|\Z)"
    r"|[?&][a-z_-]*(?:year|yr|month|date|day)=[0-9]",
    re.I,
).search


def may_be_by_year(url: str, path: int) -> bool:
    """Whether something from `path` on begins as a year does."""
    return url.find("/2", path) >= 0 or url.find("/1", path) >= 0 or url.find("=", path) >= 0


def is_dated(url: str) -> bool:
    """Whether a URL is that of a month or a day and of nothing more: what it shows may be no more than that either."""
    return ("19" in url or "20" in url or "=" in url) and _is_dated(url, 8) is not None


class Calendars:
    """Which URLs are pages of a calendar, in years in which there is nothing."""

    def __init__(self, now: float) -> None:
        """`now`: seconds since 1970; it is not asked for again, so that a year may begin meanwhile."""
        last = gmtime(now).tm_year + _AHEAD
        self._usual = frozenset(map(str, range(_FIRST, last + 1)))

    def lead_beyond(self, url: str, path: int) -> bool:
        """Whether this normalised URL, whose path begins at `path`, is such a page."""
        for year in _YEAR.findall(url, path):
            if year not in self._usual:
                return len(url) <= _LONGEST and self._dates.in_url(url, path)
        return False

    @cached_property
    def _dates(self) -> _Dates:
        return _Dates(self._usual)  # when first needed: its patterns take some milliseconds to make


class _Dates:
    """What is a date in a URL, in another year than the usual ones."""

    def __init__(self, usual: frozenset[str]) -> None:
        years = "|".join(sorted(usual))
        ahead = rf"(?!{years})2[01]\d\d"
        other = rf"(?!{years})[12]\d{{3}}"
        # Plainly a date, wherever it stands. A month of one digit is not: /node/2031/5 may be the fifth page of a node.
        self._plain = re.compile(
            rf"/{ahead}(?:/{_MONTH}/{_DAY}|-{_MONTH}-{_DAY}|/0[1-9]){_END}"
            rf"|\A[a-z]+://[^/]+/{ahead}[/-]{_ANY_MONTH}(?:[/-]{_ANY_DAY})?/?(?=\?|\Z)"
            rf"|[?&](?:{_DATE_NAMES})={ahead}(?:-?{_MONTH}(?:-?{_DAY})?|(?:/|%2F){_ANY_MONTH}(?:(?:/|%2F){_ANY_DAY})?)"
            r"(?=[&T]|%20|\+|\Z)",
            re.I,
        ).search
        self._year_ahead, self._other_year = _year_in(ahead), _year_in(other)
        self._date_ahead, self._other_date = _date_in(ahead), _date_in(other)
        self._calendar = re.compile(rf"[/?&._-](?:{_CALENDAR})(?![a-z])", re.I).search
        by_time = rf"[/?&._-](?:{_CALENDAR}|{_BY_TIME})(?![a-z])|/(?:day|month|week|year)s?/"
        self._by_time = re.compile(by_time, re.I).search
        self._month = re.compile(r"[?&][a-z_-]*(?:month|mon|monat|mois|mes|mm?)=0?\d{1,2}(?=&|\Z)", re.I).search

    def in_url(self, url: str, path: int) -> bool:
        if self._plain(url) is not None:
            return True
        by_time = self._by_time(url, path) is not None  # from the path on: the name of a host says nothing of its pages
        if self._year_ahead(url, path) is not None and (by_time or self._month(url, path) is not None):
            return True
        if not by_time:
            return False
        if self._date_ahead(url, path) is not None:
            return True
        if self._calendar(url, path) is None:
            return False
        return self._other_date(url, path) is not None or self._other_year(url, path) is not None


def _year_in(year: str) -> _Search:
    """A parameter with a year."""
    return re.compile(rf"[?&][a-z_-]*(?:year|yr|jahr|annee|ano|anno|yyyy|y)={year}(?=&|\Z)", re.I).search


def _date_in(year: str) -> _Search:
    """What is a date where the URL says that it is by time: at least a year and a month."""
    return re.compile(
        rf"/{year}(?:[/-]{_ANY_MONTH}(?:[/-]{_ANY_DAY})?|{_MONTH}(?:{_DAY})?){_END}"
        rf"|[?&][a-z_-]+={year}-?{_MONTH}(?:-?{_DAY})?(?=[&T]|\Z)",
        re.I,
    ).search
