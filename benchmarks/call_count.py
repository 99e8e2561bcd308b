"""Runs a command of gossamer in this process and counts the calls that it makes; `check.py` starts it.

The last line of its errors is a JSON object: calls of Python functions (a coroutine or generator that goes on counts as
called), and of functions written in C that Python calls. Threads beside the main one are not counted.
"""

from __future__ import annotations

import json
import sys
from types import FrameType
from typing import Any

from gossamer.cli import run

EVENTS = {"call": "Python functions", "c_call": "C functions"}


def main() -> int:
    counts = dict.fromkeys((*EVENTS, "return", "c_return", "c_exception"), 0)

    def count(_: FrameType, event: str, __: Any) -> None:
        counts[event] += 1

    sys.setprofile(count)
    try:
        status = run(sys.argv[1:])
    finally:
        sys.setprofile(None)
    print(json.dumps({name: counts[event] for event, name in EVENTS.items()}), file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
