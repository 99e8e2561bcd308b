"""What applications of a crawl have done, read from outside while it runs or not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gossamer.agent.asked import ASKED, Book, read_book
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.parts import opened
from gossamer.agent.progress import AppFigures
from gossamer.agent.running_app import figures_of, noted
from gossamer.agent.together import merge_apps


def read_apps(home: Path) -> dict[str, AppFigures]:
    """By name, as of the last commits of the crawl and of each; of several agents the sums."""
    with opened(home) as parts:
        books = [read_book(part.frontier.meta(ASKED)) for part in parts]
        homes = [part.directory for part in parts]
        states = [part.progress.beside if part.directory.in_use() else {} for part in parts]
    return merge_apps([_figures(*each) for each in zip(homes, books, states, strict=True)])


def _figures(directory: CrawlDir, book: Book, states: Mapping[str, str]) -> dict[str, AppFigures]:
    """Beside one agent."""
    found = {}
    for name, party in book.parties.items():
        note, why = noted(directory.home, name)
        found[name] = figures_of(party, note, states.get(f"app {name}") or why)
    return found
