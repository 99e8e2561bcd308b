"""What commits leave for others: links that are not ours, and what was done to the partitions that are.

It is written to the frontier's database in the same batch as the commit it is of, and stays there until the log has it:
nothing that a crawl has promised itself can be missing from the log later.
"""

from __future__ import annotations

import asyncio
import struct
from collections import deque
from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from gossamer.cluster.batch import Group, encode
from gossamer.frontier.database import Changes, Database
from gossamer.frontier.diffs import Diff, DiffReader, diffs_of, pack_diff
from gossamer.frontier.foreign import ASKED, Foreign, Sent, max_age_in, queued_in
from gossamer.frontier.keys import HOPS, META, POST, SUSPECT
from gossamer.frontier.share import Part

_PENDING, _KEPT = b"p", b"k"
_NUMBER: Final = struct.Struct(">Q")
_KEY: Final = struct.Struct(">HQ")  # of what is kept: partition, sequence
_SOURCE_PRIORITY: Final = 4
_MUCH: Final = 64 << 20  # bytes that wait: more are not found until these are gone


class Parcel(msgspec.Struct, array_like=True):
    """Of one commit: batches of URLs for partitions of others, and diffs of ours, as partition and message."""

    number: int
    sent: list[tuple[int, bytes]] = []
    done: list[tuple[int, bytes]] = []

    @property
    def size(self) -> int:
        return sum(len(data) for _, data in self.sent) + sum(len(data) for _, data in self.done)


