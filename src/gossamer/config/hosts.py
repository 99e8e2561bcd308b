"""Settings for some hosts: tables named by a pattern, `[hosts."*.example.org"]`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gossamer.config.checks import nearest
from gossamer.config.kinds import Choice, Duration, Kind, Switch, Whole
from gossamer.config.secrets import Headers, Login, ProxyUrl


@dataclass(frozen=True, slots=True)
class HostRule:
    """What holds for hosts whose name matches `pattern`; None and 0 leave it as it is for all hosts."""

    pattern: str
    delay: float | None = None
    connections: int = 0
    burst: int = 0
    max_pages: int = 0
    priority: int | None = None
    duplicates: str = ""
    proxy: str | None = field(default=None, repr=False)
    user: str = field(default="", repr=False)
    headers: tuple[str, ...] = field(default=(), repr=False)
    cookies: bool | None = None


_ZERO_SAYS_SOMETHING = ("delay", "priority", "proxy", "cookies")

# Key, how it is read, and what it means; docs/configuration.md is made from this.
HOST_OPTIONS: dict[str, tuple[Kind[Any], str]] = {
    "delay": (Duration(0), "Pause between two visits."),
    "connections": (Whole(1, 64), "Connections at a time."),
    "burst": (Whole(1, 1000), "Visits in a row before a rest."),
    "max_pages": (Whole(1), "The most pages to store; further URLs are excluded (`host_pages`)."),
    "priority": (Whole(0, 9), "Which of its URLs come when: 0 first, 9 last; 4 is usual."),
    "duplicates": (
        Choice("skip", "follow"),
        "What becomes of repeated pages, instead of `policy.duplicates`.",
    ),
    "proxy": (ProxyUrl(), "The proxy to go through, instead of `fetch.proxy`; empty goes directly."),
    "user": (Login(), "`name:password`, sent as basic authentication with every request."),
    "headers": (Headers(), 'Sent with every request: `["X-Token: abc"]`. They replace those of the same name.'),
    "cookies": (Switch(), "Take cookies and send them back, instead of what `fetch.cookies` says."),
}


def read_host_rules(tables: Any, checked: Callable[[Any, object, str], Any]) -> tuple[HostRule, ...]:
    """In the order of the file: the first pattern that matches a host holds for it."""
    if not isinstance(tables, dict):
        raise ValueError('hosts is a section: write [hosts."PATTERN"] and its options below it')
    rules = []
    for pattern, table in tables.items():
        where = f'[hosts."{pattern}"]'
        if not isinstance(table, dict):
            raise ValueError(f"{where} is a table: write {where} and its options below it")
        for key in table:
            if key not in HOST_OPTIONS:
                raise ValueError(
                    f"{where} unknown option {key!r}"
                    + (nearest(key, HOST_OPTIONS) or f"; known are {', '.join(HOST_OPTIONS)}")
                )
        values = {key: checked(HOST_OPTIONS[key][0].read, value, f"{where} {key}") for key, value in table.items()}
        rule = HostRule(pattern.lower(), **values)
        if rule.user and any(line.lower().startswith("authorization:") for line in rule.headers):
            raise ValueError(f"{where} has both user and an Authorization header: give one of them")
        rules.append(rule)
    return tuple(rules)


def write_host_rules(rules: tuple[HostRule, ...]) -> list[str]:
    lines = []
    for rule in rules:
        quoted = rule.pattern.replace("\\", "\\\\").replace('"', '\\"')
        lines += ["", f'[hosts."{quoted}"]']
        for key, (kind, _) in HOST_OPTIONS.items():
            value = getattr(rule, key)
            if value is not None and (value or key in _ZERO_SAYS_SOMETHING):
                lines.append(f"{key} = {kind.write(value)}")
    return lines
