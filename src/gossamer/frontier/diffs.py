"""What a commit changed in a partition, as messages: whoever applies all of them in order has what the writer had.

    "GD" version                         3 bytes, so that another version is told from garbage
    last                                 1 byte: 1 in the last message of a diff
    number, check                        2 bytes, from 0 on; 4 bytes: CRC of the whole, the same in all its messages
    a part of: zstd of a `Diff`          as msgpack

Nothing is applied of what is not whole, is of another partition, or would not be written by a frontier.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final
from zlib import crc32

import msgspec
from backports import zstd

from gossamer.errors import DiffError
from gossamer.frontier import keys
from gossamer.frontier.database import Changes
from gossamer.frontier.rows import MOST_NUMBER, check_hosts, check_visits

LONGEST: Final = 900_000
"""Bytes of a message."""

MOST_RAW: Final = 128 << 20  # bytes of a diff, unpacked: a commit has those of a second or two
_VERSION: Final = 1
_START: Final = b"GD" + bytes([_VERSION])
_HEAD: Final = struct.Struct(">3sBHI")
_PART: Final = LONGEST - _HEAD.size
_MOST_PARTS: Final = MOST_RAW // _PART
_LEVEL: Final = 3
_WINDOW: Final = 23  # 8 MB, as a power of two
_MOST_MOMENT: Final = 1 << 63


class Diff(msgspec.Struct, array_like=True):
    """All that one commit put and deleted (None) in a partition. `visits` and `hosts` are by the keys of the database;
    what follows from them (index, times, counts) is not in it.
    """

    taken: int = 0  # position in the log up to which what others sent is part of it
    number: int = 0  # the writer's last request number
    visits: Changes = {}
    hosts: Changes = {}
    meta: dict[str, bytes] = {}  # notes of the whole agent that are about a host of the partition

    def __bool__(self) -> bool:
        return bool(self.visits or self.hosts or self.meta)


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Diff).decode
_compressor = zstd.ZstdCompressor(level=_LEVEL)  # a new one takes as long as what is mostly given to it


def diffs_of(
    visits: Changes,
    hosts: Changes,
    meta: dict[str, bytes],
    partition_of: Callable[[str], int | None],
    number: int = 0,
) -> dict[int, Diff]:
    """The changes of a commit by partition. `partition_of`: that of the host which a note is about, by its name; None:
    it is about none. `number`: the last that was given. Who knows what was `taken` of each partition adds that.
    """
    found: dict[bytes, Diff] = {}
    for key, value in visits.items():
        partition = key[:2]
        diff = found.get(partition)
        if diff is None:
            diff = found[partition] = Diff(0, number)
        diff.visits[key] = value
    for key, value in hosts.items():
        partition = key[:2]
        diff = found.get(partition)
        if diff is None:
            diff = found[partition] = Diff(0, number)
        diff.hosts[key] = value
    found.pop(keys.META[:2], None)
    found.pop(keys.INDEX, None)
    diffs = {int.from_bytes(partition, "big"): diff for partition, diff in found.items()}
    for name, content in meta.items():
        about = partition_of(name)
        if about is not None:
            diffs.setdefault(about, Diff(0, number)).meta[name] = content
    return diffs


def pack_diff(diff: Diff) -> list[bytes]:
    """As few messages as it fits in."""
    raw = _encode(diff)
    if len(raw) > MOST_RAW:
        raise DiffError(f"a commit changed too much of one partition: {len(raw):,} bytes. Commit more often.")
    packed = _compressor.compress(raw, zstd.ZstdCompressor.FLUSH_FRAME)
    check = crc32(packed)
    starts = range(0, len(packed), _PART)
    return [
        _HEAD.pack(_START, start == starts[-1], number, check) + packed[start : start + _PART]
        for number, start in enumerate(starts)
    ]


class DiffReader:
    """Puts the diffs of one partition together again, from messages in their order.

    Invariant: what it gives is whole and valid. A message that comes twice in a row, as its writer had no answer,
    counts once. After a DiffError it waits for the beginning of a diff.
    """

    def __init__(self, partition: int) -> None:
        self._partition = keys.partition_prefix(partition)
        self._parts: list[bytes] = []
        self._check = 0
        self._last: bytes | None = None

    def feed(self, message: bytes) -> Diff | None:
        """The diff that this message ends, if it ends one."""
        if message == self._last:
            return None
        self._last = message
        try:
            return self._fed(message)
        except DiffError:
            self.drop()
            raise

    def drop(self) -> None:
        """What has begun is not going to end: its writer is gone."""
        self._parts = []

    def _fed(self, message: bytes) -> Diff | None:
        if not _HEAD.size < len(message) <= LONGEST:
            raise DiffError(f"a message of a diff has {len(message)} bytes")
        start, last, number, check = _HEAD.unpack_from(message)
        if start != _START:
            kind = f"of version {start[2]}" if start[:2] == _START[:2] else "none"
            raise DiffError(f"a message of a diff is {kind}: are all agents of one version?")
        if number == 0:
            self._parts, self._check = [], check
        if number != len(self._parts) or check != self._check or number > _MOST_PARTS:
            raise DiffError("a message of a diff is missing")
        self._parts.append(message[_HEAD.size :])
        if not last:
            return None
        packed, self._parts = b"".join(self._parts), []
        if crc32(packed) != check:
            raise DiffError("a diff was damaged on its way")
        return self._checked(unpacked(packed, MOST_RAW))

    def _checked(self, raw: bytes) -> Diff:
        try:
            diff = _decode(raw)
        except (ValueError, RecursionError) as error:
            raise DiffError(f"a diff cannot be read: {error}") from error
        if not (0 <= diff.taken < _MOST_MOMENT and 0 <= diff.number < MOST_NUMBER):
            raise DiffError("a diff has numbers that no agent writes")
        check_visits(self._partition, diff.visits)
        check_hosts(self._partition, diff.hosts)
        return diff


def unpacked(packed: bytes, most: int) -> bytes:
    """One zstd frame, of which no more than `most` bytes come."""
    unpacker = zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: _WINDOW})
    try:
        raw = unpacker.decompress(packed, most)
    except zstd.ZstdError as error:
        raise DiffError(f"records of a partition cannot be unpacked ({error})") from error
    if not unpacker.eof or unpacker.unused_data:
        raise DiffError("records of a partition are cut off, or too much comes out of them")
    return raw
