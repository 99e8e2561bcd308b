"""Visits that are made again, under any order of what can happen to them: none is lost, and none is made twice."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from gossamer.config import FreshConfig, FrontierConfig, PolicyConfig
from gossamer.frontier import Frontier, keys
from gossamer.frontier.roster import _chunk
from gossamer.model import Change, Exclusion, Fault, Reason, State, Visit
from gossamer.rules.policy import Policy
from gossamer.rules.revisits import Found
from gossamer.rules.robots import ALLOW_ALL, DISALLOW_ALL
from gossamer.rules.scope import Scope

HOSTS = ["a.test", "b.test", "www.c.test:8080", "d.test"]
HOUR, DAY = 3600.0, 86_400.0
PLACE = (0, 1, 2)


class Driver:
    """Does what a crawl does, and what operators do, in an order that chance decides; after each commit the records,
    the times and the queues on disk must agree.
    """

    def __init__(self, home: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.home = home
        self.now = 1_790_000_000.0
        self.config = FrontierConfig(queue_head=2, partitions=4, recent_urls=8, hosts=self.chance.choice((1, 2, 8)))
        self.fresh = FreshConfig(keep_fresh=True)
        self.blocked: tuple[str, ...] = ()
        self.delay = self.chance.choice((0.0, 1.0))
        self.forbidden: set[str] = set()
        self.leased: list[Visit] = []
        self.visits = 0
        self.open()

    @property
    def policy(self) -> Policy:
        return Policy(
            PolicyConfig(
                delay=self.delay,
                max_tries=2,
                host_connections=3,
                retry_wait=60,
                max_retry_wait=900,
                blocklist=self.blocked,
            )
        )

    def open(self) -> None:
        self.leased.clear()
        scope = Scope("any")
        self.frontier = Frontier(
            self.home / "frontier", self.config, self.policy, scope, None, self.now, self.fresh, rate=1.0
        )

    # -- what may happen ---------------------------------------------------------------------------------------------

    def add(self) -> None:
        urls = [self.url() for _ in range(self.chance.randrange(1, 6))]
        self.frontier.add(urls, 1, self.chance.choice((0, 4, 5)))

    def url(self) -> str:
        return f"http://{self.chance.choice(HOSTS)}/p{self.chance.randrange(300)}"

    def add_source(self) -> None:
        host = self.chance.choice(HOSTS)
        url = f"http://{host}/sitemap{self.chance.randrange(3)}.xml"
        self.frontier.add_source(url, 0, again=self.chance.random() < 0.5)

    def lease(self) -> None:
        for visit in self.frontier.lease(self.now, self.chance.randrange(1, 9)):
            if visit.robots:
                rules = DISALLOW_ALL if visit.host in self.forbidden else ALLOW_ALL
                self.frontier.settle_robots(visit, rules, self.now, 0.1, self.now + 10 * DAY)
            else:
                self.visits += 1
                self.leased.append(visit)

    def settle(self) -> None:
        self.chance.shuffle(self.leased)
        for _ in range(self.chance.randrange(len(self.leased) + 1)):
            self.settle_one(self.leased.pop())

    def work(self) -> None:
        for _ in range(6):
            self.lease()
            self.settle()
            self.now += 3.0

    def settle_one(self, visit: Visit) -> None:
        frontier, now = self.frontier, self.now
        outcomes = ["page", "page", "page", "source", "fault", "dead", "excluded", "back", "error"]
        if visit.before is not None:
            outcomes += ["same", "changed", "missing", "gone", "unmodified"]
        outcome = self.chance.choice(outcomes)
        first = visit.before is None
        if outcome == "page":
            frontier.settle_page(visit, 200, now, 0.1, PLACE, digest=b"12345678", validators=(b'"a"', b""))
        elif outcome in ("same", "unmodified"):
            found = Found(Change.SAME, unmodified=outcome == "unmodified")
            frontier.settle_page(visit, 200, now, 0.1, PLACE, digest=b"12345678", validators=(b'"a"', b""), found=found)
        elif outcome == "changed":
            frontier.settle_page(visit, 200, now, 0.1, PLACE, digest=b"2", found=Found(Change.CHANGED, 7, 3))
        elif outcome == "missing":
            assert visit.before is not None
            frontier.settle_missing(visit, Found(Change.SAME, missing=visit.before.missing + 1), now, 0.1)
        elif outcome in ("gone", "error"):
            change = Change.NEW if first else Change.GONE
            frontier.settle_page(visit, 404, now, 0.1, PLACE, found=Found(change, is_page=False))
        elif outcome == "source":
            found = Found(Change.NEW if first else Change.CHANGED, is_page=False)
            frontier.settle_source(visit, Exclusion.SITEMAP, 200, now, 0.1, PLACE, b"12345678", found=found)
        elif outcome == "excluded":
            frontier.settle_excluded(visit, Fault(Reason.UNWANTED_TYPE, False), now)
        elif outcome == "back":
            frontier.give_back(visit, now)
        else:
            frontier.settle_fault(visit, Fault(Reason.TIMEOUT, outcome == "fault"), now)

    def hint(self) -> None:
        for _ in range(4):
            self.frontier.hint(self.url(), self.now - 1, self.now)

    def ask(self) -> None:
        for _ in range(4):
            max_age = self.chance.choice((0.0, 0.0, HOUR))
            self.frontier.visit_again(self.url(), self.chance.choice((0, 4, 9)), max_age, self.now)

    def purge(self) -> None:
        for _ in self.frontier.review.purge(self.chance.choice(HOSTS)):
            pass

    def retry(self) -> None:
        for _ in self.frontier.review.retry():
            pass

    def block(self) -> None:
        self.blocked = self.chance.choice(((), (), ("b.test",), ("a.test/p1",)))
        self.change()

    def change(self) -> None:
        self.frontier.change_policy(self.policy, self.now, self.fresh, 1.0)

    def forbid(self) -> None:
        self.forbidden = set(self.chance.sample(HOSTS, self.chance.randrange(2)))

    def switch(self) -> None:
        self.fresh = FreshConfig(
            keep_fresh=self.chance.random() < 0.7,
            revisit_share=self.chance.choice((0.1, 0.5, 1.0)),
            revisit_rate=self.chance.choice((0.0, 0.0, 0.1)),
            min_interval=self.chance.choice((1.0, HOUR)),
            max_interval=self.chance.choice((HOUR, 30 * DAY)),
        )  # fmt: skip
        self.change()

    def pass_time(self) -> None:
        self.now += self.chance.choice((0.3, 3.0, 60.0, HOUR, DAY, 5 * DAY))

    def set_clock(self) -> None:
        self.now += self.chance.choice((-DAY, -HOUR, -3.0, DAY))

    def commit(self, clean: bool = False) -> None:
        self.frontier.commit({}, clean)
        self.check()

    def restart(self) -> None:
        if self.chance.random() < 0.5:
            for visit in self.leased:
                self.frontier.give_back(visit, self.now)
            self.leased.clear()
            self.commit(clean=True)
        self.frontier.close()
        self.open()
        self.check()

    def step(self) -> None:
        if self.chance.random() < 0.01:
            self.purge()
        usual = (
            [self.work] * 8
            + [self.lease] * 4
            + [self.settle] * 4
            + [self.pass_time] * 4
            + [self.add] * 2
            + [self.commit] * 4
            + [self.ask]
        )
        rare = [self.add_source, self.hint, self.retry, self.block, self.forbid, self.switch, self.restart]
        self.chance.choice([*usual, *rare, self.set_clock])()

    # -- what must hold ----------------------------------------------------------------------------------------------

    def check(self) -> None:
        database, counts = self.frontier._database, self.frontier.counts
        waiting, again, requested = self.queues()
        due = {key for key, _ in database.scan_due(b"")}
        cursor = self.frontier.revisits._cursor
        states: Counter[State] = Counter()
        for partition in range(counts.partitions):
            for key, value in database.scan_visits(keys.partition_prefix(partition) + b"v"):
                states[State(value[0])] += 1
                assert waiting[key] == (value[0] == State.QUEUED), f"{key!r} waits {waiting[key]} times: {value!r}"
                moment = keys.due_of(value)
                if moment:
                    assert keys.due_key(moment, key) in due, f"{key!r} is never due"
                    assert keys.due_key(moment, key) >= cursor, f"{key!r} is due before what is looked at"
                elif keys.has_again(value):
                    assert again[key] == 1, f"{key!r} waits {again[key]} times"
        assert (counts.revisits, counts.requested) == (again.total(), requested)
        assert counts.queued == waiting.total() == states[State.QUEUED]
        assert (counts.fetched, counts.dead, counts.excluded) == (
            states[State.FETCHED], states[State.DEAD], states[State.EXCLUDED]
        )  # fmt: skip
        assert counts.urls == states.total()
        assert self.frontier.leased == len(self.leased)

    def queues(self) -> tuple[Counter[bytes], Counter[bytes], int]:
        """How often each visit waits: for the first time, and again; how many of the latter were asked for."""
        requested = 0
        waiting: Counter[bytes] = Counter()
        again: Counter[bytes] = Counter()
        for partition in range(self.frontier.counts.partitions):
            prefix = keys.partition_prefix(partition)
            settled: dict[int, tuple[int, list[int]]] = {}
            for key, value in self.frontier._database.scan_hosts(prefix, prefix):
                host, kind = keys.prefix_of_row((key, value)), key[key.index(b"\0", 2) + 1 :]
                if kind == keys.RECORD:
                    settled = {row[0]: (row[1], row[2]) for row in keys.HostRecord.unpack(value).done}
                elif kind[:1] == keys.QUEUE:
                    for entry in filter(None, _chunk(key, value, *settled.get(kind[1], (0, []))).entries):
                        _, _, marks, scheme, path = keys.read_entry(entry)
                        counted = again if marks & keys.REVISIT else waiting
                        counted[keys.visits_of(host) + (scheme + path).encode()] += 1
                        requested += marks & keys.REVISIT > 0 and marks & keys.REQUESTED > 0
        return waiting, again, requested


@pytest.mark.parametrize("seed", range(10))
def test_whatever_happens_a_visit_that_is_made_again_has_one_time_or_waits_once(tmp_path: Path, seed: int) -> None:
    driver = Driver(tmp_path, seed)
    for _ in range(400):
        driver.step()
    assert driver.visits > 100
    driver.frontier.close()
