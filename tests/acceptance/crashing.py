"""Run a crawl that ends abruptly at one exact step: `crashing.py POINT NTH gossamer-arguments…`.

POINT is `before STEP`, `after STEP`, or `within STEP` for writes (half of the bytes are written); the process ends
there without any clean-up when it is reached for the NTH time. `crashing.py --list` prints all points.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gossamer.agent import crawl_dir
from gossamer.cli import run
from gossamer.frontier import database
from gossamer.store import writer

STEPS = {
    "save settings": "ba",
    "open WARC": "ba",
    "write WARC": "bwa",
    "write CDXJ": "bwa",
    "sync WARC": "ba",
    "sync CDXJ": "ba",
    "sync directory": "ba",
    "write batch": "ba",
    "close database": "ba",
}
WORDS = {"b": "before", "w": "within", "a": "after"}
POINTS = [f"{WORDS[when]} {step}" for step, times in STEPS.items() for when in times]
CRASHED = 77


class Crash:
    def __init__(self, point: str, nth: int) -> None:
        self.point, self.left = point, nth

    def reached(self, point: str) -> bool:
        if point == self.point:
            self.left -= 1
        return point == self.point and self.left == 0

    def around(self, owner: Any, attribute: str, step: Callable[..., str]) -> None:
        original = getattr(owner, attribute)

        def wrapped(*arguments: Any, **named: Any) -> Any:
            name = step(*arguments)
            if self.reached(f"before {name}"):
                os._exit(CRASHED)
            if self.reached(f"within {name}"):
                file, pieces = arguments
                data = b"".join(pieces)
                os.write(file.fileno(), data[: len(data) // 2])
                os._exit(CRASHED)
            result = original(*arguments, **named)
            if self.reached(f"after {name}"):
                os._exit(CRASHED)
            return result

        setattr(owner, attribute, wrapped)


def kind(path: str) -> str:
    return "CDXJ" if path.endswith(".cdxj") else "WARC"


def main() -> int:
    if sys.argv[1] == "--list":
        print("\n".join(POINTS))
        return 0
    crash = Crash(sys.argv[1], int(sys.argv[2]))
    assert crash.point in POINTS
    crash.around(crawl_dir.CrawlDir, "save", lambda *_: "save settings")
    crash.around(writer.Writer, "_open_file", lambda *_: "open WARC")
    crash.around(writer, "_write", lambda file, pieces: f"write {kind(file.name)}")
    crash.around(writer.os, "fdatasync", lambda fd: f"sync {kind(os.readlink(f'/proc/self/fd/{fd}'))}")
    crash.around(writer.Writer, "_sync_directory", lambda *_: "sync directory")
    crash.around(database.Database, "commit", lambda *_: "write batch")
    crash.around(database.Database, "close", lambda *_: "close database")
    return run(sys.argv[3:])


if __name__ == "__main__":
    assert Path(__file__).exists()
    sys.exit(main())
