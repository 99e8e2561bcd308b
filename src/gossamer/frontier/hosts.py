"""A host, its queue's head, and when it may be visited."""

from __future__ import annotations

from bisect import insort
from collections import deque
from enum import IntEnum

import msgspec

from gossamer.frontier.keys import HostRecord
from gossamer.rules.robots import Robots

ROBOTS = 0  # the number under which a host's robots.txt is leased; queue entries count from 1


class Entry(msgspec.Struct, frozen=True, order=True, gc=False):
    """A place in a host's queue. Sorts by priority, then by the order found (P2)."""

    priority: int
    number: int
    depth: int
    tries: int
    scheme: str
    path: str


class Place(IntEnum):
    IDLE = 0  # nothing to do, or as many visits in hand as allowed
    READY = 1
    WAITING = 2


class HostQueue:
    """The visits of one host, in order; only the head is in memory.

    Invariants: `head` holds the smallest entries not leased. An entry that waits is in `head`, or in `spill`
    (added since the last commit), or on disk at or after `resume`. `queued` counts entries that wait or are leased.
    """

    __slots__ = (
        "crawl_delay", "dirty", "domain", "due", "failures", "head", "key", "leased", "name", "on_disk", "pages",
        "partition", "place", "queue_prefix", "queued", "resume", "robots", "robots_at", "spill",
    )  # fmt: skip

    def __init__(self, name: str, domain: str, partition: bytes, key: bytes, queue_prefix: bytes) -> None:
        self.name = name
        self.domain = domain
        self.partition = partition
        self.key = key
        self.queue_prefix = queue_prefix
        self.head: deque[Entry] = deque()
        self.spill: list[Entry] = []
        self.on_disk = False  # entries that wait may be on disk, at or after `resume`
        self.resume: tuple[int, int] = (0, 0)
        self.leased: dict[int, Entry] = {}
        self.queued = 0
        self.pages = 0
        self.due = 0.0
        self.crawl_delay = 0.0
        self.failures = 0
        self.robots: dict[str, tuple[Robots, float]] = {}  # scheme -> rules, good until
        self.robots_at: dict[
            str, tuple[str, int]
        ] = {}  # scheme -> where a redirect says robots.txt is, how many so far
        self.place = Place.IDLE
        self.dirty = False

    def load(self, record: HostRecord) -> None:
        self.due = record.due
        self.crawl_delay = record.crawl_delay
        self.failures = record.failures
        self.queued = record.queued
        self.pages = record.pages
        self.on_disk = record.queued > 0
        self.resume = (0, 0)

    def record(self) -> HostRecord:
        return HostRecord(self.due, self.crawl_delay, self.failures, self.queued, self.pages)

    @property
    def waiting(self) -> bool:
        return self.queued > len(self.leased) - (ROBOTS in self.leased)

    def busy(self, connections: int) -> bool:
        """No further visit may be leased: enough are in hand, or robots.txt is (nothing goes before that)."""
        return len(self.leased) >= connections or ROBOTS in self.leased

    def put(self, entry: Entry, room: int) -> None:
        """Take in a new entry. `room` is how many the head may hold."""
        head = self.head
        if not self.on_disk and not self.spill and len(head) < room and (not head or head[-1] < entry):
            head.append(entry)
        elif head and entry < head[-1]:
            self._insert(entry, room)
        else:
            self.spill.append(entry)

    def put_back(self, entry: Entry) -> None:
        """A leased entry waits again."""
        self.leased.pop(entry.number, None)
        head = self.head
        if head and entry < head[0]:
            head.appendleft(entry)
        elif (head and entry < head[-1]) or not (self.on_disk or self.spill):
            self._insert(entry, len(head) + 1)
        else:
            self.spill.append(entry)

    def _insert(self, entry: Entry, room: int) -> None:
        entries = list(self.head)
        insort(entries, entry)
        while len(entries) > max(room, 1):
            # It may be on disk already, or not yet: the spill covers both, a refill leaves out what it finds twice.
            self.spill.append(entries.pop())
        self.head = deque(entries)

    def committed(self) -> None:
        """What was spilled is on disk now."""
        if self.spill:
            first = min(self.spill)
            place = (first.priority, first.number)
            self.resume = min(self.resume, place) if self.on_disk else place
            self.on_disk = True
            self.spill.clear()

    def refill(self, stored: list[Entry], more: bool, room: int) -> None:
        """Fill the empty head from `stored` (read from disk at `resume`, `more` of them there) and from the spill."""
        # The spill's word is newer: an entry put back after a failure has one more try.
        fresh = {entry.number: entry for entry in self.spill}
        entries = [fresh.pop(entry.number, entry) for entry in stored]
        entries += fresh.values()
        if more and stored:
            # Past the last one read from disk there may be smaller ones than those of the spill.
            end = (stored[-1].priority, stored[-1].number)
            entries = [entry for entry in entries if (entry.priority, entry.number) <= end]
        entries.sort()
        taken = entries[:room]
        self.head = deque(taken)
        in_head = {entry.number for entry in taken}
        self.spill = [entry for entry in self.spill if entry.number not in in_head]
        left = [entry for entry in stored if entry.number not in in_head]
        if left:
            self.on_disk, self.resume = True, (left[0].priority, left[0].number)
        elif more:
            self.on_disk, self.resume = True, (stored[-1].priority, stored[-1].number + 1)
        else:
            self.on_disk = False
