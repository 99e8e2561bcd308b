"""Visits looked at again because somebody said so: dead ones are queued once more, those of a purged host go."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from gossamer.frontier import keys
from gossamer.frontier.counts import Counts
from gossamer.frontier.database import Database
from gossamer.frontier.hosts import Origin
from gossamer.frontier.roster import Roster
from gossamer.model import Exclusion, State
from gossamer.model.domain import reversed_host
from gossamer.rules.policy import USUAL_PRIORITY

_AT_ONCE = 2000  # records between two turns of the loop


class Review:
    """Goes over stored visits in steps, between which the crawl goes on.

    Invariant: a visit is changed by what it is now, whatever the scan saw of it. Going over the same again changes
    nothing more, so a review that was cut off is simply begun again.
    """

    def __init__(
        self, database: Database, roster: Roster, counts: Counts, enqueue: Callable[[Origin, list[str], int], None]
    ) -> None:
        self._database = database
        self._roster = roster
        self._counts = counts
        self._enqueue = enqueue

    def retry(self, domain: str = "") -> Iterator[int]:
        """Queue dead visits again, with all their tries; those of a host and all below it, or all. Gives after each
        step how many that were.
        """
        for step in self._steps(self._visits(domain)):
            found = 0
            for key, value in step:
                if value[0] != State.DEAD:
                    continue
                visit = keys.read_visit(key, value)
                scheme, cut = visit.url.partition(":")[0], visit.url.index("/", 8)
                origin, path = self._roster.origin(visit.url[:cut]), visit.url[cut:]
                self._database.visits[key] = keys.queued_visit(visit.depth)
                self._counts.dead -= 1
                fixed = origin.manners.priority
                entry = keys.pack_entry(visit.depth, 0, keys.marks_of(path), keys.SCHEMES[scheme], path)
                self._enqueue(origin, [entry], USUAL_PRIORITY if fixed < 0 else fixed)
                found += 1
            yield found

    def purge(self, domain: str) -> Iterator[tuple[int, int]]:
        """Exclude the visits of a host and all below it that have an end. Gives after each step how many pages and
        dead visits that were. Those that wait are for the blocklist to exclude.
        """
        for step in self._steps(self._visits(domain)):
            pages = dead = 0
            for key, value in step:
                if value[0] not in (State.FETCHED, State.DEAD):
                    continue
                visit = keys.read_visit(key, value)
                self._database.visits[key] = keys.excluded_visit(visit.depth, Exclusion.PURGED)
                self._counts.excluded += 1
                pages += visit.state is State.FETCHED
                dead += visit.state is State.DEAD
            self._counts.fetched -= pages
            self._counts.dead -= dead
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
        """As they are now: of those that are visited again meanwhile the scan has seen the time that they had."""
        closed = self._database.closed
        while step := list(islice(found, _AT_ONCE)):
            asked = [key for key in step if key[:2] not in closed] if closed else step
            yield [(key, value) for key in asked if (value := self._database.visit(key)) is not None]


def _start(domain: str) -> bytes:
    return reversed_host(domain).encode()


def _is_below(name: bytes, start: bytes) -> bool:
    """A reversed name, with or without a port, is that of the domain that begins so or of one below it."""
    return name[len(start) : len(start) + 1] in (b"", b".", b":")
