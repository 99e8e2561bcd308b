"""How the frontier's records are packed. One RocksDB with four column families.

`visits`: every URL. Keys begin with the partition, so a partition is one key range.

    PP v reversed-host NUL scheme path        a visit: state, depth, and its history once there is one
    ffff m name                               what holds for the whole agent

`hosts`: what a host is and what waits for it, side by side, so that one seek reads it all.

    PP reversed-host NUL a                    what is known of the host
    PP reversed-host NUL b scheme             its robots rules
    PP reversed-host NUL c                    what it repeats: another host, or itself
    PP reversed-host NUL d                    how its pages change
    PP reversed-host NUL q priority number    a chunk of its queue: entries one after the other
    fffe priority epoch hash reversed-host    hosts that have a chunk from that epoch, in no order within it

`payloads`: the hash of every content that was stored, and where it was first found.

`due`: when a visit is to be made again, in this order, and the key of its record.

Hosts are stored reversed (org.example.www) so that keys of one domain are neighbours and share their beginnings,
which RocksDB's prefix compression takes off (K6, P6).
"""

from __future__ import annotations

import struct
from collections.abc import Container
from zlib import crc32

import msgspec

from gossamer.frontier.packing import DEPTH_0, ELSEWHERE, HISTORY
from gossamer.frontier.packing import pack_entry as pack_entry
from gossamer.frontier.packing import pack_history as pack_history
from gossamer.frontier.packing import pack_page as pack_page
from gossamer.frontier.packing import read_entry as read_entry
from gossamer.model import Before, Exclusion, Locator, Method, Reason, State, Visit, VisitRecord
from gossamer.model.domain import reversed_host, unreversed_host

SCHEMES = {"http": "p", "https": "s"}
SCHEME_NAMES = {code: name for name, code in SCHEMES.items()}
LAST, ASIDE = 9, 10  # priorities: after everything else; not at all, while repetitions are skipped
PARTY_BITS = 4  # of a priority: above these it says whose the entry is (`parties`)
ASKED = 1 << PARTY_BITS  # the first priority of what applications ask for
EPOCH_BITS = 25  # of a number: that many numbers share an epoch, so the index holds a host once for some million URLs

HISTORY_SIZE = HISTORY.size  # bytes of a visit's record, at least, once it has a history
_FILE, _LENGTH, _DIGEST = (struct.calcsize(fields) for fields in ("<BBHIB", "<BBHIBHI", "<BBHIBHII"))
_NONE = bytes(4)
# due, seen, hash of the main text, URLs gained; found unchanged, and not found at all, in a row
_AGAIN = struct.Struct("<I5sIBBB")
_DUE = struct.Struct(">I")
LATEST = 0xFFFFFFFF  # moment that a record has room for
_STATES = frozenset(State)
_WRAPPED = 100  # visits in a row, when there are more than a byte can count
_HOST = struct.Struct("<dffHIII")  # due, crawl delay, added delay, failures, last of them, robots failing since, pages
_EXPIRES = struct.Struct("<d")
_INDEX = struct.Struct(">2sBII")

META = b"\xff\xffm"
JUDGED = "judged "  # before a partition's number, in the notes: the rules by which what is excluded there was judged
TAKING = META + b"taking "
COMES, GOES = b"in", b"out"  # what is there of a partition not all of which is: the counts have it not yet, or still
INDEX = b"\xff\xfe"
RECORD = b"a"
ROBOTS = b"b"
NOTES = b"c"
FRESH = b"d"
QUEUE = b"q"


def partition_prefix(partition: int) -> bytes:
    return partition.to_bytes(2, "big")


def taking_key(partition: int) -> bytes:
    """There while not all of a partition is here: it comes, or goes."""
    return TAKING + b"%d" % partition


def taking_prefix(key: bytes) -> bytes:
    """Of the partition that such a key is about."""
    return partition_prefix(int(key[len(TAKING) :]))


def judged_name(partition: bytes) -> str:
    """The name of the note that says by which rules a partition was judged."""
    return f"{JUDGED}{int.from_bytes(partition, 'big')}"


