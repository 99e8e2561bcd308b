"""What applications have done, by both accounts: the crawl's, and their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gossamer.agent.app_note import AppNote
from gossamer.agent.app_process import RunningApp
from gossamer.agent.asked import Party
from gossamer.agent.progress import AppFigures


def app_figures(parties: Mapping[str, Party], running: Sequence[RunningApp]) -> dict[str, AppFigures]:
    by_name = {each.app: each for each in running}
    return {
        name: figures_of(party, by_name[name].note(), by_name[name].state) if name in by_name else figures_of(party)
        for name, party in parties.items()
    }


def figures_of(party: Party, note: AppNote | None = None, state: str = "") -> AppFigures:
    pages, records = (note.pages, note.records.count) if note is not None else (0, 0)
    asked = party.asked, party.new, party.left_out
    return AppFigures(party.share, party.started, party.fetched, party.failed, *asked, pages, records, state)
