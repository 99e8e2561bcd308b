from __future__ import annotations

import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from gossamer.config import FreshConfig, FrontierConfig, PolicyConfig
from gossamer.frontier import Frontier, keys
from gossamer.frontier.reader import FrontierReader
from gossamer.model import State
from gossamer.rules.policy import Policy
from gossamer.rules.scope import Scope
from gossamer.testing.tinyweb import TinyWeb

PAGES = 40


def crawl(home: Path, connect: str, settings: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "gossamer", "crawl", "http://a.test/", "--dir", str(home), "--keep-fresh"]
    command += ["--config", str(settings), "--connect", connect, "--allow-private", "--delay", "0", "--no-index"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def due_times(home: Path) -> dict[str, float]:
    """Of every page; a page that waits in its host's queue has none."""
    with_times = {}
    reader = FrontierReader(home / "frontier", home.parent / "scratch")
    try:
        for visit in reader.visits(State.FETCHED):
            assert visit.seen, f"{visit.url} is never visited again"
            with_times[visit.url] = visit.due
    finally:
        reader.close()
    return with_times


def check(home: Path) -> tuple[int, int]:
    """Every visit that is to be made again has its time on disk once, or waits in a queue once; how many of each."""
    frontier = Frontier(
        home / "frontier", FrontierConfig(), Policy(PolicyConfig()), Scope("any"), None, 0.0, FreshConfig()
    )
    try:
        database, counts = frontier._database, frontier.counts
        noted = Counter(keys.read_due_key(key)[1] for key, _ in database.scan_due(b""))
        waiting = 0
        for partition in range(counts.partitions):
            for key, value in database.scan_visits(keys.partition_prefix(partition) + b"v"):
                if not keys.has_again(value):
                    continue
                if due := keys.due_of(value):
                    assert noted[key] == 1, f"{key!r} is due {noted[key]} times"
                    assert keys.due_key(due, key) in {stored for stored, _ in database.scan_due(keys.due_key(due, key))}
                else:
                    assert noted[key] == 0
                    waiting += 1
        assert counts.revisits == waiting
        return noted.total(), waiting
    finally:
        frontier.close()


@pytest.mark.parametrize("requests", [PAGES // 2, PAGES + 10, 3 * PAGES])
def test_killed_in_the_middle_every_page_keeps_its_time(tmp_path: Path, requests: int) -> None:
    (tmp_path / "scratch").mkdir()
    settings = tmp_path / "settings.toml"
    settings.write_text('[fresh]\nmin_interval = "1s"\nmax_interval = "1s"\n')
    home = tmp_path / "crawl"
    with TinyWeb() as web:
        links = [f"/{number}" for number in range(PAGES - 1)]
        web.add_page("http://a.test/", links=links)
        for link in links:
            web.add_page(f"http://a.test{link}", body=f"<title>{link}</title><p>{link} says what it says.</p>")
        for turn in range(3):
            process = crawl(home, web.connect, settings)
            try:
                assert web.log.wait_for(len(web.log.arrivals) + requests + turn, 60)
            finally:
                process.send_signal(signal.SIGKILL)
                process.wait()
            noted, waiting = check(home)
            assert noted + waiting == len(due_times(home))
        before = web.log.requests_per_url()
        process = crawl(home, web.connect, settings)
        try:
            assert web.log.wait_for(len(web.log.arrivals) + 2 * PAGES, 60)
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait() == 130
        after = web.log.requests_per_url()
        assert all(after[f"http://a.test{link}"] > before[f"http://a.test{link}"] for link in ("/", *links))
        assert len(due_times(home)) == PAGES
