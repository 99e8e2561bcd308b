"""A whole partition in pieces, for a checkpoint or another agent.

    "GP" version                         3 bytes, so that another version is told from garbage
    kind, number, check                  1 byte; 4 bytes, from 0 on; 4 bytes: CRC of what follows
    zstd of                              as msgpack
        h: a `Header`                    the first piece
        r: `Records`                     any number of them
        e: an `End`                      the last

What the records say is for `rows` to judge.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, Final
from zlib import crc32

import msgspec
from backports import zstd

from gossamer.errors import DiffError
from gossamer.frontier import keys
from gossamer.frontier.database import Rows
from gossamer.frontier.diffs import unpacked
from gossamer.frontier.rows import MOST_NUMBER, check_hosts, check_visits

SIZE: Final = 256 << 10
"""Bytes of records in a piece, and no more than one record beyond: a few milliseconds' work."""

_VERSION: Final = 1
_START: Final = b"GP" + bytes([_VERSION])
_HEAD: Final = struct.Struct(">3scII")
_MOST_RAW: Final = 4 << 20
_LONGEST: Final = _MOST_RAW + 65536  # bytes of a piece: random ones do not become fewer
_HEADER, _RECORDS, _END = b"h", b"r", b"e"
_LEVEL: Final = 3
_LENGTH: Final = struct.Struct(">I")


def framed(piece: bytes) -> bytes:
    """For where pieces are kept one after the other, and cut elsewhere when they are read."""
    return _LENGTH.pack(len(piece)) + piece


class Frames:
    """Finds the pieces again in what is read. Invariant: it holds no more than one piece and what was fed last."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        rest = self._rest + data
        at = 0
        while len(rest) - at >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(rest, at)
            if length > _LONGEST:
                raise DiffError("a piece of a partition is damaged")
            if len(rest) - at - _LENGTH.size < length:
                break
            at += _LENGTH.size + length
            yield rest[at - length : at]
        self._rest = rest[at:]


class Header(msgspec.Struct, array_like=True, frozen=True):
    partition: int
    number: int  # the writer's last request number
    taken: int = 0  # position in the log up to which what others sent is part of it


class Records(msgspec.Struct, array_like=True):
    visits: dict[bytes, bytes] = {}
    hosts: dict[bytes, bytes] = {}
    meta: dict[str, bytes] = {}


class End(msgspec.Struct, array_like=True):
    """How many records there were."""

    visits: int = 0
    hosts: int = 0
    meta: int = 0

    def add(self, records: Records) -> None:
        self.visits += len(records.visits)
        self.hosts += len(records.hosts)
        self.meta += len(records.meta)


_encode = msgspec.msgpack.Encoder().encode
_header = msgspec.msgpack.Decoder(Header).decode
_records = msgspec.msgpack.Decoder(Records).decode
_end = msgspec.msgpack.Decoder(End).decode


def pack_pieces(header: Header, visits: Rows, hosts: Rows, meta: Iterator[tuple[str, bytes] | None]) -> Iterator[bytes]:
    """`meta` has None now and then, where nothing was found for a while: an empty piece lets others have their turn."""
    number = 0
    end = End()
    yield _packed(_HEADER, number, header)
    for records in _parted(visits, hosts, meta):
        number += 1
        end.add(records)
        yield _packed(_RECORDS, number, records)
    yield _packed(_END, number + 1, end)


def _parted(visits: Rows, hosts: Rows, meta: Iterator[tuple[str, bytes] | None]) -> Iterator[Records]:
    records, size = Records(), 0
    for rows, visits_come in ((visits, True), (hosts, False)):
        into = records.visits if visits_come else records.hosts
        for key, value in rows:
            into[key] = value
            size += len(key) + len(value)
            if size >= SIZE:
                yield records
                records, size = Records(), 0
                into = records.visits if visits_come else records.hosts
    for row in meta:
        if row is not None:
            records.meta[row[0]] = row[1]
            size += len(row[0]) + len(row[1])
        if row is None or size >= SIZE:
            yield records
            records, size = Records(), 0
    yield records


def _packed(kind: bytes, number: int, content: Header | Records | End) -> bytes:
    packed = zstd.compress(_encode(content), _LEVEL)
    return _HEAD.pack(_START, kind, number, crc32(packed)) + packed


class PieceReader:
    """Told of the pieces of one partition in their order. DiffError, whatever is wrong with one.

    Invariant: `whole` is true only when all have come, from the first to the last, and each was valid.
    """

    def __init__(self, partition: int) -> None:
        self.header = Header(partition, 0)
        self.whole = False
        self._prefix = keys.partition_prefix(partition)
        self._number = 0
        self._end = End()

    def feed(self, piece: bytes) -> Records | None:
        """The records in it, if it has any."""
        if not _HEAD.size < len(piece) <= _LONGEST:
            raise DiffError(f"a piece of a partition has {len(piece)} bytes")
        start, kind, number, check = _HEAD.unpack_from(piece)
        if start != _START:
            version = f"of version {start[2]}" if start[:2] == _START[:2] else "none"
            raise DiffError(f"a piece of a partition is {version}: are all agents of one version?")
        if number != self._number or self.whole or (kind == _HEADER) != (number == 0):
            raise DiffError("a piece of a partition is missing, or comes twice")
        self._number += 1
        packed = piece[_HEAD.size :]
        if crc32(packed) != check:
            raise DiffError("a piece of a partition is damaged")
        raw = unpacked(packed, _MOST_RAW)
        if kind == _RECORDS:
            return self._read(_decoded(_records, raw))
        if kind == _HEADER:
            self._begin(_decoded(_header, raw))
        elif kind == _END and _decoded(_end, raw) == self._end:
            self.whole = True
        else:
            raise DiffError("of a partition not all has come")
        return None

    def _begin(self, header: Header) -> None:
        if header.partition != self.header.partition:
            raise DiffError(f"this is partition {header.partition}, and not {self.header.partition}")
        if not (0 <= header.number < MOST_NUMBER and header.taken >= 0):
            raise DiffError("a partition has numbers that no agent writes")
        self.header = header

    def _read(self, records: Records) -> Records:
        check_visits(self._prefix, records.visits)
        check_hosts(self._prefix, records.hosts)
        self._end.add(records)
        return records


def _decoded(decode: Any, raw: bytes) -> Any:
    try:
        return decode(raw)
    except (ValueError, RecursionError) as error:
        raise DiffError(f"a piece of a partition cannot be read: {error}") from error
