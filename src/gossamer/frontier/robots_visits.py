"""Where and when the robots.txt of a host is asked for, and what holds by it (RFC 9309)."""

from __future__ import annotations

from collections.abc import Callable

from gossamer.frontier import keys
from gossamer.frontier.database import Database
from gossamer.frontier.hosts import ROBOTS, Entry, HostQueue
from gossamer.frontier.roster import Roster
from gossamer.frontier.rulebook import pack_rules
from gossamer.frontier.schedule import Schedule
from gossamer.model import Reason, Visit
from gossamer.model.url import host_of
from gossamer.rules.policy import Policy
from gossamer.rules.robots import ALLOW_ALL, Robots

_ASK_AGAIN = 3600.0  # seconds after robots.txt could not be had, while older rules hold
_GIVEN_UP = 30 * 86_400.0  # seconds without rules, after which there are none
LEAST_PATIENCE = 0.5
"""Seconds before a host is looked at again that waits for another, whose visit takes longer than its delay."""


class RobotsVisits:
    """Invariant: one that was redirected to another host takes the place of a visit of that one, after its delay."""

    def __init__(
        self,
        database: Database,
        roster: Roster,
        schedule: Schedule,
        back_off: Callable[[HostQueue, int, float], None],
        put_off: Callable[[HostQueue, float], None],
    ) -> None:
        """`back_off` makes a host rest after failures, `put_off` tells the schedule of a later turn."""
        self._database = database
        self._roster = roster
        self._schedule = schedule
        self._back_off = back_off
        self._put_off = put_off

    def visit(self, host: HostQueue, first: Entry, now: float, policy: Policy) -> Visit | None:
        """None when robots.txt is at another host, which may not be visited now. It is at the depth of the page that it
        is needed for: sitemaps that it names count as part of that page. If that is a sitemap it is one deeper, so that
        hosts that name each other's have an end.
        """
        scheme = first.scheme
        url, redirects, turn = host.robots_at.get(scheme) or (
            f"{keys.SCHEME_NAMES[scheme]}://{host.name}/robots.txt", 0, 0.0
        )  # fmt: skip
        if redirects and (name := host_of(url)) != host.name:
            turn = self._turn_besides(host, name, turn, now, policy)
            host.robots_at[scheme] = (url, redirects, turn)
            if not turn or turn > now:
                return None
            if (other := self._roster.hosts.get(name)) is not None:
                self._schedule.rest_besides(host, other, now)
        host.leased[ROBOTS] = Entry(0, ROBOTS, 0, 0, 0, scheme, "/robots.txt")
        depth = first.depth + bool(first.hops & keys.SOURCE)
        return Visit(url, host.name, depth, 0, ROBOTS, redirects, robots=True)

    def _turn_besides(self, host: HostQueue, name: str, turn: float, now: float, policy: Policy) -> float:
        """When robots.txt of a host may be asked for at the one of this name, in place of a visit of its own; 0 if that
        is not known yet. Until then the first rests. `turn` is what was said before.
        """
        other = self._roster.hosts.get(name)
        if policy.manners(name).blocked or (other is not None and policy.is_down(other.failures)):
            host.fails(Reason.ROBOTS_UNREACHABLE)
            host.failures += 1  # there are no rules to be had, as if it did not answer itself
            self._back_off(host, host.failures, now)
            return 0.0
        if other is None:
            return now
        if other.leased:
            host.due = now + LEAST_PATIENCE
            return 0.0
        if not turn:  # its next one is ours
            turn = max(other.due, now)
            other.due = turn + other.delay
            self._roster.touch(other)
            self._put_off(other, now)
        host.due = max(turn, self._schedule.due_besides(host, other))
        return host.due

    def settle(
        self, host: HostQueue, found: Robots | Reason, now: float, seconds: float, expires: float, failures: int = 1
    ) -> None:
        """`found` are the rules, or why they could not be had; then a host that has so many failures has that many."""
        entry = host.leased.pop(ROBOTS)
        host.robots_at.pop(entry.scheme, None)
        if isinstance(found, Reason):
            robots = self._in_place_of(host, entry.scheme, now)
            expires = min(expires, now + _ASK_AGAIN)
        else:
            robots = found
            host.robots_failing = 0.0
        if robots is None:
            assert isinstance(found, Reason)
            host.fails(found)
            host.failures = max(host.failures + 1, failures)
            self._back_off(host, host.failures, now)
        else:
            rules = host.robots[entry.scheme] = (robots, expires)
            self._database.hosts[host.prefix + keys.ROBOTS + entry.scheme.encode()] = pack_rules(rules)
            host.crawl_delay = robots.crawl_delay or 0.0
            host.failures = 0
            host.rest(now, seconds)

    @staticmethod
    def _in_place_of(host: HostQueue, scheme: str, now: float) -> Robots | None:
        """What holds while robots.txt cannot be had (RFC 9309, 2.3.1.4 and 2.4): the rules known before, or nothing is
        allowed; after 30 days everything is.
        """
        host.robots_failing = host.robots_failing or now
        known = host.robots.get(scheme)
        if known is not None:
            return known[0]
        return ALLOW_ALL if now - host.robots_failing >= _GIVEN_UP else None

    @staticmethod
    def redirect(host: HostQueue, target: str, redirects: int) -> None:
        entry = host.leased.pop(ROBOTS)
        host.robots_at[entry.scheme] = (target, redirects, 0.0)
