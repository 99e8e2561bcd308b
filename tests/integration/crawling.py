"""A crawl in this process, for tests."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gossamer.agent import Summary, read_visits, run
from gossamer.config import OPTIONS, load
from gossamer.model import State

NAMES = {option.key: name for name, option in OPTIONS.items()}


def crawl(home: Path, seeds: Iterable[str], connect: str, notices: list[str] | None = None, **options: Any) -> Summary:
    """Full speed and any scope unless told otherwise."""
    given = {"delay": "0", "scope": "any", "allow_private": True, "connect": [connect], "retry_wait": "10ms", **options}
    config = load(None, {NAMES[key]: value for key, value in given.items()})
    return run(config, home, seeds, notice=None if notices is None else notices.append)


def urls(home: Path, state: State | None = None) -> set[str]:
    return {visit.url for visit in read_visits(home, state)}
