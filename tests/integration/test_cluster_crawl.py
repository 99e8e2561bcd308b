"""Whole agents on one crawl, each behind relays of its own, judged by the web's log: one is killed in the middle."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from cluster.faults import KINDS
from cluster.network import Loopback
from cluster.scene import Size
from cluster.trial import run

from gossamer.cluster.lease import Terms

TERMS = Terms(lease=3.0, gap=1.0, renewal=0.5)
SIZE = Size(hosts=30, pages=20, delay=0.1, latency=0.02, agents=3, terms=TERMS)


def test_one_of_three_agents_is_killed_and_nothing_is_lost(tmp_path: Path) -> None:
    row = run(KINDS["kill"], 1, SIZE, tmp_path, None, Loopback())
    assert (row.pages, row.victim in row.statuses) == (600, True)
    assert (row.lost, row.met) == (0, 0), row.broken
    assert (row.missing, row.twice, row.waiting, row.unstored) == (0, 0, 0, 0), row.broken
    assert {status for name, status in row.statuses.items() if name != row.victim} == {0}
