"""A keyword that no page has: it is remembered, and when a page for it turns up, the crawl goes on there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gossamer.agent import read_progress
from gossamer.agent.audit import read_changes
from gossamer.agent.control_of_all import control_of
from gossamer.agent.parts import parts
from gossamer.testing import TinyWeb

GOSSAMER = [sys.executable, "-m", "gossamer"]
OTHERS = [f"/f{number}" for number in range(600)]
NEAR = [f"/n{number}" for number in range(4)]


@pytest.mark.parametrize("agents", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_an_unknown_keyword_is_remembered_and_its_neighbours_are_visited_next(tmp_path: Path, agents: str) -> None:
    home = tmp_path / "c"
    with TinyWeb() as web:
        web.add_page("http://a.test/", ["/first", "/key", *OTHERS])
        web.add_page("http://a.test/first")
        web.add_page("http://a.test/key", NEAR, "<title>Music</title><p>The xylophone has bars of wood.")
        for path in (*OTHERS, *NEAR):
            web.add_page(f"http://a.test{path}", body=f"<title>{path}</title><p>Words of page {path}.")
        crawl = [*GOSSAMER, "crawl", "http://a.test/", "--dir", str(home), "--connect", web.connect, "--allow-private",
                 "--agents", agents]  # fmt: skip
        subprocess.run([*crawl, "--max-pages", "2"], check=True, capture_output=True)
        asked = [*GOSSAMER, "search", "xylophone", "--dir", str(home)]
        answer = subprocess.run(asked, check=True, capture_output=True, text=True)
        assert "It is remembered as the watch xylophone" in answer.stderr
        with subprocess.Popen([*crawl, "--delay", "0", "--rate", "20"], stderr=subprocess.DEVNULL) as process:
            try:
                assert web.log.wait_for(6, 60)
                control = control_of(home, "user tester")
                while not any(arrival.path == "/key" for arrival in web.log.arrivals):
                    control.checkpoint()
                control.pause()
                homes = [part.home for part in parts(home)]
                while not any(change.who == "watch xylophone" for each in homes for change in read_changes(each)):
                    control.checkpoint()
                while control.checkpoint() and any(read_progress(each).in_flight for each in homes):
                    pass
                before = len(web.log.arrivals)
                assert before < len(OTHERS), "there are others to come"
                control.resume()
                assert web.log.wait_for(before + len(NEAR) + 4, 60)
            finally:
                process.terminate()
        came = [arrival.path for arrival in web.log.arrivals]
    assert not set(NEAR) & set(came[:before]), "they waited behind the others"
    assert set(NEAR) <= set(came[before : before + len(NEAR) + 1]), came[before:]
