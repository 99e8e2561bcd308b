"""CDXJ files of earlier versions, written anew with the keys that web archives look up.

A key of today is hardly ever longer than the old one, and white space in JSON means nothing: so each line keeps its
length, and every place in a CDXJ file that somebody has noted (the frontier, the index, an application, a client that
follows the changes) stays right. The few lines whose key would be longer, because of `%` signs that begin no escape,
stay as they are; nobody here looks captures up by their keys, and an export makes the keys anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from gossamer.store.captures import file_numbers, read_capture
from gossamer.store.cdxj import key_of
from gossamer.store.writer import cdxj_name

_NEW = ".new"


def rewrite_keys(home: Path, last: int, notice: Callable[[str], None]) -> None:
    """Give all lines in the CDXJ files of a directory, up to the number `last`, the keys of today.

    A file is replaced as a whole once the new one is on disk. Stopped in the middle, this can be done again: lines that
    have their key are left alone.
    """
    paths = [home / cdxj_name(number) for number in file_numbers(home, 0, last)]
    done = 0
    for number, path in enumerate(paths, 1):
        if _rewrite(path):
            done += 1
            notice(f"note: {path} has the keys of this version now ({number:,} of {len(paths):,} files)")
    if done:
        directory = os.open(home, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def _rewrite(path: Path) -> bool:
    """Whether anything had to be changed."""
    fresh = path.with_name(path.name + _NEW)
    changed = False
    try:
        with open(path, "rb") as source, open(fresh, "wb") as out:
            for line in source:
                new = with_key(line, same_length=True)
                changed |= line != new
                out.write(new)
            if changed:
                out.flush()
                os.fsync(out.fileno())
                os.fchmod(out.fileno(), os.fstat(source.fileno()).st_mode & 0o7777)
        if changed:
            fresh.replace(path)
    finally:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
    return changed


def with_key(line: bytes, same_length: bool = False) -> bytes:
    """Return a line of CDXJ with the key of today. With `same_length` a line whose key is longer now stays as it is."""
    capture = read_capture(line.rstrip(b"\n"), "", 0, 0)
    if capture is None:
        return line
    old, stamp, fields = line.split(b" ", 2)
    key = key_of(capture.url).encode()
    left = len(old) - len(key) if same_length else 0
    if key == old or left < 0:
        return line
    return b"%b %b {%b%b" % (key, stamp, b" " * left, fields[1:])
