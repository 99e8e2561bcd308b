"""What the crawl met before under another URL: contents, places that only repeat themselves, mirrors (D8, K11, K16)."""

from __future__ import annotations

from gossamer.frontier import keys
from gossamer.frontier.contents import Contents
from gossamer.frontier.database import Database
from gossamer.frontier.hosts import HostQueue
from gossamer.frontier.notes import Finding, Likeness, Payload
from gossamer.frontier.roster import Roster
from gossamer.frontier.schedule import Schedule
from gossamer.model import State, Visit
from gossamer.model.domain import registered_domain
from gossamer.model.url import host_of, split
from gossamer.rules.places import branch_of, is_generated, place_of
from gossamer.rules.yields import ASIDE_AFTER, FIRST_LOOK, Barren, Standing, Yields

_PAGES_FOR_EACH_THAT_AGREES = 3  # at the most, of a mirror
_MOST_TWINS = 4  # of a host
_MOST_DOMAINS = 16_384  # whose hosts are compared with each other
_A_FEW_HOSTS = 4
_ENDLESS = 24  # hosts in a row that showed the same: no further one with a machine's name is, whoever links to it


class Repeats:
    """Told of every page before its visit is settled. What it finds is in the notes of hosts, which the frontier heeds.

    Invariant: of hosts that mirror each other, however many, one at least is not left.
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

    def repeated(self, visit: Visit, size: int, digest: bytes, earlier: str) -> tuple[bool, Finding | None]:
        """Return whether a page that says what was found at the URL `earlier` is barren, and what that shows."""
        host = self._hosts[visit.host]
        if not host.manners.skips:
            return True, None
        _, path = split(visit.url)
        other, first = host_of(earlier), split(earlier)[1]
        if other != host.name and _is_one_of_many(host) and registered_domain(other) == host.domain:
            return True, self._endless(host, self._domains.repeats(host.domain, visit.url, size, earlier))
        if other != host.name and first == path:  # which says something of the host, and not of the place
            if path == "/":
                host.front, host.noted = other, True
            return False, self._agrees(host, visit.url, digest, other)
        if host.yields is None:
            host.yields = Yields()
        if other == host.name and host.yields.is_branch(branch_of(path, first)):
            return False, None
        return True, self._barren(host, host.yields.repeats(place_of(path), path, size, earlier))

    def looks(self, visit: Visit, size: int, digest: bytes) -> bool:
        """Whether a new page is to be compared with others; `saw` must be told its fingerprint then."""
        host = self._hosts[visit.host]
        if not host.manners.skips:
            return False
        if host.twins is not None:
            self._differs(host, visit.url, digest)
        if host.pages < FIRST_LOOK and host.yields is None:
            if not _is_one_of_many(host):
                return False
            # A few hosts are nothing strange: most domains have no more, and their pages need not be looked at.
            return self._domains.looks(host.domain, size, self._domains.pages(host.domain) >= _A_FEW_HOSTS)
        path = visit.url[visit.url.index("/", 8) :]
        if host.yields is None:
            host.yields = Yields()
        return host.yields.looks(place_of(path), size, visit.suspect)

    def saw(self, visit: Visit, size: int, mark: int, outline: int) -> tuple[bool, Finding | None]:
        """Whether a page with this fingerprint and outline is barren, and what that shows."""
        host = self._hosts[visit.host]
        if host.yields is None:
            barren = self._domains.saw(host.domain, visit.url, size, mark)
            return barren is not None, None if barren is None else self._endless(host, barren)
        _, path = split(visit.url)
        known = len(host.yields.barren)
        barren = host.yields.saw(place_of(path), path, size, mark, outline, visit.suspect)
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
        return standing if suspect or is_generated(host.name) else min(standing, Standing.LAST)

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

    def _agrees(self, host: HostQueue, url: str, digest: bytes, other: str) -> Finding | None:
        """Note that a page is the one that `other` has under the same path, and so that of hosts that resemble either:
        it must not matter which of them had it first.
        """
        twin = self._hosts.get(other)
        twins = twin.twins if twin is not None else None
        for name in dict.fromkeys((other, self._original(other), *(host.twins or ()), *(twins or ()))):
            if name != host.name and (name == other or self._has_same(name, url, digest, other)):
                finding = self._compared(host, name, same=True)
                if finding is not None:
                    return finding
        return None

    def _has_same(self, name: str, url: str, digest: bytes, other: str) -> bool:
        """Return whether a host has a page that `other` has under the same path. If it names its own host there it has
        another digest, but then the two hosts are known to agree.
        """
        known = self._page(name, url)
        if known is None or keys.has_digest(known, digest):
            return known is not None
        likeness = self._likeness_of(name, other)
        return likeness is not None and likeness.agree > 0 and not likeness.differ

    def _differs(self, host: HostQueue, url: str, digest: bytes) -> None:
        """Note that a page is new: hosts that resemble its own and have the same path differ in it."""
        for name in (*(host.twins or ()),):
            known = self._page(name, url)
            if known is not None and not keys.has_digest(known, digest):
                self._compared(host, name, same=False)

    def _page(self, name: str, url: str) -> bytes | None:
        """Return the record of the page that a host has under the path of a URL; None: it has none."""
        start, path = split(url)
        scheme = keys.SCHEMES[start.partition(":")[0]]
        known = self._database.visit(keys.visits_of(self._roster.prefix(name)) + (scheme + path).encode())
        return known if known is not None and keys.is_fetched(known) else None

    def _likeness_of(self, one: str, other: str) -> Likeness | None:
        """Return what is known of two hosts, from whichever has it."""
        for name, second in ((one, other), (other, one)):
            host = self._hosts.get(name)
            if host is not None and host.twins is not None and second in host.twins:
                return host.twins[second]
        return None

    def _likeness(self, host: HostQueue, other: str) -> Likeness | None:
        """Return the same, for both hosts to count in; None where the first resembles enough others already."""
        found = self._likeness_of(host.name, other) or Likeness()
        twin = self._hosts.get(other)
        if not self._have_twin(host, other, found):
            return None
        if twin is not None:
            self._have_twin(twin, host.name, found)
        return found

    def _have_twin(self, host: HostQueue, other: str, likeness: Likeness) -> bool:
        twins = host.twins
        if twins is None:
            twins = host.twins = {}
        if other not in twins and len(twins) >= _MOST_TWINS:
            done = next((name for name in twins if name not in self._hosts or self._hosts[name].mirror_of), None)
            if done is None:
                return False
            del twins[done]  # it gets no more pages for now
        twins[other] = likeness
        return True

    def _compared(self, host: HostQueue, other: str, same: bool) -> Finding | None:
        """Two hosts showed the same under the same path, or did not. Of two that mirror each other it is the one whose
        front page came second that does: seeds, and what they name first, stay.
        """
        likeness = self._likeness(host, other)
        if likeness is None:
            return None
        likeness.agree += same
        likeness.differ += not same
        if not likeness.is_whole:
            return None
        if host.front != other and self._roster.notes(other).front == host.name:
            mirror, other = self._hosts.get(other), host.name
        else:
            mirror = host
        if mirror is None or mirror.mirror_of or not self._shows_all_of(mirror, other, likeness):
            return None
        original = self._original(other)
        if original == mirror.name:
            return None
        mirror.mirror_of = original
        mirror.noted = True
        self._roster.touch(mirror)
        if mirror is not host:  # which is not settled in a moment, and waits for its turn
            self._schedule.drop(mirror)
        return Finding("mirror", mirror.name, original, likeness.agree)

    def _original(self, name: str) -> str:
        """Return the host that a host mirrors, itself no mirror; the host itself where it mirrors none."""
        met = set()
        while name not in met and (found := self._roster.notes(name).mirror_of):
            met.add(name)
            name = found
        return name

    def _shows_all_of(self, host: HostQueue, other: str, likeness: Likeness) -> bool:
        """Whether it is the whole host that resembles another. Many have the manual of the same program, or the same
        empty calendar; their front pages differ, or most of what else they have.
        """
        if likeness.agree * _PAGES_FOR_EACH_THAT_AGREES < host.pages:
            return False
        first = self._roster.notes(other).front or other  # of its own, or of a third host with the same
        return (host.front or host.name) == first or not (self._has_front(host.name) and self._has_front(other))

    def _has_front(self, name: str) -> bool:
        """Whether its front page was found, or is still to be asked for."""
        visits = keys.visits_of(self._roster.prefix(name))
        fronts = [self._database.visit(visits + (scheme + "/").encode()) for scheme in keys.SCHEMES.values()]
        return any(front is not None and (keys.is_fetched(front) or front[0] == State.QUEUED) for front in fronts)


def _is_one_of_many(host: HostQueue) -> bool:
    """A host whose domain may have any number of them, before its first page."""
    return not host.pages and host.name not in (host.domain, "www." + host.domain)
