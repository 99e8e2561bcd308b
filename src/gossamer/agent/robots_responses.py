"""What is done with the response to a visit of robots.txt (RFC 9309)."""

from __future__ import annotations

from collections.abc import Callable

from gossamer.agent.sources import Sources
from gossamer.agent.statistics import Statistics
from gossamer.config import Config
from gossamer.fetch import Fetcher
from gossamer.frontier import Frontier
from gossamer.model import Fault, Page, Reason, Visit
from gossamer.model.url import normalize
from gossamer.rules.policy import BUSY, retry_after
from gossamer.rules.robots import ALLOW_ALL, robots_from_status
from gossamer.store import Store

_MOST_ROBOTS_REDIRECTS = 5  # RFC 9309, 2.3.1.2


class RobotsResponses:
    """Invariant: rules that could not be had, or not as a whole, are never taken for those that there are."""

    def __init__(
        self,
        config: Config,
        frontier: Frontier,
        fetcher: Fetcher,
        store: Store,
        sources: Sources,
        statistics: Statistics,
        user_agent: str,
        clock: Callable[[], float],
    ) -> None:
        self._config = config
        self._frontier = frontier
        self._fetcher = fetcher
        self._store = store
        self._sources = sources
        self._statistics = statistics
        self._user_agent = user_agent
        self._clock = clock

    def change(self, config: Config) -> None:
        """The settings from now on."""
        self._config = config

    def visited(self, visit: Visit, outcome: Page | Fault) -> None:
        self._statistics.robots += 1
        now = self._clock()
        expires = now + self._config.policy.robots_ttl
        if isinstance(outcome, Fault):
            if outcome.reason is Reason.ADDRESS:  # its pages meet the same refusal, and are excluded for what it is
                self._frontier.settle_robots(visit, ALLOW_ALL, now, 0.0, expires)
                return
            self._statistics.count_failure(outcome.reason)
            lasting = outcome.lasting or not outcome.retry
            self._frontier.settle_robots(visit, outcome.reason, now, 0.0, expires, lasting=lasting)
            return
        self._store.append(outcome)
        if 300 <= outcome.status < 400 and visit.tries < _MOST_ROBOTS_REDIRECTS:
            target = outcome.header("location")
            target = normalize(target, outcome.url) if target else None
            if target:
                self._frontier.redirect_robots(visit, target, now, outcome.seconds)
                return
        if outcome.truncated in ("time", "disconnect"):  # what is missing may be what is forbidden
            cause = Reason.TIMEOUT if outcome.truncated == "time" else Reason.CLOSED
            self._statistics.count_failure(cause)
            self._frontier.settle_robots(visit, cause, now, outcome.seconds, expires)
            return
        if outcome.status >= 500 or outcome.status in BUSY:  # 429 says nothing about rules: it is asked for again
            busy = outcome.status in BUSY
            cause = Reason.BUSY if busy else Reason.ROBOTS_5XX
            self._statistics.count_failure(cause)
            wait = retry_after(outcome.header("retry-after"), now) or 1.0
            self._frontier.settle_robots(visit, cause, now, outcome.seconds, expires, wait=wait if busy else 0.0)
            return
        robots = robots_from_status(outcome.status, outcome.body, self._user_agent)
        address = self._fetcher.own_address(visit.host, outcome)
        self._frontier.settle_robots(visit, robots, now, outcome.seconds, expires, address)
        if robots.sitemaps and self._config.parse.sitemaps:
            self._sources.named(visit, robots.sitemaps)
