"""Captures from a moment on, and from the newest back: found without reading what lies before."""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import gmtime, strftime
from typing import Final

from gossamer.store.captures import Capture, Place, file_numbers, read_capture, tail_at, whole_lines
from gossamer.store.reader import directories_of
from gossamer.store.store import StorePosition
from gossamer.store.writer import Position, cdxj_name

# Lines are in the order of storing, and a response is stored when it has come. So times go back by as much as the clock
# was set back, and by no more than a turn of the loop otherwise.
_DISORDER: Final = 60.0
_NEAR: Final = 64 << 10  # bytes that need not be bisected: they are read in no time
_LOOK: Final = 16 << 10  # bytes in which a line is looked for
_BLOCK: Final = 256 << 10
_LONGEST_LINE: Final = 1 << 20
_STAMP: Final = 14  # digits


def places_since(home: Path, committed: StorePosition, seconds: float) -> dict[str, Place]:
    """Before the first capture that is not older, in each directory. Older ones may follow it."""
    if seconds <= _DISORDER:
        return {}
    stamps = _stamp(seconds - _DISORDER), _stamp(seconds)
    found = {}
    for name, path in directories_of(home, committed).items():
        end = committed.writers.get(name, Position())
        if end.file >= 0:
            found[name] = _place_in(path, end, *stamps)
    return found


def _stamp(seconds: float) -> bytes:
    return strftime("%Y%m%d%H%M%S", gmtime(seconds)).encode()


def _place_in(path: Path, end: Position, old: bytes, stamp: bytes) -> Place:
    """In the last file that begins with what is old: one jumps over what is, and looks at the lines from there on. What
    cannot be read counts as newer, so that nothing is passed over because of it.
    """
    numbers = file_numbers(path, 0, end.file)
    low, high = 0, len(numbers)
    while high - low > 1:
        middle = (low + high) // 2
        with _opened(path, numbers[middle], end) as (file, size):
            older = _end_of_older(file, 0, size, old)
        low, high = (middle, high) if older else (low, middle)
    if not numbers:
        return Place()
    with _opened(path, numbers[low], end) as (file, size):
        at = _first_not_older(file, _bisected(file, size, old), size, stamp)
        return Place(numbers[low], at, tail_at(file, at))


def _bisected(file: int, size: int, stamp: bytes) -> int:
    """Where a line begins before which all are older."""
    low, high = 0, size
    while high - low > _NEAR:
        middle = (low + high) // 2
        behind = _end_of_older(file, middle, high, stamp)
        low, high = (behind, high) if behind else (low, middle)
    return low


def _end_of_older(file: int, at: int, end: int, stamp: bytes) -> int:
    """Where the first line that begins behind this byte ends, if it is older; 0 if it is not, or if there is none."""
    if at >= end:
        return 0
    block = os.pread(file, min(_LOOK, end - at), at)
    start = block.find(b"\n") + 1 if at else 0
    while (stop := block.find(b"\n", start)) >= 0 and (start or not at):
        fields = block[start:stop].split(b" ", 2)
        start = stop + 1
        if len(fields) == 3 and len(fields[1]) == _STAMP and fields[1].isdigit():
            return at + start if fields[1] < stamp else 0
    return 0


def _first_not_older(file: int, at: int, size: int, stamp: bytes) -> int:
    """Where it begins: the end, where there is none."""
    for line, behind in whole_lines(file, at, size):
        fields = line.split(b" ", 2)
        if len(fields) == 3 and fields[1] >= stamp:
            return behind - len(line) - 1
        at = behind
    return at


def newest_first(home: Path, committed: StorePosition) -> Iterator[Capture]:
    """All captures, those that were stored last first; of several directories the ones fetched last."""
    streams = [
        _backwards(name, path, committed.writers[name])
        for name, path in directories_of(home, committed).items()
        if name in committed.writers and committed.writers[name].file >= 0
    ]
    return heapq.merge(*streams, key=lambda capture: capture.fetched_at, reverse=True)


def _backwards(name: str, path: Path, end: Position) -> Iterator[Capture]:
    for number in reversed(file_numbers(path, 0, end.file)):
        with _opened(path, number, end) as (file, size):
            for line in _lines_back(file, size):
                capture = read_capture(line, name, number, 0)
                if capture is not None:
                    yield capture


def _lines_back(file: int, at: int) -> Iterator[bytes]:
    rest = b""
    while at > 0:
        start = max(0, at - _BLOCK)
        first, *lines = (os.pread(file, at - start, start) + rest).split(b"\n")
        yield from reversed(lines)
        at, rest = start, first if len(first) <= _LONGEST_LINE else b""
    yield rest


@contextmanager
def _opened(path: Path, number: int, end: Position) -> Iterator[tuple[int, int]]:
    """A file, and how much of it is committed: nothing, where it cannot be opened."""
    try:
        file = os.open(path / cdxj_name(number), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        yield -1, 0
        return
    try:
        yield file, end.cdxj if number == end.file else os.fstat(file).st_size
    finally:
        os.close(file)
