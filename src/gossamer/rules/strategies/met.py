"""Pages that a random walk has met, and how likely each was to be met."""

from __future__ import annotations

from collections import Counter
from math import expm1, sqrt
from random import Random
from typing import Final, NamedTuple

import msgspec

_LEAST, _MOST = 1e-9, 1e3  # arrivals for each link, between which the truth lies
_HALVINGS: Final = 60


class MetPage(msgspec.Struct, array_like=True):
    depth: int
    links: list[str]
    visits: int = 0  # times that a walker came by a link


class Sampled(NamedTuple):
    """`in_links`: pages that were met and link there. `weight`: pages that this one stands for."""

    url: str
    visits: int
    in_links: int
    weight: float


class Met:
    """Pages with their links, in the order in which they were met.

    How often walkers come to a page is taken to be in proportion to its links from pages that were met, with chance for
    the rest (Poisson). That proportion follows from how often those were met that were, as they had to be met at least
    once (a truncated distribution, by maximum likelihood); how likely a page was to be met at all follows from it, and
    one divided by that is what it stands for (Horvitz and Thompson, 1952).
    """

    def __init__(self, links: int, random: Random) -> None:
        self._most_links = links
        self._random = random
        self._pages: dict[str, MetPage] = {}
        self._order: list[str] = []
        self._moved: dict[str, str] = {}  # where a redirect leads; empty: there is no such page
        self._unsaved: set[str] = set()
        self._unsaved_moved: set[str] = set()

    def __len__(self) -> int:
        return len(self._pages)

    def __contains__(self, url: str) -> bool:
        return url in self._pages

    def meet(self, url: str, links: list[str], depth: int) -> None:
        """A page has come, with these links."""
        if url in self._pages:
            return
        others = [link for link in links if link != url]
        if len(others) > self._most_links:
            others = self._random.sample(others, self._most_links)
        self.take(url, MetPage(depth, others))
        self._unsaved.add(url)

    def moved(self, url: str, target: str) -> None:
        """What leads to one leads to the other; to nothing, if that is empty."""
        self._moved[url] = target
        self._unsaved_moved.add(url)

    def arrived(self, url: str) -> None:
        """A walker has followed a link to it."""
        self._pages[url].visits += 1
        self._unsaved.add(url)

    def links(self, url: str) -> list[str]:
        """Where they lead as far as is known; links to nothing left out."""
        moved = self._moved
        if not moved:
            return self._pages[url].links
        found = [moved.get(link, link) for link in self._pages[url].links]
        return [link for link in found if link and link != url]

    def depth(self, url: str) -> int:
        return self._pages[url].depth

    def any(self, random: Random) -> str:
        """A page, each as likely as the others."""
        return random.choice(self._order)

    def sample(self) -> list[Sampled]:
        """Those that a walker came to by a link."""
        leads_to: Counter[str] = Counter()
        for url in self._pages:
            leads_to.update({link for link in self.links(url) if link in self._pages})
        found = [(url, page.visits, max(1, leads_to[url])) for url, page in self._pages.items() if page.visits]
        if not found:
            return []
        rate = arrivals_a_link([(visits, links) for _, visits, links in found])
        return [Sampled(url, visits, links, -1 / expm1(-rate * links)) for url, visits, links in found]

    # -- what is kept ------------------------------------------------------------------------------------------------

    def unsaved(self) -> tuple[dict[str, MetPage], dict[str, str]]:
        """Pages and redirects that are new or have changed since the last time."""
        pages = {url: self._pages[url] for url in self._unsaved}
        moved = {url: self._moved[url] for url in self._unsaved_moved}
        self._unsaved, self._unsaved_moved = set(), set()
        return pages, moved

    def take(self, url: str, page: MetPage) -> None:
        self._pages[url] = page
        self._order.append(url)

    def take_moved(self, url: str, target: str) -> None:
        self._moved[url] = target


def arrivals_a_link(pages: list[tuple[int, int]]) -> float:
    """How often walkers come by each link to a page: of pages that were met, their visits and links. By bisection of
    the likelihood's slope, which has one zero.
    """
    visits = sum(times for times, _ in pages)
    by_links = Counter(links for _, links in pages)
    low, high = _LEAST, _MOST
    for _ in range(_HALVINGS):
        rate = sqrt(low * high)
        expected = sum(count * rate * links / -expm1(-rate * links) for links, count in by_links.items())
        low, high = (rate, high) if expected < visits else (low, rate)
    return low
