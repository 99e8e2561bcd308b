"""Records of an application: JSON lines in numbered files, made into Parquet when a file is full, if that is wanted."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final

import msgspec

from gossamer.agent.app_note import RecordsPosition

_LONGEST: Final = 1 << 20  # bytes of a record
_FULL: Final = 64 << 20  # bytes of a file
_NAMED: Final = re.compile(r"records-(\d{5,})\.(jsonl|parquet|parquet\.new)")

Convert = Callable[[Path, Path], None]
"""Make a Parquet file of one of JSON lines."""


class AppRecords:
    """Invariant: up to the position that `sync` gave last everything is on disk; what lies beyond is cut off when it is
    opened again. A full file is there as JSON lines, or as Parquet, or, until the next commit, as both.
    """

    def __init__(
        self, folder: Path, position: RecordsPosition, convert: Convert | None = None, full: int = _FULL
    ) -> None:
        self._folder = folder
        self._convert = convert
        self._full = full
        self._file: IO[bytes] | None = None
        self._number, self._bytes, self.count = position.file, position.bytes, position.count
        self._made: list[Path] = []  # files of which there is a Parquet file, gone after the next commit
        self._tidy()

    def _tidy(self) -> None:
        """What a crash has left beyond the position goes, and what was made into Parquet before it."""
        for file in self._folder.iterdir():
            found = _NAMED.fullmatch(file.name)
            if found is None:
                continue
            number, kind = int(found[1]), found[2]
            parquet = file.with_suffix(".parquet")
            beyond = number > self._number or (number == self._number and kind != "jsonl")
            if beyond or kind == "parquet.new" or (number < self._number and kind == "jsonl" and parquet.exists()):
                file.unlink(missing_ok=True)
        path = self._path(self._number)
        if path.exists() and path.stat().st_size > self._bytes:
            os.truncate(path, self._bytes)

    def _path(self, number: int) -> Path:
        return self._folder / f"records-{number:05d}.jsonl"

    def append(self, records: Iterable[Mapping[str, Any]]) -> int:
        """Gives how many these were. `ValueError` or `TypeError`: one of them is no record; none is kept then."""
        lines = [_line(record) for record in records]
        for line in lines:
            if self._bytes and self._bytes + len(line) > self._full:
                self._roll()
            if self._file is None:
                self._file = open(self._path(self._number), "ab")  # noqa: SIM115 - open until it is full
            self._file.write(line)
            self._bytes += len(line)
            self.count += 1
        return len(lines)

    def sync(self) -> RecordsPosition:
        """What was appended is on disk; to be noted, and then `noted` to be called."""
        if self._file is not None:
            self._file.flush()
            os.fdatasync(self._file.fileno())
        return RecordsPosition(self._number, self._bytes, self.count)

    def noted(self) -> None:
        for path in self._made:
            with suppress(OSError):
                path.unlink(missing_ok=True)
        self._made.clear()

    def finish(self) -> None:
        """The last file is made into Parquet, too."""
        if self._convert is not None and self._bytes:
            self._roll()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _roll(self) -> None:
        self.sync()
        self.close()
        path = self._path(self._number)
        if self._convert is not None:
            fresh = path.with_suffix(".parquet.new")
            self._convert(path, fresh)
            fresh.replace(path.with_suffix(".parquet"))
            self._made.append(path)
        self._number, self._bytes = self._number + 1, 0


def _line(record: Mapping[str, Any]) -> bytes:
    line = msgspec.json.encode(dict(record)) + b"\n"
    if len(line) > _LONGEST:
        raise ValueError(f"a record has {len(line):,} bytes; the most are {_LONGEST:,}")
    return line
