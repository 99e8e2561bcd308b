"""The usual course of a visit: the compiled one leaves the frontier exactly as the one in Python does."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gossamer.config import FrontierConfig, Pause, PolicyConfig
from gossamer.config.hosts import HostRule
from gossamer.frontier import Frontier
from gossamer.frontier.hosts import Chunk, Group, HostQueue, Level
from gossamer.frontier.turns import Turns, _turns, turns
from gossamer.model import Fault, Reason, Visit
from gossamer.rules.policy import Policy
from gossamer.rules.robots import ALLOW_ALL, Robots
from gossamer.rules.scope import Scope

pytestmark = pytest.mark.skipif(
    _turns is None, reason="THE COMPILED MODULES ARE NOT BUILT: Python's way alone is tested"
)

HOSTS = [f"h{number}.{domain}" for domain in ("a.test", "b.test", "c.test:8080") for number in range(3)] + ["é.test"]
PATHS = ["/", "/private/x", "/ü", "/日本", "/a/b?c=d", "/%41"]


_OTHERS = ("origins", "fresh", "_first", "next_level", "_groups", "_unfinished")  # slots that are looked at otherwise


class Counted:
    """Says how much was done in the usual way."""

    def __init__(self, compiled: Turns) -> None:
        self._compiled = compiled
        self.leased = self.settled = self.unusual = 0

    def lease(self, now: float, most: int, visits: list[Visit]) -> HostQueue | None:
        before = len(visits)
        host = self._compiled.lease(now, most, visits)
        self.leased += len(visits) - before
        self.unusual += host is not None
        return host

    def settle(self, *page: Any) -> bool:
        done = self._compiled.settle(*page)
        assert done is True or done is False
        self.settled += done
        self.unusual += not done
        return done


def opened(path: Path, policy: Policy, compiled: bool) -> Frontier:
    config = FrontierConfig(queue_head=8, partitions=4, recent_urls=64, hosts=1000)
    frontier = Frontier(path, config, policy, Scope("any"), None, 1_000_000.0)
    made = frontier._settling.turns
    assert made is not None
    frontier._settling.turns = Counted(made) if compiled else None
    return frontier


def plain(thing: Any) -> Any:
    """Something of the frontier, as numbers and names that can be compared."""
    match thing:
        case HostQueue():
            return thing.name
        case Chunk():
            return ("chunk", thing.first)
        case Level() | Group():
            return {slot: plain(getattr(thing, slot)) for slot in type(thing).__slots__ if slot != "__weakref__"}
        case msgspec.Struct():
            return [plain(each) for each in msgspec.structs.astuple(thing)]
        case dict():
            return [(plain(key), plain(value)) for key, value in thing.items()]
        case list() | tuple():
            return [plain(each) for each in thing]
        case _ if type(thing).__name__ in ("Yields", "Robots", "deque", "WeakValueDictionary", "set"):
            return sorted(map(str, map(plain, thing))) if type(thing).__name__ == "set" else type(thing).__name__
    return thing


def state(frontier: Frontier) -> dict[str, Any]:
    hosts = {
        host.name: {slot: plain(getattr(host, slot)) for slot in HostQueue.__slots__ if slot not in _OTHERS}
        for host in frontier._roster.hosts.values()
    }
    chunks = {
        (host.name, level.priority, chunk.first): [getattr(chunk, slot) for slot in Chunk.__slots__]
        for host in frontier._roster.hosts.values()
        for level in host.levels.values()
        for chunk in (*level.chunks, *level.late)
    }
    schedule = frontier.schedule
    slots = [slot for slot in type(schedule).__slots__ if slot not in _OTHERS]
    return {
        "hosts": hosts,
        "chunks": chunks,
        "schedule": {slot: plain(getattr(schedule, slot)) for slot in slots},
        "groups": {name: plain(group) for name, group in schedule._groups.items()},
        "counts": plain(frontier.counts),
        "visits": dict(frontier._changes),
        "dirty": plain(frontier._roster._dirty),
    }


class Course:
    """What happens to a frontier; the same for the same seed as long as it gives the same visits."""

    def __init__(self, frontier: Frontier, seed: int, trouble: float) -> None:
        """`trouble`: how much is out of the ordinary, 0 to 1."""
        self.frontier = frontier
        self.chance = random.Random(seed)
        self.trouble = trouble
        self.now = 1_000_100.0
        self.in_hand: list[Visit] = []

    def step(self) -> list[Any]:
        chance, frontier = self.chance, self.frontier
        self.now += chance.choice((0.0, 0.0, 0.01, 0.7, 5.0))
        if chance.random() < 0.5:
            urls = [
                f"{chance.choice(('http', 'https', 'http'))}://{chance.choice(HOSTS)}{chance.choice(PATHS)}"
                f"{chance.randrange(4000)}"
                for _ in range(chance.randrange(30))
            ]
            priority = 5 if chance.random() < self.trouble else 4
            frontier.add(urls, chance.randrange(1, 4), priority, suspect=chance.random() < self.trouble)
        leased = frontier.lease(self.now, chance.randrange(12))
        seen = plain(leased)
        self.in_hand += leased
        chance.shuffle(self.in_hand)
        for visit in self.in_hand[: chance.randrange(len(self.in_hand) + 1)]:
            self.in_hand.remove(visit)
            self.settle(visit)
        if chance.random() < 0.05:
            frontier.commit({})
        return seen

    def settle(self, visit: Visit) -> None:
        chance, frontier = self.chance, self.frontier
        address = chance.choice(("192.0.2.2", "") if chance.random() < self.trouble else ("192.0.2.1",))
        seconds = chance.choice((0.0, 0.05, 3.0))
        if visit.robots:
            rules = chance.choice((ALLOW_ALL, ALLOW_ALL, Robots.parse(b"User-agent: *\nDisallow: /private\n", "g")))
            frontier.settle_robots(visit, rules, self.now, seconds, self.now + chance.choice((5.0, 1e6, 1e6)), address)
        elif chance.random() >= self.trouble:
            status = chance.choice((429, 503) if chance.random() < self.trouble else (200, 200, 404))
            stored = chance.choice(((1, 2, 3), (70, 0xFFFFFFFF, 9), None))
            validators = chance.choice(((b"", b""), (b'"e"', b"yesterday"), (b"x" * 300, b"")))
            frontier.settle_page(visit, status, self.now, seconds, stored, address, b"digest--", validators, 2.0)
        elif chance.random() < 0.6:
            frontier.settle_fault(visit, Fault(chance.choice((Reason.TIMEOUT, Reason.CLOSED)), True), self.now)
        else:
            frontier.give_back(visit, self.now)


POLICIES: dict[str, tuple[dict[str, Any], tuple[HostRule, ...]]] = {
    "no delay": ({"delay": 0.0}, ()),
    "a delay": ({"delay": 1.0}, ()),
    "bursts": ({"delay": 0.5, "burst": 4}, ()),
    "several at a time": ({"delay": 0.0, "host_connections": 3}, ()),
    "few of a domain": ({"delay": 0.0, "domain_connections": 2, "address_connections": 4}, ()),
    "domains rest": ({"delay": 0.5, "domain_delay": Pause(2.0), "address_delay": Pause(0.3)}, ()),
    "domains rest after bursts": ({"delay": 0.5, "burst": 3}, (HostRule("h0.*", domain_delay=Pause(0.0)),)),
    "hosts of their own": (
        {"delay": 0.0},
        (HostRule("*.b.test", priority=2), HostRule("h1.a.test", max_pages=5), HostRule("h2.a.test", delay=3.0)),
    ),
    "what repeats itself is followed": ({"delay": 0.0, "duplicates": "follow"}, ()),
}


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize(("seed", "trouble"), [(1, 0.0), (2, 0.02), (3, 0.3)])
def test_both_leave_the_same(name: str, seed: int, trouble: float, tmp_path: Path) -> None:
    options, rules = POLICIES[name]
    policy = Policy(PolicyConfig(max_tries=3, retry_wait=2.0, max_retry_wait=20.0, **options), rules)
    frontiers = [opened(tmp_path / str(compiled), policy, compiled) for compiled in (True, False)]
    courses = [Course(frontier, seed, trouble) for frontier in frontiers]
    try:
        for _ in range(400):
            compiled, python = (course.step() for course in courses)
            assert compiled == python
            assert state(frontiers[0]) == state(frontiers[1])
        counted: Any = frontiers[0]._settling.turns
        assert counted.unusual > 0
        if not trouble:
            assert counted.leased > 50
            assert counted.settled > 50
    finally:
        for frontier in frontiers:
            frontier.close()


def test_a_crawl_that_parties_share_is_not_usual(tmp_path: Path) -> None:
    from gossamer.frontier.parties import SharedSchedule, Shares

    schedule = SharedSchedule(0, 0, Shares())
    assert turns(schedule, {}, {}, msgspec.UNSET, print, print) is None  # type: ignore[arg-type]


def test_what_is_given_is_looked_at() -> None:
    with pytest.raises(TypeError, match="schedule: Schedule"):
        _turns.Turns(object(), {}, {}, object(), print, print)
    with pytest.raises(TypeError, match="HostQueue is not given"):
        _turns.bind({}, {})
