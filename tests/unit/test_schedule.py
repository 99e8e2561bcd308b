"""Which host comes next: priority, number, time, domain, address."""

from __future__ import annotations

from itertools import groupby

import pytest

from gossamer.config import HostRule, Pause, PolicyConfig
from gossamer.frontier.counts import Counts
from gossamer.frontier.hosts import CHUNK, HostQueue, Place
from gossamer.frontier.keys import pack_entry
from gossamer.frontier.schedule import Schedule
from gossamer.model.domain import registered_domain
from gossamer.rules.policy import Policy

POLICY = Policy(PolicyConfig(delay=1.0, domain_delay=Pause(), address_delay=Pause()))


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
        schedule.begin(one, 0.0)
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
    schedule.begin(one, 0.0)
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
    schedule.begin(schedule.take(0.0) or one, 0.0)
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


def paced(**options: Pause) -> Policy:
    return Policy(PolicyConfig(delay=1.0, **{"domain_delay": Pause(), "address_delay": Pause(), **options}))


def begun(schedule: Schedule, now: float) -> list[str]:
    """Take all that may come, and begin and end a visit of each, which has more to be visited."""
    names = []
    while (one := schedule.take(now)) is not None:
        schedule.begin(one, now)
        one.due = now + one.delay
        schedule.end(one, now)
        schedule.offer(one, now)
        names.append(one.name)
    return names


def run(schedule: Schedule, until: float) -> list[tuple[float, str]]:
    """From one moment at which something is due to the next."""
    found, now = [(0.0, name) for name in begun(schedule, 0.0)], 0.0
    while (due := schedule.next_due) is not None and due <= until:
        assert due > now, "it is looked at in vain"
        now = due
        found += [(now, name) for name in begun(schedule, now)]
    return found


def test_a_domain_rests_from_the_beginning_of_a_visit_to_any_of_its_hosts() -> None:
    schedule = Schedule()
    policy = paced(domain_delay=Pause(parts=8.0))
    offered(schedule, *(host(f"h{number:02}.big.test", number, policy=policy) for number in range(1, 81)))
    offered(schedule, *(host(f"site{number}.test", number + 80, policy=policy) for number in range(5)))
    found = run(schedule, 20.0)
    big = [(now, name) for now, name in found if name.endswith("big.test")]
    assert [now for now, _ in big] == [number / 8 for number in range(161)], "no less than that either"
    assert [name for _, name in big[:80]] == [name for _, name in big[80:160]], "each in its turn"
    assert len(found) - len(big) == 5 * 21, "others are not held up"


def test_an_address_rests_whatever_the_domains_of_its_hosts() -> None:
    schedule = Schedule()
    policy = paced(address_delay=Pause(0.5))
    hosts = [host(f"site{number}.test", number, policy=policy) for number in range(1, 7)]
    for one in hosts[:4]:
        one.address = "192.0.2.1"
    offered(schedule, *hosts)
    found = run(schedule, 3.0)
    names = {one.name for one in hosts[:4]}
    assert [now for now, name in found if name in names] == [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0]
    assert len(found) == 7 + 2 * 4


def test_a_host_that_waits_for_its_address_gives_its_turn_in_its_domain_away() -> None:
    schedule = Schedule()
    policy = paced(domain_delay=Pause(0.25), address_delay=Pause(10.0))
    hosts = [host(f"h{number}.big.test", number, policy=policy) for number in range(1, 7)]
    for one in hosts[:5]:
        one.address = "192.0.2.1"
    offered(schedule, *hosts)
    found = run(schedule, 4.0)
    assert [now for now, name in found if name == "h6.big.test"] == [0.25, 1.25, 2.25, 3.25]
    assert [name for _, name in found if name != "h6.big.test"] == ["h1.big.test"]


def test_a_host_without_a_domain_delay_neither_waits_nor_makes_others_wait() -> None:
    schedule = Schedule()
    config = PolicyConfig(delay=1.0, domain_delay=Pause(0.4), address_delay=Pause())
    policy = Policy(config, (HostRule("own.big.test", delay=0.1, domain_delay=Pause()),))
    offered(
        schedule, *(host(f"{name}.big.test", number, policy=policy) for number, name in enumerate(["own", *"abcd"]))
    )
    found = run(schedule, 2.0)
    assert sum(name == "own.big.test" for _, name in found) >= 20
    assert [round(now, 6) for now, name in found if name != "own.big.test"] == [0.0, 0.4, 0.8, 1.2, 1.6, 2.0]


