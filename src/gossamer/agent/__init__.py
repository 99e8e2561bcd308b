"""The loop, its commit and its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gossamer.agent.control import Control
from gossamer.agent.explain import Explanation, explain
from gossamer.agent.findings import KeptFinding, sentence
from gossamer.agent.progress import Progress, Summary
from gossamer.agent.reading import read_findings, read_progress, read_visits

if TYPE_CHECKING:
    from gossamer.agent.crawl import Crawl, run

__all__ = [
    "Control",
    "Crawl",
    "Explanation",
    "KeptFinding",
    "Progress",
    "Summary",
    "explain",
    "read_findings",
    "read_progress",
    "read_visits",
    "run",
    "sentence",
]


def __getattr__(name: str) -> Any:
    # Loaded when first asked for: those who only read a crawl need not wait for the fetcher and the parser.
    if name not in ("Crawl", "run"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from gossamer.agent import crawl

    value = globals()[name] = getattr(crawl, name)
    return value
