"""What commits leave for other agents: written with them, sent in their order, forgotten when it is safe elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from gossamer.agent.exchange import Exchange
from gossamer.agent.later import Later
from gossamer.agent.outbox import Outbox, Parcel
from gossamer.cluster.batch import Group, decode, encode
from gossamer.cluster.log import Kind, Record
from gossamer.config import FrontierConfig, PolicyConfig
from gossamer.errors import LogFullError, TokenLostError, UnavailableError
from gossamer.frontier import Frontier
from gossamer.frontier.diffs import DiffReader
from gossamer.frontier.share import Part
from gossamer.model import RequestOutcome
from gossamer.rules.policy import Policy
from gossamer.rules.robots import Robots
from gossamer.rules.scope import Scope
from gossamer.rules.territory import Territory

TERRITORY = Territory(16)
OURS, THEIRS = "http://ours.test/", "http://theirs.test/"


def partition(url: str) -> int:
    return TERRITORY.partition(url.split("/")[2])


assert partition(OURS) != partition(THEIRS)


def prefix(url: str) -> bytes:
    return partition(url).to_bytes(2, "big")


class Agent:
    """A frontier that has one partition, and its outbox."""

    def __init__(self, home: Path, *urls: str, crosses: bool = False, firewall: bool = False) -> None:
        self.share = Part(TERRITORY, 1.0, crosses)
        self.frontier = Frontier(
            home, FrontierConfig(memory=1 << 20), Policy(PolicyConfig(delay=0)), Scope("any"), None, 0.0,
            share=self.share,
        )  # fmt: skip
        for url in urls:
            self.share.take(prefix(url), 0.0)
        self.positions: dict[int, int] = {}
        counts = self.frontier.counts
        self.outbox = Outbox(
            self.frontier.outbox(), self.frontier.foreign, self.share, lambda name: None, lambda: self.positions,
            lambda: counts.number, Later(home.parent).add if firewall else None,
        )  # fmt: skip
        self.frontier.before_commit = self.outbox.fill


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return Agent(tmp_path / "frontier", OURS)


def urls_in(parcel: Parcel) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for to, data in parcel.sent:
        found.setdefault(to, []).extend(url for group in decode(data) for url in group.urls)
    return found


def test_links_for_others_are_sent_and_not_kept_here(agent: Agent) -> None:
    agent.frontier.add([OURS + "1", THEIRS + "2", OURS + "3", THEIRS + "4"], 2, 4, hops=1, suspect=True)
    agent.frontier.commit({})
    (parcel,) = agent.outbox.pending
    assert [decode(data) for _, data in parcel.sent] == [[Group((THEIRS + "2", THEIRS + "4"), 2, 4, 1, True)]]
    assert {to for to, _ in parcel.sent} == {partition(THEIRS)}
    assert agent.frontier.counts.urls == 2


def test_hosts_whose_name_no_server_can_have_are_excluded_by_their_owner(tmp_path: Path) -> None:
    first, second = Agent(tmp_path / "a" / "f", OURS), Agent(tmp_path / "b" / "f")
    ours, theirs = ([url.replace("//", f"//{number}..") for number in range(9)] for url in (OURS, THEIRS))
    second.share.take(prefix(THEIRS), 0.0)
    first.frontier.add([*ours, *theirs], 1, 4)
    first.frontier.add_source(ours[0] + "map", 1, 0)
    first.frontier.commit({})
    (sent,) = urls_in(first.outbox.pending[0]).values()
    assert sorted(sent) == sorted(theirs)
    assert first.frontier.counts.excluded == first.frontier.counts.urls == len(ours) + 1
    second.frontier.add(sent, 1, 4, handed=True)
    second.frontier.commit({})
    assert second.frontier.counts.excluded == second.frontier.counts.urls == len(theirs)
    assert first.frontier.counts.queued == second.frontier.counts.queued == 0
    assert first.frontier.counts.hosts == second.frontier.counts.hosts == 0


def test_what_others_would_not_want_is_not_sent(tmp_path: Path) -> None:
    agent = Agent(tmp_path / "f", OURS)
    agent.frontier.scope._exclude = Scope("any", exclude=["/private/"])._exclude
    agent.frontier.add([THEIRS + "private/x", THEIRS + "y", THEIRS + "y"], 1, 4)
    agent.frontier.add([THEIRS + "y"], 3, 4)  # it was met a moment ago
    agent.frontier.commit({})
    assert urls_in(agent.outbox.pending[0]) == {partition(THEIRS): [THEIRS + "y"]}


def test_a_diff_says_what_a_commit_did_and_how_far_the_log_was_read(agent: Agent) -> None:
    agent.positions = {partition(OURS): 77}
    agent.frontier.add([OURS + "1"], 0, 4)
    agent.frontier.commit({})
    ((to, message),) = agent.outbox.pending[0].done
    diff = DiffReader(to).feed(message)
    assert to == partition(OURS)
    assert diff is not None
    assert diff.taken == 77
    assert len(diff.visits) == 1
    agent.frontier.commit({})
    assert len(agent.outbox.pending) == 1  # nothing has changed


def test_parcels_are_there_after_a_crash_and_gone_after_the_commit_that_follows_their_receipt(tmp_path: Path) -> None:
    first = Agent(tmp_path / "f", OURS)
    for number in range(3):
        first.frontier.add([f"{THEIRS}{number}", f"{OURS}{number}"], 1, 4)
        first.frontier.commit({})
    assert [parcel.number for parcel in first.outbox.next(1)] == [1]
    assert [parcel.number for parcel in first.outbox.next(4)] == [1, 2]
    oldest = first.outbox.next(1)
    first.outbox.acknowledged(oldest, [(partition(THEIRS), 5, b"kept")])
    first.frontier.close()  # before the next commit
    second = Agent(tmp_path / "f", OURS)
    assert [parcel.number for parcel in second.outbox.pending] == [1, 2, 3]
    second.outbox.acknowledged(second.outbox.next(1), [(partition(THEIRS), 5, b"kept")])
    second.frontier.add([OURS + "more"], 1, 4)
    second.frontier.commit({})
    second.frontier.close()
    third = Agent(tmp_path / "f", OURS)
    assert [parcel.number for parcel in third.outbox.pending] == [2, 3, 4]
    assert third.outbox.kept_size == 4
    third.outbox.passed(partition(THEIRS), 4)
    third.outbox.passed(partition(OURS), 100)
    third.frontier.commit({})
    third.frontier.close()
    fourth = Agent(tmp_path / "f", OURS)
    assert fourth.outbox.kept_size == 4  # 5 is not passed
    fourth.outbox.passed(partition(THEIRS), 5)
    fourth.frontier.commit({})
    fourth.frontier.close()
    assert Agent(tmp_path / "f", OURS).outbox.kept_size == 0


def test_of_a_partition_that_others_took_only_the_new_urls_are_sent(agent: Agent) -> None:
    agent.frontier.add([OURS + "1"], 3, 4)
    agent.frontier.commit({})
    agent.outbox.lost([partition(OURS)])
    (parcel,) = agent.outbox.pending
    assert parcel.done == []
    assert urls_in(parcel) == {partition(OURS): [OURS + "1"]}
    assert decode(parcel.sent[0][1])[0].depth == 3
    # And what was changed before this agent knew of it:
    agent.frontier.add([OURS + "2"], 1, 4)
    agent.frontier._intake.resolve()
    agent.share.leave(prefix(OURS))
    agent.frontier.commit({})
    assert urls_in(agent.outbox.pending[1]) == {partition(OURS): [OURS + "2"]}


def test_what_a_party_asks_for_is_sent_with_whose_it_is_and_how_soon(agent: Agent) -> None:
    agent.frontier.hand_over_requests([THEIRS + "1", THEIRS + "2"], 3, 7, post=False)
    agent.frontier.hand_over_requests([THEIRS + "find#__wb_method=POST&q=1"], 3, 7, post=True)
    agent.frontier.hand_over([THEIRS + "seed"], 0, 7)
    agent.frontier.commit({})
    (parcel,) = agent.outbox.pending
    assert [group for _, data in parcel.sent for group in decode(data)] == [
        Group((THEIRS + "1", THEIRS + "2"), 0, 0x37, asked=True),
        Group((THEIRS + "find#__wb_method=POST&q=1",), 0, 0x37, asked=True, post=True),
        Group((THEIRS + "seed",), 0, 7),
    ]


def test_what_a_party_asked_for_stays_its_own_when_the_partition_is_lost(agent: Agent) -> None:
    def ask() -> None:
        agent.frontier.request([OURS + "1"], 3, 7)
        agent.frontier.request([OURS + "find#__wb_method=POST&q=1"], 3, 7, post=True)
        agent.frontier.add([OURS + "link"], 2, 4)

    def asked(parcel: Parcel) -> list[Group]:
        return sorted((group for _, data in parcel.sent for group in decode(data)), key=lambda group: group.urls)

    expected = [
        Group((OURS + "1",), 0, 0x37, asked=True),
        Group((OURS + "find#__wb_method=POST&q=1",), 0, 0x37, asked=True, post=True),
        Group((OURS + "link",), 2, 4),
    ]
    ask()
    agent.frontier.commit({})
    agent.outbox.lost([partition(OURS)])
    assert asked(agent.outbox.pending[0]) == expected
    agent.frontier.request([OURS + "2"], 14, 0)
    agent.share.leave(prefix(OURS))  # before it is committed
    agent.frontier.commit({})
    assert asked(agent.outbox.pending[1]) == [Group((OURS + "2",), 0, 0xE0, asked=True)]


def test_what_is_asked_for_again_says_how_old_a_copy_may_be(agent: Agent) -> None:
    agent.frontier.hand_over_requests([THEIRS + "1"], 3, 7, post=False, max_age=3600.0)
    agent.frontier.hand_over_requests([THEIRS + "2"], 0, 4, post=False, max_age=0.0)
    agent.frontier.commit({})
    (parcel,) = agent.outbox.pending
    assert [group for _, data in parcel.sent for group in decode(data)] == [
        Group((THEIRS + "1",), 0, 0x37, asked=True, max_age=3600),
        Group((THEIRS + "2",), 0, 4, asked=True, max_age=0),
    ]


def test_a_known_url_that_was_asked_for_stays_so_when_the_partition_is_lost(agent: Agent) -> None:
    frontier = agent.frontier
    frontier.add([OURS + "1", OURS + "2"], 2, 4)
    for now in range(1, 5):
        for visit in frontier.lease(float(now), 10):
            if visit.robots:
                frontier.settle_robots(visit, Robots.parse(b"", "x"), float(now), 0.0, 1e9)
            else:
                frontier.settle_page(visit, 200, float(now), 0.0, (0, 1, 2), digest=b"12345678")
    frontier.commit({})
    assert frontier.visit_again(OURS + "1", 0x37, 0.0, 5.0) is RequestOutcome.AGAIN
    frontier.commit({})
    agent.outbox.lost([partition(OURS)])
    last = agent.outbox.pending[-1]
    assert [group for _, data in last.sent for group in decode(data)] == [
        Group((OURS + "1",), 0, 0x37, asked=True, max_age=0)
    ]


class FakeLog:
    """In memory: what a log does, and what it may do to its writers."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.wrong: list[Exception] = []

    async def write(self, sent: list[tuple[int, bytes]], done: list[tuple[int, int, bytes]]) -> int:
        if self.wrong:
            raise self.wrong.pop(0)
        for to, data in sent:
            self.records.append(Record(len(self.records) + 1, Kind.IN, data, to))
        for to, _, data in done:
            self.records.append(Record(len(self.records) + 1, Kind.DONE, data, to))
        return len(self.records)


