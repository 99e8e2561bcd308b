"""`make demo` as a user meets it: what it shows, and that Ctrl-C ends it cleanly whenever it is pressed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

DEMO = Path(__file__).parents[2] / "examples" / "demo.py"


class Demo:
    """A running demo, in a session of its own as in a terminal, and all that it has said so far."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.said = ""

    def read_until(self, text: str) -> None:
        assert self.process.stdout is not None
        while text not in self.said:
            line = self.process.stdout.readline()
            assert line, f"The demo has ended without saying {text!r}:\n{self.said}"
            self.said += line

    def press_ctrl_c(self) -> None:
        os.killpg(self.process.pid, signal.SIGINT)

    def end(self) -> int:
        self.said += self.process.communicate()[0]
        return self.process.returncode

    def address(self) -> str:
        found = re.search(r"http://(127\.0\.0\.1:\d+)/dashboard", self.said)
        assert found, self.said
        return found[1]


@contextmanager
def demo(folder: Path, *arguments: str) -> Iterator[Demo]:
    with subprocess.Popen(
        [sys.executable, str(DEMO), "--port", "0", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=folder,
        start_new_session=True,
    ) as process:
        watchdog = threading.Timer(200, process.kill)
        watchdog.start()
        try:
            yield Demo(process)
        finally:
            watchdog.cancel()
            process.terminate()


@pytest.mark.parametrize("moment", ["A simulated web is at", "$ gossamer crawl", "Ctrl-C ends the demo."])
def test_ctrl_c_ends_the_demo_without_a_traceback(tmp_path: Path, moment: str) -> None:
    with demo(tmp_path, "--first", "2") as running:
        running.read_until(moment)
        running.press_ctrl_c()
        assert running.end() == 0, running.said
    assert "Traceback" not in running.said
    assert "KeyboardInterrupt" not in running.said
    if "/dashboard" in running.said:
        with pytest.raises(URLError):  # nothing of it is left
            urlopen(f"http://{running.address()}/healthz", timeout=5)


def test_the_demo_crawls_searches_and_goes_on_crawling_behind_its_pages(tmp_path: Path) -> None:
    with demo(tmp_path, "--first", "2") as running:
        running.read_until("Ctrl-C ends the demo.")
        assert re.search(r"[\d,]+ results?, \d", running.said), running.said  # of the search
        assert "Some of what was fetched" in running.said
        stored = pages_of(running.address())
        while pages_of(running.address()) <= stored:  # the crawl moves; one that stands still runs into the time limit
            pass
        running.press_ctrl_c()
        assert running.end() == 0, running.said


def pages_of(address: str) -> int:
    with urlopen(f"http://{address}/api/v1/status", timeout=30) as answer:
        return int(json.load(answer)["pages"])