def judged_partition(name: str) -> int | None:
    """The partition that a note of this name is about, if it is such a note."""
    number = name.removeprefix(JUDGED) if name.startswith(JUDGED) else ""
    return int(number) if number.isdecimal() and len(number) <= 5 else None


# -- visits --------------------------------------------------------------------------------------------------------


QUEUED = tuple([bytes((State.QUEUED, depth)) for depth in range(256)])  # by depth; what is deeper is as the last


def queued_visit(depth: int) -> bytes:
    return QUEUED[depth if depth < 256 else 255]


def excluded_visit(depth: int, reason: Exclusion | Reason) -> bytes:
    return pack_history(State.EXCLUDED, depth, 0, 0.0, 0, reason=reason)


def pack_again(due: float, seen: bytes, text: int, gained: int, unchanged: int, missing: int) -> bytes:
    return _AGAIN.pack(
        int(due), seen, text, min(gained, 255), unchanged if unchanged < 256 else _WRAPPED, min(missing, 255)
    )


def has_again(value: bytes) -> bool:
    """The visit that was packed so is to be made again."""
    parts = value[HISTORY.size :].split(b"\0", 3)
    return len(parts) == 4 and len(parts[3]) == _AGAIN.size and value[0] in _STATES


def due_of(value: bytes) -> int:
    """When it is, in seconds since 1970; 0 while it waits in its host's queue."""
    found: int = _AGAIN.unpack_from(value, len(value) - _AGAIN.size)[0] if has_again(value) else 0
    return found


def with_due(value: bytes, due: float) -> bytes:
    """The same visit, which has a time, with another one."""
    start = len(value) - _AGAIN.size
    return value[:start] + _AGAIN.pack(int(due), *_AGAIN.unpack_from(value, start)[1:])


def with_missing(value: bytes, missing: int) -> bytes:
    """The same, which found nothing so often in a row."""
    return value[:-1] + bytes((min(missing, 255),))


def with_again(value: bytes, again: bytes) -> bytes:
    """A visit that is now to be made again, and was not."""
    reason, etag, modified = [*value[HISTORY.size :].split(b"\0"), b"", b""][:3]
    return b"%b%b\0%b\0%b\0%b" % (value[: HISTORY.size], reason, etag, modified, again)


def due_key(due: float, visit: bytes) -> bytes:
    return _DUE.pack(int(due)) + visit


def read_due_key(key: bytes) -> tuple[int, bytes]:
    return _DUE.unpack_from(key)[0], key[_DUE.size :]


def read_before(value: bytes) -> Before:
    """What is known of a visit that is made again."""
    state, _, status, fetched_at, _, file, offset, length, digest, changes = HISTORY.unpack_from(value)
    reason, etag, modified, again = value[HISTORY.size :].split(b"\0", 3)
    _, seen, text, gained, unchanged, missing = _AGAIN.unpack(again)
    return Before(
        State(state), status, float(fetched_at), digest if length else b"", _locator(file, offset, length),
        (etag, modified), changes, reason.decode("latin-1"), seen, text, gained, unchanged, missing,
    )  # fmt: skip


def is_queued(value: bytes) -> bool:
    return value[0] == State.QUEUED


def sent_visit(depth: int, tries: int, now: float) -> bytes:
    """Of a form that is about to be sent: it waits for its answer."""
    return pack_history(State.QUEUED, depth, 0, now, tries + 1, reason=Reason.UNANSWERED)


def is_sent(value: bytes) -> bool:
    """What was packed so is a form that was sent, and may have been received."""
    return value[0] == State.QUEUED and len(value) >= HISTORY.size


def is_fetched(value: bytes) -> bool:
    """The visit that was packed so brought a page."""
    return value[0] == State.FETCHED and 200 <= int.from_bytes(value[2:4], "little") < 300


def has_digest(value: bytes, digest: bytes) -> bool:
    """Of a fetched visit."""
    return value[_DIGEST : _DIGEST + 8] == digest[:8]


