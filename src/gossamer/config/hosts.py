"""Settings for some hosts: tables named by a pattern, `[hosts."*.example.org"]`."""

from __future__ import annotations

from typing import Any

import msgspec

from gossamer.config.apps import AppName
from gossamer.config.kinds import LONGEST_PAUSE, Choice, Duration, DurationOrPart, Kind, Pause, Switch, Whole
from gossamer.config.secrets import Headers, Login, ProxyUrl
from gossamer.config.tables import Checked, check_intervals, named, read_tables, write_tables


class HostRule(msgspec.Struct, frozen=True):
    """What holds for hosts whose name matches `pattern`; None and 0 leave it as it is for all hosts."""

    pattern: str
    delay: float | None = None
    domain_delay: Pause | None = None
    address_delay: Pause | None = None
    connections: int = 0
    burst: int = 0
    max_pages: int = 0
    priority: int | None = None
    duplicates: str = ""
    min_interval: float = 0.0
    max_interval: float = 0.0
    proxy: str | None = None
    user: str = ""
    headers: tuple[str, ...] = ()
    cookies: bool | None = None
    timeout: float = 0.0
    by: str = ""

    def __repr__(self) -> str:
        shown = [f"{name}={getattr(self, name)!r}" for name in self.__struct_fields__ if name not in _SECRET]
        return f"HostRule({', '.join(shown)})"


_SECRET = ("proxy", "user", "headers")  # are left out where settings are printed


_ZERO_SAYS_SOMETHING = ("delay", "priority", "proxy", "cookies")

# Key, how it is read, and what it means; docs/configuration.md is made from this.
HOST_OPTIONS: dict[str, tuple[Kind[Any], str]] = {
    "delay": (Duration(0, LONGEST_PAUSE), "Pause between two visits."),
    "domain_delay": (
        DurationOrPart(),
        "Pause of its domain after a visit to it, instead of `policy.domain_delay`; with 0 it neither waits for its"
        " domain nor makes it wait.",
    ),
    "address_delay": (DurationOrPart(), "The same for its address, instead of `policy.address_delay`."),
    "connections": (Whole(1, 64), "Connections at a time."),
    "burst": (Whole(1, 1000), "Visits in a row before a rest."),
    "max_pages": (Whole(1), "The most pages to store; further URLs are excluded (`host_pages`)."),
    "priority": (Whole(0, 9), "Which of its URLs come when: 0 first, 9 last; 4 is usual."),
    "duplicates": (
        Choice("skip", "follow"),
        "What becomes of repeated pages, instead of `policy.duplicates`.",
    ),
    "min_interval": (Duration(1), "Time between two visits to a page at least, instead of `fresh.min_interval`."),
    "max_interval": (Duration(1), "Time between two visits to a page at most, instead of `fresh.max_interval`."),
    "proxy": (ProxyUrl(), "The proxy to go through, instead of `fetch.proxy`; empty goes directly."),
    "user": (Login(), "`name:password`, sent as basic authentication with every request."),
    "headers": (Headers(), 'Sent with every request: `["X-Token: abc"]`. They replace those of the same name.'),
    "cookies": (Switch(), "Take cookies and send them back, instead of what `fetch.cookies` says."),
    "timeout": (
        Duration(1, LONGEST_PAUSE),
        "The longest that a response may take, also without a byte, instead of `fetch.timeout` and"
        " `fetch.low_speed_time`.",
    ),
    "by": (
        AppName(),
        "The [application](applications.md#how-hosts-are-treated) whose wish the table is, if it is one.",
    ),
}


def read_host_rules(tables: Any, checked: Checked) -> tuple[HostRule, ...]:
    """In the order of the file: the first pattern that matches a host holds for it."""
    rules = []
    for pattern, values in read_tables("hosts", tables, HOST_OPTIONS, checked):
        rule = HostRule(pattern.lower(), **values)
        if rule.user and any(line.lower().startswith("authorization:") for line in rule.headers):
            raise ValueError(f"{named('hosts', pattern)} has both user and an Authorization header: give one of them")
        check_intervals(named("hosts", pattern), rule.min_interval, rule.max_interval)
        rules.append(rule)
    return tuple(rules)


def write_host_rules(rules: tuple[HostRule, ...]) -> list[str]:
    return write_tables("hosts", rules, HOST_OPTIONS, _ZERO_SAYS_SOMETHING)
