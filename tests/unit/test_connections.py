"""Connections adjusted to a target, in a world where speed is connections over the time that answers take."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise

import pytest

from gossamer.rules.connections import Adjustment


class Crawl:
    """A crawl whose speed is what its connections, its hosts and its machine allow."""

    def __init__(
        self,
        target: float,
        latency: float = 0.5,
        least: int = 1,
        most: int = 1000,
        hosts: float = 1e9,
        machine: float = 1e9,
        line: float = 1e9,
        seed: int = 1,
    ) -> None:
        """`hosts`, `machine` and `line` are the most pages a second that each of them lets come."""
        self.latency, self.hosts, self.machine, self.line = latency, hosts, machine, line
        self.now = 0.0
        self.adjustment = Adjustment(target, least, most, self.now)
        self._chance = random.Random(seed)
        self._pages = 0.0
        self._rested = 0.0
        self.rates: list[float] = []
        self.numbers: list[int] = []

    def run(self, seconds: float, each: Callable[[], None] = lambda: None) -> None:
        until = self.now + seconds
        while self.now < until:
            self.now += 0.1
            connections = self.adjustment.connections
            wanted = min(connections / self.latency, self.hosts)
            rate = min(wanted, self.machine, self.line)
            waits = wanted > rate  # for the machine or the line: all connections are in use then, too
            flying = connections if waits else rate * self.latency
            self.rates.append(rate)
            self._pages += self._chance.gauss(rate * 0.1, (rate * 0.1) ** 0.5)
            self._rested += 0.1 * (1 - min(rate / self.machine, 1.0))
            self.adjustment.saw(round(flying), full=flying >= connections and self.hosts > rate)
            self.adjustment.look(self.now, round(self._pages), self._rested)
            self.numbers.append(self.adjustment.connections)
            each()

    def mean(self, seconds: float) -> float:
        last = self.rates[-int(seconds * 10) :]
        return sum(last) / len(last)

    def changes(self, seconds: float) -> int:
        last = self.numbers[-int(seconds * 10) :]
        return sum(before != after for before, after in pairwise(last))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("target", "latency"), [(20.0, 0.5), (100.0, 0.05), (100.0, 2.0), (300.0, 0.3), (3.0, 4.0)])
def test_a_target_that_can_be_reached_is_reached_and_stays(target: float, latency: float, seed: int) -> None:
    crawl = Crawl(target, latency, seed=seed)
    crawl.run(180)
    crawl.run(600)
    assert crawl.mean(600) == pytest.approx(target, rel=0.2)
    needed = target * latency
    assert crawl.adjustment.connections <= max(1.35 * needed, needed + 2), "no more than it takes"
    assert crawl.changes(600) <= 15, "once it is there it stays"


def test_it_grows_quickly() -> None:
    crawl = Crawl(500.0, 1.0, most=800)
    crawl.run(60)
    assert crawl.rates[-1] >= 0.9 * 500


def test_where_hosts_rest_no_connections_are_added() -> None:
    crawl = Crawl(100.0, 0.2, hosts=10.0)
    crawl.run(600)
    assert crawl.adjustment.connections == 8
    assert crawl.adjustment.why == "", "politeness is what limits it, as any crawl"


def test_connections_that_bring_nothing_are_taken_back_and_tried_less_and_less() -> None:
    crawl = Crawl(400.0, 0.5, line=60.0)
    crawl.run(1200)
    assert crawl.adjustment.connections <= 64
    assert crawl.adjustment.why.startswith("the servers or the line: more than")
    assert crawl.changes(600) <= 6
    assert crawl.mean(600) >= 0.9 * 60


def test_where_the_machine_is_the_limit_connections_become_fewer() -> None:
    crawl = Crawl(1000.0, 0.1, machine=200.0)
    crawl.run(60)
    crawl.run(1200)
    assert crawl.adjustment.connections <= 30, "20 are enough for all that the machine can do"
    assert crawl.mean(600) >= 0.85 * 200
    assert crawl.changes(600) <= 8


def test_a_machine_that_becomes_slow_takes_connections_away() -> None:
    crawl = Crawl(100.0, 1.0)
    crawl.run(120)
    assert crawl.adjustment.connections >= 90
    crawl.machine = 40.0
    crawl.run(120)
    assert crawl.adjustment.connections <= 60
    assert crawl.adjustment.why.startswith("this machine: more than")


def test_bounds_hold() -> None:
    crawl = Crawl(1000.0, 1.0, least=5, most=50)
    crawl.run(300, lambda: None)
    assert crawl.adjustment.connections == 50
    assert crawl.adjustment.why == "connections: all 50 that there may be do not reach the target of 1000 pages/s"
    assert min(crawl.numbers) >= 5
    crawl.latency = 0.001
    crawl.hosts = 5000.0
    crawl.run(300)
    assert crawl.adjustment.connections == 5


def test_another_target_is_taken_up_at_once() -> None:
    crawl = Crawl(200.0, 0.5)
    crawl.run(120)
    assert 90 <= crawl.adjustment.connections <= 120
    crawl.adjustment.change(20.0, 1, 1000, crawl.now)
    crawl.run(60)
    assert 8 <= crawl.adjustment.connections <= 13
    assert "the target of 20 pages/s" in crawl.adjustment.why
    crawl.adjustment.change(200.0, 1, 30, crawl.now)
    crawl.run(60)
    assert crawl.adjustment.connections == 30


def test_servers_that_become_slower_get_more_connections() -> None:
    crawl = Crawl(50.0, 0.2)
    crawl.run(120)
    assert crawl.adjustment.connections <= 13
    crawl.latency = 2.0
    crawl.run(180)
    assert crawl.mean(30) == pytest.approx(50.0, rel=0.15)


def test_a_crawl_in_which_nothing_comes_does_not_fall_over() -> None:
    crawl = Crawl(50.0, 0.2, line=1e-9)
    crawl.run(300)
    assert 1 <= crawl.adjustment.connections <= 1000
