"""The robots.txt of a host: as structure, as text, and what it allows.

The judgement here is made from the structure and shares no code with the crawler's own parser, so that each can be
held against the other.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from gossamer.testing.web.dice import mix

UNREACHABLE = frozenset({"error", "dropped", "hang"})
MOVED_PATH = b"/robots/moved.txt"
SHARED_PATH = b"/shared/robots.txt"
LOOP_PATH = b"/robots/loop.txt"
PADDING = b"# nothing to see here\n" * 1_000
HUGE_PARTS = 64  # of padding: 1.4 MB


class Rule(NamedTuple):
    allow: bool
    pattern: str


class Group(NamedTuple):
    agents: tuple[str, ...]
    rules: tuple[Rule, ...]
    delay: float | None = None


class Robots(NamedTuple):
    """What a host says to crawlers. `kind` also says how: some kinds have no text, some redirect to it."""

    kind: str
    groups: tuple[Group, ...]
    sitemaps: tuple[str, ...] = ()
    crlf: bool = False

    def text(self) -> bytes:
        lines = ["# robots.txt of the simulated web"]
        for group in self.groups:
            lines += ["", *(f"User-agent: {agent}" for agent in group.agents)]
            lines += [f"{'Allow' if rule.allow else 'Disallow'}: {rule.pattern}" for rule in group.rules]
            if group.delay is not None:
                lines.append(f"Crawl-delay: {group.delay:g}")
        lines += ["", *(f"Sitemap: {url}" for url in self.sitemaps)]
        return ("\r\n" if self.crlf else "\n").join(lines).encode() + b"\n"

    def group_for(self, user_agent: str) -> Group | None:
        token = product_token(user_agent)
        for group in self.groups:
            if token in group.agents:
                return group
        return next((group for group in self.groups if "*" in group.agents), None)

    def allows(self, user_agent: str, path: str) -> bool:
        """RFC 9309, 2.2.2: the longest matching rule decides, Allow wins a tie, no match allows."""
        if self.kind in UNREACHABLE:
            return False
        group = self.group_for(user_agent)
        best, allowed = -1, True
        for rule in group.rules if group else ():
            length = len(rule.pattern)
            if length and (length > best or (length == best and rule.allow)) and _matcher(rule.pattern).match(path):
                best, allowed = length, rule.allow
        return allowed


def product_token(user_agent: str) -> str:
    """The name a crawler goes by in robots.txt, of a full user agent or of the name alone."""
    found = re.match(r"[A-Za-z_-]+", user_agent)
    return found[0].lower() if found else ""


@lru_cache(maxsize=1024)
def _matcher(pattern: str) -> re.Pattern[str]:
    anchored = pattern.endswith("$")
    body = ".*".join(re.escape(piece) for piece in pattern.removesuffix("$").split("*"))
    return re.compile(body + (r"\Z" if anchored else ""), re.S)


_NO_PRIVATE = Rule(False, "/private/")
_PRIVATE_ONLY = (Group(("*",), (_NO_PRIVATE,)),)
_GROUPS: dict[str, tuple[Group, ...]] = {
    "open": (Group(("*",), (Rule(False, ""),)),),
    "missing": (),
    "private": _PRIVATE_ONLY,
    "sitemap": _PRIVATE_ONLY,
    "redirect": _PRIVATE_ONLY,
    "redirect-away": _PRIVATE_ONLY,
    "agents": (
        Group(("badbot", "otherbot"), (Rule(False, "/"),)),
        Group(("gossamer",), (_NO_PRIVATE, Rule(False, "/files/"))),
        Group(("*",), (Rule(False, "/"), Rule(True, "/news/"), Rule(True, "/$"))),
    ),
    "patterns": (
        Group(
            ("*",),
            (Rule(False, "/private/*.html"), Rule(True, "/private/0.html"), Rule(False, "/*.pdf$"), Rule(False, "/*?")),
        ),
    ),
    "closed": (Group(("*",), (Rule(False, "/"),)),),
    "huge": _PRIVATE_ONLY,
    "endless": _PRIVATE_ONLY,
    "html": (),
    "loop": (),
    "error": (),
    "dropped": (),
    "hang": (),
}


def robots_of(kind: str, seed: int, host: int, sitemaps: tuple[str, ...]) -> Robots:
    x = mix(seed, host, 5)
    if kind == "delay":
        groups: tuple[Group, ...] = (Group(("*",), (_NO_PRIVATE,), (0.5, 1.0, 2.0, 3.0)[x & 3]),)
    else:
        groups = _GROUPS[kind]
    return Robots(kind, groups, sitemaps if kind == "sitemap" else (), bool(x & 4))
