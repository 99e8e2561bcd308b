"""What an agent has for a report on all: its figures, and files of facts, given piece by piece over the broker."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Annotated, Final

import msgspec

from gossamer.agent.findings import KeptFinding
from gossamer.agent.progress import Progress
from gossamer.agent.statistics import Statistics
from gossamer.errors import GossamerError
from gossamer.model import State
from gossamer.report.fact import COLUMNS
from gossamer.report.shelf import Shelf
from gossamer.report.source import CrawlSource

TOPIC: Final = "facts"
_PIECE: Final = 4 << 20  # bytes of a file in one answer
_NICE: Final = 10

_FileName = Annotated[str, msgspec.Meta(pattern=r"^facts-[0-9]{6,12}\.parquet$")]


class AskFigures(msgspec.Struct, frozen=True, tag=True):
    """`make`: what was stored since the last report is to be read first, which takes its time."""

    make: bool


class AskPiece(msgspec.Struct, frozen=True, tag=True):
    name: _FileName
    start: Annotated[int, msgspec.Meta(ge=0, le=1 << 40)]


class FactFile(msgspec.Struct, frozen=True):
    name: _FileName
    size: Annotated[int, msgspec.Meta(ge=0, le=1 << 40)]


class Figures(msgspec.Struct):
    """All that a report needs of an agent beside its facts. `making`: these are being brought up to date."""

    columns: list[str]
    files: Annotated[list[FactFile], msgspec.Meta(max_length=10_000)]
    behind: int
    making: bool
    running: bool
    progress: Progress
    statistics: Statistics
    outcomes: list[tuple[State, int, int, str, int]]
    findings: list[KeptFinding]
    hosts: int
    urls: int


class FactsAnswerer:
    """Says what others need for a report. Invariants: nothing but files that the manifest names is given; one process
    makes facts at a time, and ends with this one.
    """

    def __init__(self, home: Path, command: tuple[str, ...] = (sys.executable, "-m", "gossamer")) -> None:
        self._home = home
        self._shelf = Shelf(home / "facts")
        self._command = command
        self._making: subprocess.Popen[bytes] | None = None
        self._lock = Lock()

    def answer(self, data: bytes) -> bytes:
        """Nothing where it is not understood, or cannot be answered."""
        try:
            question = msgspec.msgpack.decode(data, type=AskFigures | AskPiece)
            if isinstance(question, AskPiece):
                return self._piece(question)
            return msgspec.msgpack.encode(self._figures(question.make))
        except (msgspec.MsgspecError, UnicodeDecodeError, GossamerError, OSError):
            return b""

    def close(self) -> None:
        if self._making is not None and self._making.poll() is None:
            self._making.kill()

    def _piece(self, question: AskPiece) -> bytes:
        if question.name not in {file.name for file in self._shelf.read().files}:
            return b""
        with open(self._shelf.home / question.name, "rb") as file:
            return os.pread(file.fileno(), _PIECE, question.start)

    def _figures(self, make: bool) -> Figures:
        making = self._made(make)  # before it is looked at what there is
        with CrawlSource(self._home) as source:
            manifest = self._shelf.read()
            done, total = source.sizes(manifest.places)
            return Figures(
                [column.name for column in COLUMNS],
                [FactFile(file.name, (self._shelf.home / file.name).stat().st_size) for file in manifest.files],
                total - done,
                making,
                source.running,
                source.progress,
                source.statistics,
                [(*outcome, count) for outcome, count in source.frontier.outcomes().items()] if not make else [],
                source.findings(),
                source.hosts,
                source.urls,
            )

    def _made(self, make: bool) -> bool:
        """Whether facts are being made; what is behind after that is left."""
        with self._lock:
            if self._making is None and make:
                command = [*self._command, "report", "--facts", "--dir", str(self._home)]
                self._making = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
                )
                with suppress(OSError):
                    os.setpriority(os.PRIO_PROCESS, self._making.pid, _NICE)
            if self._making is not None and self._making.poll() is not None:
                self._making = None
                return False
            return self._making is not None