def test_visits_of_a_burst_follow_each_other_and_their_domain_rests_for_all_of_them() -> None:
    policy = Policy(PolicyConfig(delay=1.0, delay_factor=0, burst=4, domain_delay=Pause(0.5), address_delay=Pause()))
    schedule = Schedule()
    offered(schedule, *(host(f"{name}.big.test", *range(number, number + 9), policy=policy)
                        for number, name in ((1, "a"), (20, "b"))))  # fmt: skip
    begins = []
    now = 0.0
    while now < 8.0:
        while (one := schedule.take(now)) is not None:
            schedule.begin(one, now)
            begins.append((now, one.name))
            one.rest(now, 0.0)
            schedule.end(one, now)
            schedule.offer(one, now)
        assert schedule.next_due is not None
        now = schedule.next_due
    assert list(dict.fromkeys(begins)) == [
        (0.0, "a.big.test"),
        (2.0, "b.big.test"),
        (4.0, "a.big.test"),
        (6.0, "b.big.test"),
    ]
    assert set(map(begins.count, begins)) == {4}


def test_an_urgent_host_of_a_domain_comes_before_those_that_wait_longer() -> None:
    schedule = Schedule()
    policy = paced(domain_delay=Pause(1.0))
    offered(schedule, *(host(f"h{number}.big.test", number, policy=policy) for number in range(1, 40)))
    assert begun(schedule, 0.0) == ["h1.big.test"]
    offered(schedule, host("urgent.big.test", 99, priority=0, policy=policy))
    assert begun(schedule, 0.5) == []
    assert begun(schedule, 1.0) == ["urgent.big.test"]
    low = host("low.big.test", 98, priority=9, policy=policy)
    offered(schedule, low)
    assert "low.big.test" in [name for second in range(2, 36) for name in begun(schedule, float(second))]


def test_who_is_let_go_and_dropped_keeps_no_other_from_coming() -> None:
    schedule = Schedule()
    policy = paced(domain_delay=Pause(1.0))
    hosts = [host(f"h{number}.big.test", number, policy=policy) for number in range(1, 4)]
    offered(schedule, *hosts)
    assert begun(schedule, 0.0) == ["h1.big.test"]
    schedule._wake(1.0)
    assert hosts[1].place is Place.READY
    schedule.drop(hosts[1])
    assert begun(schedule, 1.0) == ["h3.big.test"]


def test_a_domain_whose_hosts_left_memory_rests_all_the_same() -> None:
    schedule = Schedule()
    policy = paced(domain_delay=Pause(1.0))
    first = host("h1.big.test", 1, policy=policy)
    offered(schedule, first)
    one = schedule.take(0.0)
    assert one is first
    schedule.begin(first, 0.0)
    schedule.end(first, 0.0)
    schedule.drop(first)
    del one, first
    offered(schedule, host("h2.big.test", 2, policy=policy))
    assert begun(schedule, 0.5) == []
    assert begun(schedule, 1.0) == ["h2.big.test"]


def test_a_shorter_pause_holds_at_once() -> None:
    schedule = Schedule()
    hosts = [host(f"h{number}.big.test", number, policy=paced(domain_delay=Pause(3600.0))) for number in range(1, 4)]
    offered(schedule, *hosts)
    assert begun(schedule, 0.0) == ["h1.big.test"]
    for one in hosts:
        one.manners = paced(domain_delay=Pause(2.0)).manners(one.name)
    schedule.repace(hosts)
    for one in hosts[1:]:
        schedule.drop(one)
        schedule.offer(one, 1.0)
    assert begun(schedule, 1.0) == []
    assert begun(schedule, 2.0) == ["h2.big.test"]


def test_a_host_may_have_as_many_connections_as_it_is_given_whatever_its_domain_has() -> None:
    schedule = Schedule(domain_connections=2)
    config = PolicyConfig(delay=0.0, host_connections=5)
    one = host("www.big.test", *range(1, 9), policy=Policy(config))
    offered(schedule, one)
    for _ in range(5):
        assert schedule.take(0.0) is one
        schedule.begin(one, 0.0)
        schedule.offer(one, 0.0)
    assert schedule.take(0.0) is None
