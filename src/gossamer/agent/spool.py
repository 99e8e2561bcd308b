"""Commands to a crawl, as files: DIR/control/ID.json is one that waits, ID.answer what became of it.

A file is there whole or not at all, whether a crawl runs or not, and is still there after a crash of either side.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from gossamer.agent.crawl_dir import give_to_owner
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
    """Invariant: a command is in the folder until it is done, or withdrawn."""

    def __init__(self, home: Path) -> None:
        self.path = home / "control"

    # -- those who ask -------------------------------------------------------------------------------------------------

    def send(self, command: Command) -> str:
        """Durable when this returns; gives the command's id."""
        self._make()
        command.id = f"{time.time_ns():020d}-{secrets.token_hex(4)}"
        self._write(f"{command.id}.json", msgspec.json.encode(command))
        _sync(self.path)
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
            lock = open(file, "a")  # noqa: SIM115 - held until the end
            give_to_owner(file, self.path)
        except OSError as error:
            raise ControlError(f"{file} cannot be written: {error.strerror}. Act as the crawl's user.") from error
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    # -- the crawl -----------------------------------------------------------------------------------------------------

    def waiting(self) -> list[Command]:
        """In the order they were sent. One that cannot be read is answered and removed."""
        try:
            names = sorted(name for name in os.listdir(self.path) if name.endswith(".json"))
        except FileNotFoundError:
            return []
        found = []
        for name in names:
            try:
                found.append(self._read(name))
            except (OSError, ValueError, msgspec.MsgspecError) as error:
                unread = Command("", "", 0.0, id=name.removesuffix(".json"))
                self.answer(unread, Answer(False, f"the command cannot be read: {error}"))
        return found

    def answer(self, command: Command, answer: Answer) -> None:
        with suppress(OSError):  # the effect is there; only the one who asked does not hear of it
            self._write(f"{command.id}.answer", msgspec.json.encode(answer))
        (self.path / f"{command.id}.json").unlink(missing_ok=True)

    def tidy(self, now: float) -> None:
        """Remove answers that nobody came for, and halves of files."""
        with suppress(FileNotFoundError):
            for file in self.path.iterdir():
                if file.suffix in (".answer", ".new") and file.stat().st_mtime < now - _FORGOTTEN:
                    file.unlink(missing_ok=True)

    def _make(self) -> None:
        try:
            self.path.mkdir(mode=0o700)
            give_to_owner(self.path, self.path.parent)
        except FileExistsError:
            return
        except OSError as error:
            raise ControlError(f"{self.path} cannot be made: {error.strerror}. Act as the crawl's user.") from error

    def _read(self, name: str) -> Command:
        file = self.path / name
        if file.stat().st_size > _LONGEST_COMMAND:
            raise ValueError("it is too long")
        command = msgspec.json.decode(file.read_bytes(), type=Command)
        command.id = name.removesuffix(".json")
        return command

    def _write(self, name: str, data: bytes) -> None:
        fresh = self.path / f"{name}.new"
        try:
            with open(fresh, "wb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            give_to_owner(fresh, self.path.parent)
            fresh.replace(self.path / name)
        except OSError as error:
            raise ControlError(f"{self.path} cannot be written: {error.strerror}. Act as the crawl's user.") from error


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
