"""Hosts and pages that nobody may visit, as of now (P12)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import translate

from gossamer.config import block_pattern


class Blocklist:
    """Patterns: `example.org` is that host and all below it, `*.example.org` only those below, `example.org/forum/`
    the pages of those hosts whose path begins so; `*` and `?` stand for any characters and for one.
    """

    def __init__(self, patterns: Sequence[str] = ()) -> None:
        self._hosts: list[re.Pattern[str]] = []
        self._paths: list[tuple[re.Pattern[str], re.Pattern[str]]] = []
        for pattern in patterns:
            host, path = block_pattern(pattern)
            names = _compiled(host.lower())
            if host[:1] not in "*[":
                names = re.compile(r"(?:.*\.)?" + names.pattern)
            if path:
                self._paths.append((names, _compiled(path + "*")))
            else:
                self._hosts.append(names)

    def blocks(self, host: str) -> bool:
        """The whole host; with or without its port."""
        return any(_is(pattern, host) for pattern in self._hosts)

    def paths(self, host: str) -> tuple[re.Pattern[str], ...]:
        """What the paths of blocked pages of this host match."""
        return tuple(path for names, path in self._paths if _is(names, host))


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern.replace("[", "[[]")))


def _is(pattern: re.Pattern[str], host: str) -> bool:
    if pattern.match(host):
        return True
    name, _, port = host.rpartition(":")
    return bool(name and port.isdigit() and pattern.match(name))
