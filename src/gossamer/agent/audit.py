"""Who changed what of a crawl, and when: DIR/logs/audit.jsonl, a line for each change, never shortened."""

from __future__ import annotations

import getpass
import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

_LONGEST = 20_000  # bytes of what is said of a change; a list of a million patterns is not repeated in full


class Change(msgspec.Struct, omit_defaults=True):
    """`what` is a command or an option's name; `before` and `after` are values, where there are any."""

    at: str
    who: str
    what: str
    before: Any = None
    after: Any = None


def record(logs: Path, who: str, what: str, before: object = None, after: object = None) -> None:
    """Durable when this returns. Several processes may write: a line is one write at the end of the file."""
    at = datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    line = msgspec.json.encode(Change(at, who, what, _short(before), _short(after))) + b"\n"
    logs.mkdir(exist_ok=True)
    file = os.open(logs / "audit.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o640)
    try:
        os.write(file, line)
        os.fsync(file)
    finally:
        os.close(file)


def read_changes(home: Path, most: int = 1000) -> list[Change]:
    """The last ones, oldest first. A line that a crash cut off is left out."""
    try:
        lines = (home / "logs" / "audit.jsonl").read_bytes().splitlines()[-most:]
    except FileNotFoundError:
        return []
    found = []
    for line in lines:
        try:
            found.append(msgspec.json.decode(line, type=Change))
        except msgspec.MsgspecError:
            continue
    return found


def this_user() -> str:
    """Who runs this program."""
    try:
        return f"user {getpass.getuser()}"
    except (OSError, KeyError):  # a container may have a number without a name
        return f"user {os.getuid()}"


def _short(value: object) -> object:
    text = msgspec.json.encode(value)
    return value if len(text) <= _LONGEST else text[:_LONGEST].decode("utf-8", "replace") + "…"
