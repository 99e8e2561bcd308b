"""Copies of a crawl directory while the crawl writes into it, as a loss of power might leave it.

    live         copied while the crawl runs, the frontier first: pages come in meanwhile
    frozen       copied while the process is stopped: the state of one moment, often in the middle of something
    pages torn   frozen; of what came after the last commit, WARC and CDXJ hold only a part, and in it zeros
    log torn     frozen; the end of the database's log was not written

The first two have what the program wrote; the others what a disk may have kept of it.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import msgspec

from gossamer.frontier.reader import FrontierReader
from gossamer.store import StorePosition
from gossamer.store.writer import Position

KINDS = ("live", "frozen", "pages torn", "log torn")
_TORN_BYTES = 64  # at the end of the log: within the last record


def take(kind: str, process: subprocess.Popen[bytes], source: Path, target: Path, chance: random.Random) -> None:
    """Copy `source`, into which `process` writes, to `target`."""
    if kind == "live":
        _copy(source, target)
        return
    process.send_signal(signal.SIGSTOP)
    try:
        _copy(source, target)
    finally:
        process.send_signal(signal.SIGCONT)
    if kind == "pages torn":
        tear_pages(target, chance)
    elif kind == "log torn":
        tear_log(target / "frontier", chance)


def _copy(source: Path, target: Path) -> None:
    while True:
        target.mkdir()
        try:
            shutil.copytree(source / "frontier", target / "frontier")
            shutil.copytree(source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("frontier"))
            return
        except (FileNotFoundError, shutil.Error):  # a file was there when the folder was listed, and gone after that
            shutil.rmtree(target)


def tear_pages(directory: Path, chance: random.Random) -> None:
    """Cut WARC and CDXJ somewhere after the last commit, and put zeros before the cut."""
    position = committed(directory / "frontier")
    files = sorted((directory / "warc").glob("*.warc.gz"))
    for number, path in enumerate(files):
        if number < position.file:
            continue
        kept = (position.warc, position.cdxj) if number == position.file else (0, 0)
        for file, safe in zip((path, path.with_name(path.name.replace(".warc.gz", ".cdxj"))), kept, strict=True):
            size = file.stat().st_size
            end = chance.randint(min(safe, size), size)
            zeros = chance.randint(min(safe, end), end)
            os.truncate(file, zeros)
            os.truncate(file, end)


def tear_log(frontier: Path, chance: random.Random) -> None:
    """Cut the newest log of the database inside its last record."""
    logs = sorted(frontier.glob("*.log"))
    if logs and (size := logs[-1].stat().st_size):
        os.truncate(logs[-1], size - chance.randint(1, min(_TORN_BYTES, size)))


def committed(frontier: Path) -> Position:
    """How far the store had come at the last commit of this copy."""
    with tempfile.TemporaryDirectory() as scratch:
        reader = FrontierReader(frontier, Path(scratch))
        try:
            stored = reader.meta("store")
        finally:
            reader.close()
    position = msgspec.msgpack.decode(stored, type=StorePosition) if stored else StorePosition()
    return position.writers.get("", Position())