def exchange(agent: Agent, log: FakeLog, lose: Callable[[object], None] = lambda _: None) -> Exchange:
    made = Exchange(log, agent.outbox, lambda group: None, lose, lambda text: None)  # type: ignore[arg-type]
    made.hold(partition(OURS), 9, 0)
    return made


def test_everything_is_written_in_the_order_of_commits(agent: Agent) -> None:
    log = FakeLog()
    for number in range(3):
        agent.frontier.add([f"{THEIRS}{number}", f"{OURS}{number}"], 1, 4)
        agent.frontier.commit({})
    talk = exchange(agent, log)
    asyncio.run(talk.send_once())
    assert [record.kind for record in log.records] == [Kind.IN] * 3 + [Kind.DONE] * 3
    assert [decode(record.data)[0].urls[0] for record in log.records[:3]] == [f"{THEIRS}{n}" for n in range(3)]
    assert talk.appended[partition(OURS)] == 6
    assert not agent.outbox.pending
    assert not agent.outbox.waiting.is_set()


def test_what_was_not_written_is_written_later(agent: Agent) -> None:
    log = FakeLog()
    log.wrong = [UnavailableError("away"), LogFullError("full")]
    agent.frontier.add([THEIRS + "1"], 1, 4)
    agent.frontier.commit({})
    talk = exchange(agent, log)

    async def work() -> None:
        assert not await talk.send_once()
        assert not await talk.send_once()
        assert talk.full
        assert await talk.send_once()
        assert not talk.full

    asyncio.run(work())
    assert len(log.records) == 1


