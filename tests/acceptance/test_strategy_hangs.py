"""A strategy that never comes back: the crawl goes on without it, or ends with a sentence that helps."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from test_command_line import crawl_of, fetched, gossamer, truth

from gossamer.testing import SimServer, World

# Its first lines stand for half a minute of waiting.
STRATEGY = """
import re
import signal

import gossamer
import gossamer.agent.patience as patience

patience.LONGEST, patience._GRACE = 0.3, 0.3


class Spins(gossamer.Strategy):
    def order(self, page):
        while page.depth:
            pass
        return [4] * len(page.links)


class Deaf(Spins):
    def order(self, page):
        if page.depth:
            signal.signal(signal.SIGALRM, signal.SIG_IGN)
        return super().order(page)
"""
WORLD = World(7, 5, 10, "plain")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "hanging.py").write_text(STRATEGY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_one_that_can_be_interrupted_is_and_the_crawl_goes_on(here: Path) -> None:
    with SimServer.running(WORLD) as server:
        out, err = gossamer(*crawl_of(server, here / "c", "--strategy", "hanging:Spins"))
    assert "the strategy hanging:Spins has failed and is stopped: TookTooLong: order(http" in err
    assert re.search(r"took longer than 0\.3 s and was interrupted \(hanging\.py, line 1[34]\)", err)
    assert json.loads(out.splitlines()[-1])["reason"] == "complete"
    assert set(fetched(here / "c")) == truth(WORLD)


@pytest.mark.parametrize("more", [[], ["--serve", "0"]])
def test_one_that_cannot_ends_the_crawl_and_says_what_to_do(here: Path, more: list[str]) -> None:
    home = here / "c"
    with SimServer.running(WORLD) as server:
        _, err = gossamer(*crawl_of(server, home, "--strategy", "hanging:Deaf", *more), status=2)
        assert "the strategy hanging:Deaf does not come back from order(http" in err
        assert re.search(r"cannot be interrupted; it is at hanging\.py, line 1[34] \(see ", err)
        assert err.count("go on without it: the same command with --strategy breadth-first") == 1
        assert "in order" in (home / "logs" / "strategy-hangs.txt").read_text()
        assert "does not come back" in (home / "logs" / "crawl.log").read_text()
        gossamer(*crawl_of(server, home, "--strategy", "breadth-first"))
    assert set(fetched(home)) == truth(WORLD)
