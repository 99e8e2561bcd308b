"""The simulated web itself: what exists, as a function of seed, host, path and time. Nothing is stored.

Links never change with time, texts do; so what is reachable does not depend on when one asks. The changing profile is
the exception: its pages come and go, and all that depends on when takes the moment as `at`; None is the world's now.
"""

from __future__ import annotations

from typing import NamedTuple

import xxhash

from gossamer.errors import ConfigError
from gossamer.testing.clock import Clock, SystemClock
from gossamer.testing.web import history
from gossamer.testing.web.dice import mix, pick, share
from gossamer.testing.web.extras import NO_DIRECTIVES, Directives, Extra, directives, extras
from gossamer.testing.web.graph import Graph, private_pages
from gossamer.testing.web.hosts import Host, HostSizes, make_host
from gossamer.testing.web.life import DAY, Life
from gossamer.testing.web.names import HostNames
from gossamer.testing.web.paths import FEED_PATH, Resource, Section, page_path, parse_path, path_of
from gossamer.testing.web.profile import Profile, profile_named
from gossamer.testing.web.topics import TopicGraph, vocabularies
from gossamer.testing.web.traps import trap_entrance

LIMIT = 10**9  # hosts and pages per host: names stay short and draws unbiased
LIST_PAGES = 10  # pages listed on one /list page
_CACHED_HOSTS = 16_384


class Redirect(NamedTuple):
    """Where a redirect leads; `host` is None for a place outside the world, then `path` is the whole URL."""

    status: int
    host: int | None
    path: bytes


