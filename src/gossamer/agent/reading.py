"""Reading a crawl from outside, while it runs or not. Loads nothing of what fetches and parses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.findings import FINDING, KeptFinding
from gossamer.agent.parts import opened, readable_parts, shares
from gossamer.agent.progress import Progress
from gossamer.agent.together import merge
from gossamer.errors import ConfigError
from gossamer.model import State, VisitRecord


def read_progress(home: Path) -> Progress:
    """How the crawl in `home` stood at its last commit; works while it runs."""
    with opened(home) as parts:
        progress = merge([part.progress for part in parts]) if len(parts) > 1 else parts[0].progress
    progress.running = progress.running or CrawlDir(home).in_use()
    return progress


def read_findings(home: Path) -> list[KeptFinding]:
    """The hosts and places that the crawl left because they repeat others, by kind and name, as of the last commit."""
    with opened(home) as parts:
        kept = [value for part in parts for value in part.frontier.metas(FINDING)]
    found = [msgspec.msgpack.decode(value, type=KeptFinding) for value in kept]
    return found if len(parts) == 1 else sorted(found, key=lambda one: (one.kind, one.what))


def read_visits(home: Path, state: State | None = None) -> Iterator[VisitRecord]:
    """Every URL known at the last commit, once; works while the crawl runs."""
    readable_parts(home)  # who asks in vain is told at once
    return _visits(home, state)


def _visits(home: Path, state: State | None) -> Iterator[VisitRecord]:
    with opened(home) as parts:
        frontiers = [part.frontier for part in parts]
        for frontier, partitions in shares(frontiers):
            yield from frontier.visits(state, partitions)


def urls(directory: str | Path, state: str | None = None) -> Iterator[VisitRecord]:
    """What is known of each URL of a crawl, as `gossamer urls` lists it: `.url .state .status .reason` and more.

    `state`: only those that are queued, fetched, dead or excluded.
    """
    names = {each.name.lower(): each for each in State}
    if state is not None and state not in names:
        raise ConfigError(f"state {state!r} is not one of {', '.join(names)}")
    return read_visits(Path(directory), names[state] if state else None)
