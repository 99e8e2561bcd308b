"""How far an application is, in `apps/NAME` of a crawl's directory: what it has seen, said and asked for."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from gossamer.agent.application import Host
from gossamer.agent.asked import Given
from gossamer.agent.crawl_dir import write_whole
from gossamer.errors import DamagedError
from gossamer.store import Place, StorePosition

_NOTE: Final = "note.json"
_LONGEST: Final = 64 << 20  # bytes of a note, or of a state


class RecordsPosition(msgspec.Struct, frozen=True):
    """File number, bytes of it that count, and records in all."""

    file: int = 0
    bytes: int = 0
    count: int = 0


class AppNote(msgspec.Struct):
    """Written whole. What was asked for is in the note from the moment that the pages count as seen until the command
    is in the spool, so that neither is without the other.
    """

    places: dict[str, Place] = {}  # captures before these were seen
    position: StorePosition | None = None  # of the store, when nothing was left to see
    process: str = ""  # who has seen that: another one may have something to ask for first
    records: RecordsPosition = RecordsPosition()
    series: str = ""  # which batches have numbers of one series: those of this folder
    batch: int = 0  # the last that was or is being sent
    pending: list[Given] = []  # of that batch
    begun: bool = False
    pages: int = 0  # seen
    requests: int = 0  # made
    hosts: dict[str, Host] = {}  # how they are to be treated
    unreadable: int = 0  # pages that should have been seen
    state: int = 0  # number of the file that has what it remembers; 0: nothing
    why: str = ""  # it was stopped
    updated_at: float = 0.0


def folder_of(home: Path, name: str) -> Path:
    return home / "apps" / name


def read_note(folder: Path) -> AppNote:
    """An empty one where there is none yet."""
    try:
        return msgspec.json.decode((folder / _NOTE).read_bytes(), type=AppNote)
    except FileNotFoundError:
        return AppNote()
    except (OSError, msgspec.MsgspecError) as error:
        raise DamagedError(
            f"{folder / _NOTE} cannot be read ({error}). Remove {folder}: the application sees all pages again."
        ) from error


def write_note(folder: Path, home: Path, note: AppNote) -> None:
    data = msgspec.json.encode(note)
    write_whole(folder / _NOTE, data, home, 0o666)


def read_state(folder: Path, number: int) -> Any:
    file = _state(folder, number)
    try:
        return msgspec.json.decode(file.read_bytes())
    except (OSError, msgspec.MsgspecError) as error:
        raise DamagedError(
            f"{file} cannot be read ({error}). Remove {folder}: the application sees all pages again."
        ) from error


def write_state(folder: Path, home: Path, number: int, data: bytes) -> None:
    write_whole(_state(folder, number), data, home, 0o666)


def forget_state(folder: Path, number: int) -> None:
    with suppress(OSError):
        _state(folder, number).unlink(missing_ok=True)


def _state(folder: Path, number: int) -> Path:
    return folder / f"state-{number}.json"


def packed_state(state: Any) -> bytes:
    """Raises what says that it cannot be kept."""
    data = msgspec.json.encode(state)
    if len(data) > _LONGEST:
        raise ValueError(f"its state has {len(data):,} bytes; the most are {_LONGEST:,}")
    return data
