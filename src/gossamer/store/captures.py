"""Captures in the order in which they were appended, from a place on: what a follower of the crawl reads."""

from __future__ import annotations

import heapq
import os
from calendar import timegm
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from time import strptime
from zlib import crc32

import msgspec

from gossamer.model import Locator
from gossamer.model.post import plain, posted
from gossamer.regex import compiled_later
from gossamer.store.cdxj import REVISIT, quoted
from gossamer.store.reader import directories_of
from gossamer.store.store import StorePosition
from gossamer.store.warc import spelled
from gossamer.store.writer import Position, cdxj_name, file_name

_NUMBERED = compiled_later(r"gossamer-(\d{5,})\.cdxj")
_BLOCK = 256 << 10  # bytes of CDXJ read at a time
LONGEST_LINE = 1 << 20  # a longer one is none
_TAIL = 150  # bytes at the end of a line by which it is known again; every line is longer


class Place(msgspec.Struct, frozen=True, gc=False):
    """How far the captures of one directory were read: a file, bytes of its CDXJ, and what stands before them."""

    file: int = -1
    cdxj: int = 0
    tail: int = 0


class Capture(msgspec.Struct, frozen=True, gc=False):
    """A line of CDXJ. `after` is the place behind it in its directory."""

    url: str
    status: int
    mime: str
    digest: str
    fetched_at: int
    stored: Locator
    directory: str
    after: Place
    change: str = ""  # compared with the visit before (`Change`); nothing where there was none

    @property
    def is_revisit(self) -> bool:
        return self.mime == REVISIT


class _Line(msgspec.Struct, gc=False):
    url: str
    mime: str
    status: str
    digest: str
    length: str
    offset: str
    filename: str
    change: str = ""
    method: str = ""
    request_body: str = msgspec.field(default="", name="requestBody")


_read_line = msgspec.json.Decoder(_Line).decode


class StoredFile(msgspec.Struct, frozen=True):
    """A WARC file and its CDXJ, and how much of each is committed."""

    path: Path
    warc: int
    cdxj_path: Path
    cdxj: int


def committed_files(home: Path, position: StorePosition) -> list[StoredFile]:
    """By their numbers, of all directories."""
    found = {}
    for name, path in directories_of(home, position).items():
        end = position.writers.get(name, Position())
        for number in file_numbers(path, 0, end.file):
            warc, cdxj = path / file_name(number), path / cdxj_name(number)
            last = number == end.file
            found[number] = StoredFile(warc, end.warc if last else _size(warc), cdxj, end.cdxj if last else _size(cdxj))
    return [found[number] for number in sorted(found)]


