"""One directory of WARC files with CDXJ files beside them, both cut back to the last commit on opening."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import msgspec

from gossamer.config import StoreConfig
from gossamer.errors import CrawlDirError, DamagedError, DiskFullError
from gossamer.model import Page
from gossamer.regex import compiled_later
from gossamer.store.cdxj import REVISIT, Entry, Lines
from gossamer.store.warc import RecordWriter

_RESERVE = 64 << 20  # bytes: a disk with less left gets no more pages while another has more
_FLUSH = 1 << 20  # bytes gathered before they are handed to the file
_PIECES = min(os.sysconf("SC_IOV_MAX"), 1024)  # in one call


_NUMBERED = compiled_later(r"gossamer-(\d{5,})\.(?:warc\.gz|cdxj)")


def _write(file: BinaryIO, pieces: list[bytes]) -> None:
    """All of them, in as few calls as the system allows, and without putting them together first. It may take less than
    it is given at a time.
    """
    descriptor = file.fileno()
    for first in range(0, len(pieces), _PIECES):
        some = pieces[first : first + _PIECES]
        rest = os.writev(descriptor, some) - sum(map(len, some))
        if rest:
            data = memoryview(b"".join(some))
            while rest:
                rest += os.write(descriptor, data[rest:])


def file_name(number: int) -> str:
    return f"gossamer-{number:05d}.warc.gz"


def cdxj_name(number: int) -> str:
    return f"gossamer-{number:05d}.cdxj"


def warc_numbers(home: Path) -> list[int]:
    """Of the WARC files that are there."""
    found = (_NUMBERED.fullmatch(name) for name in os.listdir(home) if name.endswith(".warc.gz"))
    return sorted(int(each[1]) for each in found if each)


KEYS = 1
"""The form of the keys in CDXJ lines. 0 was a form of our own, 1 is SURT as other tools compute it."""


class Position(msgspec.Struct, frozen=True):
    """How far a writer had come at a commit: its last file, how much of it and of its CDXJ holds, and the form of the
    keys in all its CDXJ files.
    """

    file: int = -1
    warc: int = 0
    cdxj: int = 0
    keys: int = 0

    def is_beyond(self, other: Position) -> bool:
        if self.file != other.file:
            return self.file > other.file
        return self.warc > other.warc or self.cdxj > other.cdxj


def has_old_keys(position: Position) -> bool:
    return position.file >= 0 and position.keys < KEYS


def rewrite_old_keys(home: Path, position: Position, notice: Callable[[str], None]) -> None:
    from gossamer.store.rekey import rewrite_keys  # needed once in the life of an old directory

    rewrite_keys(home, position.file, notice)


class Writer:
    """Invariant: up to the position that `sync` returned, everything is on disk; what lies beyond it after a crash
    belongs to no settled visit, and is cut off when the writer is opened again.

    Files are numbered over all writers: `last` is the highest number at the last commit, `next_number` gives more.
    """

    def __init__(
        self,
        home: Path,
        config: StoreConfig,
        position: Position,
        software: str,
        last: int,
        next_number: Callable[[], int],
        notice: Callable[[str], None],
    ) -> None:
        self.has_room = True  # on the disk, at the last sync
        self._written = 0  # bytes in this run, as of the last flush
        self.home = home
        self._next_number = next_number
        self._size = config.warc_size
        self._records = RecordWriter(config.compression, config.request_records)
        self._lines = Lines()
        self._software = software
        self._warc: BinaryIO | None = None
        self._cdxj: BinaryIO | None = None
        self._file = position.file
        self._name = ""
        self._end = position.warc
        self._cdxj_end = position.cdxj
        self._gathered: list[bytes] = []
        self._entries: list[Entry] = []  # of the gathered
        self._flushed = position.warc  # bytes of the file that were handed to it
        self._unsynced_directory = False
        try:
            home.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CrawlDirError(f"{home} cannot be made: {error.strerror}. Choose another directory.") from error
        self._recover(position, last)
        if has_old_keys(position):
            try:
                rewrite_old_keys(home, position, notice)
            except OSError as error:
                raise self._explained(error) from error

    @property
    def written(self) -> int:
        """Bytes in this run."""
        return self._written + self._end - self._flushed

    def append(
        self, page: Page, digest: bytes, same_as: tuple[str, float] | None = None, change: str = ""
    ) -> tuple[int, int, int]:
        """Store a page, or that it is the `same_as` another; gives (file number, offset, length) of its record."""
        if self._warc is None or self._end >= self._size:
            self._next_file(page.fetched_at)
        records = self._records.page(page, digest, same_as)
        offset, length = self._end, len(records[0])
        self._gathered += records
        self._end = offset + length + len(records[1])
        kind = page.content_type if same_as is None else REVISIT
        self._entries.append((page.url, page.fetched_at, kind, page.status, digest, offset, length, change))
        if self._end - self._flushed >= _FLUSH:
            self._flush()
        return self._file, offset, length

    def sync(self) -> Position:
        """Everything appended so far is on disk when this returns."""
        self._flush()
        try:
            for file in (self._warc, self._cdxj):
                if file is not None:
                    os.fdatasync(file.fileno())
            if self._unsynced_directory:
                self._sync_directory()
        except OSError as error:
            raise self._explained(error) from error
        disk = os.statvfs(self.home)
        self.has_room = disk.f_bavail * disk.f_frsize > _RESERVE
        return Position(self._file, self._end, self._cdxj_end, KEYS)

    def close(self) -> None:
        for file in (self._warc, self._cdxj):
            if file is not None:
                file.close()
        self._warc = self._cdxj = None

    def _flush(self) -> None:
        if not self._gathered or self._warc is None or self._cdxj is None:
            return
        lines = self._lines.of(self._entries, self._name)
        try:
            _write(self._warc, self._gathered)
            _write(self._cdxj, [lines])
        except OSError as error:
            raise self._explained(error) from error
        self._cdxj_end += len(lines)
        self._gathered.clear()
        self._entries.clear()
        self._written += self._end - self._flushed
        self._flushed = self._end

    def _next_file(self, now: float) -> None:
        if self._warc is not None:
            self.sync()
            self.close()
        elif self._file >= 0 and self._end < self._size:
            self._open_file("ab")
            return
        self._file = self._next_number()
        self._end = self._cdxj_end = self._flushed = 0
        self._open_file("wb")
        fields = {
            "software": self._software,
            "format": "WARC File Format 1.1",
            "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
            "robots": "obey",
        }
        info = self._records.warcinfo(self._name, fields, now)
        self._gathered.append(info)
        self._end += len(info)

    def _open_file(self, mode: str) -> None:
        self._name = file_name(self._file)
        try:
            # Unbuffered: the store gathers by itself, so that what is on disk is known exactly.
            self._warc = open(self.home / self._name, mode, buffering=0)  # type: ignore[assignment]  # noqa: SIM115
            self._cdxj = open(self._cdxj_path(self._file), mode, buffering=0)  # type: ignore[assignment]  # noqa: SIM115
        except OSError as error:
            raise self._explained(error) from error
        self._unsynced_directory = True

    def _cdxj_path(self, number: int) -> Path:
        return self.home / cdxj_name(number)

    def _sync_directory(self) -> None:
        directory = os.open(self.home, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
        self._unsynced_directory = False

    def _recover(self, position: Position, last: int) -> None:
        """Cut off what came after the last commit."""
        for path in self.home.iterdir():
            found = _NUMBERED.fullmatch(path.name)
            if found and int(found[1]) > last:
                path.unlink()
        if position.file < 0:
            return
        for path, size in (
            (self.home / file_name(position.file), position.warc),
            (self._cdxj_path(position.file), position.cdxj),
        ):
            have = path.stat().st_size if path.exists() else 0
            if have < size:
                raise DamagedError(
                    f"{path} has {have:,} bytes, but {size:,} were committed: it was cut or replaced. "
                    "Put the whole file back, or run gossamer repair on the crawl's directory."
                )
            if have > size:
                os.truncate(path, size)

    def _explained(self, error: OSError) -> Exception:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            need = self._end - self._flushed + _RESERVE
            return DiskFullError(
                f"The disk that holds {self.home} is full. Free at least {need / 1e6:,.0f} MB, "
                "then run the same command again: nothing committed is lost."
            )
        return error
