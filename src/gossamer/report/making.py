"""Following the store: captures become facts, from where the last run ended.

captures -> workers -> lines of JSON -> a Parquet file -> the manifest, which says how far it goes
"""

from __future__ import annotations

import errno
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic
from typing import IO, Final

import msgspec

from gossamer.errors import DiskFullError
from gossamer.report.engine import Engine
from gossamer.report.fact import PAGE, Wanted
from gossamer.report.shelf import Shelf
from gossamer.report.source import CrawlSource
from gossamer.report.workers import Workers, cores
from gossamer.store import Place

BATCH: Final = 250  # captures that a process reads at a time
_FILE: Final = 100_000  # facts of a file
_SECONDS: Final = 30.0  # after which what there is becomes a file: a kill loses no more
_FEW: Final = 1_000_000  # bytes of CDXJ, some 3,000 captures: below it processes cost more than they save


class Made(msgspec.Struct):
    """How far the making of facts has come, in captures of this run and bytes of CDXJ."""

    captures: int
    done: int
    total: int


Watch = Callable[[Made], None]


def catch_up(
    source: CrawlSource,
    shelf: Shelf,
    engine: Engine,
    watch: Watch,
    processes: int | None = None,
    enough: Callable[[], bool] = lambda: False,
) -> int:
    """Make the facts that are missing; how many. The caller has taken the shelf. It ends early where `enough` says so,
    which is asked now and then.
    """
    shelf.sweep()
    places = dict(shelf.read().places)
    if not source.fits(places):
        # Files were put back from a copy: what was read is not what is there.
        shelf.clear()
        places = {}
    done, total = source.sizes(places)
    made = Made(0, done, total)
    watch(made)
    processes = processes_for(source, places, processes)
    reading = _Reading(source, places, watch, made)
    with (
        Workers(source.places, processes) as workers,
        tempfile.TemporaryDirectory(prefix=".facts-", dir=shelf.home) as scratch,
    ):
        filled = _Filling(shelf, engine, Path(scratch) / "lines")
        try:
            for lines in workers.results("lines", reading.batches()):
                filled.add(lines, reading.passed())
                if enough():
                    break
            filled.flush()
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise DiskFullError(
                    f"The disk that holds {shelf.home} is full. Free some room, then run the same command again."
                ) from error
            raise
    return made.captures


def processes_for(source: CrawlSource, places: dict[str, Place], wished: int | None) -> int:
    """How many processes are to read what is behind the places; 0: the caller himself."""
    done, total = source.sizes(places)
    return (cores() if total - done > _FEW else 0) if wished is None else wished


def batches_of(source: CrawlSource, watch: Watch) -> Iterator[list[Wanted]]:
    """Pages as they were seen last, for those who read them all."""
    done, total = source.sizes({})
    for batch in _Reading(source, {}, watch, Made(0, done, total)).batches(told=True):
        yield [wanted for wanted in batch if wanted.kind == PAGE and wanted.latest]


class _Reading:
    """Invariant: `passed` gives, for each batch in turn, the places up to which it goes."""

    def __init__(self, source: CrawlSource, places: dict[str, Place], watch: Watch, made: Made) -> None:
        self._source = source
        self._places = places
        self._watch = watch
        self._made = made
        self._ends: list[tuple[dict[str, Place], int]] = []

    def batches(self, told: bool = False) -> Iterator[list[Wanted]]:
        batch: list[Wanted] = []
        for wanted, directory, after in self._source.wanted(dict(self._places)):
            batch.append(wanted)
            self._places[directory] = after
            if len(batch) >= BATCH:
                yield self._ended(batch, told)
                batch = []
        if batch:
            yield self._ended(batch, told)

    def _ended(self, batch: list[Wanted], told: bool) -> list[Wanted]:
        self._ends.append((dict(self._places), len(batch)))
        if told:
            self.passed()
        return batch

    def passed(self) -> dict[str, Place]:
        places, captures = self._ends.pop(0)
        self._made.captures += captures
        self._made.done = self._source.sizes(places)[0]
        self._watch(self._made)
        return places


class _Filling:
    """Gathers lines until they are worth a file."""

    def __init__(self, shelf: Shelf, engine: Engine, path: Path) -> None:
        self._shelf = shelf
        self._engine = engine
        self._path = path
        self._file: IO[bytes] | None = None
        self._rows = 0
        self._places: dict[str, Place] = {}
        self._began = monotonic()

    def add(self, lines: bytes, places: dict[str, Place]) -> None:
        if self._file is None:
            self._file = open(self._path, "wb")  # noqa: SIM115 - closed by flush
        self._file.write(lines)
        self._rows += lines.count(b"\n")
        self._places = places
        if self._rows >= _FILE or monotonic() - self._began >= _SECONDS:
            self.flush()

    def flush(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
            self._shelf.add(self._engine, self._path, self._rows, self._places)
            self._rows = 0
        self._began = monotonic()