class Captures:
    """Invariant: nothing beyond `committed` is read, so nothing that a crash of the crawl could take away again."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def after(self, places: dict[str, Place], committed: StorePosition) -> Iterator[Capture]:
        """Those that came since. Of several directories the ones fetched first come first."""
        directories = directories_of(self._home, committed)
        streams = [
            self._in_directory(name, directories[name], places.get(name, Place()), end)
            for name, end in committed.writers.items()
            if end.file >= 0
        ]
        return streams[0] if len(streams) == 1 else heapq.merge(*streams, key=lambda capture: capture.fetched_at)

    def places_of(self, url: str, places: dict[str, Place], digest: bytes) -> Iterator[Locator]:
        """Where responses of this URL with this payload are, of captures before the places; the newest file first."""
        mark, payload = f'"url": {quoted(plain(url))}, '.encode(), spelled(digest)
        for name, place in places.items():
            path = Path(name) if name else self._home
            for number in reversed(file_numbers(path, 0, place.file)):
                try:
                    lines = (path / cdxj_name(number)).open("rb")
                except OSError:
                    continue
                with lines:
                    for line in lines:
                        found = read_capture(line.rstrip(b"\n"), name, number, 0) if mark in line else None
                        if found is not None and not found.is_revisit and found.digest == payload:
                            yield found.stored

    def sizes(self, places: dict[str, Place], committed: StorePosition) -> tuple[int, int]:
        """Bytes of CDXJ before the places, and in all: how far a reader has come."""
        done = total = 0
        for name, path in directories_of(self._home, committed).items():
            end, place = committed.writers.get(name, Position()), places.get(name, Place())
            for number in file_numbers(path, 0, end.file):
                size = end.cdxj if number == end.file else _size(path / cdxj_name(number))
                total += size
                done += size if number < place.file else min(size, place.cdxj) if number == place.file else 0
        return done, total

    def checked(self, places: dict[str, Place], committed: StorePosition) -> dict[str, Place]:
        """The places, or where one does not fit what is stored now, the beginning of its file: after a crash of the
        machine, or where files were put back from a copy, what comes after may be other than what was read.
        """
        good = {}
        for name, path in directories_of(self._home, committed).items():
            place, end = places.get(name, Place()), committed.writers.get(name, Position())
            if place.file >= 0 and not _fits(path, place, end):
                place = Place(min(place.file, end.file))
            good[name] = place
        return good

    def _in_directory(self, name: str, path: Path, place: Place, end: Position) -> Iterator[Capture]:
        for number in file_numbers(path, place.file, end.file):
            at = place.cdxj if number == place.file else 0
            stop = end.cdxj if number == end.file else None
            try:
                file = os.open(path / cdxj_name(number), os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                continue
            try:
                for line, behind in whole_lines(file, at, stop):
                    capture = read_capture(line, name, number, behind)
                    if capture is not None:
                        yield capture
            finally:
                os.close(file)


def whole_lines(file: int, at: int, stop: int | None) -> Iterator[tuple[bytes, int]]:
    """Whole lines, and where each one ends."""
    rest = b""
    while True:
        most = _BLOCK if stop is None else min(_BLOCK, stop - at)
        block = os.pread(file, most, at) if most > 0 else b""
        if not block:
            return
        at += len(block)
        *lines, rest = (rest + block).split(b"\n")
        behind = at - len(rest) - sum(map(len, lines)) - len(lines)
        for line in lines:
            behind += len(line) + 1
            yield line, behind
        if len(rest) > LONGEST_LINE:
            rest = b""


def read_capture(line: bytes, directory: str, number: int, behind: int) -> Capture | None:
    try:
        _, stamp, fields = line.split(b" ", 2)
        found = _read_line(fields)
        status, offset, length = int(found.status), int(found.offset), int(found.length)
        fetched_at = _seconds(stamp)
        url = posted(found.url, found.request_body) or found.url if found.method else found.url
    except (ValueError, OverflowError, msgspec.MsgspecError):
        return None
    place = Place(number, behind, crc32(line[-_TAIL:]))
    stored = Locator(number, offset, length)
    return Capture(url, status, found.mime, found.digest, fetched_at, stored, directory, place, found.change)


@lru_cache(maxsize=64)  # captures of one second come together
def _seconds(stamp: bytes) -> int:
    return timegm(strptime(stamp.decode("ascii"), "%Y%m%d%H%M%S"))


def _fits(path: Path, place: Place, end: Position) -> bool:
    if (place.file, place.cdxj) > (end.file, end.cdxj):
        return False
    if not place.cdxj:
        return True
    try:
        with open(path / cdxj_name(place.file), "rb") as file:
            return tail_at(file.fileno(), place.cdxj) == place.tail
    except OSError:
        return False


def tail_at(file: int, at: int) -> int:
    """By what the line that ends there is known again."""
    return crc32(os.pread(file, _TAIL, max(0, at - 1 - _TAIL))) if at else 0


def file_numbers(path: Path, first: int, last: int) -> list[int]:
    if first == last >= 0:
        return [last]
    try:
        names = os.listdir(path)
    except OSError:
        return []
    found = (int(match[1]) for match in map(_NUMBERED.fullmatch, names) if match)
    return sorted(number for number in found if first <= number <= last)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
