"""Excluded URLs judged again when the settings that excluded them have changed: which settings, and when."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

from gossamer.config import Config, user_agent
from gossamer.model import Exclusion, Locator, Reason, VisitRecord
from gossamer.rules.link_sources import FEEDS
from gossamer.rules.policy import USUAL_PRIORITY
from gossamer.rules.robots import product_token

if TYPE_CHECKING:
    from gossamer.frontier import Frontier

_SAY_EVERY: Final = 10.0  # seconds
_NO_LIMIT: Final = 1 << 31

SETTINGS: Final[dict[str, tuple[str, ...]]] = {
    Reason.ADDRESS: (
        "fetch.allow_private", "scope.networks", "scope.domains", "fetch.ports", "fetch.connect", "fetch.dns",
    ),
    Reason.ROBOTS: ("fetch.user_agent",),
    Reason.UNWANTED_TYPE: ("scope.types",),
    Reason.TOO_LARGE: ("scope.max_length",),
    Reason.RESERVED: ("scope.reserved",),
    Reason.FORM: ("apps",),
    Exclusion.SCOPE: ("scope.scope", "scope.domains", "scope.networks"),
    Exclusion.EXCLUDE: ("scope.exclude",),
    Exclusion.INCLUDE: ("scope.include",),
    Exclusion.DEEP: ("scope.max_directories",),
    Exclusion.DEPTH: ("scope.max_depth",),
    Exclusion.DOMAIN_HOSTS: ("scope.domain_hosts",),
    Exclusion.HOST_PAGES: ("hosts",),
    Exclusion.PATTERN_PAGES: ("urls",),
    Exclusion.BLOCKLIST: ("policy.blocklist",),
    Exclusion.FEED: ("scope.types",),
}  # fmt: skip
"""What each reason of exclusion depends on, where it depends on settings."""


def rules_of(config: Config) -> dict[str, int]:
    """Give each reason of exclusion a number that is another one when its settings are."""
    rules = {
        reason: crc32(repr([_value(config, reason, name) for name in names]).encode()) or 1
        for reason, names in SETTINGS.items()
    }
    depth = config.scope.max_depth
    return {**rules, Exclusion.DEPTH: _NO_LIMIT if depth is None else depth + 1}


def _value(config: Config, reason: str, name: str) -> Any:
    """What a setting says of a reason; no more of it, as people change much that has no bearing on it."""
    section, _, key = name.partition(".")
    if name == "hosts" or name == "urls":
        tables = [(rule.pattern, rule.max_pages) for rule in getattr(config, name)]
        return tables if any(most for _, most in tables) else []
    if name == "apps":
        return [(app.name, app.post) for app in config.apps if app.post]
    if name == "fetch.user_agent":
        return product_token(user_agent(config.fetch)).lower()
    value = getattr(getattr(config, section), key)
    if reason == Exclusion.FEED:
        return sorted(kind for kind in FEEDS if any(fnmatch(kind, pattern) for pattern in value))
    return value


def stricter(before: Config, after: Config) -> set[str]:
    """Reasons of which it is plain that no URL belongs by now that did not: blocks and reserved strings were added."""
    added = {
        Exclusion.BLOCKLIST: (before.policy.blocklist, after.policy.blocklist),
        Reason.RESERVED: (before.scope.reserved, after.scope.reserved),
    }
    return {reason for reason, (had, has) in added.items() if set(had) <= set(has)}


class Rejudging:
    """What is due to be judged again, done in steps between the turns of the loop; people hear how far it is."""

    def __init__(
        self,
        frontier: Frontier,
        links: Callable[[Locator], list[str]],
        notice: Callable[[str], None],
        clock: Callable[[], float],
    ) -> None:
        """`links` reads where a stored page leads."""
        self._frontier = frontier
        frontier.review.read_on = self._read_on
        self._links = links
        self._notice = notice
        self._clock = clock
        self._steps: Iterator[tuple[int, int, int]] | None = None
        self._reasons: set[str] = set()
        self._said = 0.0
        self._looked = self._found = self._queued = self._read = 0

    @property
    def holds(self) -> bool:
        """Whether nobody may be visited yet: robots rules that were read for another name are still in use."""
        due = self._frontier.review.due
        return bool(due) and any(Reason.ROBOTS in reasons for reasons in due.values())

    def go_on(self, commit: Callable[[], None]) -> None:
        """Do one step of what is due. What was excluded a moment ago is committed first, as steps read the disk."""
        due = self._frontier.review.due
        if self._steps is None:
            commit()
            self._steps = self._frontier.review.rejudge_due()
            self._said, self._reasons = self._clock(), set()
            self._looked = self._found = self._queued = self._read = 0
        self._reasons.update(*due.values())
        step = next(self._steps, None)
        if step is None:
            self._steps = None
            if self._found:
                self._notice(f"{self._text()}: {self._queued:,} of {self._found:,} are queued")
            if self._read:
                self._notice(f"the links of {self._read:,} stored pages are followed, as scope.max_depth allows now")
            return
        looked, found, queued = step
        self._looked, self._found, self._queued = self._looked + looked, self._found + found, self._queued + queued
        if self._clock() >= self._said + _SAY_EVERY:
            self._said = self._clock()
            self._notice(f"{self._text()}: {self._looked:,} URLs looked at so far")

    async def judge_all(self) -> tuple[int, int]:
        """Judge anew whatever is excluded, changed settings or not; the crawl goes on between the steps. Give how many
        URLs that were, and how many of them are queued.
        """
        looked, found, queued, said = 0, 0, 0, self._clock()
        for step in self._frontier.review.rejudge():
            looked, found, queued = looked + step[0], found + step[1], queued + step[2]
            if self._clock() >= said + _SAY_EVERY:
                said = self._clock()
                self._notice(f"excluded URLs are judged again: {looked:,} URLs looked at so far")
            await asyncio.sleep(0)
        return found, queued

    def _read_on(self, visit: VisitRecord) -> None:
        """Follow the links of a page that was stored when its depth was the deepest."""
        if visit.stored is not None:
            self._read += 1
            hops = int(300 <= visit.status < 400)
            self._frontier.add(self._links(visit.stored), visit.depth + 1, USUAL_PRIORITY, hops)

    def _text(self) -> str:
        names = dict.fromkeys(name for reason in sorted(self._reasons) for name in SETTINGS[reason])
        return f"excluded URLs are judged again, as seeds or settings have changed ({', '.join(names)})"
