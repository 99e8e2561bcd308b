"""Connections adjusted to a wanted speed, as servers and operators see them; test_connections.py has the rules."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from crawling import crawl

from gossamer.agent import read_progress
from gossamer.agent.agent import Agent
from gossamer.agent.crawl import Crawl
from gossamer.config import Config, FetchConfig, load
from gossamer.errors import ConfigError
from gossamer.testing import TinyWeb


def most_at_a_time(web: TinyWeb) -> int:
    """Requests that were answered at the same time, at most."""
    moments = sorted([(arrival.time, 1) for arrival in web.log.arrivals] + [(a.ended, -1) for a in web.log.arrivals])
    most = now = 0
    for _, step in moments:
        now += step
        most = max(most, now)
    return most


def test_connections_grow_within_their_bounds_until_the_target_is_reached(tmp_path: Path) -> None:
    """Answers take so long that eight connections, with which it begins, are far from enough."""
    with TinyWeb(latency=0.1) as web:
        hosts = [f"http://h{number}.test" for number in range(40)]
        for host in hosts:
            web.add_page(f"{host}/", links=[f"/{page}" for page in range(15)])
            for page in range(15):
                web.add_page(f"{host}/{page}")
        seeds = [f"{host}/" for host in hosts]
        given = {"target_rate": 5000.0, "connections": 24, "duplicates": "follow"}
        summary = crawl(tmp_path / "c", seeds, web.connect, **given)
        assert summary.pages == 40 * 16
        assert 8 < most_at_a_time(web) <= 24
    told = read_progress(tmp_path / "c")
    assert told.target_rate == 5000.0
    assert 8 < told.connections <= 24


def test_a_target_is_taken_up_and_given_up_while_the_crawl_runs(tmp_path: Path) -> None:
    found: list[tuple[int, float]] = []

    def ready(agent: Agent) -> None:
        for target, most in ((50.0, 256), (0.0, 256), (50.0, 5), (50.0, 300)):
            fetch = FetchConfig(target_rate=target, connections=most, allow_private=True, connect=(web.connect,))
            agent.change(replace(config, fetch=fetch))
            progress = agent.progress()
            found.append((progress.connections, progress.target_rate))
        agent.divide(2)
        found.append((agent._fetcher.connections, agent.progress().target_rate))

    with TinyWeb() as web:
        web.add_page("http://a.test/")
        config = Config(fetch=FetchConfig(allow_private=True, connect=(web.connect,)))
        run = Crawl(config, tmp_path / "crawl", ["http://a.test/"], print)
        asyncio.run(run.run(ready=ready, signals=False))
    assert found == [(8, 50.0), (256, 0.0), (5, 50.0), (5, 50.0), (5, 25.0)]


def test_bounds_that_exclude_each_other_are_refused() -> None:
    given = {"fetch.target_rate": 10, "fetch.connections": 8, "fetch.least_connections": 9}
    with pytest.raises(ConfigError, match=r"least_connections \(9\) is more than --connections \(8\)"):
        load(None, given)
    assert load(None, {**given, "fetch.target_rate": 0}).fetch.connections == 8
