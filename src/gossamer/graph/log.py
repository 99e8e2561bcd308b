"""The link graph on disk: frames, one behind the other, in files of DIR/graph. Appended to, never changed."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final
from zlib import crc32

import msgspec

from gossamer.errors import CrawlDirError, DamagedError, DiskFullError
from gossamer.graph.frame import HEAD, MAGIC, Frame, Rows, unpacked_frame
from gossamer.graph.merging import merged
from gossamer.lock import taken

_ROLL: Final = 256 << 20  # bytes of a file; the next frame begins another
_MOST_FRAMES: Final = 1024  # of a file; then they are merged
_MOST_PACKED: Final = 1 << 30
_NEW: Final = ".new"
_NAME = re.compile(r"links-(\d{6,})\.graph")


class Held(msgspec.Struct, frozen=True):
    """A frame where it lies: what its head says."""

    path: Path
    at: int
    length: int
    raw: int
    check: int
    pages: int
    position: bytes

    @property
    def end(self) -> int:
        return self.at + HEAD.size + len(self.position) + self.length

    def read(self) -> Frame:
        try:
            with open(self.path, "rb") as file:
                file.seek(self.end - self.length)
                content = file.read(self.length)
        except OSError as error:
            raise _damaged(self.path, error.strerror or "") from error
        if len(content) != self.length or crc32(content, crc32(self.position)) != self.check:
            raise _damaged(self.path, f"the frame at {self.at:,} is not what was written")
        try:
            return unpacked_frame(content, self.raw)
        except ValueError as error:
            raise _damaged(self.path, f"the frame at {self.at:,}: {error}") from error


def frames_of(home: Path) -> list[Held]:
    """Every whole frame, in order. One that is being written, or was when its writer died, is not there."""
    files = _files(home)
    found = []
    for path in files:
        held = list(_in_file(path))
        if path != files[-1] and (held[-1].end if held else 0) != path.stat().st_size:
            raise _damaged(path, "it ends in the middle of a frame")
        found += held
    return found


def position_of(home: Path) -> bytes:
    """What was given with the last frame; empty where there is none."""
    for path in reversed(_files(home)):
        found = list(_in_file(path))
        if found:
            return found[-1].position
    return b""


class GraphLog:
    """The one who writes. Invariant: up to its end a file is whole frames; what a crash left behind them is cut off by
    the next writer. A frame is durable when `append` returns, with the position up to which it goes. A file of many
    small frames is replaced by one of fewer: who reads it meanwhile finds it damaged, and must look again.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._lock: int | None = None
        self._file: int | None = None
        self._frames = 0  # in it
        self.position = b""

    def take(self) -> bool:
        """Keep other writers out until `close`; whether that was to be had. What is there is looked at then."""
        if self._lock is not None:
            return True
        try:
            self._home.mkdir(parents=True, exist_ok=True)
            self._lock = taken(self._home / "lock")
        except OSError as error:
            raise CrawlDirError(f"{self._home} cannot be written: {error.strerror}. Change its owner.") from error
        if self._lock is None:
            return False
        self.position = position_of(self._home)
        self._mend()
        return True

    def _mend(self) -> None:
        for path in self._home.glob(f"*{_NEW}"):
            path.unlink()
        for path in _files(self._home)[-1:]:
            end = max((held.end for held in _in_file(path)), default=0)
            if end < path.stat().st_size:
                with open(path, "r+b") as file:
                    file.truncate(end)
                    os.fsync(file.fileno())

    def append(self, rows: Rows, position: bytes) -> None:
        self.append_frame(rows.pack(position), position)

    def append_frame(self, frame: bytes, position: bytes) -> None:
        """One that is packed."""
        assert self._lock is not None
        try:
            file = self._open()
            start = os.fstat(file).st_size
            try:
                rest = memoryview(frame)
                while rest:
                    rest = rest[os.write(file, rest) :]
                os.fdatasync(file)
            except OSError:
                with suppress(OSError):
                    os.ftruncate(file, start)
                raise
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise DiskFullError(
                    f"The disk that holds {self._home} is full. Free some room, then run the same command again."
                ) from error
            raise
        self.position = position
        self._frames += 1

    def _open(self) -> int:
        if self._file is not None and self._frames < _MOST_FRAMES and os.fstat(self._file).st_size < _ROLL:
            return self._file
        self._end_file()
        path = self._home / "links-000001.graph"
        self._frames = 0
        for last in _files(self._home)[-1:]:
            path, self._frames = last, len(list(_in_file(last)))
            if self._frames >= _MOST_FRAMES or last.stat().st_size >= _ROLL:
                if self._frames >= _MOST_FRAMES:
                    self._merge(last)
                path, self._frames = self._home / f"links-{_number(last) + 1:06d}.graph", 0
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        self._sync_folder()
        return self._file

    def _merge(self, path: Path) -> None:
        """A file to which nothing more will be appended: in its place one with the same pages in fewer frames."""
        fresh = path.with_name(f"{path.name}{_NEW}")
        with open(fresh, "wb") as file:
            for frame in merged((held.read(), held.position) for held in _in_file(path)):
                file.write(frame)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)

    def _sync_folder(self) -> None:
        folder = os.open(self._home, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _end_file(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def close(self) -> None:
        self._end_file()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _files(home: Path) -> list[Path]:
    try:
        found = [path for path in home.iterdir() if _NAME.fullmatch(path.name)]
    except OSError:
        return []
    return sorted(found, key=_number)


def _number(path: Path) -> int:
    found = _NAME.fullmatch(path.name)
    return int(found[1]) if found else 0


def _in_file(path: Path) -> Iterator[Held]:
    """Heads alone are read. The last frame of a file is looked at whole: it may be what a crash has left."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        at = 0
        while at + HEAD.size <= size:
            magic, length, raw, check, pages, more = HEAD.unpack(os.pread(file.fileno(), HEAD.size, at))
            end = at + HEAD.size + more + length
            if magic != MAGIC or end > size or length > _MOST_PACKED:
                return
            position = os.pread(file.fileno(), more, at + HEAD.size)
            if end == size:
                content = os.pread(file.fileno(), length, end - length)
                if crc32(content, crc32(position)) != check:
                    return
            yield Held(path, at, length, raw, check, pages, position)
            at = end


def _damaged(path: Path, why: str) -> DamagedError:
    return DamagedError(
        f"{path} cannot be read: {why}. Remove {path.parent}: gossamer rank makes it again from the stored pages."
    )
