"""Index a crawl, and end abruptly at one exact step: `index_crashing.py POINT NTH DIR`."""

from __future__ import annotations

import sys
from pathlib import Path

from crashing import Crash

from gossamer.agent import batches, follower, indexer
from gossamer.graph.log import GraphLog
from gossamer.index import IndexWriter
from gossamer.index.backlinks import Backlinks

STEPS = {
    "write links": (Backlinks, "flush"),
    "write entries": (IndexWriter, "put"),
    "commit graph": (GraphLog, "append_frame"),
    "commit links": (Backlinks, "commit"),
    "commit index": (IndexWriter, "commit"),
    "write again": (Backlinks, "rewritten"),
    "settle": (Backlinks, "committed"),
}
POINTS = [f"{when} {step}" for step in STEPS for when in (("before", "after") if "commit" in step else ("before",))]


def main() -> None:
    crash = Crash(sys.argv[1], int(sys.argv[2]))
    assert crash.point in POINTS
    for name, (owner, attribute) in STEPS.items():
        crash.around(owner, attribute, lambda *_, name=name: name)
    small_steps()
    one = follower.Follower(Path(sys.argv[3]), print)
    one.catch_up()
    one.close()


def small_steps() -> None:
    """Commits after every few pages, so that each step is reached many times."""
    follower._COMMIT_EVERY_BEHIND = 0.0  # type: ignore[misc]
    follower._STEP = 0.0  # type: ignore[misc]  # one batch a step, however fast the machine is
    batches._PAGES = 20  # type: ignore[misc]
    indexer._REWRITTEN_AT_ONCE = 30  # type: ignore[misc]


if __name__ == "__main__":
    main()