def test_who_waits_hears_when_the_log_has_what_was_committed(agent: Agent) -> None:
    log, lost = FakeLog(), []
    talk = exchange(agent, log, lost.append)
    agent.frontier.add([OURS + "1"], 1, 4)
    agent.frontier.commit({})

    async def work() -> None:
        waiting = asyncio.create_task(talk.flushed(partition(OURS)))
        await asyncio.sleep(0)
        agent.frontier.add([OURS + "2"], 1, 4)
        agent.frontier.commit({})
        await talk.send_once()
        assert await waiting == 1  # the place of what was committed then, not of what came after
        assert await talk.flushed(partition(OURS)) == 2
        agent.frontier.add([OURS + "3", THEIRS + "3"], 1, 4)
        agent.frontier.commit({})
        log.wrong = [TokenLostError("gone", (partition(OURS),))]
        assert not await talk.send_once()
        assert lost == [(partition(OURS),)]
        assert await talk.send_once()

    asyncio.run(work())
    assert [record.kind for record in log.records] == [Kind.DONE, Kind.DONE, Kind.IN, Kind.IN]


def test_commits_of_more_messages_than_go_at_once_are_written_all_the_same(agent: Agent) -> None:
    log = FakeLog()
    data = encode([Group((THEIRS,), 1, 4)])[0]
    agent.outbox._append(Parcel(1, [(partition(THEIRS), data)] * 2000, [(partition(OURS), b"x")] * 3))
    talk = exchange(agent, log)
    asyncio.run(talk.send_once())
    assert [record.kind for record in log.records] == [Kind.IN] * 2000 + [Kind.DONE] * 3
    assert talk.appended[partition(OURS)] == 2003


