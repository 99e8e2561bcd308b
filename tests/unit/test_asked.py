"""What is asked for among several agents: counted where it was asked for, judged and queued where it belongs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gossamer.agent.asked import ASKED, Asked, Given, RequestsGiven, words_of
from gossamer.agent.forms import Forms
from gossamer.cluster.batch import Group
from gossamer.cluster.parties import numbered
from gossamer.config import AppRule, FrontierConfig, PolicyConfig
from gossamer.errors import ClusterError, ConfigError
from gossamer.frontier import Frontier
from gossamer.frontier.diffs import diffs_of
from gossamer.frontier.parties import Shares, owner_of
from gossamer.frontier.rows import check_hosts, check_visits
from gossamer.frontier.share import Part
from gossamer.model import Reason, Visit
from gossamer.rules.policy import Policy
from gossamer.rules.robots import Robots
from gossamer.rules.scope import Scope
from gossamer.rules.territory import Territory

TERRITORY = Territory(16)
OURS, THEIRS = "http://ours.test/", "http://theirs.test/"
RULES = (AppRule("one", post=r"http://(ours|theirs)\.test/find"), AppRule("two", share=2.0))
FORM = "#__wb_method=POST&q=1"


def prefix(url: str) -> bytes:
    return TERRITORY.partition(url.split("/")[2]).to_bytes(2, "big")


class Beside:
    """An agent among others, as far as requests are concerned."""

    def __init__(self, home: Path, *owned: str, rules: tuple[AppRule, ...] = RULES, scope: Scope | None = None) -> None:
        self.share = Part(TERRITORY, 0.0)
        for url in owned:
            self.share.take(prefix(url), 0.0)
        self.shares = Shares()
        self.scope = scope or Scope("any")
        self.frontier = Frontier(
            home, FrontierConfig(memory=1 << 20), Policy(PolicyConfig(delay=0)), self.scope, None, 0.0,
            share=self.share, shares=self.shares,
        )  # fmt: skip
        stored = self.frontier.meta(ASKED)
        self.asked = Asked(rules, stored, self.frontier, self.scope, self.shares)

    def take(self, *requests: Given, app: str = "one", **more: Any) -> dict[str, Any]:
        return self.asked.take(RequestsGiven(list(requests), app, **more), lambda url: (url, ""), 5.0)

    def handed_over(self) -> list[Group]:
        from gossamer.agent.outbox import _groups

        return [group for _, links, sources in self.frontier.foreign.taken() for group in _groups(links, sources)]

    def visits(self) -> list[Visit]:
        found = self.frontier.lease(1.0, 100)
        for robots in [each for each in found if each.robots]:
            self.frontier.settle_robots(robots, Robots.parse(b"", "x"), 1.0, 0.0, 1e9)
        return [each for each in [*found, *self.frontier.lease(1.0, 100)] if not each.robots]


@pytest.fixture
def agent(tmp_path: Path) -> Beside:
    return Beside(tmp_path / "f", OURS)


def test_own_requests_are_queued_and_others_handed_over_in_the_same_commit(agent: Beside) -> None:
    facts = agent.take(Given(OURS + "1", 2, "t"), Given(THEIRS + "1", 2, "t"), Given(THEIRS + "2", 3), batch=1)
    assert (facts["new"], facts["known"], facts["left_out"], facts["handed_over"]) == (3, 0, 0, 2)
    assert agent.handed_over() == [
        Group((THEIRS + "1",), 0, 0x12, asked=True),
        Group((THEIRS + "2",), 0, 0x13, asked=True),
    ]
    party = agent.asked.parties["one"]
    assert (party.asked, party.new, party.left_out) == (3, 1, 0)  # who gets the others counts them
    assert sum(name.startswith("tag t\0") for name in agent.asked.notes()) == 2
    assert agent.take(Given(THEIRS + "1"), batch=1)["again"]
    assert agent.handed_over() == []
    # Asked for again it is handed over again, as nobody here knows what became of it.
    assert agent.take(Given(OURS + "1"), Given(THEIRS + "1"), batch=2)["known"] == 1
    assert len(agent.handed_over()) == 1


def test_what_comes_is_queued_for_its_party_and_counted_once(agent: Beside) -> None:
    for _ in range(2):
        agent.asked.receive([OURS + "1", OURS + "2"], 0x23, post=False)
    agent.asked.receive([OURS + "3"], 0x04, post=False)  # of another program
    agent.asked.receive([OURS + "4"], 0x91, post=False)  # of an application that this agent has not heard of yet
    assert (agent.asked.parties["two"].new, agent.asked.parties["links"].new) == (2, 1)
    assert {visit.url: owner_of(visit) for visit in _of_one_host(agent, 4)} == {
        OURS + "1": 2, OURS + "2": 2, OURS + "3": 0, OURS + "4": 9,
    }  # fmt: skip


def test_what_has_moved_on_its_way_follows(agent: Beside) -> None:
    agent.asked.receive([THEIRS + "1"], 0x23, post=False)
    assert agent.handed_over() == [Group((THEIRS + "1",), 0, 0x23, asked=True)]
    assert agent.frontier.counts.urls == 0


def test_who_asks_judges_patterns_and_the_owner_whether_the_host_belongs(tmp_path: Path) -> None:
    asks = Beside(tmp_path / "a", OURS, scope=Scope("host", exclude=["/private/"]))
    facts = asks.take(Given(OURS + "1"), Given(THEIRS + "1"), Given(THEIRS + "private/1"))
    assert (facts["left_out"], facts["handed_over"]) == (2, 1)
    owner = Beside(tmp_path / "b", THEIRS, scope=Scope("host"))
    for _ in range(2):
        owner.asked.receive([THEIRS + "1"], 0x12, post=False)
    assert owner.asked.parties["one"].left_out == 1
    assert (owner.frontier.counts.queued, owner.frontier.counts.excluded, owner.frontier.counts.urls) == (0, 1, 1)
    owner.scope.load(["theirs.test"])
    owner.asked.receive([THEIRS + "2"], 0x12, post=False)
    assert owner.asked.parties["one"].new == 1


# -- known URLs --------------------------------------------------------------------------------------------------------


def fetched(agent: Beside, *urls: str) -> None:
    agent.frontier.add(list(urls), 1, 4)
    for now in range(1, len(urls) + 1):
        for visit in agent.visits():
            agent.frontier.settle_page(visit, 200, float(now), 0.0, (0, 1, 2), digest=b"12345678")


def test_each_request_is_told_what_becomes_of_it(agent: Beside) -> None:
    fetched(agent, OURS + "1", OURS + "2")
    asked = [
        Given(OURS + "1", max_age=0.0), Given(OURS + "1", max_age=0.0), Given(OURS + "2", max_age=60.0),
        Given(OURS + "2"), Given(OURS + "3", max_age=0.0), Given(OURS + "3"), Given(THEIRS + "1", 5, max_age=60.0),
    ]  # fmt: skip
    facts = agent.take(*asked, app="")
    assert [each["result"] for each in facts["each"]] == [
        "queued again", "known", "fresh enough", "known", "queued", "known", "handed over",
    ]  # fmt: skip
    counted = [facts[name] for name in ("queued_again", "fresh_enough", "new", "known", "left_out", "handed_over")]
    assert counted == [1, 1, 2, 3, 0, 1]
    assert agent.handed_over() == [Group((THEIRS + "1",), 0, 5, asked=True, max_age=60)]
    assert words_of(facts) == "1 queued again, 1 fresh enough, 2 new requests, 3 known already, 0 left out"
    assert words_of(agent.take(asked[0], app="")) == "it is known already"


def test_what_is_refused_says_why(tmp_path: Path) -> None:
    agent = Beside(tmp_path / "f", OURS, scope=Scope("host"))
    agent.scope.load(["ours.test"])
    (each,) = agent.take(Given("http://away.test/", max_age=0.0))["each"]
    assert each["result"] == "handed over", "its owner knows whether it is known"
    agent.share.take(prefix("http://away.test/"), 0.0)
    agent.frontier.opened(prefix("http://away.test/"))
    (each,) = agent.take(Given("http://away.test/", max_age=0.0))["each"]
    assert each["result"] == "refused"
    assert each["why"].startswith("it does not belong to the crawl (scope); as a seed it is visited")


def test_the_owner_visits_what_it_knows_again_and_judges_the_rest(tmp_path: Path) -> None:
    owner = Beside(tmp_path / "f", OURS, scope=Scope("host"))
    owner.scope.load(["ours.test"])
    fetched(owner, OURS + "1")
    other = next(f"http://{n}.test/" for n in range(99) if prefix(f"http://{n}.test/") == prefix(OURS))
    urls = [OURS + "1", OURS + "2", other, THEIRS + "1"]
    owner.asked.receive(urls, 0x13, post=False, max_age=0.0, now=9.0)
    counts = owner.frontier.counts
    assert (counts.requested, counts.queued, counts.excluded) == (1, 1, 1)
    assert owner.handed_over() == [Group((THEIRS + "1",), 0, 0x13, asked=True, max_age=0)]
    owner.asked.receive(urls, 0x13, post=False, max_age=0.0, now=9.0)
    assert (counts.requested, counts.queued, counts.excluded) == (1, 1, 1), "they wait already, or are left out still"
    owner.handed_over()
    again = [each for each in _of_one_host(owner, 2) if each.before is not None]
    assert [(each.url, owner_of(each)) for each in again] == [(OURS + "1", 1)]


# -- forms -------------------------------------------------------------------------------------------------------------


def test_forms_are_handed_over_where_both_allow_them(agent: Beside, tmp_path: Path) -> None:
    facts = agent.take(Given(THEIRS + "find", body="q=1"), Given(THEIRS + "order", body="q=1"))
    assert (facts["handed_over"], facts["left_out"]) == (1, 1)
    assert agent.handed_over() == [Group((THEIRS + "find" + FORM,), 0, 0x14, asked=True, post=True)]


@pytest.mark.parametrize(
    ("level", "rules"),
    [(0x14, ()), (0x14, (AppRule("one", post=r"http://ours\.test/other"),)), (0x24, RULES), (0x04, RULES)],
    ids=["nobody may", "not there", "another application's", "nobody's"],
)
def test_no_message_has_a_form_sent_that_the_receiver_does_not_allow(
    tmp_path: Path, level: int, rules: tuple[AppRule, ...]
) -> None:
    agent = Beside(tmp_path / "f", OURS, rules=rules)
    agent.asked.receive([OURS + "find" + FORM], level, post=True)
    assert (agent.frontier.counts.queued, agent.frontier.counts.excluded) == (0, 1)


class Log:
    """The other agents, as far as forms must know of them."""

    committed = 7

    def __init__(self) -> None:
        self.has = 0

    def logged(self, commit: int) -> bool:
        return self.has >= commit


def test_a_form_waits_until_the_next_owner_would_know_of_it(agent: Beside) -> None:
    log, commits = Log(), list[int]()
    forms = Forms(agent.frontier, agent.asked, lambda: commits.append(1), lambda: 1.0, lambda: log)  # type: ignore[arg-type, return-value]
    agent.asked.receive([OURS + "find" + FORM], 0x14, post=True)
    (visit,) = agent.visits()
    assert forms.holds(visit)
    assert (commits, len(forms), forms.released()) == ([1], 1, [])
    assert agent.frontier.was_sent(visit)
    log.has = 7
    assert forms.released() == [visit]
    assert forms.may_post(visit) is None
    assert forms.may_post(visit) is Reason.UNANSWERED  # once
    forms.ended(visit)
    assert agent.frontier.was_sent(visit)
    assert not forms.holds(visit)  # it is started, and fails


def test_a_form_that_was_not_sent_may_be_another_time(agent: Beside) -> None:
    log = Log()
    forms = Forms(agent.frontier, agent.asked, lambda: None, lambda: 1.0, lambda: log)  # type: ignore[arg-type, return-value]
    agent.asked.receive([OURS + "find" + FORM], 0x14, post=True)
    (visit,) = agent.visits()
    for _ in range(2):
        assert forms.holds(visit)
        assert forms.taken_back(lambda each: False) == []
        assert forms.taken_back(lambda each: True) == [visit]
        forms.ended(visit)
        assert not agent.frontier.was_sent(visit)
    log.has = 7
    assert forms.holds(visit)
    assert forms.released() == [visit]
    forms.ended(visit)  # no connection came about
    assert not agent.frontier.was_sent(visit)


# -- partitions that move ----------------------------------------------------------------------------------------------


def test_queues_of_parties_and_forms_move_with_their_partition(agent: Beside) -> None:
    agent.frontier.before_commit = lambda database: seen.append(
        diffs_of(dict(database.visits), dict(database.hosts), {}, lambda name: None)
    )
    seen: list[Any] = []
    agent.asked.receive([OURS + "1"], 0xE9, post=False)
    agent.asked.receive([OURS + "find" + FORM], 0x10, post=True)
    agent.frontier.commit({})
    (diff,) = [each for each in seen[0].values() if each.visits]
    check_visits(prefix(OURS), diff.visits)
    check_hosts(prefix(OURS), diff.hosts)
    assert {key[-7] for key in diff.hosts if b"\0q" in key} == {0xE9, 0x10}


def test_numbers_are_the_same_for_all_and_for_ever(agent: Beside) -> None:
    assert numbered({}, ["b", "a"], {}) == {"b": 1, "a": 2}
    assert numbered({"b": 1}, ["a", "b", "c"], {}) == {"b": 1, "a": 2, "c": 3}
    assert numbered({}, ["a"], {"old": 1}) == {"old": 1, "a": 2}  # the broker has lost its data
    with pytest.raises(ClusterError, match="has lost its data"):
        numbered({"a": 1}, [], {"a": 2})
    with pytest.raises(ClusterError, match="has lost its data"):
        numbered({"a": 1}, [], {"b": 1})
    with pytest.raises(ConfigError, match="has had 14 applications"):
        numbered({str(number): number for number in range(1, 15)}, ["more"], {})
    agent.asked.agree({"one": 5, "two": 1, "gone": 2})
    agent.asked.receive([OURS + "1"], 0x14, post=False)
    assert {name: (party.number, party.new) for name, party in agent.asked.parties.items()} == {
        "links": (0, 0), "recrawl": (15, 0), "one": (5, 0), "two": (1, 1), "gone": (2, 0),
    }  # fmt: skip
    assert agent.shares.at(1, 1) - agent.shares.at(1) == 0.5


def _of_one_host(agent: Beside, number: int) -> list[Visit]:
    """One after the other."""
    found = []
    for now in range(1, number + 1):
        (visit,) = agent.visits()
        found.append(visit)
        agent.frontier.settle_excluded(visit, _left_out(), float(now))
    return found


def _left_out() -> Any:
    from gossamer.model import Fault

    return Fault(Reason.ADDRESS, False, "", 1.0)