def read_visit(key: bytes, value: bytes) -> VisitRecord:
    """The visit stored under `key`, for listings; the hot path never unpacks a whole visit."""
    name, _, rest = key[3:].partition(b"\0")
    host = unreversed_host(name.decode())
    url = f"{SCHEME_NAMES[chr(rest[0])]}://{host}{rest[1:].decode()}"
    if len(value) < HISTORY.size:
        return VisitRecord(url, State(value[0]), value[1])
    state, depth, status, fetched_at, tries, file, offset, length, digest, changes = HISTORY.unpack_from(value)
    parts = value[HISTORY.size :].split(b"\0", 3)
    reason, etag, modified, *_ = [part.decode("latin-1") for part in parts[:3]] + ["", ""]
    due, seen, *_ = _AGAIN.unpack(parts[3]) if has_again(value) else (0, b"")
    return VisitRecord(
        url, State(state), depth, status, float(fetched_at), tries, reason, digest.hex() if length else "", changes,
        etag, modified, _locator(file, offset, length), float(due), seen,
    )  # fmt: skip


def read_stored(value: bytes) -> Locator | None:
    """Where what a visit brought is stored; None: nothing is, or not by this agent."""
    if len(value) < HISTORY.size:
        return None
    return _locator(*HISTORY.unpack_from(value)[5:8])


def _locator(file: int, offset: int, length: int) -> Locator | None:
    return Locator(file, offset, length) if length and file != ELSEWHERE else None


def with_elsewhere(value: bytes) -> bytes:
    """The same visit, as another agent has it: what is stored is not here."""
    if len(value) < HISTORY.size or value[_LENGTH:_DIGEST] == _NONE:
        return value
    return b"%b\xff\xff%b" % (value[:_FILE], value[_FILE + 2 :])


def outcome_of(value: bytes) -> bytes:
    """What visits that came to the same end have in common, to be counted by; `read_outcome` says it in words."""
    if len(value) < HISTORY.size or value[0] == State.FETCHED:
        return value[:4]
    return value[:4] + value[HISTORY.size :].partition(b"\0")[0]


def read_outcome(outcome: bytes) -> tuple[State, int, int, str]:
    """State, depth, status, reason."""
    status = int.from_bytes(outcome[2:4], "little")
    return State(outcome[0]), outcome[1], status, outcome[4:].decode("latin-1")


def left_out(value: bytes) -> str:
    """Why a visit is excluded; empty when it is not."""
    return reason_of(value) if value[0] == State.EXCLUDED else ""


def reason_of(value: bytes) -> str:
    """Why a visit has ended as it did, or waits."""
    return value[HISTORY.size :].partition(b"\0")[0].decode()


# -- hosts ---------------------------------------------------------------------------------------------------------


def host_prefix(partition: bytes, host: str) -> bytes:
    return b"%b%b\0" % (partition, reversed_host(host).encode())


def host_of_prefix(prefix: bytes) -> str:
    return unreversed_host(prefix[2:-1].decode())


def prefix_of_row(row: tuple[bytes, bytes]) -> bytes:
    """What all keys of the host begin with to whom this record belongs."""
    key = row[0]
    return key[: key.index(b"\0", 2) + 1]


def visits_of(host_prefix: bytes) -> bytes:
    """What the keys of a host's visits begin with; the code of the scheme and the path follow."""
    return b"%bv%b" % (host_prefix[:2], host_prefix[2:])


def place(priority: int, number: int) -> bytes:
    """The end of a chunk's key."""
    return b"q%c%b" % (priority, number.to_bytes(6, "big"))


def number_of(key: bytes) -> int:
    return int.from_bytes(key[-6:], "big")


HOPS = 0x0F  # of the third character of an entry: redirects, one after the other
SUSPECT = 0x10  # found on a page that brought nothing new
SOURCE = 0x20  # a sitemap, to be read for links
LISTED = 0x40  # named by a sitemap index: it names no others
REVISIT = 0x80  # it was visited before
POST = 0x100  # a form to be sent
REQUESTED = SUSPECT  # beside REVISIT: somebody has asked for this visit; where it was found is of no interest any more


