"""All captures of one URL: how it was each time it was visited."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gossamer.model.post import plain
from gossamer.store.captures import Capture, StoredFile, committed_files, read_capture
from gossamer.store.cdxj import quoted
from gossamer.store.store import StorePosition

_BLOCK = 1 << 20  # bytes of CDXJ read at a time
_MOST_READ = 512 << 20  # bytes of CDXJ, some 1.7 million captures
_MOST = 1000  # captures


def captures_of(
    url: str, home: Path, committed: StorePosition, most_read: int = _MOST_READ
) -> tuple[list[Capture], bool]:
    """The newest first, and whether all that is stored was looked at. Lines are in the order of their storing, so that
    all are looked through, the newest files first.
    """
    mark = f'"url": {quoted(plain(url))}, '.encode()
    found: list[Capture] = []
    files = committed_files(home, committed)
    for number in range(len(files) - 1, -1, -1):
        found += reversed([each for each in _in_file(files[number], mark) if each.url == url])
        most_read -= files[number].cdxj
        if number and (most_read <= 0 or len(found) >= _MOST):
            return found[:_MOST], False
    return found[:_MOST], len(found) <= _MOST


def _in_file(file: StoredFile, mark: bytes) -> Iterator[Capture]:
    number = int(file.cdxj_path.stem.rpartition("-")[2])
    for lines in _blocks(file):
        at = lines.find(mark)
        while at >= 0:
            end = lines.find(b"\n", at)
            found = read_capture(lines[lines.rfind(b"\n", 0, at) + 1 : end], "", number, 0)
            if found is not None:
                yield found
            at = lines.find(mark, end)


def _blocks(file: StoredFile) -> Iterator[bytes]:
    """Whole lines, of what is committed; a line longer than a block is none."""
    left, rest = file.cdxj, b""
    try:
        with open(file.cdxj_path, "rb") as source:
            while left > 0 and (block := source.read(min(_BLOCK, left))):
                left -= len(block)
                whole, newline, rest_of_block = (rest + block).rpartition(b"\n")
                yield whole + newline
                rest = rest_of_block if len(rest_of_block) < _BLOCK else b""
    except OSError:
        return
