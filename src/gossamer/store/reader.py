"""Reading what the store wrote: captures in the order of their appending, and records by their place."""

from __future__ import annotations

import os
import re
from calendar import timegm
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from time import strptime

import msgspec
from isal import isal_zlib

from gossamer.model import Locator
from gossamer.regex import compiled_later
from gossamer.store.store import StorePosition
from gossamer.store.warc import FORM, read_digest
from gossamer.store.writer import file_name

_GZIP = 31
_MOST_OPEN = 16  # files
_LONGEST_HEAD = 256 << 10  # bytes of a record beside its payload: WARC headers, status line, HTTP headers
_FIELD = compiled_later(rb"^([A-Za-z-]++):[ \t]*+([^\r\n]*+)\r?$", re.M)
_FORM = FORM.lower().encode()
_STATUS = compiled_later(rb"HTTP/[0-9.]+ +([0-9]{3})")


class Record(msgspec.Struct, gc=False):
    """A response as it is stored. `raw` is the body as sent, and empty in a revisit, whose payload is elsewhere."""

    url: str
    status: int
    head: bytes
    raw: bytes
    fetched_at: float
    digest: bytes  # of the payload, SHA-1
    truncated: str = ""
    refers_to: tuple[str, float] | None = None  # a revisit: URL and moment of the record with the payload
    address: str = ""  # that it came from


def directories_of(home: Path, position: StorePosition) -> dict[str, Path]:
    """Where the WARC files are, by the names that positions have: `home`, and the others that were ever given."""
    return {"": home, **{name: Path(name) for name in position.writers if name}}


class RecordFiles:
    """Records by their place. Not for several threads at once.

    Invariant: at most _MOST_OPEN files are open; a record that is longer than `most` unpacked is not read.
    """

    def __init__(self, directories: Iterable[Path], most: int = 64 << 20) -> None:
        self.directories = list(directories)
        self._most = most + _LONGEST_HEAD
        self._open: dict[int, int] = {}

    def read(self, place: Locator) -> Record | None:
        """None where there is no such record, or one that cannot be read."""
        file = self._file(place.file)
        if file is None:
            return None
        try:
            packed = os.pread(file, place.length, place.offset)
            unpacker = isal_zlib.decompressobj(_GZIP)
            data = unpacker.decompress(packed, self._most)
        except Exception:  # of the disk, or one of isal's own
            return None
        return read_record(data) if unpacker.eof else None

    def close(self) -> None:
        for file in self._open.values():
            os.close(file)
        self._open.clear()

    def _file(self, number: int) -> int | None:
        file = self._open.pop(number, None)
        if file is None:
            for directory in self.directories:
                try:
                    file = os.open(directory / file_name(number), os.O_RDONLY | os.O_CLOEXEC)
                    break
                except OSError:
                    continue
            else:
                return None
            if len(self._open) >= _MOST_OPEN:
                os.close(self._open.pop(next(iter(self._open))))
        self._open[number] = file  # the one used last is closed last
        return file


def read_record(data: bytes) -> Record | None:
    """The response, or revisit, in a WARC record without its compression."""
    end = _after_head(data[:_LONGEST_HEAD])
    if not end or not data.startswith(b"WARC/1."):
        return None
    fields = {name.lower(): value for name, value in _FIELD.findall(data[:end])}
    kind, length = fields.get(b"warc-type"), fields.get(b"content-length", b"")
    if kind not in (b"response", b"revisit") or not (length.isdigit() and len(length) < 16):
        return None
    block = data[end : end + int(length)]
    cut = _after_head(block) or len(block)
    status = _STATUS.match(block)
    date = moment(fields.get(b"warc-date", b""))
    if status is None or date is None:
        return None
    refers_to = None
    if kind == b"revisit":
        refers_to = (
            _text(fields.get(b"warc-refers-to-target-uri")),
            moment(fields.get(b"warc-refers-to-date", b"")) or 0.0,
        )
    url, form = _text(fields.get(b"warc-target-uri")), fields.get(_FORM)
    return Record(
        f"{url}#{_text(form)}" if form else url,
        int(status[1]),
        block[:cut],
        block[cut:],
        date,
        read_digest(_text(fields.get(b"warc-payload-digest"))),
        _text(fields.get(b"warc-truncated")),
        refers_to,
        _text(fields.get(b"warc-ip-address")),
    )


def _after_head(data: bytes) -> int:
    """Where what follows a head begins; 0 where the head does not end. Some servers end lines with a line feed only."""
    end = data.find(b"\n\r\n")
    plain = data.find(b"\n\n", 0, end + 2 if end >= 0 else None)
    if plain >= 0:
        return plain + 2
    return end + 3 if end >= 0 else 0


def moment(text: bytes) -> float | None:
    """A WARC-Date in seconds; None where it is none."""
    whole, _, rest = text.removesuffix(b"Z").partition(b".")
    try:
        return _seconds(whole) + float(b"0." + (rest or b"0"))
    except (ValueError, OverflowError):
        return None


@lru_cache(maxsize=64)  # records of one second come together
def _seconds(text: bytes) -> int:
    return timegm(strptime(text.decode("ascii"), "%Y-%m-%dT%H:%M:%S"))


def _text(value: bytes | None) -> str:
    return (value or b"").decode("utf-8", "replace")