class Outbox:
    """Invariants: parcels are sent in the order of their commits. A parcel is forgotten in the commit after the log has
    it; what it sent to others is kept until a checkpoint of theirs has it.
    """

    def __init__(
        self,
        stored: Iterable[tuple[bytes, bytes]],
        foreign: Foreign,
        share: Part,
        about: Callable[[str], int | None],
        positions: Callable[[], dict[int, int]],
        number: Callable[[], int],
        keep: Callable[[Iterable[str]], None] | None = None,
    ) -> None:
        """`stored` is what the database has. `about`: the partition of what a note of the agent is about. `positions`:
        up to which place of the log what others sent is part of each partition. `number`: the frontier's. `keep`: links
        that are not ours, but seeds, are not sent but given to it.
        """
        self._keep = keep
        self._foreign = foreign
        self._share = share
        self._about = about
        self._positions = positions
        self._counter = number
        self._changes: Changes = {}
        self._kept: dict[int, deque[int]] = {}
        self.pending: deque[Parcel] = deque()
        self.waiting = asyncio.Event()
        self.last = 0  # number of the newest parcel
        self.size = 0
        self.kept_size = 0
        for key, value in stored:
            if key[:1] == _PENDING:
                self._append(msgspec.msgpack.decode(value, type=Parcel))
            else:
                partition, sequence = _KEY.unpack_from(key, 1)
                self._kept.setdefault(partition, deque()).append(sequence)
                self.kept_size += len(value)

    def _append(self, parcel: Parcel) -> None:
        self.pending.append(parcel)
        self.last = parcel.number
        self.size += parcel.size
        self.waiting.set()

    @property
    def full(self) -> bool:
        return self.size > _MUCH

    def fill(self, database: Database) -> None:
        """Called in each commit, when all its changes are known."""
        meta = {
            key[len(META) :].decode(): value
            for key, value in database.visits.items()
            if value is not None and key.startswith(META)
        }
        diffs = diffs_of(database.visits, database.hosts, meta, self._about, self._counter())
        positions = self._positions()
        parcel = Parcel(self.last + 1)
        for partition, diff in diffs.items():
            prefix = partition.to_bytes(2, "big")
            if prefix in self._share.owned or prefix in self._share.closing:
                diff.taken = positions.get(partition, 0)
                parcel.done += [(partition, message) for message in pack_diff(diff)]
            elif not self._share.crosses:
                self._hand_back(partition, diff)
        for partition, links, sources in self._foreign.taken():
            if self._keep is not None:
                self._keep(url for (depth, _, _), urls in links.items() if depth for url in urls)
                links, sources = {way: urls for way, urls in links.items() if not way[0]}, []
            parcel.sent += [(partition, message) for message in encode(_groups(links, sources))]
        if parcel.sent or parcel.done:
            self._append(parcel)
            self._changes[_PENDING + _NUMBER.pack(parcel.number)] = msgspec.msgpack.encode(parcel)
        database.outbox.update(self._changes)
        self._changes.clear()

    def _hand_back(self, partition: int, diff: Diff) -> None:
        """A partition was taken by another agent: what it does not know yet are the URLs that were found for it."""
        prefix = partition.to_bytes(2, "big")
        for url, depth, priority, marks in queued_in(diff):
            self._foreign.add(prefix, url, depth, priority, marks)

    def lost(self, partitions: Iterable[int]) -> None:
        """These have other owners: what was to be said of them is not, but for the URLs that were found for them."""
        gone = set(partitions)
        for parcel in self.pending:
            if not any(partition in gone for partition, _ in parcel.done):
                continue
            self.size -= parcel.size
            readers = {partition: DiffReader(partition) for partition in gone}
            found: dict[int, dict[tuple[int, int, int], list[str]]] = {}
            for partition, message in parcel.done:
                diff = readers[partition].feed(message) if partition in gone else None
                for url, *way in queued_in(diff) if diff is not None else ():
                    depth, priority, marks = way
                    found.setdefault(partition, {}).setdefault((depth, priority, marks), []).append(url)
            parcel.done = [(partition, message) for partition, message in parcel.done if partition not in gone]
            for partition, links in found.items():
                parcel.sent += [(partition, message) for message in encode(_groups(links, []))]
            self.size += parcel.size
            self._changes[_PENDING + _NUMBER.pack(parcel.number)] = msgspec.msgpack.encode(parcel)

    def next(self, most: int) -> list[Parcel]:
        """The oldest, as many as have so many messages together, one at least."""
        found: list[Parcel] = []
        for parcel in self.pending:
            most -= len(parcel.sent) + len(parcel.done)
            if found and most < 0:
                break
            found.append(parcel)
        return found

    def acknowledged(self, parcels: Iterable[Parcel], sent: Iterable[tuple[int, int, bytes]]) -> None:
        """The log has these, the oldest; what was `sent` to others has these sequences: partition, sequence, data."""
        for parcel in parcels:
            assert self.pending.popleft() is parcel
            self.size -= parcel.size
            self._changes[_PENDING + _NUMBER.pack(parcel.number)] = None
        for partition, sequence, data in sent:
            self._changes[_KEPT + _KEY.pack(partition, sequence)] = data
            self._kept.setdefault(partition, deque()).append(sequence)
            self.kept_size += len(data)
        if not self.pending:
            self.waiting.clear()

    def again(self, after: int, stored: Iterable[tuple[bytes, bytes]]) -> int:
        """The log has lost what came after that: what was sent there, and is kept, is sent again. How many messages."""
        lost = []
        for key, value in stored:
            if key[:1] == _KEPT and _KEY.unpack_from(key, 1)[1] > after:
                lost.append((_KEY.unpack_from(key, 1)[0], value))
                self._changes[key] = None
        for partition, sequences in self._kept.items():
            self._kept[partition] = deque(sequence for sequence in sequences if sequence <= after)
        if lost:
            parcel = Parcel(self.last + 1, lost)
            self._append(parcel)
            self._changes[_PENDING + _NUMBER.pack(parcel.number)] = msgspec.msgpack.encode(parcel)
        return len(lost)

    def newest_kept(self) -> int:
        """The highest place of the log that something that is kept was sent to."""
        return max((sequences[-1] for sequences in self._kept.values() if sequences), default=0)

    def passed(self, partition: int, taken: int) -> None:
        """A checkpoint of the partition has everything up to there."""
        kept = self._kept.get(partition)
        while kept and kept[0] <= taken:
            self._changes[_KEPT + _KEY.pack(partition, kept.popleft())] = None


def _groups(links: dict[tuple[int, int, int], list[str]], sources: list[Sent]) -> list[Group]:
    groups = [
        Group(
            tuple(urls),
            depth,
            priority,
            hops & HOPS,
            bool(hops & SUSPECT),
            asked=bool(hops & ASKED),
            post=bool(hops & POST),
            max_age=max_age_in(hops),
        )
        for (depth, priority, hops), urls in links.items()
    ]
    for source in sources:
        hops, hosts = min(source.hops, HOPS), (source.hosts,)
        groups.append(Group((source.url,), source.depth, _SOURCE_PRIORITY, hops, False, True, source.listed, hosts))
    return groups
