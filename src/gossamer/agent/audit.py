"""Who changed what of a crawl, and when: DIR/logs/audit.jsonl, a line for each change, never shortened."""

from __future__ import annotations

import errno
import getpass
import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from gossamer.agent.crawl_dir import give_to_owner
from gossamer.errors import ControlError

_NAME = "audit.jsonl"
_BLOCK = 64 << 10  # bytes
_MOST_READ = 64 << 20
_LONGEST = 20_000  # bytes of what is said of a change; a list of a million patterns is not repeated in full


class Change(msgspec.Struct, omit_defaults=True):
    """`what` is a command or an option's name; `before` and `after` are values, where there are any."""

    at: str
    who: str
    what: str
    before: Any = None
    after: Any = None


def record(logs: Path, who: str, what: str, before: object = None, after: object = None) -> None:
    """Durable when this returns. Several processes may write: a line is one write at the end of the file. Raises
    ControlError.
    """
    at = datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    line = msgspec.json.encode(Change(at, who, what, _short(before), _short(after))) + b"\n"
    path = logs / _NAME
    try:
        _make(logs)
        file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o640)
        try:
            give_to_owner(file, logs.parent)
            size = os.fstat(file).st_size
            # What a full disk or a crash has cut off ends here, and takes no other line with it.
            cut = size and os.pread(file, 1, size - 1) != b"\n"
            line = b"\n" + line if cut else line
            if os.write(file, line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(file)
        finally:
            os.close(file)
    except OSError as error:
        raise ControlError(f"{path} cannot be written: {error.strerror}. Nobody would know of {what!r}.") from error


def _make(logs: Path) -> None:
    try:
        logs.mkdir()
    except FileExistsError:
        return
    folder = os.open(logs, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        give_to_owner(folder, logs.parent)
    finally:
        os.close(folder)


def read_changes(home: Path, most: int = 1000) -> list[Change]:
    """The last ones, oldest first. A line that a crash cut off is left out."""
    found = []
    for line in _last_lines(home / "logs" / _NAME, most):
        try:
            found.append(msgspec.json.decode(line, type=Change))
        except msgspec.MsgspecError:
            continue
    return found


def _last_lines(path: Path, most: int) -> list[bytes]:
    """Of a file that only grows: not all of it is read."""
    try:
        file = open(path, "rb")  # noqa: SIM115 - closed below
    except FileNotFoundError:
        return []
    with file:
        at = file.seek(0, os.SEEK_END)
        end, blocks, newlines = at, list[bytes](), 0
        while at > 0 and newlines <= most and end - at < _MOST_READ:
            start = max(at - _BLOCK, 0)
            file.seek(start)
            blocks.append(file.read(at - start))
            newlines += blocks[-1].count(b"\n")
            at = start
    return b"".join(reversed(blocks)).splitlines()[-most:]


def this_user() -> str:
    """Who runs this program."""
    try:
        return f"user {getpass.getuser()}"
    except (OSError, KeyError):  # a container may have a number without a name
        return f"user {os.getuid()}"


def _short(value: object) -> object:
    text = msgspec.json.encode(value)
    return value if len(text) <= _LONGEST else text[:_LONGEST].decode("utf-8", "replace") + "…"