class World:
    """`hosts` hosts of about `pages` pages each.

    Invariant: two worlds with equal arguments are equal in every byte at equal times.
    """

    def __init__(
        self,
        seed: int = 1,
        hosts: int = 100,
        pages: int = 100,
        profile: str | Profile = "plain",
        clock: Clock | None = None,
        faults: float | None = None,
    ) -> None:
        for name, number in (("hosts", hosts), ("pages", pages)):
            if not 1 <= number <= LIMIT:
                raise ConfigError(f"The simulated web needs between 1 and {LIMIT:,} {name}, not {number:,}.")
        self.profile = profile if isinstance(profile, Profile) else profile_named(profile)
        self.faults = self.profile.faults if faults is None else faults
        if not 0 <= self.faults <= 1:
            raise ConfigError(f"The share of faults is a number between 0 and 1, not {self.faults:g}.")
        self.seed = seed
        self.hosts = hosts
        self.pages = pages
        self.clock: Clock = clock or SystemClock()
        self.names = HostNames(seed)
        self._sizes = HostSizes(seed, pages, self.profile.varied)
        self.graph = Graph(seed, hosts, self._sizes.size)
        self.topics: TopicGraph | None = None
        if self.profile.topics:
            self.graph = self.topics = TopicGraph(seed, hosts, self._sizes.size, self.profile.topics)
        self.life = Life(seed, self.profile.change) if self.profile.change else None
        self._cache: dict[int, Host] = {}

    # ---- hosts

    def host(self, index: int) -> Host:
        found = self._cache.get(index)
        if found is None:
            if len(self._cache) >= _CACHED_HOSTS:
                self._cache.clear()
            found = self._cache[index] = make_host(self.seed, index, self.names, self._sizes, self.profile)
        return found

    def find(self, name: str) -> Host | None:
        index = self.names.index(name)
        below = index is None and self.profile.traps
        if below:
            index = self.names.above(name)
        if index is None or index >= self.hosts:
            return None
        host = self.host(index)
        return None if below and host.well else host

    def url(self, host: int, path: bytes | str = b"/") -> str:
        return f"http://{self.names.name(host)}{path if isinstance(path, str) else path.decode()}"

    def marker(self, host: Host, page: int) -> str:
        """A word that only this page and its duplicates show: searching it must find exactly these."""
        return f"h{host.origin}p{page}"

    def topic(self, host: Host, page: int) -> int:
        """What a page is about; -1 in a web without topics."""
        return -1 if self.topics is None else self.topics.topic(host.index, page)

    def topic_words(self, topic: int) -> tuple[str, ...]:
        """The words that are of this topic and of no other."""
        return vocabularies(self.seed, self.topics.topics.number)[topic] if self.topics else ()

    # ---- what is there

    def resource(self, host: Host, path: bytes) -> Resource | None:
        """What is behind a path, or None where there is never anything (404). `status` says whether it is there now."""
        found = parse_path(path)
        if found is None:
            return None
        section, number, _ = found
        if section is Section.PAGE:
            born = number >= host.size and self.life is not None and self.life.birth(host, number) is not None
            return found if number < host.size or born else None
        if section is Section.FEED:
            return found if self.life else None
        if section is Section.PRIVATE:
            return found if number < private_pages(host.size) else None
        if section is Section.TRAP or section is Section.OUT:
            return found if self.profile.traps and not host.well else None
        limit = 3 * host.size if section is Section.LOOP else host.size
        return found if self.profile.varied and number < limit else None

    def fault(self, host: Host, path: bytes) -> str | None:
        """What goes wrong with this URL, always; roots answer, so that a crawl can begin."""
        if not self.faults or path == b"/" or host.well:
            return None
        x = mix(self.seed, host.index, xxhash.xxh3_64_intdigest(path))
        return pick(x, self.profile.fault_kinds) if share(x) < self.faults else None

    def directives(self, host: Host, page: int) -> Directives:
        if not self.profile.varied:
            return NO_DIRECTIVES
        return directives(self.seed, host.origin, page, self.graph.is_leaf(page, host.size))

    def extras(self, host: Host, page: int) -> list[Extra]:
        if not self.profile.varied:
            return []
        nofollow = bool(self.directives(host, page).nofollow)
        return extras(self.seed, host.origin, page, host.size, nofollow, self.profile.traps and not host.well)

    def path_of(self, host: Host, page: int, extra: Extra) -> bytes:
        """Where a further link of a page goes."""
        if extra.section is Section.TRAP:
            return trap_entrance(page, self.names.name(host.origin).encode())
        return path_of(extra.section, extra.number)

    def redirect(self, host: Host, resource: Resource) -> Redirect:
        """Where /go, /loop and /out lead: mostly to a page, sometimes on, away, round in circles or nowhere."""
        number = resource.number
        x = mix(self.seed, host.index, number ^ 0x1F1F)
        status = (301, 302, 303, 307, 308)[x % 5]
        if resource.section is Section.LOOP:
            return Redirect(status, host.index, path_of(Section.LOOP, number - 2 if number % 3 == 2 else number + 1))
        if resource.section is Section.OUT:
            return Redirect(status, None, _FORBIDDEN[(x >> 8) % len(_FORBIDDEN)])
        choice = x >> 8 & 15
        if choice < 9:
            return Redirect(status, host.index, page_path((x >> 16) % host.size))
        if choice < 11:
            return Redirect(status, (x >> 16) % self.hosts, b"/")
        if choice < 14 and number + 1 < host.size:
            return Redirect(status, host.index, path_of(Section.GO, number + 1))
        if choice == 14:
            return Redirect(status, host.index, path_of(Section.LOOP, 3 * number))
        return Redirect(status, host.index, path_of(Section.GONE, number))

    # ---- links

    def links(
        self, host: Host, resource: Resource, embedded: bool = False, at: float | None = None
    ) -> list[tuple[int, bytes]]:
        """What an obedient crawler follows from an HTML page: (host, path), in the order of the page.

        `embedded` adds images, style sheets and feeds. Pages that say nofollow, and faulty ones, lead nowhere.
        """
        section, number, path = resource
        if self.faults and self.fault(host, path) not in (None, "slow"):
            return []
        if section is Section.PRINT:
            section = Section.PAGE
        if section is not Section.PAGE:
            return self._leaf_links(host, resource)
        content = host.origin
        if self.directives(host, number).nofollow:
            return []
        here = host.index
        inside, across, private = self.graph.links(content, number, host.size)
        found = [(here, page_path(page)) for page in self.news(host, number, at)]
        found += [(here, page_path(page)) for page in inside]
        found += [(other, page_path(page)) for other, page in across]
        if self.life:
            return [(here, FEED_PATH), *found] if embedded and number == 0 else found
        if private >= 0:
            found.append((here, path_of(Section.PRIVATE, private)))
        for extra in self.extras(host, number):
            if extra.form == "a" or (embedded and extra.form in ("img", "css")):
                found.append((here, self.path_of(host, number, extra)))
        return found

    def _leaf_links(self, host: Host, resource: Resource) -> list[tuple[int, bytes]]:
        section, number, _ = resource
        if section is Section.LIST:
            return [(host.index, path) for path in list_links(number, host.size)]
        if section in (Section.PRIVATE, Section.HIDDEN, Section.ARCHIVE):
            return [(host.index, b"/")]
        return []

    # ---- time

    def changed_at(self, host: Host, page: int, at: float | None = None) -> float:
        """When the version of a page that is served came about."""
        now = self.clock.now() if at is None else at
        if self.life:
            return self.life.last_change(host, page, now)
        return history.last_change(self.seed, host.origin, page, now)

    def version(self, host: Host, page: int, at: float | None = None) -> int:
        """Names the text of a page: equal numbers, equal texts. 0 where texts never change."""
        return int(self.changed_at(host, page, at) * 1000) if self.profile.varied or self.life else 0

    def change_interval(self, host: Host, page: int) -> float | None:
        """Mean seconds between changes of a page, None if it never changes."""
        if self.life:
            return DAY / self.life.rate(host, page)
        return history.interval_of(self.seed, host.origin, page) if self.profile.varied else None

    def changes_per_day(self, host: Host, page: int) -> float:
        interval = self.change_interval(host, page)
        return DAY / interval if interval else 0.0

    def changes(self, host: Host, page: int, start: float, end: float) -> list[float]:
        """The moments a page's text changed after `start`, up to `end`, whether it was there or not."""
        if self.life:
            return self.life.changes(host, page, start, end)
        if not self.profile.varied:
            return []
        return history.changes_between(self.seed, host.origin, page, start, end)

    def turns(self, host: Host, page: int, start: float, end: float) -> list[float]:
        """The moments after `start` and up to `end` from which on a copy of a page is out of date.

        Its text changed, or it went, or came back. An outage of an hour is none of these: the copy stays good.
        """
        changes = self.changes(host, page, start, end)
        if self.life is None:
            return changes
        passages = self.life.comings_and_goings(host, page, start, end)
        return sorted(passages + [moment for moment in changes if not self.life.gone(host, page, moment)])

    def status(self, host: Host, page: int, at: float | None = None) -> int:
        """What a page is answered with: 200, or 404 or 410 where it is not yet, not now or no more there."""
        return self.life.status(host, page, self.clock.now() if at is None else at) if self.life else 200

    def exists(self, host: Host, page: int, at: float | None = None) -> bool:
        known = page < host.size or self.life is not None
        return known and self.status(host, page, at) == 200

    def news(self, host: Host, page: int, at: float | None = None) -> list[int]:
        """The new pages that a hub announces, newest first."""
        return self.life.news(host, page, self.clock.now() if at is None else at) if self.life else []

    def births(self, host: Host, start: float, end: float) -> list[tuple[float, int]]:
        """(moment, page) of every page that came to be after `start`, up to `end`."""
        return self.life.births(host, start, end) if self.life else []


def gone_status(number: int) -> int:
    return 404 if number % 4 else 410


def list_links(number: int, size: int) -> list[bytes]:
    first = number * LIST_PAGES
    paths = [page_path(page) for page in range(first, min(first + LIST_PAGES, size))]
    if first + LIST_PAGES < size:
        paths.append(path_of(Section.LIST, number + 1))
    return [b"/index.html", *paths]


# Addresses that a redirect of a hostile host points a careless crawler to.
_FORBIDDEN = (
    b"http://169.254.169.254/latest/meta-data/",
    b"http://127.0.0.1:22/",
    b"http://[::1]/",
    b"http://[::ffff:10.0.0.1]/",
    b"http://192.168.0.1/",
    b"http://0x7f.1/",
    b"http://localhost:6379/",
    b"file:///etc/passwd",
)
