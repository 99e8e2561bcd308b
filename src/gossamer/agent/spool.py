"""Commands to a crawl, as files: DIR/control/ID.json is one that waits, ID.answer what became of it.

A file is there whole or not at all, whether a crawl runs or not, and is still there after a crash of either side.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from gossamer.agent.crawl_dir import give_to_owner, write_whole
from gossamer.errors import ControlError

_LOOK_EVERY = 0.02  # seconds, for an answer
_LONGEST_COMMAND = 64 << 20  # bytes
IN_EFFECT = "in effect"
_FORGOTTEN = 3600.0  # seconds after which nobody comes for an answer any more


class Command(msgspec.Struct):
    """`kind` is one of those that `Commands` knows; `about` is what it needs besides."""

    kind: str
    who: str
    at: float
    about: dict[str, Any] = {}
    id: str = ""


class Answer(msgspec.Struct):
    """`text` is a sentence for people; `facts` the same for programs. `later`: it is not done yet, and will be."""

    ok: bool
    text: str
    facts: dict[str, Any] = {}
    later: bool = False


class Spool:
    """Invariants: a command is in the folder until it is done, or withdrawn. What is taken for one was written by the
    folder's owner, or root.
    """

    def __init__(self, home: Path) -> None:
        self.path = home / "control"
        self._stuck: set[str] = set()  # answered, and not to be removed: they must not be done again and again

    # -- those who ask -------------------------------------------------------------------------------------------------

    def send(self, command: Command) -> str:
        """Durable when this returns; gives the command's id."""
        self._make()
        command.id = f"{time.time_ns():020d}-{os.urandom(4).hex()}"
        try:
            self._write(f"{command.id}.json", msgspec.json.encode(command))
        except OSError as error:
            raise ControlError(f"{self.path} cannot be written: {error.strerror}. Act as the crawl's user.") from error
        return command.id

    def wait(self, id: str, seconds: float, alive: Callable[[], bool]) -> Answer | None:
        """The answer; None if there is none after that time, or nobody `alive` to give one."""
        until = time.monotonic() + seconds
        file = self.path / f"{id}.answer"
        while True:
            going_on = alive()  # asked before looking: who answered and ended in between has answered
            with suppress(FileNotFoundError):
                answer = msgspec.json.decode(file.read_bytes(), type=Answer)
                file.unlink(missing_ok=True)
                return answer
            if not going_on or time.monotonic() >= until:
                return None
            time.sleep(_LOOK_EVERY)

    def answer_of(self, id: str) -> Answer | None:
        """The answer, if it is there; it is gone then."""
        return self.wait(id, 0.0, lambda: False)

    def withdraw(self, id: str) -> bool:
        """False if it was taken up already."""
        try:
            (self.path / f"{id}.json").unlink()
        except FileNotFoundError:
            return False
        return True

    @contextmanager
    def alone(self) -> Iterator[None]:
        """No two of those who ask are here at a time."""
        self._make()
        file = self.path / "lock"
        try:
            lock = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            give_to_owner(lock, self.path.parent)
        except OSError as error:
            raise ControlError(f"{file} cannot be written: {error.strerror}. Act as the crawl's user.") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    # -- the crawl -----------------------------------------------------------------------------------------------------

    def ids(self) -> list[str]:
        """Of the commands that wait, in the order they were sent."""
        try:
            return sorted(name.removesuffix(".json") for name in os.listdir(self.path) if name.endswith(".json"))
        except OSError:
            return []

    @property
    def empty(self) -> bool:
        """Nothing waits that could be done."""
        return all(id in self._stuck for id in self.ids())

    def waiting(self) -> list[Command]:
        """In the order they were sent. One that cannot be read is answered and removed."""
        found = []
        for id in self.ids():
            if id in self._stuck:
                continue
            try:
                found.append(self._read(id))
            except FileNotFoundError:
                continue  # withdrawn
            except (OSError, ValueError, RecursionError, msgspec.MsgspecError) as error:
                unread = Command("", "", 0.0, id=id)
                self.answer(unread, Answer(False, f"the command cannot be read: {error}"))
        return found

    def answer(self, command: Command, answer: Answer) -> None:
        with suppress(OSError):  # the effect is there; only the one who asked does not hear of it
            self._write(f"{command.id}.answer", msgspec.json.encode(answer))
        try:
            (self.path / f"{command.id}.json").unlink(missing_ok=True)
        except OSError:
            self._stuck.add(command.id)

    def tidy(self, now: float) -> None:
        """Remove answers that nobody came for, and halves of files; see to it that nobody else writes here."""
        try:
            files = list(self.path.iterdir())
            if stat.S_IMODE(self.path.lstat().st_mode) & 0o077:
                self.path.chmod(0o700)
        except OSError:
            return
        for file in files:
            with suppress(OSError):
                if file.suffix in (".answer", ".new") and file.lstat().st_mtime < now - _FORGOTTEN:
                    file.unlink(missing_ok=True)

    def _make(self) -> None:
        try:
            with suppress(FileExistsError):
                self.path.mkdir(mode=0o700)
            folder = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                give_to_owner(folder, self.path.parent)
            finally:
                os.close(folder)
        except OSError as error:
            raise ControlError(f"{self.path} cannot be made: {error.strerror}. Act as the crawl's user.") from error

    def _read(self, id: str) -> Command:
        file = os.open(self.path / f"{id}.json", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode):
                raise ValueError("it is no file")
            if found.st_uid not in (0, self.path.stat().st_uid):
                raise ValueError("it is not from the owner of the crawl")
            if found.st_size > _LONGEST_COMMAND:
                raise ValueError("it is too long")
            with open(file, "rb", closefd=False) as stream:
                command = msgspec.json.decode(stream.read(_LONGEST_COMMAND), type=Command)
        finally:
            os.close(file)
        command.id = id
        return command

    def _write(self, name: str, data: bytes) -> None:
        write_whole(self.path / name, data, self.path.parent, 0o600)
