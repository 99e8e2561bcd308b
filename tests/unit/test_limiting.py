"""What limits a crawl: one sentence for each thing that can."""

from __future__ import annotations

from typing import Any

import pytest

from gossamer.agent.limiting import what_limits
from gossamer.agent.progress import Progress
from gossamer.agent.statistics import Meter, Statistics


@pytest.mark.parametrize(
    ("state", "capped", "short", "said"),
    [
        ({"paused": True}, "a cap", True, "it is paused: gossamer control resume continues it"),
        ({"hosts_ready": 5}, "the rate cap of 20 pages/s", True, "the rate cap of 20 pages/s"),
        ({"in_flight": 1256, "connections": 1256}, "", True, "connections: all 1,256 are in use"),
        ({"adjusted": "the target of 5 pages/s: 9 connections reach it"}, "a cap", True, "a cap"),
        (
            {"in_flight": 256, "adjusted": "the target of 5 pages/s: 9 connections reach it"},
            "",
            True,
            "the target of 5 pages/s: 9 connections reach it",
        ),
        ({"hosts_ready": 38, "hosts_waiting": 9}, "", True, "this machine: 38 hosts are ready"),
        (
            {"hosts_ready": 3, "hosts_waiting": 900, "in_flight": 47},
            "",
            False,
            "politeness: 900 of 950 hosts wait for their delay",
        ),
        (
            {"hosts_held": 75, "hosts_waiting": 4, "in_flight": 1, "waits": {"a.test": 5, "big.test": 70}},
            "",
            False,
            "politeness: 75 of 80 hosts wait for their domain or address, 70 of them for big.test",
        ),
        ({"in_flight": 1}, "", False, "the servers: one response is awaited"),
        ({"in_flight": 7}, "", False, "the servers: 7 responses are awaited"),
        ({}, "", False, ""),
        ({"keep_fresh": True}, "", False, "the pages: none is due to be visited again yet"),
        ({"keep_fresh": True, "queued": 3, "aside": 3}, "", False, "the pages: none is due to be visited again yet"),
        ({"keep_fresh": True, "queued": 4, "aside": 3}, "", False, ""),
        ({"keep_fresh": True, "due": 1}, "", False, ""),
        ({"keep_fresh": True, "in_flight": 7}, "", False, "the servers: 7 responses are awaited"),
    ],
)
def test_what_limits(state: dict[str, Any], capped: str, short: bool, said: str) -> None:
    assert what_limits(Progress(**{"connections": 256, **state}), capped, short) == said


def test_short_is_what_most_turns_of_the_loop_were() -> None:
    meter = Meter(Statistics(), 0.0)
    meter.turns, meter.short_turns = 10, 6
    meter.sample(1.0)
    assert meter.short
    meter.turns, meter.short_turns = 10, 5
    meter.sample(2.0)
    assert not meter.short
    meter.sample(3.0)
    assert not meter.short
