"""Which host comes next: priority, number, time, domain, address."""

from __future__ import annotations

from itertools import groupby

import pytest

from gossamer.config import HostRule, PolicyConfig
from gossamer.frontier.counts import Counts
from gossamer.frontier.hosts import CHUNK, HostQueue, Place
from gossamer.frontier.keys import pack_entry
from gossamer.frontier.schedule import Schedule
from gossamer.model.domain import registered_domain
from gossamer.rules.policy import Policy

POLICY = Policy(PolicyConfig(delay=1.0))


def host(name: str, *numbers: int, priority: int = 4, due: float = 0.0, policy: Policy = POLICY) -> HostQueue:
    made = HostQueue(name, registered_domain(name), policy.manners(name), b"")
    for number in numbers:
        made.level(priority).put([pack_entry(0, 0, 0, "p", "/")], Counts(number=number - CHUNK))
    made.due = due
    return made


def offered(schedule: Schedule, *hosts: HostQueue) -> None:
    for one in hosts:
        schedule.group(one)
        schedule.offer(one, 0.0)


def taken(schedule: Schedule, now: float = 0.0) -> list[str]:
    names = []
    while (one := schedule.take(now)) is not None:
        names.append(one.name)
    return names


def test_by_priority_then_number() -> None:
    schedule = Schedule()
    offered(schedule, host("c.test", 3), host("a.test", 1), host("urgent.test", 9, priority=1), host("b.test", 2))
    assert taken(schedule) == ["urgent.test", "a.test", "b.test", "c.test"]
    assert schedule.empty


def test_a_host_that_was_taken_out_and_put_back_has_only_its_new_place() -> None:
    schedule = Schedule()
    lowered = host("lowered.test", 1, priority=1)
    offered(schedule, lowered, host("other.test", 2))
    schedule.drop(lowered)
    lowered.manners = Policy(PolicyConfig(), (HostRule("lowered.test", priority=8),)).manners("lowered.test")
    lowered.levels[6] = lowered.levels.pop(1)
    lowered.levels[6].priority = 6
    schedule.offer(lowered, 0.0)
    assert taken(schedule) == ["other.test", "lowered.test"]
    assert schedule.empty


@pytest.mark.parametrize(
    ("own", "queued", "rank"), [(0, 4, 0), (8, 4, 8), (8, 1, 1), (0, 8, 0), (2, 3, 2), (0, 9, 9), (0, 10, 10)]
)
def test_the_priority_of_a_host_holds_for_what_was_queued_before(own: int, queued: int, rank: int) -> None:
    manners = Policy(PolicyConfig(), (HostRule("a.test", priority=own),)).manners("a.test")
    assert manners.rank(queued) == rank


def test_nobody_before_its_time() -> None:
    schedule = Schedule()
    offered(schedule, host("late.test", 1, due=10.0), host("now.test", 2), host("soon.test", 3, due=5.0))
    assert taken(schedule) == ["now.test"]
    assert (schedule.waiting, schedule.next_due) == (2, 5.0)
    assert taken(schedule, 5.0) == ["soon.test"]
    assert taken(schedule, 9.99) == []
    assert taken(schedule, 10.0) == ["late.test"]


def test_a_starving_level_still_moves() -> None:
    schedule = Schedule()
    offered(schedule, host("low.test", 1, priority=9), host("middle.test", 2, priority=7))
    order = []
    for number in range(100):  # something urgent is always there
        offered(schedule, host(f"urgent{number}.test", number + 10, priority=0))
        one = schedule.take(0.0)
        assert one is not None
        order.append(one.name)
    assert {"low.test", "middle.test"} < set(order)
    assert order.index("low.test") > 3


def test_within_a_host_a_starving_level_moves_too() -> None:
    both = host("a.test", *range(1, 60), priority=0)
    both.level(8).put([pack_entry(0, 0, 0, "p", "/low")], Counts(number=99))
    picked = []
    for _ in range(40):
        level = both.next_level()
        entry = level.peek()
        assert entry is not None
        level.take(entry)
        picked.append(entry.priority)
    assert picked.count(8) == 1
    assert picked.index(8) >= 10


def test_a_domain_has_no_more_visits_in_hand_than_allowed() -> None:
    schedule = Schedule(domain_connections=2)
    hosts = [host(f"h{number}.big.test", number) for number in range(1, 6)]
    offered(schedule, *hosts, host("other.test", 50))
    first = []
    while (one := schedule.take(0.0)) is not None:
        schedule.begin(one)
        first.append(one)
    assert [one.name for one in first] == ["h1.big.test", "other.test", "h2.big.test"]
    assert schedule.held == 3
    assert hosts[2].place is Place.HELD
    schedule.end(first[0], 0.0)
    assert taken(schedule) == ["h3.big.test"]
    assert not schedule.empty


def test_an_address_has_no_more_visits_in_hand_than_allowed() -> None:
    schedule = Schedule(address_connections=1)
    hosts = [host(f"site{number}.test", number) for number in range(1, 4)]
    for one in hosts:
        one.address = "192.0.2.1"
    offered(schedule, *hosts)
    one = schedule.take(0.0)
    assert one is not None
    schedule.begin(one)
    assert schedule.take(0.0) is None
    schedule.end(one, 0.0)
    assert taken(schedule)[:1] == ["site2.test"]


def test_the_hosts_of_a_domain_do_not_come_in_a_row() -> None:
    schedule = Schedule()
    offered(schedule, *(host(f"h{number}.big.test", number) for number in range(1, 21)))
    offered(schedule, *(host(f"site{number}.test", number) for number in range(21, 1301)))
    domains = [name.split(".", 1)[1] if "big" in name else name for name in taken(schedule)]
    runs = [len(list(group)) for domain, group in groupby(domains) if domain == "big.test"]
    assert sum(runs) == 20
    assert max(runs) == 1


def test_who_is_dropped_does_not_come() -> None:
    schedule = Schedule(domain_connections=1)
    ready, waiting = host("ready.test", 9), host("waiting.test", 2, due=5.0)
    one, held = host("a.big.test", 3), host("b.big.test", 4)
    offered(schedule, one)
    schedule.begin(schedule.take(0.0) or one)
    offered(schedule, held, ready, waiting)
    assert schedule.take(0.0) is ready
    schedule.offer(ready, 0.0)
    assert held.place is Place.HELD
    for dropped in (ready, waiting, held):
        schedule.drop(dropped)
    assert schedule.empty
    assert taken(schedule, 10.0) == []
    schedule.end(one, 0.0)
    assert taken(schedule, 10.0) == []


def test_a_burst_takes_its_rests_all_at_once() -> None:
    policy = Policy(PolicyConfig(delay=1.0, delay_factor=0), (HostRule("*.burst.test", burst=3),))
    one = host("www.burst.test", *range(1, 10), policy=policy)
    dues = []
    now = 100.0
    for _ in range(6):
        one.rest(now, 0.1)
        dues.append(one.due - now)
    assert dues == [0.0, 0.0, 3.0, 0.0, 0.0, 3.0]
    usual = host("www.usual.test", 1, 2, policy=policy)
    usual.rest(now, 0.1)
    assert usual.due - now == 1.0
