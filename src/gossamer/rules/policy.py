"""How politely: when a host may be visited again. Pure; time is passed in."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from operator import itemgetter

import msgspec

from gossamer.config import HostRule, Pause, PolicyConfig, UrlRule
from gossamer.model.domain import without_port
from gossamer.rules.blocklist import Blocklist
from gossamer.rules.url_rules import UrlRules

BUSY = frozenset({429, 503})  # statuses of a server that asks to be left alone for a while
USUAL_PRIORITY = 4  # of 0 (first) to 9
_LAST = 9
_JITTER = 0.25  # of a wait, at most
_LONGEST_RETRY_AFTER = 86_400.0  # seconds: whoever asks for more is asked again after a day


class Manners(msgspec.Struct, frozen=True, gc=False):
    """How one host is treated; many hosts share one.

    Invariant: over time a host is visited no more often than once per delay. A burst takes its rests all at once.
    """

    delay: float
    delay_factor: float
    max_crawl_delay: float
    connections: int
    burst: int
    max_pages: int  # 0: no cap
    priority: int  # of its links, where nothing says otherwise; -1: the crawl's
    skips: bool = True  # what repeats itself
    blocked: bool = False  # not to be visited at all
    blocked_paths: tuple[re.Pattern[str], ...] = ()
    min_interval: float = 0.0  # between two visits to a page; 0: as for all hosts
    max_interval: float = 0.0
    domain_delay: Pause = Pause()
    address_delay: Pause = Pause()

    def delay_of(self, crawl_delay: float) -> float:
        """Seconds between visits to a host whose robots.txt asks for `crawl_delay` (0: asks for nothing)."""
        if not crawl_delay:
            return self.delay
        return max(self.delay, min(crawl_delay, self.max_crawl_delay))

    def domain_pause(self, crawl_delay: float) -> float:
        """Return the seconds that the domain of the host rests from the beginning of a visit to it."""
        return self.domain_delay.beside(self.delay_of(crawl_delay))

    def address_pause(self, crawl_delay: float) -> float:
        """Return the seconds that the address of the host rests from the beginning of a visit to it."""
        return self.address_delay.beside(self.delay_of(crawl_delay))

    def rank(self, priority: int) -> int:
        """When a host with a priority of its own comes, whose next entry has this one. Its own holds also for what was
        queued before it had one; what is more urgent than usual, or comes after everything else, stays so.
        """
        urgent = priority < USUAL_PRIORITY and priority < self.priority
        return priority if urgent or priority >= _LAST else self.priority

    def pause(self, crawl_delay: float, seconds: float) -> float:
        """How long a host rests after a response that took `seconds`: a slow host is visited more slowly."""
        delay = self.delay_of(crawl_delay)
        return max(delay, self.delay_factor * seconds) if delay else 0.0


class Policy:
    """The manners of every host, and what failing costs it; what holds for some URLs."""

    def __init__(
        self,
        config: PolicyConfig,
        rules: tuple[HostRule, ...] = (),
        urls: tuple[UrlRule, ...] = (),
        agents: int = 1,
    ) -> None:
        """`agents` crawl together: hosts of a domain are one agent's, those at an address may be of several."""
        self.max_tries = config.max_tries
        self.domain_connections = config.domain_connections
        self.address_connections = config.address_connections
        self.longest_wait = config.max_retry_wait * (1 + _JITTER)
        self._max_retry_wait = config.max_retry_wait
        self._retry_wait = config.retry_wait
        found = [(number, rule.pattern, _manners(config, rule, agents)) for number, rule in enumerate(rules)]
        self._patterns = [each for each in found if set(each[1]) & set("*?[")]
        # Of many tables most are of one host each, as applications ask for them.
        self._names = {pattern: (number, manners) for number, pattern, manners in found}
        self._general = _manners(config, HostRule(""), agents)
        self._none = (len(found), self._general)
        self.urls = UrlRules(urls) if urls else None
        self._blocklist = Blocklist(config.blocklist) if config.blocklist else None
        self.skips_everywhere = self._general.skips and all(manners.skips for _, _, manners in found)

    def manners(self, host: str) -> Manners:
        """Of this host, by the first pattern that matches its name (without the port)."""
        manners = self._manners(host)
        if self._blocklist is None:
            return manners
        blocked, paths = self._blocklist.blocks(host), self._blocklist.paths(host)
        if blocked or paths:
            return msgspec.structs.replace(manners, blocked=blocked, blocked_paths=paths)
        return manners

    def blocks(self, url: str, host: str) -> bool:
        """The blocklist has this page, or all of its host."""
        manners = self.manners(host)
        if manners.blocked or not manners.blocked_paths:
            return manners.blocked
        path = url[url.index("/", 8) :]
        return any(pattern.match(path) for pattern in manners.blocked_paths)

    def _manners(self, host: str) -> Manners:
        name = without_port(host)
        named = min(self._names.get(name, self._none), self._names.get(host, self._none), key=itemgetter(0))
        for number, pattern, manners in self._patterns:
            if number > named[0]:
                break
            if fnmatchcase(name, pattern) or fnmatchcase(host, pattern):
                return manners
        return named[1]

    def back_off(self, failures: int, delay: float, jitter: float) -> float:
        """How long a host rests after its n-th failure in a row; `jitter` in 0..1 spreads hosts that fail together."""
        doubled = self._retry_wait * float(2 ** min(failures - 1, 30))
        return max(min(doubled, self._max_retry_wait) * (1 + _JITTER * jitter), delay)

    def is_down(self, failures: int) -> bool:
        """After this many failures in a row a host's URLs are stalled: kept, tried again much later."""
        return failures >= self.max_tries


def _manners(config: PolicyConfig, rule: HostRule, agents: int) -> Manners:
    address_delay = config.address_delay if rule.address_delay is None else rule.address_delay
    return Manners(
        config.delay if rule.delay is None else rule.delay,
        config.delay_factor,
        config.max_crawl_delay,
        rule.connections or config.host_connections,
        rule.burst or config.burst,
        rule.max_pages or 0,
        -1 if rule.priority is None else rule.priority,
        (rule.duplicates or config.duplicates) == "skip",
        min_interval=rule.min_interval,
        max_interval=rule.max_interval,
        domain_delay=config.domain_delay if rule.domain_delay is None else rule.domain_delay,
        address_delay=address_delay.among(agents),
    )


def retry_after(value: str | None, now: float) -> float:
    """Seconds that a Retry-After header asks for, in either of its forms (RFC 9110, 10.2.3); 0 when it says nothing."""
    text = (value or "").strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:10]), _LONGEST_RETRY_AFTER)
    from email.utils import parsedate_to_datetime  # rarely needed, and many modules

    try:
        moment = parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError, TypeError, IndexError):
        return 0.0
    return min(max(moment - now, 0.0), _LONGEST_RETRY_AFTER)
