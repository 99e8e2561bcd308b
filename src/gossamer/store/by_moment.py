"""The response that another record refers to, by its URL, moment and digest.

Lines of CDXJ are in the order of time, give or take a moment: a few of them lead to any second. A clock that was put
back breaks that order; what is not found so must be looked for among all lines (`Captures.places_of`).
"""

from __future__ import annotations

import os
import re
import time
from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path

from gossamer.model import Locator
from gossamer.model.post import plain
from gossamer.store.captures import LONGEST_LINE, Place, file_numbers, read_capture, whole_lines
from gossamer.store.cdxj import quoted
from gossamer.store.warc import spelled
from gossamer.store.writer import cdxj_name

_STEP = 64 << 10  # bytes of CDXJ between two looks
_SLACK = 2  # seconds by which lines may be out of order
_line = re.compile(rb"[^ \n]++ (\d{14}) \{").match
_FAR = b"9" * 14  # behind every moment


def places_at(home: Path, places: dict[str, Place], refers_to: tuple[str, float], digest: bytes) -> Iterator[Locator]:
    """Where it may be, of captures before the places."""
    url, moment = refers_to
    mark, payload = f'"url": {quoted(plain(url))}, '.encode(), spelled(digest)
    first, last = _stamp(moment - _SLACK), _stamp(moment + _SLACK)
    for name, place in places.items():
        path = Path(name) if name else home
        for number in _files(path, place, first, last):
            for line in _between(path / cdxj_name(number), first, last):
                found = read_capture(line, name, number, 0) if mark in line else None
                if found is not None and not found.is_revisit and found.digest == payload:
                    yield found.stored


def _stamp(seconds: float) -> bytes:
    return time.strftime("%Y%m%d%H%M%S", time.gmtime(min(max(seconds, 0.0), 2e11))).encode()


def _files(path: Path, place: Place, first: bytes, last: bytes) -> Iterator[int]:
    numbers = file_numbers(path, 0, place.file)
    begin = max(0, bisect_left(numbers, first, key=lambda number: _first_stamp(path / cdxj_name(number))) - 1)
    for number in numbers[begin:]:
        if number != numbers[begin] and _first_stamp(path / cdxj_name(number)) > last:
            return
        yield number


def _first_stamp(path: Path) -> bytes:
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return _stamp_behind(file, 0)
    finally:
        os.close(file)


def _between(path: Path, first: bytes, last: bytes) -> Iterator[bytes]:
    """Lines of these seconds, and some before."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        looks = range(0, os.fstat(file).st_size, _STEP)
        begin = max(0, bisect_left(looks, first, key=lambda at: _stamp_behind(file, at)) - 1)
        for line, _ in whole_lines(file, begin * _STEP, None):
            found = _line(line)
            if found and found[1] > last:
                return
            yield line
    finally:
        os.close(file)


def _stamp_behind(file: int, at: int) -> bytes:
    """The moment in the first line that begins behind this place, or at the beginning of the file."""
    size = 4096
    while size <= LONGEST_LINE:
        block = os.pread(file, size, at)
        found = _line(block, block.find(b"\n") + 1 if at else 0)
        if found:
            return found[1]
        if len(block) < size:
            break
        size *= 4
    return _FAR
