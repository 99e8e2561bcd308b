"""The frontier's invariants under any order of add, lease, settle, commit, crash and restart."""

from __future__ import annotations

import random
import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from gossamer.config import FrontierConfig, Pause, PolicyConfig
from gossamer.frontier import Frontier
from gossamer.frontier.reader import FrontierReader
from gossamer.model import Fault, Reason, State, Visit
from gossamer.model.domain import registered_domain
from gossamer.rules.policy import Policy
from gossamer.rules.robots import ALLOW_ALL
from gossamer.rules.scope import Scope

HOSTS = ["a.test", "b.test", "www.c.test:8080", "c.test"]
DELAY = 2.0
DOMAIN_DELAY = 1.0
PRIORITIES = (0, 4, 5)  # an urgent one brings its host into memory, the others do not
KINDS = ["page", "page", "fault", "excluded", "back", "barren", "barren"]


class FrontierMachine(RuleBasedStateMachine):
    """`known` and `done` are what was promised at the last commit; after a crash exactly that must be there."""

    @initialize(connections=st.integers(1, 2), head=st.integers(1, 3), hosts=st.integers(1, 3))
    def begin(self, connections: int, head: int, hosts: int) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="frontier-"))
        self.now = 1_000_000.0
        self.connections = connections
        self.config = FrontierConfig(queue_head=head, partitions=4, recent_urls=8, hosts=hosts)
        self.policy = self.policy_with("skip")
        self.known: set[str] = set()
        self.done: set[str] = set()
        self.added: set[str] = set()
        self.settled: set[str] = set()
        self.leased: dict[str, Visit] = {}
        self.last_request: dict[str, float] = {}
        self.last_of_domain: dict[str, float] = {}
        self.tried: set[str] = set()
        self.newest: dict[tuple[str, int], int] = {}
        self.open()

    def policy_with(self, duplicates: str) -> Policy:
        return Policy(
            PolicyConfig(
                delay=DELAY,
                domain_delay=Pause(DOMAIN_DELAY),
                host_connections=self.connections,
                max_tries=3,
                retry_wait=5.0,
                max_retry_wait=40.0,
                duplicates=duplicates,
            )
        )

    def open(self) -> None:
        self.frontier = Frontier(self.home / "frontier", self.config, self.policy, Scope("any"), None, self.now)

    def teardown(self) -> None:
        if hasattr(self, "frontier"):
            self.frontier.close()
            shutil.rmtree(self.home)

    @rule(
        links=st.lists(st.tuples(st.sampled_from(HOSTS), st.integers(0, 30)), max_size=8),
        priority=st.sampled_from(PRIORITIES),
        suspect=st.booleans(),
    )
    def add(self, links: list[tuple[str, int]], priority: int, suspect: bool) -> None:
        urls = [f"http://{host}/p{number}" for host, number in links]
        self.frontier.add(urls, 1, priority, suspect=suspect)
        self.added.update(urls)

    @rule(most=st.integers(1, 5))
    def lease(self, most: int) -> None:
        for visit in self.frontier.lease(self.now, most):
            last = self.last_request.get(visit.host)
            assert last is None or self.now - last >= DELAY, f"{visit.host} visited {self.now - last} s after the last"
            self.last_request[visit.host] = self.now
            domain = registered_domain(visit.host)
            last = self.last_of_domain.get(domain)
            assert last is None or self.now - last >= DOMAIN_DELAY, (
                f"{domain} visited {self.now - last} s after the last"
            )
            self.last_of_domain[domain] = self.now
            if visit.robots:
                self.frontier.settle_robots(visit, ALLOW_ALL, self.now, 0.0, self.now + 1e6)
                continue
            assert visit.url not in self.leased, "leased twice"
            assert visit.url not in self.settled, "visited again after it was settled"
            assert visit.url in self.added
            if visit.url not in self.tried:  # one tried before keeps its number and comes first again
                self.tried.add(visit.url)
                assert self.newest.get((visit.host, visit.priority), 0) < visit.number, "not in the order found"
                self.newest[visit.host, visit.priority] = visit.number
            self.leased[visit.url] = visit
            in_hand = [other for other in self.leased.values() if other.host == visit.host]
            assert len(in_hand) <= self.connections

    @rule(data=st.data(), kind=st.sampled_from(KINDS))
    def settle_one(self, data: st.DataObject, kind: str) -> None:
        if self.leased:
            self.settle(data.draw(st.sampled_from(sorted(self.leased))), kind)

    @rule(seed=st.integers(0, 2**32), rounds=st.integers(1, 40))
    def work(self, seed: int, rounds: int) -> None:
        """Many steps in a row, so that queues run over their heads, are committed and are read back."""
        chance = random.Random(seed)
        for _ in range(rounds):
            self.now += chance.choice((0.5, DELAY, 60.0))
            if chance.random() < 0.5:
                host = chance.choice((HOSTS[0], HOSTS[0], *HOSTS))
                urls = [f"http://{host}/p{chance.randrange(200)}" for _ in range(chance.randrange(6))]
                self.frontier.add(urls, 1, chance.choice(PRIORITIES), suspect=chance.random() < 0.7)
                self.added.update(urls)
            self.lease(chance.randrange(1, 5))
            for url in sorted(self.leased):
                if chance.random() < 0.7:
                    self.settle(url, chance.choice(KINDS))
            if chance.random() < 0.2:
                self.commit()
            if chance.random() < 0.05:
                self.crash(lost=True)

    def settle(self, url: str, kind: str) -> None:
        visit = self.leased.pop(url)
        if self.connections == 1:  # with more, the delay is between the beginnings of visits
            self.last_request[visit.host] = self.now
        if kind in ("page", "barren"):
            if kind == "barren":  # after a few of them what is suspect is put aside, and stays queued
                self.frontier.repeats.repeated(visit, 1000, b"", "http://other.test/")
            self.frontier.settle_page(visit, 200, self.now, 0.1, (0, 1, 2))
            self.settled.add(url)
        elif kind == "excluded":
            self.frontier.settle_excluded(visit, Fault(Reason.UNWANTED_TYPE, False), self.now)
            self.settled.add(url)
        elif kind == "fault":
            if visit.tries + 1 >= self.policy.max_tries:
                self.settled.add(url)
            self.frontier.settle_fault(visit, Fault(Reason.TIMEOUT, True), self.now)
        else:
            self.frontier.give_back(visit, self.now)

    @rule(seconds=st.floats(0.1, 50.0))
    def pass_time(self, seconds: float) -> None:
        self.now += seconds

    @rule()
    def commit(self) -> None:
        self.frontier.commit({})
        self.known, self.done = set(self.added), set(self.settled)

    @rule(lost=st.booleans())
    def crash(self, lost: bool) -> None:
        """The process dies. Everything since the last commit is gone: pages settled since may be visited again."""
        if not lost:
            self.commit()
        self.frontier.close()
        self.added, self.settled = set(self.known), set(self.done)
        self.leased.clear()
        self.newest.clear()
        self.open()

    @rule()
    def finish(self) -> None:
        """Left alone, everything added is visited, in the order of its number within a host and priority; what was put
        aside when it is asked for.
        """
        self.frontier.change_policy(self.policy_with("follow"), self.now)
        for visit in list(self.leased.values()):
            self.frontier.settle_page(visit, 200, self.now, 0.1, (0, 1, 2))
            self.settled.add(visit.url)
        self.leased.clear()
        last: dict[tuple[str, int], int] = {}
        exhausted = 0
        for _ in range(2000):
            self.now += 50.0
            visits = self.frontier.lease(self.now, 10)
            for visit in visits:
                self.last_request[visit.host] = self.last_of_domain[registered_domain(visit.host)] = self.now
                if visit.robots:
                    self.frontier.settle_robots(visit, ALLOW_ALL, self.now, 0.0, self.now + 1e6)
                    continue
                assert visit.url not in self.settled
                assert last.get((visit.host, visit.priority), 0) < visit.number, "out of order"
                last[visit.host, visit.priority] = visit.number
                self.frontier.settle_page(visit, 200, self.now, 0.1, (0, 1, 2))
                self.settled.add(visit.url)
            self.commit()  # as the agent does every second: hosts leave memory only then
            exhausted = exhausted + 1 if not visits and self.frontier.exhausted else 0
            if exhausted == 4:  # hosts that are down do not count, but their time comes
                break
        assert self.settled == self.added
        assert self.frontier.counts.aside == 0
        self.frontier.change_policy(self.policy, self.now)
        self.commit()
        assert self.stored() == dict.fromkeys(self.added, True)

    def stored(self) -> dict[str, bool]:
        reader = FrontierReader(self.home / "frontier", self.home / "scratch")
        try:
            return {visit.url: visit.state is not State.QUEUED for visit in reader.visits()}
        finally:
            reader.close()

    @invariant()
    def counts_agree(self) -> None:
        if hasattr(self, "frontier"):
            counts = self.frontier.counts
            assert counts.urls == counts.queued + counts.fetched + counts.dead + counts.excluded
            assert self.frontier.leased == len(self.leased)


FrontierMachine.TestCase.settings = settings(
    max_examples=100, stateful_step_count=20, suppress_health_check=list(HealthCheck)
)
TestFrontier = FrontierMachine.TestCase