def revisits_in(entries: list[str]) -> tuple[int, int]:
    """Return how many of these entries are of URLs that were visited before, and how many of those were asked for."""
    marks = [ord(entry[2]) - DEPTH_0 for entry in entries if entry and not entry.isascii()]
    revisits = [mark for mark in marks if mark & REVISIT]
    return len(revisits), sum(bool(mark & REQUESTED) for mark in revisits)


def is_requested(value: bytes, hops: int) -> bool:
    """Return whether a visit waits to be made again because somebody has asked for it, by its record and its entry."""
    return bool(hops & REVISIT and hops & REQUESTED) and has_again(value) and not due_of(value)


def read_marks(visit: Visit, hops: int) -> None:
    """Put what the third number of its entry says into a visit."""
    visit.hops = hops & HOPS
    visit.suspect = bool(hops & SUSPECT) and not hops & REVISIT
    visit.source, visit.listed = bool(hops & SOURCE), bool(hops & LISTED)
    if hops & POST:
        visit.method = Method.POST


def marks_of(path: str) -> int:
    """Of a visit that is queued again, by what is kept of it: a form stays one."""
    return POST if "#" in path else 0


def pack_chunk(entries: list[str]) -> bytes:
    """A settled entry is empty, and keeps its place."""
    return "\n".join(entries).encode()


def read_chunk(value: bytes) -> list[str]:
    return value.decode().split("\n")


def epoch(number: int) -> int:
    return number >> EPOCH_BITS


def index_key(priority: int, epoch: int, prefix: bytes) -> bytes:
    """Of the host whose keys begin with `prefix`."""
    name = prefix[2:-1]
    # By hash, so that the many hosts of a domain do not come in a row (P7).
    return _INDEX.pack(INDEX, priority, epoch, crc32(name)) + name


def index_start(priority: int) -> bytes:
    """Places in the index of this priority and those after it come from here on."""
    return INDEX + bytes((priority,))


def indexed_priority(key: bytes) -> int:
    return key[len(INDEX)]


def indexed_host(key: bytes) -> str:
    return unreversed_host(key[_INDEX.size :].decode())


def is_indexed_of(key: bytes, domains: Container[bytes]) -> bool:
    """Return whether the host at this place of the index is below one of these domains, which are reversed."""
    name = key[_INDEX.size :]
    while name:
        if name in domains:
            return True
        name = name.rpartition(b".")[0]
    return False


def pack_robots(expires: float, rules: bytes) -> bytes:
    return _EXPIRES.pack(expires) + rules


def read_robots(value: bytes) -> tuple[float, bytes]:
    return _EXPIRES.unpack_from(value)[0], value[_EXPIRES.size :]


_done = msgspec.msgpack.Decoder(list[tuple[int, int, list[int]]])
_pack_done = msgspec.msgpack.Encoder().encode


class HostRecord(msgspec.Struct, gc=False):
    """What is remembered of a host across restarts, its politeness clock and back-off included."""

    due: float = 0.0  # not before this moment (wall clock)
    crawl_delay: float = 0.0  # what its robots.txt asks for
    added_delay: float = 0.0  # since it said that it is busy
    failures: int = 0  # in a row
    failed_at: float = 0.0  # the last of them
    robots_failing: float = 0.0  # since when its robots.txt cannot be had
    pages: int = 0
    done: list[tuple[int, int, list[int]]] = []  # priority; every number below this is settled, and these besides

    def pack(self) -> bytes:
        failures, failed_at, failing = min(self.failures, 65535), int(self.failed_at), int(self.robots_failing)
        packed = _HOST.pack(self.due, self.crawl_delay, self.added_delay, failures, failed_at, failing, self.pages)
        return packed + _pack_done(self.done) if self.done else packed

    @classmethod
    def unpack(cls, value: bytes) -> HostRecord:
        if not value:
            return cls()
        due, crawl_delay, added_delay, failures, failed_at, failing, pages = _HOST.unpack_from(value)
        done = _done.decode(value[_HOST.size :]) if len(value) > _HOST.size else []
        return cls(due, crawl_delay, added_delay, failures, failed_at, failing, pages, done)
