"""A host: its queues, of which only the heads are in memory, and when it may be visited."""

from __future__ import annotations

from bisect import insort
from enum import IntEnum
from operator import attrgetter

import msgspec

from gossamer.frontier.keys import HostRecord
from gossamer.rules.policy import Manners

ROBOTS = 0  # the number under which a host's robots.txt is leased; queue entries count from 1
_A_LOWER_LEVEL_EVERY = 16  # visits of a host: a level that starves still moves
_number = attrgetter("number")


class Entry(msgspec.Struct, frozen=True, gc=False):
    """A place in a host's queue: by priority, then by the order found (P2)."""

    priority: int
    number: int
    depth: int
    tries: int
    origin: str
    path: str


class Level:
    """The entries of one host and priority, in the order of their numbers.

    Invariant: an entry that waits is in `head`, or on disk at or after `resume` (where `on_disk` says so), or in
    `spill` (added since the last commit); all of the head come before all on disk, and those before all of the spill.
    """

    __slots__ = ("head", "on_disk", "priority", "queued", "resume", "spill")

    def __init__(self, priority: int, on_disk: int = 0) -> None:
        self.priority = priority
        self.head: list[Entry] = []  # short, and by the ten thousand: an empty deque takes 600 bytes
        self.spill: list[Entry] = []
        self.on_disk = on_disk > 0
        self.resume = 0
        self.queued = on_disk  # waiting or leased

    def put(self, entry: Entry, room: int) -> bool:
        """Take in a new entry; true when it went into the head, which may hold `room`."""
        if self.on_disk or self.spill or len(self.head) >= room:
            self.spill.append(entry)
            return False
        self.head.append(entry)
        return True

    def put_back(self, entry: Entry) -> None:
        """An entry that was taken waits again: it comes before all that were not, but not before all in the head."""
        insort(self.head, entry, key=_number)

    def committed(self) -> None:
        """What was spilled is on disk now."""
        if self.spill:
            if not self.on_disk:
                self.on_disk, self.resume = True, self.spill[0].number
            self.spill.clear()

    def refill(self, stored: list[Entry], more: bool, room: int) -> None:
        """Fill the empty head with what was read from disk at `resume` (`more` is there), or else from the spill."""
        if stored:
            self.head = stored
            self.resume = stored[-1].number + 1
        self.on_disk = more
        if not more and len(stored) < room:
            take = room - len(stored)
            self.head.extend(self.spill[:take])
            del self.spill[:take]


class Place(IntEnum):
    IDLE = 0  # nothing to do, or as many visits in hand as allowed
    READY = 1
    WAITING = 2
    HELD = 3  # its domain or its address has enough visits in hand
    PARKED = 4  # has entries, but memory is for others now
    GONE = 5  # no longer in memory; whoever still holds it must drop it


class HostQueue:
    """Invariants: at most `manners.connections` entries are leased; what is leased is in no head."""

    __slots__ = (
        "address", "burst", "crawl_delay", "dirty", "domain", "due", "failed_at", "failures", "groups", "index", "key",
        "leased", "levels", "manners", "name", "origins", "pages", "partition", "place", "queue_prefix",
        "queued", "robots_at", "turn",
    )  # fmt: skip

    def __init__(
        self, name: str, domain: str, manners: Manners, partition: bytes, key: bytes, queue_prefix: bytes
    ) -> None:
        self.name = name
        self.domain = domain
        self.manners = manners
        self.partition = partition
        self.key = key
        self.queue_prefix = queue_prefix
        self.levels: dict[int, Level] = {}
        self.leased: dict[int, Entry] = {}
        self.queued = 0  # waiting or leased
        self.pages = 0
        self.due = 0.0
        self.crawl_delay = 0.0
        self.failures = 0
        self.failed_at = 0.0
        self.burst = 0  # visits since its last rest
        self.turn = 0
        self.address = ""  # where it was last found, for this run
        self.groups: tuple[str, ...] = ()  # what limits it besides itself: its domain, its address
        self.index: tuple[int, int] | None = None  # under which it stands in the index of hosts with a queue
        self.origins: list[str] = []
        self.robots_at: dict[str, tuple[str, int]] = {}  # origin -> where robots.txt was redirected to, how many times
        self.place = Place.IDLE
        self.dirty = False

    def load(self, record: HostRecord) -> None:
        self.due = record.due
        self.crawl_delay = record.crawl_delay
        self.failures = record.failures
        self.failed_at = record.failed_at
        self.pages = record.pages
        self.index = record.index
        for priority, queued in record.levels:
            self.levels[priority] = Level(priority, queued)
            self.queued += queued

    def record(self) -> HostRecord:
        levels = [(priority, level.queued) for priority, level in self.levels.items() if level.queued]
        return HostRecord(self.due, self.crawl_delay, self.failures, self.failed_at, self.pages, self.index, levels)

    @property
    def delay(self) -> float:
        return self.manners.delay_of(self.crawl_delay)

    @property
    def waiting(self) -> bool:
        """Some entry is not leased."""
        return self.queued > len(self.leased) - (ROBOTS in self.leased)

    @property
    def open(self) -> bool:
        """A visit may be leased: an entry waits, not enough are in hand, and robots.txt is not (it goes first)."""
        leased = self.leased
        if not leased:
            return self.queued > 0
        return len(leased) < self.manners.connections and len(leased) < self.queued and ROBOTS not in leased

    def level(self, priority: int) -> Level:
        found = self.levels.get(priority)
        if found is None:
            found = self.levels[priority] = Level(priority)
        return found

    def next_level(self) -> Level:
        """The level whose turn it is: the first that has something waiting, now and then a lower one."""
        if len(self.levels) == 1:
            return next(iter(self.levels.values()))
        waiting = [level for _, level in sorted(self.levels.items()) if self._waits(level)]
        self.turn += 1
        turn, rest = divmod(self.turn, _A_LOWER_LEVEL_EVERY)
        return waiting[0] if rest or len(waiting) == 1 else waiting[1 + turn % (len(waiting) - 1)]

    def _waits(self, level: Level) -> bool:
        return bool(level.head or level.on_disk or level.spill)

    def first(self) -> tuple[int, int]:
        """Priority and number of what comes next, as far as is known without asking the disk."""
        if len(self.levels) == 1:
            ((priority, level),) = self.levels.items()
        else:
            priority = min(priority for priority, level in self.levels.items() if self._waits(level))
            level = self.levels[priority]
        if level.head:
            return priority, level.head[0].number
        if level.on_disk:
            return priority, level.resume
        return priority, level.spill[0].number

    def index_place(self) -> tuple[int, int]:
        """Priority and number of its first entry, leased ones included: where the index of hosts has it."""
        leased = [(entry.priority, entry.number) for entry in self.leased.values() if entry.number != ROBOTS]
        if self.waiting:
            leased.append(self.first())
        return min(leased)

    def rest(self, now: float, seconds: float) -> None:
        """After a visit whose response took `seconds`: the next may follow at once within a burst, else it rests."""
        manners = self.manners
        self.burst += 1
        if self.burst < manners.burst and self.waiting:
            self.due = now
            return
        self.due = now + manners.pause(self.crawl_delay, seconds) * self.burst
        self.burst = 0
