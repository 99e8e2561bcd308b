"""How the frontier's records are packed. One RocksDB, keys begin with the partition, so a partition is one key range.

    PP v  reversed-host NUL scheme path       a visit: state, depth, and its history once there is one
    PP q  reversed-host NUL priority number   its place in the host's queue: depth, tries, scheme, path
    PP h  reversed-host                       what is known of a host
    PP r  reversed-host NUL scheme            its robots rules
    fffe i priority number reversed-host      the hosts that have a queue, in the order of their first entry
    ffff m name                               what holds for the whole agent

Hosts are stored reversed (org.example.www) so that keys of one domain are neighbours and share their beginnings,
which RocksDB's prefix compression takes off (K6, P6).
"""

from __future__ import annotations

import struct

import msgspec

from gossamer.model import Locator, State, VisitRecord
from gossamer.model.domain import reversed_host, unreversed_host

SCHEMES = {"http": b"p", "https": b"s"}
SCHEME_NAMES = {ord(code): name for name, code in SCHEMES.items()}

# state, depth, status, fetched_at, tries; file, offset and length in the store; digest, changes seen
_HISTORY = struct.Struct("<BBHIBHII8sH")
_LONGEST = 200  # bytes of a validator; longer ones are useless anyway
_HOST = struct.Struct("<dfHIIBQ")  # due, crawl delay, failures, last of them, pages, place in the index
_LEVEL = struct.Struct("<BI")  # priority, entries
_EXPIRES = struct.Struct("<d")
_PLACE = struct.Struct(">BQ")

META = b"\xff\xffm"
INDEX = b"\xff\xfei"


def partition_prefix(partition: int) -> bytes:
    return partition.to_bytes(2, "big")


def visit_prefix(partition: bytes, host: str, scheme: str) -> bytes:
    return partition + b"v" + reversed_host(host).encode() + b"\0" + SCHEMES[scheme]


def queue_prefix(partition: bytes, host: str) -> bytes:
    return partition + b"q" + reversed_host(host).encode() + b"\0"


def queued_entry(depth: int, tries: int, scheme: bytes, path: str) -> bytes:
    return bytes((min(depth, 255), min(tries, 255))) + scheme + path.encode()


def host_key(partition: bytes, host: str) -> bytes:
    return partition + b"h" + reversed_host(host).encode()


def robots_key(partition: bytes, host: str, scheme: str) -> bytes:
    return partition + b"r" + reversed_host(host).encode() + b"\0" + SCHEMES[scheme]


def place(priority: int, number: int) -> bytes:
    return _PLACE.pack(priority, number)


def read_place(packed: bytes) -> tuple[int, int]:
    priority, number = _PLACE.unpack(packed)
    return priority, number


def index_key(place: tuple[int, int], host: str) -> bytes:
    return INDEX + _PLACE.pack(*place) + reversed_host(host).encode()


def indexed_host(key: bytes) -> str:
    return unreversed_host(key[len(INDEX) + _PLACE.size :].decode())


def queued_visit(depth: int) -> bytes:
    return bytes((State.QUEUED, min(depth, 255)))


def excluded_visit(depth: int, reason: str) -> bytes:
    return pack_history(State.EXCLUDED, depth, 0, 0.0, 0, reason=reason)


def pack_history(
    state: State,
    depth: int,
    status: int,
    fetched_at: float,
    tries: int,
    stored: tuple[int, int, int] | None = None,
    digest: bytes = b"",
    changes: int = 0,
    reason: str = "",
    validators: tuple[bytes, bytes] = (b"", b""),
) -> bytes:
    """`stored` is (file number, offset, length) of the WARC record; `validators` are ETag and Last-Modified as sent."""
    file, offset, length = stored or (0, 0, 0)
    depth, tries, changes = min(depth, 255), min(tries, 255), min(changes, 65535)
    packed = _HISTORY.pack(state, depth, status, int(fetched_at), tries, file, offset, length, digest[:8], changes)
    etag, modified = validators
    if etag or modified:
        return b"%b%b\0%b\0%b" % (packed, reason.encode(), etag[:_LONGEST], modified[:_LONGEST])
    return packed + reason.encode() if reason else packed


def read_visit(key: bytes, value: bytes) -> VisitRecord:
    """The visit stored under `key`, for listings; the hot path never unpacks a whole visit."""
    name, _, rest = key[3:].partition(b"\0")
    host = unreversed_host(name.decode())
    url = f"{SCHEME_NAMES[rest[0]]}://{host}{rest[1:].decode()}"
    if len(value) < _HISTORY.size:
        return VisitRecord(url, State(value[0]), value[1])
    state, depth, status, fetched_at, tries, file, offset, length, digest, changes = _HISTORY.unpack_from(value)
    reason, etag, modified, *_ = [part.decode("latin-1") for part in value[_HISTORY.size :].split(b"\0")] + ["", ""]
    return VisitRecord(
        url, State(state), depth, status, float(fetched_at), tries, reason, digest.hex() if length else "", changes,
        etag, modified, Locator(file, offset, length) if length else None,
    )  # fmt: skip


def pack_robots(expires: float, rules: bytes) -> bytes:
    return _EXPIRES.pack(expires) + rules


def read_robots(value: bytes) -> tuple[float, bytes]:
    return _EXPIRES.unpack_from(value)[0], value[_EXPIRES.size :]


class HostRecord(msgspec.Struct, gc=False):
    """What is remembered of a host across restarts, its politeness clock and back-off included."""

    due: float = 0.0  # not before this moment (wall clock)
    crawl_delay: float = 0.0  # what its robots.txt asks for
    failures: int = 0  # in a row
    failed_at: float = 0.0  # the last of them
    pages: int = 0
    index: tuple[int, int] | None = None  # priority and number under which the index has it, while it has a queue
    levels: list[tuple[int, int]] = []  # priority, entries

    def pack(self) -> bytes:
        priority, number = self.index or (0, 0)
        failures, failed_at = min(self.failures, 65535), int(self.failed_at)
        packed = _HOST.pack(self.due, self.crawl_delay, failures, failed_at, self.pages, priority, number)
        return packed + b"".join([_LEVEL.pack(*level) for level in self.levels])

    @classmethod
    def unpack(cls, value: bytes) -> HostRecord:
        due, crawl_delay, failures, failed_at, pages, priority, number = _HOST.unpack_from(value)
        index = (priority, number) if number else None
        return cls(due, crawl_delay, failures, failed_at, pages, index, [*_LEVEL.iter_unpack(value[_HOST.size :])])
