"""An indexer that is killed, at every step and at any moment, goes on: its index is the one made in one go."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from crashing import CRASHED
from index_crashing import POINTS
from test_command_line import GOSSAMER, crawl_of, gossamer

from gossamer.agent import read_visits
from gossamer.agent.follower import Follower
from gossamer.agent.graph_reader import gather_links
from gossamer.graph import RankReader
from gossamer.graph.log import frames_of
from gossamer.graph.reading import GraphLink, links_in
from gossamer.index import Entry, IndexWriter, Search
from gossamer.model import State
from gossamer.testing import SimServer, World

WORLD = World(6, 6, 40, "plain")
SCRIPT = str(Path(__file__).with_name("index_crashing.py"))


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl, and beside it its index made in one go."""
    home = tmp_path_factory.mktemp("crashes") / "c"
    with SimServer.running(WORLD) as server:
        gossamer(*crawl_of(server, home))
    follower = Follower(home, print, path=home / "whole")
    assert follower.catch_up().pages > 200
    follower.close()
    return home


def contents(home: Path, path: Path) -> dict[str, Entry | None]:
    writer = IndexWriter(path, 15_000_000)
    found = {visit.url: writer.entry(visit.url) for visit in read_visits(home, State.FETCHED)}
    writer.close()
    return found


def links(home: Path) -> list[GraphLink]:
    """All that the link graph has, of each page as it was seen last."""
    with TemporaryDirectory() as scratch:
        return sorted(link for some in links_in(frames_of(home / "graph"), Path(scratch)) for link in some)


def test_a_crash_at_any_step_loses_and_doubles_nothing(crawled: Path) -> None:
    whole = links(crawled)
    assert len(whole) > 1000
    shutil.rmtree(crawled / "graph")
    reached = 0
    for point in POINTS:
        done = subprocess.run(
            [sys.executable, SCRIPT, point, "2", str(crawled)],
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert done.returncode in (0, CRASHED), done.stderr
        reached += done.returncode == CRASHED
    assert reached >= len(POINTS) - 2  # as long as there is something to do
    _ends_as_made_in_one_go(crawled)
    assert gather_links(crawled).captures == 0, "the graph is as far as the index"
    assert links(crawled) == whole


def test_kill_9_at_any_moment_loses_and_doubles_nothing(crawled: Path) -> None:
    seed = random.Random(4)
    for _ in range(4):
        with subprocess.Popen([*GOSSAMER, "index", "--rebuild", "--dir", str(crawled)], stderr=subprocess.PIPE) as one:
            try:
                one.wait(0.6 + seed.random())
            except subprocess.TimeoutExpired:
                one.kill()
            one.communicate()
    gossamer("index", "--rebuild", "--dir", str(crawled))
    _ends_as_made_in_one_go(crawled)


def test_kill_9_while_links_are_read_loses_and_doubles_nothing(crawled: Path) -> None:
    whole = links(crawled)
    shutil.rmtree(crawled / "graph")
    seed = random.Random(5)
    for _ in range(4):
        with subprocess.Popen([*GOSSAMER, "rank", "--dir", str(crawled)], stdout=subprocess.PIPE) as one:
            try:
                one.wait(0.4 + seed.random())
            except subprocess.TimeoutExpired:
                one.kill()
            one.communicate()
    gossamer("rank", "--dir", str(crawled))
    assert links(crawled) == whole
    assert len(RankReader(crawled)) == len({url for link in whole for url in link[:2]})


def _ends_as_made_in_one_go(home: Path) -> None:
    gossamer("index", "--dir", str(home))
    whole, found = contents(home, home / "whole"), contents(home, home / "index")
    assert found == whole
    search = Search([home / "index"])
    assert search.size().pages == sum(entry is not None for entry in whole.values())
    search.close()


def test_a_page_is_found_seconds_after_its_fetch_while_the_crawl_runs(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with SimServer.running(World(3, 4, 30, "plain")) as server:
        crawl = subprocess.Popen(
            [*GOSSAMER, *crawl_of(server, home, "--delay", "0.3", "--rate", "4", "--index")],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        try:
            until = time.monotonic() + 60
            while time.monotonic() < until:
                search = Search([home / "index"])
                pages = search.size().pages
                search.close()
                if pages:
                    break
                time.sleep(0.2)
            assert pages
            assert crawl.poll() is None, "the crawl ended before a page was found"
        finally:
            crawl.terminate()
            _, err = crawl.communicate(timeout=20)
    assert crawl.returncode == 130, err
    before = pages
    out, _ = gossamer("index", "--dir", str(home))
    search = Search([home / "index"])
    assert search.size().pages >= before
    search.close()
    assert "pages can be searched" in out
