"""Starting crawls, killing them at moments drawn from a seed, and letting them come to their end."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

_ENDING = (0.0, 0.5)  # seconds between SIGTERM and the kill that comes while it is at it
_FOLDER = Path(__file__).parent  # what crawls name is looked for where they are started


class CrawlFailed(Exception):
    """A crawl that did not come to its end; its last words are the message."""


class Killer:
    """Invariant: the crawl does not run any more when a method has returned; processes beside it may see to their end.

    Of the kills most are of everything that the crawl has started. One in four is of the crawl alone, whose
    processes see its end and meet those of the next start; one in eight comes while it ends because of SIGTERM.
    """

    def __init__(self, chance: random.Random, life: tuple[float, float]) -> None:
        self._random = chance
        self._life = life  # seconds between a start and its kill

    def kill(self, crawl: Sequence[str], most: int) -> int:
        """Start and kill; gives how often it was killed, which is less often if it came to its end before."""
        kills = 0
        while kills < most:
            process = start(crawl)
            try:
                process.wait(self._random.uniform(*self._life))
            except subprocess.TimeoutExpired:
                kills += 1
                self._end(process)
                continue
            finally:
                process.kill()  # nothing where it has ended
                process.wait()
            if process.returncode:
                finish(crawl)  # the same again, and this time its words are heard
                raise CrawlFailed(f"status {process.returncode} after {kills} kills, and not again after that")
            break
        return kills

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        way = self._random.random()
        if way < 0.125:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(self._random.uniform(*_ENDING))
        if way < 0.75:
            kill_session(process.pid)


def start(crawl: Sequence[str]) -> subprocess.Popen[bytes]:
    """In a session of its own, by which all that it starts is found again."""
    return subprocess.Popen(
        crawl, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, cwd=_FOLDER
    )


def kill_session(leader: int) -> None:
    """All processes of a session, those in groups of their own too."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                if os.getsid(int(entry.name)) == leader:
                    os.kill(int(entry.name), signal.SIGKILL)


def finish(crawl: Sequence[str]) -> dict[str, Any]:
    """Let it come to its end; gives its summary."""
    done = subprocess.run(crawl, capture_output=True, text=True, check=False, cwd=_FOLDER)
    if done.returncode:
        words = done.stderr.strip().splitlines()
        raise CrawlFailed(f"status {done.returncode}: {words[-1] if words else 'no word'}")
    summary: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    if summary["reason"] != "complete":
        raise CrawlFailed(f"it ended with the reason {summary['reason']}")
    return summary
