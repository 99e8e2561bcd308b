"""Settings for some URLs: tables named by a regular expression, `[urls."/forum/"]`."""

from __future__ import annotations

from typing import Any

import msgspec

from gossamer.config.checks import check_regex
from gossamer.config.kinds import Duration, Kind, Whole
from gossamer.config.tables import Checked, check_intervals, named, read_tables, write_tables


class UrlRule(msgspec.Struct, frozen=True):
    """What holds for URLs in which `pattern` is found; None and 0 leave it as it is for all."""

    pattern: str
    priority: int | None = None
    max_pages: int = 0
    min_interval: float = 0.0
    max_interval: float = 0.0


# Key, how it is read, and what it means; docs/configuration.md is made from this.
URL_OPTIONS: dict[str, tuple[Kind[Any], str]] = {
    "priority": (Whole(0, 9), "When new URLs that match come: 0 first, 9 last; 4 is usual. Wins over that of `hosts`."),
    "max_pages": (
        Whole(1),
        "The most pages to store, from when the table is there; further URLs are excluded (`pattern_pages`).",
    ),
    "min_interval": (Duration(1), "Time between two visits to a page at least. Wins over that of `hosts`."),
    "max_interval": (Duration(1), "Time between two visits to a page at most. Wins over that of `hosts`."),
}


def read_url_rules(tables: Any, checked: Checked) -> tuple[UrlRule, ...]:
    """In the order of the file: the first pattern found in a URL holds for it."""
    rules = []
    for pattern, values in read_tables("urls", tables, URL_OPTIONS, checked):
        try:
            check_regex(pattern)
        except ValueError as error:
            raise ValueError(
                f"{named('urls', pattern)} {pattern!r} is not {error}. Between single quotes, [urls.'PATTERN'], "
                "a backslash need not be doubled"
            ) from None
        if not values:
            raise ValueError(f"{named('urls', pattern)} says nothing: give it {' or '.join(URL_OPTIONS)}")
        rule = UrlRule(pattern, **values)
        check_intervals(named("urls", pattern), rule.min_interval, rule.max_interval)
        rules.append(rule)
    return tuple(rules)


def write_url_rules(rules: tuple[UrlRule, ...]) -> list[str]:
    return write_tables("urls", rules, URL_OPTIONS, ("priority",))
