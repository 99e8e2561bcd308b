"""What a web server's log says about the agents that crawled it. Pure: requests in, figures out.

Times are seconds on the server's clock. An agent is known by the address that it asks from.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from itertools import pairwise
from typing import NamedTuple

ROBOTS = "/robots.txt"
_SETTLED = 3.0  # seconds after which a link of a page that was answered is known to the agent whose it is
_RECENT = 3.0  # a host that an agent asked in so many seconds before its fault was being visited by it


class Request(NamedTuple):
    """`end` is when the answer had been written, or the connection was lost; infinite if that was never."""

    start: float
    end: float
    host: str
    path: str
    agent: str
    status: int = 200

    @property
    def url(self) -> str:
        return f"http://{self.host}{self.path}"


class Meeting(NamedTuple):
    """Two agents at one host: seconds from the end of the first's request to the second's; negative: both at once."""

    gap: float
    first: Request
    second: Request


class Fault(NamedTuple):
    """What was done to whom, when. `back` is when the victim could work again, infinite if never."""

    at: float
    victim: str
    back: float = math.inf


def changes_of_hands(requests: Sequence[Request]) -> list[Meeting]:
    """Of each host whenever another agent asks than before, the least gap first.

    The gap is to the latest end of all that others had asked before, not only to the end of their last request.
    """
    found = []
    # Of each host, its requests that end latest: one of each agent will do.
    latest: defaultdict[str, dict[str, Request]] = defaultdict(dict)
    last: dict[str, str] = {}
    for request in sorted(requests):
        by_agent = latest[request.host]
        others = [each for agent, each in by_agent.items() if agent != request.agent]
        # A request that overlaps one of another's counts, even when it is not the first since the change.
        if others:
            first = max(others, key=lambda each: each.end)
            if last[request.host] != request.agent or first.end > request.start:
                found.append(Meeting(request.start - first.end, first, request))
        mine = by_agent.get(request.agent)
        if mine is None or request.end >= mine.end:
            by_agent[request.agent] = request
        last[request.host] = request.agent
    return sorted(found, key=lambda meeting: meeting.gap)


def meetings(requests: Sequence[Request], gap: float) -> list[Meeting]:
    """What must never be: two agents at one host, within so many seconds."""
    return [meeting for meeting in changes_of_hands(requests) if meeting.gap < gap]


def lost(requests: Iterable[Request], truth: Set[str]) -> set[str]:
    """Pages that nobody got: those that the seeds lead to and that were never answered."""
    return set(truth) - {request.url for request in requests if request.status == 200 and request.end < math.inf}


def strange(requests: Iterable[Request], truth: Set[str]) -> set[str]:
    """What was asked for though no page leads there, or robots.txt forbids it."""
    return {request.url for request in requests if request.path != ROBOTS} - set(truth)


def again(requests: Iterable[Request]) -> Counter[str]:
    """Pages that were asked for more than once, and how often beyond that."""
    times = Counter(request.url for request in requests if request.path != ROBOTS)
    return Counter({url: count - 1 for url, count in times.items() if count > 1})


def exposed(requests: Iterable[Request], fault: Fault, window: float) -> int:
    """How many pages a fault may have fetched again: all that the victim asked for since `window` before it."""
    return sum(
        1
        for request in requests
        if request.agent == fault.victim and request.path != ROBOTS and fault.at - window <= request.start < fault.back
    )


def takeovers(
    requests: Sequence[Request], fault: Fault, seeds: Iterable[str], links: Callable[[str], Iterable[str]]
) -> dict[str, float]:
    """Seconds from a fault until each host is visited again that the victim was visiting, while it still had work.

    By another agent, or by the victim once it is back. Infinite where nobody came. Work is a page that was known when
    the fault came (a seed, or linked from a page that had been answered) and that the victim did not ask for.
    """
    known = set(seeds)
    visited: set[str] = set()
    for request in requests:
        if request.end <= fault.at - _SETTLED and request.status == 200 and request.path != ROBOTS:
            known.update(links(request.url))
        if request.agent == fault.victim and fault.at - _RECENT <= request.start <= fault.at:
            visited.add(request.host)
    for request in requests:
        if request.start <= fault.at or (request.agent == fault.victim and request.start < fault.back):
            known.discard(request.url)
    hosts = visited & {host_of(url) for url in known}
    found = dict.fromkeys(sorted(hosts), math.inf)
    for request in requests:
        if request.host not in found or request.start <= fault.at:
            continue
        if request.agent != fault.victim or request.start >= fault.back:
            found[request.host] = min(found[request.host], request.start - fault.at)
    return found


def last_of(requests: Iterable[Request], agent: str, since: float, until: float) -> float:
    """Seconds after `since` of the last request of an agent before `until`; 0 if it did not ask any more."""
    times = [each.start - since for each in requests if each.agent == agent and since <= each.start < until]
    return max(times, default=0.0)


def first_of(requests: Iterable[Request], agent: str, since: float) -> float:
    """Seconds after `since` of the first request of an agent, infinite if it never asked."""
    return min(
        (each.start - since for each in requests if each.agent == agent and each.start >= since), default=math.inf
    )


def longest_pause(requests: Iterable[Request], since: float, until: float) -> float:
    """The longest time in which no agent asked for anything."""
    times = [since, *sorted(each.start for each in requests if since < each.start < until), until]
    return max(later - earlier for earlier, later in pairwise(times))


class Books(NamedTuple):
    """What the agents' own directories say, held against the truth."""

    missing: set[str]  # fetched nowhere
    twice: set[str]  # in two directories, whatever their state there
    more: set[str]  # fetched, and no page of the truth
    waiting: set[str]  # still queued


def audit(listings: Mapping[str, Iterable[tuple[str, str]]], truth: Set[str]) -> Books:
    """`listings` are URLs and states by agent."""
    fetched: set[str] = set()
    waiting: set[str] = set()
    times: Counter[str] = Counter()
    for listing in listings.values():
        for url, state in listing:
            times[url] += 1
            if state == "fetched":
                fetched.add(url)
            elif state == "queued":
                waiting.add(url)
    return Books(set(truth) - fetched, {url for url, count in times.items() if count > 1}, fetched - truth, waiting)


def host_of(url: str) -> str:
    return url.split("/", 3)[2]
