"""The loop, its commit and its numbers."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gossamer.agent.control import Control
    from gossamer.agent.crawl import Crawl, run
    from gossamer.agent.explain import Explanation
    from gossamer.agent.findings import KeptFinding, sentence
    from gossamer.agent.index_process import IndexProcess
    from gossamer.agent.index_status import read_status as read_index_status
    from gossamer.agent.pages import PageReader, StoredPage
    from gossamer.agent.progress import Progress, Summary
    from gossamer.agent.reading import read_findings, read_progress, read_visits

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
    "read_findings",
    "read_index_status",
    "read_progress",
    "read_visits",
    "run",
    "sentence",
]


# Loaded when first asked for: a crawl need not wait for who reads crawls, nor the other way round.
_HOMES = {
    "Control": "control",
    "Crawl": "crawl",
    "Explanation": "explain",
    "IndexProcess": "index_process",
    "KeptFinding": "findings",
    "PageReader": "pages",
    "Progress": "progress",
    "StoredPage": "pages",
    "Summary": "progress",
    "read_findings": "reading",
    "read_index_status": "index_status:read_status",
    "read_progress": "reading",
    "read_visits": "reading",
    "run": "crawl",
    "sentence": "findings",
}


def __getattr__(name: str) -> Any:
    home, _, own = _HOMES.get(name, "").partition(":")
    if not home:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"gossamer.agent.{home}"), own or name)
    return value
