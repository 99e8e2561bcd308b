"""What applications of a crawl have done, read from outside while it runs or not."""

from __future__ import annotations

from pathlib import Path

from gossamer.agent.asked import ASKED, read_book
from gossamer.agent.crawl_dir import CrawlDir
from gossamer.agent.parts import opened
from gossamer.agent.progress import AppFigures
from gossamer.agent.running_app import figures_of, noted


def read_apps(home: Path) -> dict[str, AppFigures]:
    """By name, as of the last commits of the crawl and of each."""
    with opened(home) as parts:
        book = read_book(parts[0].frontier.meta(ASKED))
        states = parts[0].progress.beside if CrawlDir(home).in_use() else {}
    found = {}
    for name, party in book.parties.items():
        note, why = noted(home, name)
        found[name] = figures_of(party, note, states.get(f"app {name}") or why)
    return found
