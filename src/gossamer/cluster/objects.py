"""The port to where large things are kept that all agents can read: a directory, or a bucket of an object store."""

from __future__ import annotations

import asyncio
import errno
import os
import re
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, ParamSpec, Protocol, TypeVar
from urllib.parse import unquote, urlsplit

from gossamer.errors import ConfigError, ObjectsError

PART: Final = ".part"
"""At the end of the name of a file that is not whole yet."""

MOST_NAMES: Final = 100_000  # that are listed at a time
_REMOTE: Final = ("s3", "gs", "az")
_LONGEST_NAME: Final = 500
_PIECE: Final = 1 << 20  # bytes that are read or written at a time
_WORD: Final = r"[A-Za-z0-9_=-][A-Za-z0-9._=-]{0,120}+"
_words = re.compile(rf"{_WORD}(?:/{_WORD}){{0,9}}+").fullmatch

P = ParamSpec("P")
T = TypeVar("T")


class Objects(Protocol):
    """Invariant: an object is whole or not there, whatever happens while it is put. Names are words with `/` between.

    All raise ObjectsError when it cannot be done; after that it may have been done.
    """

    async def put(self, name: str, pieces: AsyncIterator[bytes]) -> None:
        """Durable when it returns. What `pieces` raises goes through, and nothing is there then."""

    def get(self, name: str) -> AsyncIterator[bytes]:
        """In pieces of about a megabyte."""

    async def delete(self, name: str) -> None:
        """Nothing happens if there is none."""

    async def names(self, prefix: str) -> list[str]:
        """Of all below the folder `prefix`, at most MOST_NAMES. Also what was never finished, if that takes up room
        here: it can be deleted, not be got.
        """


def open_objects(place: str) -> Objects:
    """`place` is a directory, `file:///DIRECTORY`, or `s3://BUCKET/PREFIX` and the like."""
    scheme, found, _ = place.partition("://")
    if not place or "\0" in place:
        raise ConfigError("the place for checkpoints is empty: give a directory, or s3://BUCKET/PREFIX")
    if not found:
        return LocalObjects(Path(place))
    if scheme == "file":
        parts = urlsplit(place)
        if parts.netloc not in ("", "localhost") or not parts.path or "\0" in unquote(parts.path):
            raise ConfigError(f"{place!r} is no directory of this machine: write file:///DIRECTORY, or the directory")
        return LocalObjects(Path(unquote(parts.path)))
    if scheme not in _REMOTE:
        raise ConfigError(
            f"nothing is known of {scheme[:40]!r} as a place for checkpoints: "
            "give a directory, or s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or az://ACCOUNT/CONTAINER/PREFIX"
        )
    try:
        from gossamer.cluster.remote_objects import RemoteObjects  # only who has a bucket needs the library
    except ImportError as error:
        raise ObjectsError(f"{scheme}:// needs obstore ({error}): pip install 'gossamer[cluster]' brings it") from error
    return RemoteObjects(place)


def check_name(name: str) -> str:
    """Names come from keys that others write: none leads out of the place."""
    if len(name) > _LONGEST_NAME or not _words(name):
        raise ObjectsError(f"{name[:200]!r} is no name of an object: are all agents of one version?")
    return name


class LocalObjects:
    """Objects as files. A file is written beside its name, synced, and renamed; no descriptor is open between two
    steps, so that a task may be cancelled in any of them.
    """

    def __init__(self, root: Path) -> None:
        self._root = root.absolute()

    async def put(self, name: str, pieces: AsyncIterator[bytes]) -> None:
        path = self._path(name)
        part = path.with_name(path.name + PART)
        waiting: list[bytes] = []
        size = 0
        try:
            await self._do(name, _begin, part)
            async for piece in pieces:
                waiting.append(piece)
                size += len(piece)
                if size >= _PIECE:
                    await self._do(name, _append, part, waiting)
                    waiting, size = [], 0
            await self._do(name, _append, part, waiting)
            await self._do(name, _finish, part, path)
        except BaseException:
            with suppress(OSError):
                await asyncio.to_thread(part.unlink)
            raise

    async def get(self, name: str) -> AsyncIterator[bytes]:
        path, at = self._path(name), 0
        while piece := await self._do(name, _read, path, at):
            at += len(piece)
            yield piece

    async def delete(self, name: str) -> None:
        path = self._root / check_name(name)  # of something unfinished, too
        await self._do(name, _delete, self._root, path)

    async def names(self, prefix: str) -> list[str]:
        return await self._do(prefix, _names, self._root, check_name(prefix))

    def _path(self, name: str) -> Path:
        if name.endswith(PART):
            raise ObjectsError(f"{name!r} was never finished: it cannot be read")
        return self._root / check_name(name)

    async def _do(self, name: str, work: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
        try:
            return await asyncio.to_thread(work, *args, **named)
        except OSError as error:
            raise self._failed(name, error) from error

    def _failed(self, name: str, error: OSError) -> ObjectsError:
        why = os.strerror(error.errno) if error.errno else str(error)
        match error.errno:
            case errno.ENOSPC | errno.EDQUOT:
                todo = "Free some room there: nothing that was kept before is lost."
                return ObjectsError(f"The disk that holds {self._root} is full. {todo}")
            case errno.EACCES | errno.EPERM | errno.EROFS:
                todo = "Give the user of this process the right to read and write there, or choose another place."
            case errno.ENOENT:
                todo = "Is it the directory that all agents of this crawl use, and is it mounted?"
            case errno.ENOTDIR | errno.EEXIST:
                todo = "Something else has the name of a directory that is needed: choose another place."
            case _:
                todo = "Look after the disk, then try again."
        return ObjectsError(f"{name} in {self._root}: {why}. {todo}")


def _begin(part: Path) -> None:
    for attempt in range(3):
        _make_folder(part.parent)
        try:
            os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
        except FileNotFoundError:  # the folder was empty, and another one has removed it at this moment
            if attempt == 2:
                raise
        else:
            return


def _make_folder(folder: Path) -> None:
    """Durably: each folder is synced into the one that it is in."""
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    _sync(folder.parent, os.O_DIRECTORY)


def _append(part: Path, pieces: list[bytes]) -> None:
    with open(part, "r+b", buffering=0) as file:  # not made again, should others have swept it away
        file.seek(0, os.SEEK_END)
        for piece in pieces:
            rest = memoryview(piece)
            while rest:
                rest = rest[file.write(rest) :]


def _finish(part: Path, path: Path) -> None:
    _sync(part)
    part.rename(path)
    _sync(path.parent, os.O_DIRECTORY)


def _sync(path: Path, flags: int = 0) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read(path: Path, at: int) -> bytes:
    with open(path, "rb", buffering=0) as file:
        file.seek(at)
        return file.read(_PIECE)


def _delete(root: Path, path: Path) -> None:
    with suppress(FileNotFoundError):
        path.unlink()
    for folder in path.parents:
        if folder == root:
            return
        try:
            folder.rmdir()
        except OSError:  # something else is in it
            return


def _names(root: Path, prefix: str) -> list[str]:
    found: list[str] = []

    def fail(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):  # there never was one, or others have just removed it
            raise error

    for folder, _, files in os.walk(root / prefix, onerror=fail):
        below = Path(folder).relative_to(root).as_posix()
        found += [name for file in files if _words(name := f"{below}/{file}")]
        if len(found) >= MOST_NAMES:
            break
    return sorted(found[:MOST_NAMES])
