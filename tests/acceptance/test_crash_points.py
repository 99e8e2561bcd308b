"""A crash before, within and after every step of the commit: what is resumed is exact, each time."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from crashing import CRASHED, POINTS
from test_command_line import captures, crawl_of, fetched, gossamer, truth

from gossamer.testing import SimServer, World

WORLD = World(6, 6, 40, "plain")
# Commits every few pages, and small files: each step is reached many times within a second.
SETTINGS = '[agent]\ncommit_interval = "20ms"\n[store]\nwarc_size = "100KB"\n'


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("nth", [1, 4])
def test_a_crash_here_loses_and_repeats_nothing(tmp_path: Path, point: str, nth: int) -> None:
    home, settings = tmp_path / "c", tmp_path / "settings.toml"
    settings.write_text(SETTINGS)
    if "database" in point or "settings" in point:
        nth = 1  # happens once a run
    with SimServer.running(WORLD) as server:
        command = crawl_of(server, home, "--connections", "8")
        script = [sys.executable, str(Path(__file__).with_name("crashing.py")), point, str(nth), *command]
        crashed = subprocess.run([*script, "--config", str(settings)], capture_output=True, text=True, timeout=60)
        assert crashed.returncode == CRASHED, f"{point} was not reached {nth} times: {crashed.stderr}"
        gossamer(*command)
        requests = server.log.requests_per_url()
    expected = truth(WORLD)
    assert set(fetched(home)) == expected
    assert captures(home) == Counter(expected)
    pages = {url: count for url, count in requests.items() if not url.endswith("/robots.txt")}
    # What was fetched since the last commit (a few pages here) and what was in flight, once more each.
    assert max(pages.values()) <= 2
    warcs = [str(path) for path in (home / "warc").glob("*.warc.gz")]
    subprocess.run([sys.executable, "-m", "warcio.cli", "check", *warcs], check=True, capture_output=True)


def test_the_points_cover_every_step() -> None:
    """The list, in the test's output."""
    print("\n".join(POINTS))
    assert len(POINTS) == 20
