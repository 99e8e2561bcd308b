"""A host: its queues, of which only the beginnings are in memory, and when it may be visited."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from enum import IntEnum
from operator import attrgetter

import msgspec

from gossamer.frontier import keys
from gossamer.frontier.counts import Counts
from gossamer.frontier.host_freshness import HostFreshness
from gossamer.frontier.notes import Likeness, Notes
from gossamer.frontier.rulebook import Rules
from gossamer.rules.policy import Manners
from gossamer.rules.yields import Yields

FIRST = 0  # the priority of visits that are made again: what may be queued is limited, so they need not wait there
ROBOTS = 0  # the number under which a host's robots.txt is leased; queue entries count from CHUNK
CHUNK = 32  # entries at most
_A_LOWER_LEVEL_EVERY = 16  # visits of a host: a level that starves still moves
_LEAST_ADDED, _MOST_ADDED = 1.0, 300.0  # seconds between visits to a host that is busy
_RECOVERY = 0.94
_number = attrgetter("number")


class Chunk:
    """Up to CHUNK entries of one host and priority, found one after the other. The i-th has the number `first` + i.

    An entry stays until it is settled, and is empty then, so that what is written of a chunk is what is left to do.
    """

    __slots__ = ("entries", "first", "left", "stored", "taken")

    def __init__(self, first: int, entries: list[str], stored: bool) -> None:
        self.first = first
        self.entries = entries
        self.left = len(entries)  # not settled
        self.taken = 0  # those before were leased at some time
        self.stored = stored  # on disk

    @property
    def untouched(self) -> bool:
        """On disk it is as in memory."""
        return not self.taken and self.left == len(self.entries)

    def done(self) -> tuple[int, list[int]]:
        """All numbers below the first are settled, and those of the list; something is left."""
        low = 0
        while not self.entries[low]:
            low += 1
        besides = [number for number, entry in enumerate(self.entries[low:], self.first + low) if not entry]
        return self.first + low, besides

    def forget(self, below: int, besides: Sequence[int]) -> None:
        """Read from disk, it still has the entries that were settled since it was written: all with a number below,
        and those besides.
        """
        first, entries = self.first, self.entries
        for number in (*range(first, min(below, first + len(entries))), *besides):
            if first <= number < first + len(entries):
                entries[number - first] = ""
        self.left = len(entries) - entries.count("")


def append(chunks: list[Chunk], entries: list[str], counts: Counts) -> tuple[Chunk, ...]:
    """Put entries last, in their order; gives the chunks that were begun for them."""
    begun: tuple[Chunk, ...] = ()
    done = 0
    if chunks:
        last = chunks[-1]
        if not last.stored and len(last.entries) < CHUNK:
            some = entries[: CHUNK - len(last.entries)]
            last.entries += some
            last.left += len(some)
            done = len(some)
    for start in range(done, len(entries), CHUNK):
        counts.number += CHUNK  # numbers of a chunk are its own: none is given twice
        chunk = Chunk(counts.number, entries[start : start + CHUNK], stored=False)
        chunks.append(chunk)
        begun += (chunk,)
    return begun


class Entry(msgspec.Struct, frozen=True, gc=False):
    """A visit in hand: where it came from in the queue. By priority, then by the order found (P2)."""

    priority: int
    number: int
    depth: int
    tries: int
    hops: int
    scheme: str
    path: str
    chunk: Chunk | None = None


class Level:
    """The entries of one host and priority, in the order of their numbers.

    Invariant: an entry that waits is in `returned`, or in `chunks`, or on disk in a chunk that begins at or after
    `resume` (where `more` says so), or in `late` (found since the last commit, while there was more on disk); they
    come in that order.
    """

    __slots__ = ("besides", "chunks", "finished", "indexed", "late", "more", "new", "priority", "resume", "returned")

    def __init__(self, priority: int) -> None:
        self.priority = priority
        # Tuples where there is hardly ever anything: hosts come by the ten thousand.
        self.returned: tuple[Entry, ...] = ()
        self.chunks: list[Chunk] = []
        self.more = False
        self.resume = 0  # number of the first chunk that is on disk only
        self.besides: tuple[int, ...] = ()  # numbers in chunks on disk that are settled
        self.late: list[Chunk] = []
        self.new: tuple[Chunk, ...] = ()  # not stored yet
        self.finished: tuple[int, ...] = ()  # stored chunks of which nothing is left, since the last commit
        self.indexed = -1  # the last epoch under which the index certainly has this level

    def put(self, entries: list[str], counts: Counts) -> None:
        self.new += append(self.late if self.more else self.chunks, entries, counts)

    def put_late(self, chunks: list[Chunk]) -> None:
        """Chunks that were begun while the host was on disk."""
        (self.late if self.more else self.chunks).extend(chunks)
        self.new += (*chunks,)

    @property
    def empty(self) -> bool:
        """Nothing waits or is leased."""
        return not (self.chunks or self.more or self.late)

    @property
    def visits_again(self) -> bool:
        """What comes next was visited before."""
        entry = self.peek() if self.priority == FIRST else None
        return entry is not None and bool(entry.hops & keys.REVISIT)

    @property
    def left(self) -> int:
        """Entries in memory that are not settled."""
        return sum([chunk.left for chunk in self.chunks]) + sum([chunk.left for chunk in self.late])

    @property
    def waits(self) -> bool:
        return bool(self.returned or self.more or self.next_chunk())

    def next_chunk(self) -> Chunk | None:
        """The chunk that has what comes next after `returned`, at `taken`."""
        for chunk in self.chunks:
            entries = chunk.entries
            while chunk.taken < len(entries):
                if entries[chunk.taken]:
                    return chunk
                chunk.taken += 1
        return None

    @property
    def next_number(self) -> int:
        """Of what comes next; something waits."""
        if self.returned:
            return self.returned[0].number
        chunk = self.next_chunk()
        return self.resume if chunk is None else chunk.first + chunk.taken

    def peek(self) -> Entry | None:
        """What comes next; None when the disk has to be asked first."""
        if self.returned:
            return self.returned[0]
        chunk = self.next_chunk()
        if chunk is None:
            return None
        return Entry(self.priority, chunk.first + chunk.taken, *keys.read_entry(chunk.entries[chunk.taken]), chunk)

    def take(self, entry: Entry) -> None:
        """What `peek` gave is in hand now."""
        if self.returned:
            self.returned = self.returned[1:]
        elif entry.chunk is not None:
            entry.chunk.taken += 1

    def put_back(self, entry: Entry) -> None:
        """An entry that was taken waits again: it comes before all that were not."""
        self.returned = tuple(sorted((*self.returned, entry), key=_number))

    def settle(self, entry: Entry) -> None:
        chunk = entry.chunk
        assert chunk is not None
        chunk.entries[entry.number - chunk.first] = ""
        chunk.left -= 1
        if not chunk.left:
            self.chunks.remove(chunk)
            if chunk.stored:
                self.finished += (chunk.first,)

    def refill(self, chunks: Iterable[Chunk], resume: int) -> None:
        """Take in chunks read from disk; there are more from `resume` on (0: there are not)."""
        self.chunks.extend(chunks)
        if self.besides:
            self.besides = tuple(number for number in self.besides if number >= resume > 0)
        self.more, self.resume = resume > 0, resume
        if not self.more:
            self.chunks.extend(self.late)
            self.late.clear()

    def committed(self, room: int) -> None:
        """All chunks are on disk: those that are not needed soon need not be in memory."""
        self.new = ()
        self.finished = ()
        if self.late:
            self.late.clear()  # there is more on disk, and these come after
        kept = 0
        for place, chunk in enumerate(self.chunks):
            if kept >= room and chunk.untouched:
                self.more, self.resume = True, chunk.first
                del self.chunks[place:]
                return
            kept += len(chunk.entries) - chunk.taken

    def done(self) -> tuple[int, int, list[int]] | None:
        """What of the stored chunks is settled, if it is not to be seen on disk: priority, below, besides."""
        besides = [*self.besides]
        partial = [chunk for chunk in self.chunks if chunk.left < len(chunk.entries)]
        if not (partial or besides):
            return None
        below = self.chunks[0].first if self.chunks else self.resume
        for chunk in partial:
            low, others = chunk.done()
            if chunk.first == below:
                below = low
            else:
                besides += range(chunk.first, low)
            besides += others
        return self.priority, below, besides


class Place(IntEnum):
    IDLE = 0  # nothing to do, or as many visits in hand as allowed
    READY = 1
    WAITING = 2
    HELD = 3  # its domain or its address may not be visited now
    GONE = 4  # no longer in memory; whoever still holds it must drop it


class Group:
    """Hosts that are limited together: those of a domain, or at an address; or all, where few are begun at a time.

    Invariant: `in_hand` is how many visits of its hosts are leased, and `due` the time before which no further one is;
    `held` has the hosts that wait for the group, by priority and in their order, and no priority without a host. `next`
    is the one of them that was let go and is ready: others of the group do not overtake it.
    """

    __slots__ = ("__weakref__", "called", "due", "held", "in_hand", "most", "name", "next", "pause", "picks")

    def __init__(self, name: str, most: int) -> None:
        self.name = name
        self.most = most  # visits in hand
        self.in_hand = 0
        self.due = 0.0
        self.pause = 0.0  # seconds after a visit, of the host that was grouped last
        self.called = False  # the schedule looks at it again at a time that is not later than `due`
        self.held: dict[int, OrderedDict[HostQueue, None]] = {}
        self.next: HostQueue | None = None
        self.picks = 0

    @property
    def waiting(self) -> int:
        return sum(map(len, self.held.values()))

    def keep(self, host: HostQueue, priority: int) -> None:
        """Let a host wait behind the others of its priority."""
        self.held.setdefault(priority, OrderedDict())[host] = None
        host.held_by = self

    def leave(self, host: HostQueue) -> None:
        """Let a host wait no longer."""
        host.held_by = None
        priority = next(priority for priority, hosts in self.held.items() if host in hosts)
        del self.held[priority][host]
        if not self.held[priority]:
            del self.held[priority]

    def beyond(self, most: int) -> list[HostQueue]:
        """Return the hosts that wait, but for the `most` that come first."""
        return [host for priority in sorted(self.held) for host in self.held[priority]][most:]


class HostQueue:
    """Invariants: at most `manners.connections` entries are leased; what is leased is settled in no chunk."""

    __slots__ = (
        "added_delay", "address", "burst", "closed", "crawl_delay", "dirty", "domain", "due", "failed_at", "failures",
        "fresh", "front", "groups", "held_by", "leased", "levels", "manners", "mirror_of", "name", "noted", "origins",
        "pages", "party", "pauses", "place", "prefix", "robots", "robots_at", "robots_failing", "spot", "trouble",
        "turn", "twins", "visits", "yields",
    )  # fmt: skip

    def __init__(self, name: str, domain: str, manners: Manners, prefix: bytes) -> None:
        self.name = name
        self.domain = domain
        self.manners = manners
        self.prefix = prefix  # of its keys
        self.visits = keys.visits_of(prefix)
        self.levels: dict[int, Level] = {}
        self.leased: dict[int, Entry] = {}
        self.pages = 0
        self.due = 0.0
        self.crawl_delay = 0.0
        self.added_delay = 0.0  # seconds between visits, besides, since it said that it is busy
        self.failures = 0
        self.failed_at = 0.0
        self.burst = 0  # visits since its last rest
        self.turn = 0
        self.party = 0  # whom its next visit is for, where several parties share a crawl
        self.address = ""  # where it was last found, for this run
        self.groups: tuple[Group, ...] = ()  # what limits it besides itself: its domain, its address
        self.pauses: tuple[float, ...] = ()  # seconds that each of these rests after a visit of this host
        self.held_by: Group | None = None  # that it waits for
        self.origins: list[Origin] = []
        self.robots: dict[str, Rules] = {}  # by scheme
        self.robots_failing = 0.0  # since when robots.txt cannot be had
        # scheme -> where robots.txt was redirected to, how many times, when it is its turn there
        self.robots_at: dict[str, tuple[str, int, float]] = {}
        self.mirror_of = ""  # the host whose pages it shows
        self.front = ""  # the host that has the same front page, and had it first
        self.twins: dict[str, Likeness] | None = None  # hosts that have some of its pages
        self.yields: Yields | None = None
        self.fresh: HostFreshness | None = None  # how its pages change; None: nothing is known of that
        self.trouble = ""  # the reason of its last failure
        self.noted = False  # one of the last five was changed since the last commit
        self.place = Place.IDLE
        self.spot = 0  # in the order of those that are ready
        self.dirty = False
        self.closed = False  # its partition is being given up

    def load(self, record: keys.HostRecord) -> None:
        self.due = record.due
        self.crawl_delay = record.crawl_delay
        self.added_delay = record.added_delay
        self.failures = record.failures
        self.failed_at = record.failed_at
        self.robots_failing = record.robots_failing
        self.pages = record.pages

    def record(self) -> keys.HostRecord:
        done = [each for level in self.levels.values() if (each := level.done()) is not None]
        return keys.HostRecord(
            self.due,
            self.crawl_delay,
            self.added_delay,
            self.failures,
            self.failed_at,
            self.robots_failing,
            self.pages,
            done,
        )

    def load_notes(self, notes: Notes) -> None:
        self.mirror_of, self.front, self.trouble = notes.mirror_of, notes.front, notes.trouble
        self.yields = Yields(notes.barren) if notes.barren else None

    def notes(self) -> Notes:
        barren = {} if self.yields is None else self.yields.barren
        return Notes(self.mirror_of, barren, self.front, self.trouble)

    def fails(self, reason: str) -> None:
        """That it did is counted elsewhere: this is why."""
        if reason != self.trouble:
            self.trouble, self.noted = reason, True

    @property
    def delay(self) -> float:
        return self.manners.delay_of(self.crawl_delay) + self.added_delay

    @property
    def waiting(self) -> bool:
        """Some entry is not leased."""
        for level in self.levels.values():  # asked several times a visit: no generator, no property
            if (level.returned or level.more or level.next_chunk() is not None) and (
                level.priority != keys.ASIDE or not self.manners.skips
            ):
                return True
        return False

    @property
    def may_repeat(self) -> bool:
        """Something is known against one of its places, or nothing of the host yet."""
        return bool(self.yields.barren) if self.yields is not None else not self.pages

    @property
    def mirrors(self) -> bool:
        """It shows the pages of another host, and is left for that."""
        return bool(self.mirror_of) and self.manners.skips

    @property
    def open(self) -> bool:
        """A visit may be leased: an entry waits, the host is ours, not blocked and no mirror, not enough are in hand,
        and robots.txt is not (it goes first).
        """
        leased, manners = self.leased, self.manners
        if leased and (len(leased) >= manners.connections or ROBOTS in leased):  # most often so, thus asked first
            return False
        if manners.blocked or self.closed or (self.mirror_of and manners.skips):
            return False
        return self.waiting

    def level(self, priority: int) -> Level:
        found = self.levels.get(priority)
        if found is None:
            found = self.levels[priority] = Level(priority)
        return found

    def next_level(self, share: float = 1.0) -> Level:
        """The level whose turn it is: the first that has something waiting, now and then a lower one. Visits that are
        made again come first, but for no more than their share.
        """
        if len(self.levels) == 1:
            return next(iter(self.levels.values()))
        aside = keys.ASIDE if self.manners.skips else -1
        waiting = [level for priority, level in sorted(self.levels.items()) if priority != aside and level.waits]
        self.turn += 1
        if len(waiting) > 1 and waiting[0].visits_again and int(self.turn * share) == int((self.turn - 1) * share):
            del waiting[0]
        turn, rest = divmod(self.turn, _A_LOWER_LEVEL_EVERY)
        return waiting[0] if rest or len(waiting) == 1 else waiting[1 + turn % (len(waiting) - 1)]

    def first(self) -> tuple[int, int]:
        """Priority and number of what comes next."""
        if len(self.levels) == 1:
            (level,) = self.levels.values()
        else:
            level = self.levels[min(priority for priority, level in self.levels.items() if level.waits)]
        return level.priority, level.next_number

    def tidy(self, room: int) -> None:
        """After a commit: memory is for what is needed soon."""
        for level in self.levels.values():
            level.committed(room)
        if len(self.levels) > 1:
            self.levels = {priority: level for priority, level in self.levels.items() if not level.empty}
        self.dirty = False

    def rest(self, now: float, seconds: float) -> None:
        """After a visit whose response took `seconds`: the next may follow at once within a burst, else it rests."""
        manners = self.manners
        self.burst += 1
        if self.burst < manners.burst and self.waiting:
            self.due = now
            return
        self.due = now + (manners.pause(self.crawl_delay, seconds) + self.added_delay) * self.burst
        self.burst = 0

    def slow_down(self, now: float, wait: float) -> None:
        """It is busy: from now on it is visited more slowly, and not at all for `wait` seconds."""
        self.added_delay = min(max(2 * self.added_delay, self.delay, _LEAST_ADDED), _MOST_ADDED)
        self.due = max(self.due, now + self.delay, now + wait)
        self.burst = 0

    def recover(self) -> None:
        """It answered. After a dozen such answers in a row half of what was added is left."""
        self.added_delay = self.added_delay * _RECOVERY if self.added_delay > _LEAST_ADDED / 2 else 0.0


class Origin:
    """Where URLs begin, such as https://example.org:8080, and the host it is of, if that is in memory."""

    __slots__ = ("away", "host", "host_prefix", "let_in", "malformed", "manners", "met", "name", "prefix", "scheme")

    def __init__(self, name: str, scheme: str, host_prefix: bytes, manners: Manners) -> None:
        self.name = name  # of the host
        self.scheme = scheme
        self.host_prefix = host_prefix
        self.prefix = keys.visits_of(host_prefix) + scheme.encode()  # of its visits
        self.manners = manners
        self.malformed = False  # no server can have its name
        self.away = False  # nothing of it is queued here: its partition is not ours, or it is malformed
        self.met = False  # the host is certainly known
        self.let_in: bool | None = None  # by the limit of hosts of its domain; None: not asked yet
        self.host: HostQueue | None = None
