"""The frontier as of its last commit, read from outside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from pathlib import Path

import msgspec

from gossamer.config import FreshConfig
from gossamer.frontier import keys
from gossamer.frontier.counts import Counts, territory_of
from gossamer.frontier.database import ReadOnlyDatabase
from gossamer.frontier.hosts import Chunk
from gossamer.frontier.intervals import KEPT, Kept, read_kept
from gossamer.frontier.notes import Notes, read_notes
from gossamer.frontier.outlook import Circumstances, HostEstimate, Outlook, estimate, outlook
from gossamer.frontier.rulebook import read_rules
from gossamer.model import State, VisitRecord
from gossamer.model.url import host_of, split
from gossamer.rules.policy import Manners, Policy
from gossamer.rules.robots import Robots
from gossamer.rules.yields import Barren


class HostView(msgspec.Struct):
    """What is known of a host, for people."""

    name: str
    pages: int
    queued: int
    failures: int
    due: float
    crawl_delay: float
    delay: float  # in force, what was added included
    robots_known: bool
    robots_until: float
    mirror_of: str = ""  # the host whose pages it shows
    barren: dict[str, Barren] = {}  # its places that brought nothing new lately
    added_delay: float = 0.0  # since it said that it is busy
    trouble: str = ""  # the reason of its last failure
    robots_failing: float = 0.0  # since when its robots.txt cannot be had
    revisits: int = 0  # of those queued: were visited before, and are due
    aside: int = 0  # of those queued: are not visited, while repetitions are skipped
    domain_delay: float = 0.0  # seconds from a visit to it to the next one to a host of its domain
    address_delay: float = 0.0  # the same for its address

    @property
    def new(self) -> int:
        """URLs that wait and were not visited before."""
        return self.queued - self.revisits - self.aside


class Waiting(msgspec.Struct):
    """A URL in the queue of its host."""

    priority: int
    before: int  # URLs of its host that come first, as far as priorities tell
    tries: int  # that failed
    suspect: bool  # found on a page that brought nothing new
    source: bool  # a sitemap
    requested: bool = False  # it was visited before, and somebody has asked for it

    @property
    def aside(self) -> bool:
        """It is not visited, while repetitions are skipped."""
        return self.priority == keys.ASIDE


class HostCounts(msgspec.Struct, gc=False):
    """A host in a list of all."""

    name: str
    pages: int
    queued: int
    failures: int  # in a row
    due: float  # not visited before
    mirror_of: str
    crawl_delay: float = 0.0  # what its robots.txt asks for
    added_delay: float = 0.0  # since it said that it is busy
    trouble: str = ""  # the reason of its last failure
    revisits: int = 0  # of those queued: were visited before, and are due


class _Facts(msgspec.Struct):
    """What the rows of one host say."""

    record: keys.HostRecord
    notes: Notes
    queued: int = 0
    revisits: int = 0
    aside: int = 0
    robots: dict[str, bytes] = {}  # by the code of the scheme
    waiting: Waiting | None = None  # the URL that was looked for


def _facts(prefix: int, rows: Iterable[tuple[bytes, bytes]], wanted: str = "") -> _Facts:
    """`prefix` is the length of what their keys have in common. The record comes before the queue, and that is in the
    order of visits. `wanted`: code of the scheme and path of a URL that is looked for there.
    """
    facts = _Facts(keys.HostRecord(), Notes())
    settled: dict[int, tuple[int, list[int]]] = {}
    for key, value in rows:
        kind, rest = key[prefix : prefix + 1], key[prefix + 1 :]
        if kind == keys.RECORD:
            facts.record = keys.HostRecord.unpack(value)
            settled = {priority: (below, besides) for priority, below, besides in facts.record.done}
        elif kind == keys.QUEUE:
            chunk = Chunk(keys.number_of(key), keys.read_chunk(value), stored=True)
            chunk.forget(*settled.get(rest[0], (0, [])))
            if wanted and facts.waiting is None:
                facts.waiting = _found(chunk, wanted, rest[0], facts.queued)
            facts.queued += chunk.left
            if rest[0] == keys.ASIDE:
                facts.aside += chunk.left
            elif not value.isascii():
                facts.revisits += keys.revisits_in(chunk.entries)[0]
        elif kind == keys.NOTES:
            facts.notes = read_notes(value)
        elif kind == keys.ROBOTS:
            facts.robots[rest.decode()] = value
    return facts


def _found(chunk: Chunk, wanted: str, priority: int, before: int) -> Waiting | None:
    left = [entry for entry in chunk.entries if entry]
    for place, entry in enumerate(left):
        if entry.endswith(wanted):
            _, tries, hops, scheme, path = keys.read_entry(entry)
            if scheme + path == wanted:
                again, source = bool(hops & keys.REVISIT), bool(hops & keys.SOURCE)
                marked = bool(hops & keys.SUSPECT)  # of a known URL: REQUESTED
                return Waiting(priority, before + place, tries, marked and not again, source, marked and again)
    return None


class FrontierReader:
    """Takes no lock and changes nothing; `scratch` is a directory for RocksDB's own notes."""

    def __init__(self, path: Path, scratch: Path) -> None:
        self._database = ReadOnlyDatabase(path, scratch)
        self.hidden: frozenset[int] = frozenset()  # partitions that are here, and of which others know more
        self._troubled = b"", ""  # the host that was asked about last, and the reason why it does not answer

    def meta(self, name: str) -> bytes | None:
        return self._database.visit(keys.META + name.encode())

    def meta_names(self, prefix: str) -> list[str]:
        """As `Frontier.meta_names`."""
        start = keys.META + prefix.encode()
        return [key[len(start) :].decode() for key, _ in self._database.scan_visits(start)]

    def metas(self, prefix: str) -> list[bytes]:
        """What was committed under names that begin so."""
        return [value for _, value in self._database.scan_visits(keys.META + prefix.encode())]

    def meta_rows(self, prefix: str, after: str) -> Iterator[tuple[str, bytes]]:
        """What was committed under names that begin so, without that beginning, from one of these on."""
        start = keys.META + prefix.encode()
        for key, value in self._database.scan_visits(start, start + after.encode()):
            yield key[len(start) :].decode(), value

    def counts(self) -> Counts:
        stored = self.meta("counts")
        return msgspec.msgpack.decode(stored, type=Counts) if stored else Counts()

    def _partitions(self, wanted: Iterable[int] | None = None) -> Iterator[bytes]:
        """What their keys begin with, of all or of some; without those that come, which the counts do not have yet."""
        moving = {
            keys.taking_prefix(key) for key, value in self._database.scan_visits(keys.TAKING) if value == keys.COMES
        }
        for number in range(self.counts().partitions) if wanted is None else wanted:
            partition = keys.partition_prefix(number)
            if partition not in moving and number not in self.hidden:
                yield partition

    def visits(self, state: State | None = None, partitions: Iterable[int] | None = None) -> Iterator[VisitRecord]:
        """All, or those of some partitions."""
        for partition in self._partitions(partitions):
            for key, value in self._database.scan_visits(partition + b"v"):
                if state is None or value[0] == state:
                    yield self._read(key, value)

    def judged_by(self, host: str) -> dict[str, int]:
        """The numbers of the rules by which what is excluded on a host was judged; below zero it is doubted."""
        note = self.meta(f"{keys.JUDGED}{self._partition(host)}")
        return {} if note is None else msgspec.msgpack.decode(note, type=dict[str, int])

    def holds(self, partition: int) -> bool:
        """Whether there is a visit of this partition."""
        rows = self._database.scan_visits(keys.partition_prefix(partition) + b"v")
        return partition not in self.hidden and next(rows, None) is not None

    def holds_host(self, name: str) -> bool:
        """Whether there is a visit of the partition that the host is in; otherwise the partition is another agent's."""
        return self.holds(self._partition(name))

    def outcomes(self, partitions: Iterable[int] | None = None) -> Counter[tuple[State, int, int, str]]:
        """How many visits there are of each state, depth, status and reason."""
        packed: Counter[bytes] = Counter()
        for partition in self._partitions(partitions):
            rows = self._database.scan_visits(partition + b"v")
            packed.update(keys.outcome_of(value) if value[0] else self._waits(key, value) for key, value in rows)
        return Counter({keys.read_outcome(outcome): count for outcome, count in packed.items()})

    def visit(self, url: str) -> VisitRecord | None:
        if self.hidden and self._partition(host_of(url)) in self.hidden:
            return None
        key = self._key(url)
        value = self._database.visit(key)
        return None if value is None else self._read(key, value)

    def _read(self, key: bytes, value: bytes) -> VisitRecord:
        """A visit. One that waits has the reason of its host's last fault, if that does not answer."""
        visit = keys.read_visit(key, value)
        if visit.state is not State.QUEUED or visit.reason:
            return visit
        trouble = self._trouble(key)
        return msgspec.structs.replace(visit, reason=trouble) if trouble else visit

    def _waits(self, key: bytes, value: bytes) -> bytes:
        """The outcome of a visit that waits, as `keys.outcome_of`, with the reason of its host's last fault."""
        return b"%b\0\0%b" % (value[:2], (keys.reason_of(value) or self._trouble(key)).encode())

    def _trouble(self, key: bytes) -> str:
        """Why the host of a visit does not answer; empty if it does."""
        prefix = key[:2] + key[3 : key.index(b"\0", 3) + 1]
        if self._troubled[0] != prefix:
            record = keys.HostRecord.unpack(self._database.host(prefix + keys.RECORD) or b"")
            notes = self._database.host(prefix + keys.NOTES) if record.failures else None
            self._troubled = prefix, read_notes(notes).trouble if notes else ""
        return self._troubled[1]

    def _key(self, url: str) -> bytes:
        origin, path = split(url)
        scheme = keys.SCHEMES[origin.partition(":")[0]]
        return keys.visits_of(self._prefix(host_of(url))) + (scheme + path).encode()

    def outlook(self, url: str, host: HostView, config: FreshConfig, policy: Policy, now: float) -> Outlook | None:
        """When a page is visited again and why then; None where nothing is noted for that."""
        key = self._key(url)
        value = self._database.visit(key)
        if value is None or not keys.has_again(value):
            return None
        packed = self._database.host(self._prefix(host.name) + keys.FRESH) or b""
        about = Circumstances(
            self._kept(), packed, host.delay, host.new > 0, config, policy, policy.manners(host.name), now
        )
        return outlook(keys.read_visit(key, value), keys.read_before(value), about)

    def freshness(self, names: Iterable[str], now: float) -> dict[str, HostEstimate]:
        """Of those of these hosts of which something is known."""
        kept = self._kept()
        found = ((name, self._database.host(self._prefix(name) + keys.FRESH)) for name in names)
        return {name: estimate(kept, packed, now) for name, packed in found if packed}

    def _kept(self) -> Kept:
        return read_kept(self._database.visit(KEPT))

    def host(self, name: str, manners: Manners, origin: str) -> HostView | None:
        return self.host_with(name, manners, f"{origin}/")[0]

    def host_with(self, name: str, manners: Manners, url: str) -> tuple[HostView | None, Robots | None, Waiting | None]:
        """A host, the rules of its robots.txt, and one of its URLs as it waits there, where there are these."""
        prefix = self._prefix(name)
        origin, path = split(url)
        scheme = keys.SCHEMES[origin.partition(":")[0]]
        rows = self._database.scan_hosts(prefix)
        first = next(rows, None)
        if first is None:
            return None, None, None
        facts = _facts(len(prefix), chain((first,), rows), scheme + path)
        record, notes = facts.record, facts.notes
        rules = facts.robots.get(scheme, b"")
        view = HostView(
            name,
            record.pages,
            facts.queued,
            record.failures,
            record.due,
            record.crawl_delay,
            manners.delay_of(record.crawl_delay) + record.added_delay,
            bool(rules),
            keys.read_robots(rules)[0] if rules else 0.0,
            notes.mirror_of,
            notes.barren,
            record.added_delay,
            notes.trouble,
            record.robots_failing,
            facts.revisits,
            facts.aside,
            manners.domain_pause(record.crawl_delay),
            manners.address_pause(record.crawl_delay),
        )
        return view, read_rules(rules)[0] if rules else None, facts.waiting

    def visits_of(self, name: str) -> Iterator[VisitRecord]:
        """All visits of a host, by their paths."""
        for key, value in self._database.scan_visits(keys.visits_of(self._prefix(name))):
            yield self._read(key, value)

    def hosts(self) -> Iterator[HostCounts]:
        """Every host, in no order that means anything."""
        for partition in self._partitions():
            rows = self._database.scan_hosts(partition)
            for prefix, of_host in groupby(rows, keys.prefix_of_row):
                facts = _facts(len(prefix), of_host)
                record = facts.record
                yield HostCounts(
                    keys.host_of_prefix(prefix),
                    record.pages,
                    facts.queued,
                    record.failures,
                    record.due,
                    facts.notes.mirror_of,
                    record.crawl_delay,
                    record.added_delay,
                    facts.notes.trouble,
                    facts.revisits,
                )

    def _partition(self, host: str) -> int:
        return territory_of(self.counts()).partition(host)

    def _prefix(self, host: str) -> bytes:
        return keys.host_prefix(keys.partition_prefix(self._partition(host)), host)

    def refresh(self) -> None:
        """From here on as of the newest commit."""
        self._troubled = b"", ""
        self._database.refresh()

    def close(self) -> None:
        self._database.close()
