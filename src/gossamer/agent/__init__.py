"""The loop, its commit and its numbers."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gossamer.agent.control import Control
from gossamer.agent.explain import Explanation, explain
from gossamer.agent.findings import KeptFinding, sentence
from gossamer.agent.index_status import read_status as read_index_status
from gossamer.agent.progress import Progress, Summary
from gossamer.agent.reading import read_findings, read_progress, read_visits

if TYPE_CHECKING:
    from gossamer.agent.crawl import Crawl, run
    from gossamer.agent.index_process import IndexProcess
    from gossamer.agent.pages import PageReader, StoredPage

__all__ = [
    "Control",
    "Crawl",
    "Explanation",
    "IndexProcess",
    "KeptFinding",
    "PageReader",
    "Progress",
    "StoredPage",
    "Summary",
    "explain",
    "read_findings",
    "read_index_status",
    "read_progress",
    "read_visits",
    "run",
    "sentence",
]


# Loaded when first asked for: those who only read a crawl need not wait for the fetcher and the parser.
_HOMES = {
    "Crawl": "gossamer.agent.crawl",
    "IndexProcess": "gossamer.agent.index_process",
    "PageReader": "gossamer.agent.pages",
    "StoredPage": "gossamer.agent.pages",
    "run": "gossamer.agent.crawl",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(home), name)
    return value
