"""What a crawl knows of the applications beside it, and what they have done, by both accounts: its own, and theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from gossamer.agent.asked import Party
from gossamer.agent.progress import AppFigures
from gossamer.errors import DamagedError
from gossamer.store import StorePosition

if TYPE_CHECKING:
    from gossamer.agent.app_note import AppNote


class RunningApp(Protocol):
    """An application in a process, or in a thread."""

    name: str

    @property
    def state(self) -> str: ...
    @property
    def app(self) -> str: ...
    @property
    def failed(self) -> bool: ...
    @property
    def process(self) -> str: ...
    def note(self) -> AppNote: ...
    async def keep_running(self) -> None: ...


def is_behind(running: RunningApp, position: StorePosition) -> bool:
    """Whether it may still ask for something because of what is stored, or because it goes on."""
    if running.failed:
        return False
    note = running.note()
    return note.position != position or note.process != running.process


def app_figures(parties: Mapping[str, Party], running: Sequence[RunningApp]) -> dict[str, AppFigures]:
    by_name = {each.app: each for each in running}
    return {
        name: figures_of(party, by_name[name].note(), by_name[name].state) if name in by_name else figures_of(party)
        for name, party in parties.items()
    }


def at_rest(figures: Mapping[str, AppFigures], home: Path) -> dict[str, AppFigures]:
    """Of a crawl that does not run: applications have seen its last pages after its last commit."""
    found = {}
    for name, each in figures.items():
        note, state = noted(home, name)
        found[name] = msgspec.structs.replace(each, pages=note.pages, records=note.records.count, state=state)
    return found


def noted(home: Path, name: str) -> tuple[AppNote, str]:
    """The note of an application, and, for people, why it was stopped."""
    from gossamer.agent.app_note import AppNote, folder_of, read_note  # few crawls have applications

    try:
        note = read_note(folder_of(home, name))
    except DamagedError as error:
        return AppNote(), str(error)
    return note, f"stopped: {note.why}" if note.why else ""


def figures_of(party: Party, note: AppNote | None = None, state: str = "") -> AppFigures:
    pages, records = (note.pages, note.records.count) if note is not None else (0, 0)
    asked = party.asked, party.new, party.left_out
    return AppFigures(party.share, party.started, party.fetched, party.failed, *asked, pages, records, state)
