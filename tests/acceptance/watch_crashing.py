"""Index a crawl that has a watch, and end abruptly at one exact step: `watch_crashing.py POINT NTH DIR`."""

from __future__ import annotations

import sys
from pathlib import Path

from crashing import Crash
from index_crashing import small_steps

from gossamer.agent import follower
from gossamer.agent.watching.calls import Calls
from gossamer.agent.watching.delivery import Delivery
from gossamer.agent.watching.matching import Matching
from gossamer.index import IndexWriter

STEPS = {
    "take up": (Matching, "_take_up"),
    "note pages": (Matching, "prepare"),
    "commit index": (IndexWriter, "commit"),
    "match": (Matching, "_matched"),
    "make hits": (Matching, "_add"),
    "make calls": (Calls, "make"),
    "send": (Delivery, "_send"),
    "settle call": (Calls, "settle"),
}
POINTS = [f"after {step}" for step in STEPS] + ["before settle call"]


def main() -> None:
    crash = Crash(sys.argv[1], int(sys.argv[2]))
    assert crash.point in POINTS
    for name, (owner, attribute) in STEPS.items():
        crash.around(owner, attribute, lambda *_, name=name: name)
    small_steps()
    one = follower.Follower(Path(sys.argv[3]), print)
    one.catch_up()
    one.close()


if __name__ == "__main__":
    main()
