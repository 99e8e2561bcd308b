"""What stands in a WARC file, member by member: whether it is as it was written, and its CDXJ lines made anew."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha1
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from isal import isal_zlib

from gossamer.model.media_type import content_type_of
from gossamer.model.post import plain
from gossamer.store.captures import read_capture
from gossamer.store.cdxj import REVISIT, Entry, Lines
from gossamer.store.reader import Record, read_record
from gossamer.store.warc import read_digest

_GZIP: Final = 31
_HEADER: Final = b"\x1f\x8b\x08"  # how a gzip member begins
_BLOCK: Final = 1 << 20  # bytes read at a time
_PIECE: Final = 16 << 10  # bytes unpacked at a time
_MOST: Final = 1 << 30  # bytes of a record: what claims more is damaged, and must not fill the memory
_BLOCK_DIGEST: Final = re.compile(rb"^WARC-Block-Digest:[ \t]*+([^\r\n]*+)", re.M | re.I)
_AT_ONCE: Final = 1000  # lines


class Member(NamedTuple):
    """A record, and where it stands. Without `data` it cannot be unpacked, or is none."""

    offset: int
    length: int
    data: bytes

    @property
    def is_whole(self) -> bool:
        """It has what its digest says, where it has one (files of earlier versions have none)."""
        head, mark, block = self.data.partition(b"\r\n\r\n")
        if not (mark and head.startswith(b"WARC/1.")):
            return False
        found = _BLOCK_DIGEST.search(head)
        wanted = read_digest(found[1].decode("latin-1")) if found else b""
        return not wanted or sha1(block[:-4], usedforsecurity=False).digest() == wanted

    @property
    def capture(self) -> Record | None:
        """The response, where it is one that lines lead to."""
        return read_record(self.data) if self.data else None


def members(path: Path, stop: int | None = None) -> Iterator[Member]:
    """Those of a file up to a place in it. Of what is damaged comes one without data, up to where the next begins."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        window, at = _Window(file, size if stop is None else min(stop, size)), 0
        while at < window.end:
            data, behind = _unpacked(window, at)
            if data is None:
                behind = _next(window, at + 1)
            yield Member(at, behind - at, data or b"")
            at = behind


class _Window:
    """A part of a file in memory: records are short, and follow each other."""

    def __init__(self, file: BinaryIO, end: int) -> None:
        self.end = end
        self._file = file
        self._start, self._block = 0, b""

    def read(self, at: int, size: int) -> bytes:
        """From this place on, fewer bytes at the end."""
        size = max(min(size, self.end - at), 0)
        if not self._start <= at <= at + size <= self._start + len(self._block):
            self._start = at
            self._block = os.pread(self._file.fileno(), min(max(size, _BLOCK), self.end - at), at)
        return self._block[at - self._start : at - self._start + size]


def _unpacked(window: _Window, at: int) -> tuple[bytes | None, int]:
    """What begins there, and where it ends."""
    unpacker, parts, size = isal_zlib.decompressobj(_GZIP), list[bytes](), 0
    try:
        while not unpacker.eof:
            piece = window.read(at, _PIECE)
            if not piece:
                return None, at
            parts.append(unpacker.decompress(piece))
            at += len(piece) - len(unpacker.unused_data)
            size += len(parts[-1])
            if size > _MOST:
                return None, at
    except Exception:  # of the disk, or one of isal's own
        return None, at
    return b"".join(parts), at


def _next(window: _Window, at: int) -> int:
    """Where the next member begins that can be unpacked."""
    while at < window.end:
        block = window.read(at, _BLOCK)
        found = block.find(_HEADER)
        if found < 0:
            at += max(len(block) - len(_HEADER) + 1, 1)
            continue
        at += found
        if _unpacked(window, at)[0] is not None:
            return at
        at += 1
    return window.end


class FileCheck(NamedTuple):
    """What was found of a WARC file and its CDXJ."""

    captures: int
    damaged: list[int]  # offsets of records that are not as they were written
    wrong: int  # responses without a line, and lines that lead to no response, or are none
    end: int  # of the last whole record


def check_file(
    warc: Path, cdxj: Path, stop: int | None = None, lines: int | None = None, told: Callable[[int], None] | None = None
) -> FileCheck:
    """Read all of a WARC file and compare it with its CDXJ; of each no more than so many bytes. `told` hears of bytes
    read.
    """
    wanted, wrong = _places_in(cdxj, lines)
    captures, end, damaged = 0, 0, list[int]()
    for member in members(warc, stop):
        if told is not None:
            told(member.length)
        line = wanted.pop(member.offset, None)
        if not member.is_whole:
            damaged.append(member.offset)
            continue
        end = member.offset + member.length
        capture = member.capture
        captures += capture is not None
        wrong += line != (None if capture is None else (plain(capture.url), member.length))
    return FileCheck(captures, damaged, wrong + len(wanted), end)


def _places_in(cdxj: Path, size: int | None) -> tuple[dict[int, tuple[str, int]], int]:
    """URL and length of what each line leads to, by the offset; and how many lines are none."""
    found: dict[int, tuple[str, int]] = {}
    wrong = 0
    try:
        with open(cdxj, "rb") as file:
            data = file.read(-1 if size is None else size)
    except FileNotFoundError:
        return found, wrong
    for line in data.split(b"\n")[:-1]:
        capture = read_capture(line, "", 0, 0)
        if capture is None:
            wrong += 1
        else:
            found[capture.stored.offset] = plain(capture.url), capture.stored.length
    return found, wrong + (not data.endswith(b"\n") and bool(data))


def write_lines(warc: Path, cdxj: Path, stop: int | None = None) -> int:
    """Make the CDXJ file of a WARC file anew, whole or not at all. Lines that are right keep what only they say: how a
    page compared with the visit before. Gives the number of bytes.
    """
    fresh, lines, size = cdxj.with_name(cdxj.name + ".new"), Lines(), 0
    changes = _changes_in(cdxj)
    try:
        with open(fresh, "wb") as out:
            entries: list[Entry] = []
            for member in members(warc, stop):
                capture = member.capture if member.is_whole else None
                if capture is not None:
                    kind = REVISIT if capture.refers_to else content_type_of(capture.head)
                    place = member.offset, member.length
                    told = changes.get((capture.url, *place), "")
                    entries.append(
                        (capture.url, capture.fetched_at, kind, capture.status, capture.digest, *place, told)
                    )
                if len(entries) >= _AT_ONCE:
                    size += out.write(lines.of(entries, warc.name))
                    entries.clear()
            size += out.write(lines.of(entries, warc.name))
            out.flush()
            os.fsync(out.fileno())
        fresh.replace(cdxj)
    finally:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
    folder = os.open(cdxj.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    return size


def _changes_in(cdxj: Path) -> dict[tuple[str, int, int], str]:
    found = {}
    with suppress(FileNotFoundError), open(cdxj, "rb") as file:
        for line in file:
            capture = read_capture(line.rstrip(b"\n"), "", 0, 0) if b'"change"' in line else None
            if capture is not None:
                found[capture.url, capture.stored.offset, capture.stored.length] = capture.change
    return found
