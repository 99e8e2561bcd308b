"""The facts of a crawl on disk: Parquet files in DIR/facts, and a manifest that says which of them hold."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec

from gossamer.errors import CrawlDirError
from gossamer.report.engine import Engine, files_of
from gossamer.report.fact import COLUMNS
from gossamer.store import Place

FORMAT: Final = 1
_MANIFEST: Final = "manifest.json"
_MOST_SMALL: Final = 8  # files that may wait to be merged
_LARGE: Final = 1_000_000  # rows of a file that is not merged any more
_STILL_READ: Final = 900.0  # seconds for which a file that was merged is kept: a report may be at it


class File(msgspec.Struct, frozen=True):
    name: str
    rows: int


class Manifest(msgspec.Struct):
    """Which files hold, and up to where in the store their facts go."""

    format: int = FORMAT
    columns: list[str] = []
    next: int = 1
    files: list[File] = []
    places: dict[str, Place] = {}
    merged: dict[str, float] = {}  # files that are part of others by now, and since when

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self.files)


class Shelf:
    """Invariant: what the manifest names is on the disk, whole; what it does not name is left over from a crash, and is
    removed by the next writer. Files that were merged stay a while: somebody may still be reading them. A manifest is
    replaced at once.
    """

    def __init__(self, home: Path, clock: Callable[[], float] = time.time) -> None:
        self.home = home
        self._clock = clock

    def read(self) -> Manifest:
        """The manifest; an empty one where there is none that this version can use."""
        try:
            found = msgspec.json.decode((self.home / _MANIFEST).read_bytes(), type=Manifest)
        except (OSError, msgspec.MsgspecError):
            return Manifest()
        names = [column.name for column in COLUMNS]
        good = found.format == FORMAT and found.columns == names
        good = good and all((self.home / file.name).is_file() for file in found.files)
        return found if good else Manifest(next=found.next)

    def paths(self, manifest: Manifest) -> list[Path]:
        return [self.home / file.name for file in manifest.files]

    @contextmanager
    def taken(self, patience: float = 0.0) -> Iterator[bool]:
        """Whether this process may write, as long as the block lasts; another one may be at it, and is waited for so
        many seconds.
        """
        try:
            self.home.mkdir(parents=True, exist_ok=True)
            lock = os.open(self.home / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise CrawlDirError(f"{self.home} cannot be written: {error.strerror}. Change its owner.") from error
        try:
            yield _locked(lock, patience)
        finally:
            os.close(lock)

    def add(self, engine: Engine, lines: Path, rows: int, places: dict[str, Place]) -> None:
        """Facts as lines of JSON, and the places up to which they go."""
        manifest = self.read()
        if rows:
            name = f"facts-{manifest.next:06d}.parquet"
            engine.copy_lines(lines, COLUMNS, self.home / name)
            manifest.next += 1
            manifest.files.append(File(name, rows))
        manifest.places = dict(places)
        self._merge(engine, manifest)
        self._write(manifest)

    def clear(self) -> None:
        """All of it is to be made again."""
        self._write(Manifest(next=self.read().next))
        self.sweep()

    def sweep(self) -> None:
        """Remove what no manifest names, and nobody reads any more."""
        manifest, now = self.read(), self._clock()
        named = {file.name for file in manifest.files}
        named.update(name for name, since in manifest.merged.items() if 0 <= now - since < _STILL_READ)
        for path in self.home.iterdir():
            if path.name.removeprefix(".").startswith("facts-") and path.name not in named:
                with suppress(OSError):
                    shutil.rmtree(path) if path.is_dir() else path.unlink()

    def _merge(self, engine: Engine, manifest: Manifest) -> None:
        """The small files at the end become one, so that their number stays small, however often one looks."""
        files = manifest.files
        start = len(files)
        while start and files[start - 1].rows < _LARGE:
            start -= 1
        small = files[start:]
        if len(small) <= _MOST_SMALL:
            return
        # As many from the end as make one that is not much larger than the next: each fact is written a few times.
        taken, rows = 1, small[-1].rows
        while taken < len(small) and (small[-taken - 1].rows <= 2 * rows or len(small) - taken >= _MOST_SMALL):
            taken += 1
            rows += small[-taken].rows
        merged = small[len(small) - taken :]
        name = f"facts-{manifest.next:06d}.parquet"
        engine.copy(f"SELECT * FROM {files_of([self.home / file.name for file in merged])}", self.home / name)
        manifest.next += 1
        manifest.files = [*files[: len(files) - taken], File(name, rows)]
        now = self._clock()
        kept = {name: since for name, since in manifest.merged.items() if 0 <= now - since < _STILL_READ}
        manifest.merged = kept | {file.name: now for file in merged}

    def _write(self, manifest: Manifest) -> None:
        manifest.format, manifest.columns = FORMAT, [column.name for column in COLUMNS]
        self.home.mkdir(parents=True, exist_ok=True)
        fresh = self.home / f"{_MANIFEST}.new"
        with open(fresh, "wb") as file:
            file.write(msgspec.json.encode(manifest))
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self.home / _MANIFEST)
        directory = os.open(self.home, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def _locked(lock: int, patience: float) -> bool:
    until = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                return False
            time.sleep(0.05)
        else:
            return True
