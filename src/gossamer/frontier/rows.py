"""Records of a partition that come from elsewhere: nothing is taken in that the frontier would not have written."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping
from math import isfinite
from typing import Final

from gossamer.errors import DiffError
from gossamer.frontier import keys
from gossamer.frontier.hosts import CHUNK
from gossamer.frontier.notes import read_notes
from gossamer.frontier.rulebook import read_rules
from gossamer.model import State
from gossamer.model.url import MAX_LENGTH

MOST_NUMBER: Final = 1 << 47
"""Numbers have six bytes; nobody has given that many."""

_LONGEST_KEY: Final = 2 * MAX_LENGTH  # of a visit: the host is a part of the URL
_LONGEST_VISIT: Final = 1000
_LONGEST_VALUE: Final = 3 << 20  # of a host's: robots rules of 500 KB, each byte escaped, are the longest
_HISTORY: Final = keys.HISTORY_SIZE
_STATES: Final = frozenset(State)

# What follows the two bytes of the partition. Names and paths are printable ASCII, as normalised URLs are.
_is_visit_key = re.compile(rb"v[!-~]++\0[ps]/[!-~]*+").fullmatch
# A priority, and above it the party whose the entries are: the crawl's own may be put aside besides.
_PRIORITIES: Final = re.escape(
    bytes([*range(keys.ASIDE + 1), *(party << keys.PARTY_BITS | rank for party in range(1, 15) for rank in range(10))])
)
_host_key = re.compile(rb"[!-~]++\0(a|b[ps]|c|d|q[%b].{6})" % _PRIORITIES, re.DOTALL).fullmatch
# Characters that say depth, tries and hops; scheme; path. A settled entry is empty. A form has a body, nothing else.
_ENTRY: Final = (
    r"(?:[ -\u011f]{3}[ps]/[!-\"$-~]*+|[ -\u011f]{2}\u0120[ps]/[!-\"$-~]*+#__wb_method=POST(?:&[!-~]*+)?+)?+"
)
_is_chunk = re.compile(rf"{_ENTRY}(?:\n{_ENTRY}){{0,{CHUNK - 1}}}+").fullmatch


def check_visits(partition: bytes, rows: Mapping[bytes, bytes | None]) -> None:
    """DiffError, unless all are records of visits of the partition whose keys begin so; None: it is to go."""
    for key, value in rows.items():
        if key[:2] != partition or not _is_visit_key(key, 2) or len(key) > _LONGEST_KEY:
            raise _stranger(partition, "visit", key)
        if value is None or (len(value) == 2 and value[0] == State.QUEUED):
            continue
        if not (
            _HISTORY <= len(value) <= _LONGEST_VISIT
            and value[0] in _STATES
            and value[_HISTORY:].partition(b"\0")[0].isascii()
        ):
            raise DiffError(f"the record of a visit cannot be read: {key[:200]!r}")


def check_hosts(partition: bytes, rows: Mapping[bytes, bytes | None]) -> None:
    """The same of records of hosts."""
    for key, value in rows.items():
        found = _host_key(key, 2) if len(key) <= _LONGEST_KEY else None
        if found is None or key[:2] != partition:
            raise _stranger(partition, "host", key)
        kind = found[1]
        fine = kind[:1] != keys.QUEUE or 0 < keys.number_of(kind) < MOST_NUMBER
        if value is not None and fine:
            try:
                fine = len(value) <= _LONGEST_VALUE and _READERS[kind[:1]](value)
            except (ValueError, struct.error, RecursionError):
                fine = False
        if not fine:
            raise DiffError(f"the record of a host cannot be read: {key[:200]!r}")


def _stranger(partition: bytes, kind: str, key: bytes) -> DiffError:
    return DiffError(f"a key is none of a {kind} of partition {int.from_bytes(partition, 'big')}: {key[:200]!r}")


def _reads_record(value: bytes) -> bool:
    record = keys.HostRecord.unpack(value)
    return all(isfinite(each) and each >= 0 for each in (record.due, record.crawl_delay, record.added_delay))


def _reads_robots(value: bytes) -> bool:
    return isfinite(read_rules(value)[1])


def _reads_notes(value: bytes) -> bool:
    read_notes(value)
    return True


def _reads_fresh(value: bytes) -> bool:
    return True  # as does who reads it


def _reads_chunk(value: bytes) -> bool:
    return _is_chunk(value.decode()) is not None


_READERS: Final[dict[bytes, Callable[[bytes], bool]]] = {
    keys.RECORD: _reads_record,
    keys.ROBOTS: _reads_robots,
    keys.NOTES: _reads_notes,
    keys.FRESH: _reads_fresh,
    keys.QUEUE: _reads_chunk,
}
