"""Whole agents on one crawl, each behind relays of its own, judged by the web's log: one is killed in the middle."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from cluster.faults import KINDS
from cluster.network import Loopback
from cluster.scene import Size
from cluster.trial import run

pytestmark = pytest.mark.skipif(find_spec("gossamer.cli.agent") is None, reason="there are no agents yet")
SIZE = Size(hosts=30, pages=20, delay=0.2, latency=0.02, agents=3, limit=60.0)


def test_one_of_three_agents_is_killed_and_nothing_is_lost(tmp_path: Path) -> None:
    row = run(KINDS["kill"], 1, SIZE, tmp_path, None, Loopback())
    assert row.pages == 600
    assert row.broken == []
