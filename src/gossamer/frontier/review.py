"""Visits looked at again: dead and excluded ones may be queued once more, those of a purged host go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from itertools import islice
from typing import Final

import msgspec

from gossamer.frontier import keys
from gossamer.frontier.counts import Counts
from gossamer.frontier.database import Database
from gossamer.frontier.hosts import Origin
from gossamer.frontier.roster import Roster
from gossamer.frontier.share import Share
from gossamer.model import Exclusion, Judgement, Reason, State, VisitRecord
from gossamer.model.domain import reversed_host
from gossamer.model.url import split
from gossamer.rules.policy import USUAL_PRIORITY

_AT_ONCE = 2000  # records between two turns of the loop
_FETCHED: Final = frozenset({Exclusion.PURGED, Exclusion.SITEMAP, Exclusion.FEED})
"""Excluded, and yet fetched: these are not fetched a second time because somebody gives them again."""

_FINAL: Final = frozenset({Exclusion.PURGED, Exclusion.SITEMAP, Exclusion.REDIRECTS, Exclusion.HOST_NAME})
"""What is excluded for one of these is never judged again: no setting has a say in it."""

JUDGED_AGAIN: Final = frozenset({*Exclusion, *Reason}) - _FINAL - {Exclusion.FEED}
"""What `gossamer control rejudge` looks at: a feed was read, and would only be read again."""

BY_FORM: Final = frozenset(
    {
        Exclusion.SCOPE, Exclusion.LENGTH, Exclusion.EXCLUDE, Exclusion.INCLUDE, Exclusion.REPEATED, Exclusion.DEEP,
        Exclusion.CALENDAR, Exclusion.PARAMETERS,
    }
)  # fmt: skip
"""Reasons of the scope, which seeds are not asked for: what has one was no seed."""


class Review:
    """Goes over stored visits in steps, between which the crawl goes on.

    Invariants: a visit is changed by what it is now, whatever the scan saw of it. Going over the same again changes
    nothing more, so a review that was cut off is simply begun again. What is excluded in a partition was judged by the
    rules that its note names, but for the reasons that are due.
    """

    def __init__(
        self,
        database: Database,
        roster: Roster,
        counts: Counts,
        share: Share,
        judge: Callable[[Origin, str, str, int, bool], Judgement],
        enqueue: Callable[[Origin, list[str], int], None],
    ) -> None:
        """`judge` says what now speaks against a URL: origin, URL, path, depth, and whether it is a seed."""
        self._database = database
        self._roster = roster
        self._counts = counts
        self._share = share
        self._judge = judge
        self._enqueue = enqueue
        self._rules: dict[str, int] = {}
        self._packed = b""
        self.due: dict[bytes, dict[str, int]] = {}
        """Reasons of exclusion whose rules have changed, with the numbers of the old rules, by the partitions in which
        they were not judged again yet.
        """
        self.read_on: Callable[[VisitRecord], None] = lambda _: None
        """Told of pages that were as deep as allowed, when their links may be followed."""

    def given_again(self, urls: Iterable[str], priority: int) -> tuple[int, Counter[str]]:
        """Queue those seeds that were excluded or are dead: a seed that is given again gets another chance. Return how
        many were excluded, and how many dead, by reason.
        """
        origins = [(self._roster.origin(start), path) for start, path in map(split, dict.fromkeys(urls))]
        found = [origin.prefix + path.encode() for origin, path in origins]
        excluded, dead = 0, Counter[str]()
        for (origin, path), key, value in zip(origins, found, self._database.visits_at(found), strict=True):
            if value is None or keys.has_again(value):  # that one is visited again by itself
                continue
            if value[0] == State.DEAD:
                dead[keys.reason_of(value)] += 1
            elif value[0] == State.EXCLUDED and keys.left_out(value) not in _FETCHED:
                excluded += 1
            else:
                continue
            self._queue(key, origin, path, 0, priority)
        self._counts.dead -= dead.total()
        self._counts.excluded -= excluded
        return excluded, dead

    def _queue(self, key: bytes, origin: Origin, path: str, depth: int, priority: int = USUAL_PRIORITY) -> None:
        """Have a URL that had an end visited as if it were new, with all its tries."""
        self._database.visits[key] = keys.queued_visit(depth)
        fixed = origin.manners.priority
        entry = keys.pack_entry(depth, 0, keys.marks_of(path), origin.scheme, path)
        self._enqueue(origin, [entry], priority if fixed < 0 else fixed)

    # -- excluded URLs, judged anew ------------------------------------------------------------------------------------

    def rules_are(self, rules: dict[str, int], stricter: Container[str] = ()) -> None:
        """From now on these rules hold: for each reason of exclusion a number that changes with its settings; that of
        depth is the limit and one. What was excluded by other rules is due to be judged again, unless they have only
        become `stricter`.
        """
        self._rules, self._packed = rules, _pack(rules)
        for partition in self._partitions():
            if self._share.is_ours(partition):
                self.opened(partition, stricter)

    def opened(self, partition: bytes, stricter: Container[str] = ()) -> None:
        """A partition is ours. A note that goes with it says by which rules it was judged last."""
        if not self._rules:
            return
        key = keys.META + keys.judged_name(partition).encode()
        stored = self._database.visit(key)
        if stored == self._packed:
            return
        before = self._rules if stored is None else {**self._rules, **_unpack(stored)}
        changed = {name: before[name] for name, number in self._rules.items() if before[name] != number}
        self._doubt(partition, {name: old for name, old in changed.items() if old < 0 or name not in stricter})

    def closed(self, partition: bytes) -> None:
        """A partition is not ours any more; whoever has it next finds the note."""
        self.due.pop(partition, None)

    def doubt(self, host: str, reason: str) -> None:
        """What is excluded for a reason in the partition of a host may belong by now."""
        partition = self._roster.prefix(host)[:2]
        if self._rules and self._share.is_ours(partition):
            self._doubt(partition, {reason: self._rules[reason], **self.due.get(partition, {})})

    def _doubt(self, partition: bytes, due: dict[str, int]) -> None:
        """Note what is due in the commit that has what it follows from: if the crawl is killed, it is due to the next
        run. The number of a rule below zero says so.
        """
        due = {reason: -abs(number) for reason, number in due.items()}
        note = _pack({**self._rules, **due}) if due else self._packed
        self._database.visits[keys.META + keys.judged_name(partition).encode()] = note
        if due:
            self.due[partition] = due
        else:
            self.due.pop(partition, None)

    def rejudge_due(self) -> Iterator[tuple[int, int, int]]:
        """As `rejudge`, of all that is due, until nothing is."""
        while self.due:
            partition, reasons = next(iter(self.due.items()))
            rules = self._rules
            if Reason.ROBOTS in reasons:
                yield from self._forget_rules(partition)
            yield from self.rejudge(reasons, [partition])
            if Exclusion.DEPTH in reasons and (limit := -reasons[Exclusion.DEPTH]) < rules[Exclusion.DEPTH]:
                yield from self._read_on(partition, limit - 1)
            if self._rules is rules and self.due.get(partition) == reasons:
                self._doubt(partition, {})

    def rejudge(
        self, reasons: Container[str] = JUDGED_AGAIN, partitions: Iterable[bytes] | None = None
    ) -> Iterator[tuple[int, int, int]]:
        """Judge anew what is excluded for one of these reasons: queue what belongs by now, or what only a visit can
        tell. Gives after each step how many URLs were looked at, were excluded so, and are queued.
        """
        for partition in self._partitions() if partitions is None else partitions:
            rows = self._database.scan_visits(partition + b"v")
            while step := list(islice(rows, _AT_ONCE)):
                wanted = [key for key, value in step if value[0] == State.EXCLUDED and keys.left_out(value) in reasons]
                yield len(step), *self._judge_anew(wanted, reasons)

    def _judge_anew(self, wanted: list[bytes], reasons: Container[str]) -> tuple[int, int]:
        """Give how many of these are excluded for one of the reasons, and how many of them are queued. The record of
        one that is not says for which reason now.
        """
        found: list[tuple[bytes, Origin, str, int]] = []
        excluded, forbidden = 0, dict[Origin, None]()
        for key, value in self._now(wanted):
            if keys.left_out(value) not in reasons or keys.has_again(value):  # that one is visited again by itself
                continue
            excluded += 1
            visit = keys.read_visit(key, value)
            start, path = split(visit.url)
            origin = self._roster.origin(start)
            seed = not visit.depth and visit.reason not in BY_FORM
            reason = self._judge(origin, visit.url, path, visit.depth, seed)
            if not reason:
                found.append((key, origin, path, visit.depth))
                if visit.reason == Reason.ROBOTS:
                    forbidden[origin] = None
            elif reason != visit.reason:
                self._database.visits[key] = keys.excluded_visit(visit.depth, reason)
        self._roster.ask_for_rules_again(forbidden)
        for each in found:
            self._queue(*each)
        self._counts.excluded -= len(found)
        return excluded, len(found)

    def _read_on(self, partition: bytes, depth: int) -> Iterator[tuple[int, int, int]]:
        """Name the pages of a depth from which links were not followed: that is allowed now."""
        rows = self._database.scan_visits(partition + b"v")
        while step := list(islice(rows, _AT_ONCE)):
            for key, value in step:
                if value[0] == State.FETCHED and value[1] >= depth:
                    self.read_on(keys.read_visit(key, value))
                    yield 0, 0, 0  # to read a page takes as long as to judge a thousand URLs
            yield len(step), 0, 0

    def _forget_rules(self, partition: bytes) -> Iterator[tuple[int, int, int]]:
        """Robots rules were read for another name: robots.txt is asked for again before anything else is."""
        rows = self._database.scan_hosts(partition, partition)
        while step := list(islice(rows, _AT_ONCE)):
            named = [key[2:].partition(b"\0") for key, _ in step]
            rules = [
                (keys.host_of_prefix(partition + name + b"\0"), kind)
                for name, _, kind in named
                if kind[:1] == keys.ROBOTS
            ]
            self._roster.ask_for_rules_again(
                self._roster.origin(f"{keys.SCHEME_NAMES[chr(kind[1])]}://{host}") for host, kind in rules
            )
            yield 0, 0, 0

    # -- what somebody asks for ----------------------------------------------------------------------------------------

    def retry(self, domain: str = "") -> Iterator[Counter[str]]:
        """Queue dead visits again, with all their tries; those of a host and all below it, or all. Gives after each
        step how many that were, by reason.
        """
        for step in self._steps(self._visits(domain)):
            found = Counter[str]()
            for key, value in step:
                if value[0] != State.DEAD or (keys.has_again(value) and not keys.due_of(value)):
                    continue  # of those that are visited again some wait in the queue already
                visit = keys.read_visit(key, value)
                start, path = split(visit.url)
                self._queue(key, self._roster.origin(start), path, visit.depth)
                self._counts.dead -= 1
                found[visit.reason] += 1
            yield found

    def purge(self, domain: str) -> Iterator[tuple[int, Counter[str]]]:
        """Exclude the visits of a host and all below it that have an end. Gives after each step how many pages that
        were, and how many dead visits, by reason. Those that wait are for the blocklist to exclude.
        """
        for step in self._steps(self._visits(domain)):
            pages, dead = 0, Counter[str]()
            for key, value in step:
                if value[0] not in (State.FETCHED, State.DEAD):
                    continue
                visit = keys.read_visit(key, value)
                self._database.visits[key] = keys.excluded_visit(visit.depth, Exclusion.PURGED)
                self._counts.excluded += 1
                pages += visit.state is State.FETCHED
                dead[visit.reason] += visit.state is State.DEAD
            self._counts.fetched -= pages
            self._counts.dead -= dead.total()
            yield pages, dead

    def hosts(self, domain: str) -> Iterator[list[str]]:
        """The names of a host and all below it that are known, in steps."""
        start = _start(domain)
        names: list[str] = []
        for partition in self._partitions():
            for key, _ in self._database.scan_hosts(partition + start, partition + start):
                name, _, kind = key[2:].partition(b"\0")
                if kind == keys.RECORD and _is_below(name, start):
                    names.append(keys.host_of_prefix(partition + name + b"\0"))
                if len(names) >= _AT_ONCE:
                    yield names
                    names = []
        yield names

    def _visits(self, domain: str) -> Iterator[bytes]:
        start = _start(domain)
        for partition in self._partitions():
            for key, _ in self._database.scan_visits(partition + b"v" + start):
                if not start or _is_below(key[3:].partition(b"\0")[0], start):
                    yield key

    def _partitions(self) -> Iterator[bytes]:
        """All that are whole: the names below a public suffix are in many."""
        for partition in map(keys.partition_prefix, range(self._counts.partitions)):
            if partition not in self._database.closed:
                yield partition

    def _steps(self, found: Iterator[bytes]) -> Iterator[list[tuple[bytes, bytes]]]:
        while step := list(islice(found, _AT_ONCE)):
            yield self._now(step)

    def _now(self, found: list[bytes]) -> list[tuple[bytes, bytes]]:
        """Read visits as they are now: what is visited again meanwhile has another time than the scan has seen."""
        closed = self._database.closed
        asked = [key for key in found if key[:2] not in closed] if closed else found
        return [(key, value) for key in asked if (value := self._database.visit(key)) is not None]


_pack = msgspec.msgpack.Encoder(order="deterministic").encode
_unpack = msgspec.msgpack.Decoder(dict[str, int]).decode


def _start(domain: str) -> bytes:
    return reversed_host(domain).encode()


def _is_below(name: bytes, start: bytes) -> bool:
    """A reversed name, with or without a port, is that of the domain that begins so or of one below it."""
    return name[len(start) : len(start) + 1] in (b"", b".", b":")