def test_a_url_that_was_handed_over_is_taken_when_its_partition_is_ours_and_it_comes_back(agent: Agent) -> None:
    agent.frontier.add([THEIRS + "1"], 1, 4)
    agent.frontier.commit({})
    agent.share.take(prefix(THEIRS), 0.0)
    agent.frontier.opened(prefix(THEIRS))
    (group,) = decode(agent.outbox.pending[0].sent[0][1])
    for _ in range(2):
        agent.frontier.add(list(group.urls), group.depth, group.priority)
        agent.frontier.commit({})
        assert agent.frontier.counts.urls == 1


def test_a_firewall_keeps_links_of_others_for_later_and_hands_over_seeds_and_requests(tmp_path: Path) -> None:
    agent = Agent(tmp_path / "f", OURS, firewall=True)
    for number in range(2):
        agent.frontier.add([OURS + "1", f"{THEIRS}{number}"], 1, 4)
        agent.frontier.hand_over([f"{THEIRS}seed{number}"], 0, 4)
        agent.frontier.hand_over_requests([f"{THEIRS}asked{number}"], 1, 4, post=False)
        agent.frontier.commit({})
    assert [urls_in(parcel) for parcel in agent.outbox.pending] == [
        {partition(THEIRS): [f"{THEIRS}seed{number}", f"{THEIRS}asked{number}"]} for number in range(2)
    ]
    assert (tmp_path / "later.txt").read_text().split() == [THEIRS + "0", THEIRS + "1"]


def test_who_crosses_over_visits_what_it_finds_and_hands_over_seeds(tmp_path: Path) -> None:
    agent = Agent(tmp_path / "f", OURS, crosses=True)
    agent.frontier.add([OURS + "1", THEIRS + "2"], 1, 4)
    agent.frontier.hand_over([THEIRS + "seed"], 0, 4)
    agent.frontier.commit({})
    (parcel,) = agent.outbox.pending
    assert agent.frontier.counts.urls == 2
    assert urls_in(parcel) == {partition(THEIRS): [THEIRS + "seed"]}
    assert {to for to, _ in parcel.done} == {partition(OURS)}  # of what is not ours nobody is told
    assert not agent.frontier.is_ours(THEIRS)


def test_what_the_log_has_lost_is_sent_again(tmp_path: Path) -> None:
    agent = Agent(tmp_path / "f", OURS)
    for number in range(3):
        agent.frontier.add([f"{THEIRS}{number}"], 1, 4)
        agent.frontier.commit({})
    kept = [(to, 10 + number, data) for number, parcel in enumerate(agent.outbox.pending) for to, data in parcel.sent]
    agent.outbox.acknowledged(agent.outbox.next(100), kept)
    agent.frontier.commit({})
    assert agent.outbox.newest_kept() == 12
    assert agent.outbox.again(10, agent.frontier.outbox()) == 2
    assert urls_in(agent.outbox.pending[0]) == {partition(THEIRS): [THEIRS + "1", THEIRS + "2"]}
    assert agent.outbox.newest_kept() == 10
    agent.frontier.commit({})
    agent.frontier.close()
    again = Agent(tmp_path / "f", OURS)
    assert [urls_in(parcel) for parcel in again.outbox.pending] == [{partition(THEIRS): [THEIRS + "1", THEIRS + "2"]}]
    assert again.outbox.newest_kept() == 10
