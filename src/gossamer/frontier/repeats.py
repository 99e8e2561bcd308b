"""What the crawl met before under another URL: contents, places that only repeat themselves, mirrors (D8, K11, K16)."""

from __future__ import annotations

import re

from gossamer.frontier import keys
from gossamer.frontier.contents import Contents
from gossamer.frontier.database import Database
from gossamer.frontier.hosts import HostQueue
from gossamer.frontier.notes import Finding, Payload, Twins
from gossamer.frontier.roster import Roster
from gossamer.frontier.schedule import Schedule
from gossamer.model import State, Visit
from gossamer.model.domain import registered_domain
from gossamer.model.url import host_of, split
from gossamer.rules.places import place_of
from gossamer.rules.yields import ASIDE_AFTER, FIRST_LOOK, Barren, Standing, Yields

_PAGES_FOR_EACH_THAT_AGREES = 3  # at the most, of a mirror
_MOST_DOMAINS = 16_384  # whose hosts are compared with each other
_A_FEW_HOSTS = 4
_ENDLESS = 24  # hosts in a row that showed the same: no further one with a machine's name is, whoever links to it
_generated = re.compile(r"[0-9a-f]{8}|[0-9]{4}").search


class Repeats:
    """Told of every page before its visit is settled. What it finds is in the notes of hosts, which the frontier heeds.

    Invariant: of two hosts at most one mirrors the other.
    """

    def __init__(self, database: Database, roster: Roster, schedule: Schedule) -> None:
        self._database = database
        self._roster = roster
        self._schedule = schedule
        self._hosts = roster.hosts
        self._contents = Contents(database)
        self._domains = Yields(most=_MOST_DOMAINS, closed_after=_ENDLESS)  # not kept: it is found again in a few pages

    def earlier(self, contents: tuple[bytes, ...]) -> Payload | None:
        """Where content of one of these keys was found first; None when it is new."""
        if self._contents.are_new(contents):
            return None
        for key in contents:
            found = self._database.payload(key)
            if found is not None:
                return Payload.unpack(found)
        return None

    def committed(self) -> None:
        """A moment in which some time may be taken."""
        self._contents.read_on()

    def skipped(self, visit: Visit) -> bool:
        """Whether pages of this visit's host that repeat others are to be skipped."""
        return self._hosts[visit.host].manners.skips

    def remember(self, contents: tuple[bytes, ...], payload: Payload) -> None:
        packed = payload.pack()
        self._contents.add(contents)
        for key in contents:
            self._database.payloads[key] = packed

    def repeated(self, visit: Visit, size: int, earlier: str) -> Finding | None:
        """The page of a visit in hand says what was found at the URL `earlier`."""
        host = self._hosts[visit.host]
        if not host.manners.skips:
            return None
        _, path = split(visit.url)
        other = host_of(earlier)
        if other != host.name and _is_one_of_many(host) and registered_domain(other) == host.domain:
            return self._endless(host, self._domains.repeats(host.domain, visit.url, size, earlier))
        if other != host.name and split(earlier)[1] == path:  # which says something of the host, and not of the place
            if path == "/":
                host.front, host.noted = other, True
            return self._compared(host, other, same=True)
        if host.yields is None:
            host.yields = Yields()
        return self._barren(host, host.yields.repeats(place_of(path), path, size, earlier))

    def looks(self, visit: Visit, size: int, digest: bytes) -> bool:
        """Whether a new page is to be compared with others; `saw` must be told its fingerprint then."""
        host = self._hosts[visit.host]
        if not host.manners.skips:
            return False
        if host.pages < FIRST_LOOK and host.yields is None:
            if not _is_one_of_many(host):
                return False
            # A few hosts are nothing strange: most domains have no more, and their pages need not be looked at.
            return self._domains.looks(host.domain, size, self._domains.pages(host.domain) >= _A_FEW_HOSTS)
        path = visit.url[visit.url.index("/", 8) :]
        if host.twins is not None:
            self._compare(host, visit.url, path, digest)
        if host.yields is None:
            host.yields = Yields()
        return host.yields.looks(place_of(path), size, visit.suspect)

    def saw(self, visit: Visit, size: int, mark: int) -> tuple[bool, Finding | None]:
        """Whether a page with this fingerprint is barren, and what that shows."""
        host = self._hosts[visit.host]
        if host.yields is None:
            barren = self._domains.saw(host.domain, visit.url, size, mark)
            return barren is not None, None if barren is None else self._endless(host, barren)
        _, path = split(visit.url)
        known = len(host.yields.barren)
        barren = host.yields.saw(place_of(path), path, size, mark)
        if barren is None:
            host.noted |= len(host.yields.barren) != known
            return False, None
        return True, self._barren(host, barren)

    def standing(self, host: HostQueue, path: str, suspect: bool) -> Standing:
        """Of a URL, by what its place and, before anything is known of its host, the domain have brought."""
        if host.yields is not None:
            return host.yields.standing(place_of(path), suspect)
        if not _is_one_of_many(host):
            return Standing.GOOD
        standing = self._domains.standing(host.domain, suspect)
        # A domain with a host for every name has real ones too.
        return standing if suspect or _generated(host.name) else min(standing, Standing.LAST)

    @staticmethod
    def _barren(host: HostQueue, barren: Barren) -> Finding | None:
        host.noted = True
        if barren.row != ASIDE_AFTER:
            return None
        like = barren.like if "://" in barren.like else host.name + barren.like
        return Finding("barren", host.name + place_of(barren.page), like, barren.row)

    @staticmethod
    def _endless(host: HostQueue, barren: Barren) -> Finding | None:
        return Finding("endless", host.domain, barren.like, barren.row) if barren.row == ASIDE_AFTER else None

    def _compare(self, host: HostQueue, url: str, path: str, digest: bytes) -> None:
        """A new page of a host that others resemble: if they have that path, they differ in it."""
        assert host.twins is not None
        scheme = keys.SCHEMES[url.partition(":")[0]]
        for name in host.twins.counts:
            key = keys.visits_of(self._roster.prefix(name)) + (scheme + path).encode()
            known = self._database.visit(key)
            if known is not None and keys.is_fetched(known) and not keys.has_digest(known, digest):
                self._compared(host, name, same=False)

    def _compared(self, host: HostQueue, other: str, same: bool) -> Finding | None:
        """Two hosts showed the same under the same path, or did not. Of two that mirror each other it is the one whose
        front page came second that does: seeds, and what they name first, stay.
        """
        if host.front != other and self._roster.notes(other).front == host.name:
            mirror, other = self._hosts.get(other), host.name
        else:
            mirror = host
        if mirror is None or mirror.mirror_of or not _twins(mirror).compared(other, same):
            return None
        if not self._shows_all_of(mirror, other):
            return None
        mirror.mirror_of = other
        mirror.noted = True
        self._roster.touch(mirror)
        if mirror is not host:  # which is not settled in a moment, and waits for its turn
            self._schedule.drop(mirror)
        return Finding("mirror", mirror.name, other, _twins(mirror).counts[other][0])

    def _shows_all_of(self, host: HostQueue, other: str) -> bool:
        """Whether it is the whole host that resembles another. Many have the manual of the same program, or the same
        empty calendar; their front pages differ, or most of what else they have.
        """
        agree, _ = _twins(host).counts[other]
        if agree * _PAGES_FOR_EACH_THAT_AGREES < host.pages or self._roster.notes(other).mirror_of == host.name:
            return False
        return host.front == other or not (self._has_front(host.name) and self._has_front(other))

    def _has_front(self, name: str) -> bool:
        """Whether its front page was found, or is still to be asked for."""
        visits = keys.visits_of(self._roster.prefix(name))
        fronts = [self._database.visit(visits + (scheme + "/").encode()) for scheme in keys.SCHEMES.values()]
        return any(front is not None and (keys.is_fetched(front) or front[0] == State.QUEUED) for front in fronts)


def _twins(host: HostQueue) -> Twins:
    if host.twins is None:
        host.twins = Twins()
    return host.twins


def _is_one_of_many(host: HostQueue) -> bool:
    """A host whose domain may have any number of them, before its first page."""
    return not host.pages and host.name not in (host.domain, "www." + host.domain)
