"""A graph without directions, made of the links of pages in the order in which they are met."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random


class Explored:
    """Pages that were met, and their neighbours: pages met earlier that link to it, and pages that it links to which
    were not met before.

    Invariants: of two pages that were met both or none is the neighbour of the other. The neighbours of a page change
    after it was met only where it turns out that there is no such page.
    """

    def __init__(self, links: int, random: Random) -> None:
        self._links = links
        self._random = random
        self._near: dict[str, list[str]] = {}
        self._depths: dict[str, int] = {}
        self._met: list[str] = []
        self._leads_to: dict[str, list[str]] = {}  # a page that was not met -> those that have it as a neighbour
        self._unsaved: set[str] = set()

    def __len__(self) -> int:
        return len(self._near)

    def __contains__(self, url: str) -> bool:
        return url in self._near

    def near(self, url: str) -> list[str]:
        return self._near[url]

    def depth(self, url: str) -> int:
        return self._depths[url]

    def any(self, random: Random) -> str:
        """A page that was met, each as likely as the others."""
        return random.choice(self._met)

    def meet(self, url: str, links: list[str], depth: int) -> None:
        """A page has come, with these links."""
        if url in self._near:
            return
        others = [link for link in links if link != url]
        if len(others) > self._links:
            others = self._random.sample(others, self._links)
        near = dict.fromkeys(self._leads_to.pop(url, ()))
        near.update(dict.fromkeys(link for link in others if link not in self._near))
        self._near[url] = list(near)
        self._depths[url] = depth
        self._met.append(url)
        self._unsaved.add(url)
        for link in near:
            if link not in self._near:
                self._leads_to.setdefault(link, []).append(url)

    def forget(self, url: str) -> None:
        """There is no such page."""
        for source in self._leads_to.pop(url, ()):
            self._near[source].remove(url)
            self._unsaved.add(source)

    def rename(self, url: str, target: str) -> None:
        """It is somewhere else."""
        for source in self._leads_to.pop(url, ()):
            near = self._near[source]
            near.remove(url)
            if target not in self._near and target not in near:
                near.append(target)
                self._leads_to.setdefault(target, []).append(source)
            self._unsaved.add(source)

    def unsaved(self) -> Iterator[tuple[str, tuple[int, list[str]]]]:
        """Depth and neighbours of the pages that were met or have changed since the last time."""
        for url in self._unsaved:
            yield url, (self._depths[url], self._near[url])
        self._unsaved = set()

    def restore(self, pages: Iterable[tuple[str, tuple[int, list[str]]]]) -> None:
        """What `unsaved` gave."""
        for url, (depth, near) in pages:
            self._near[url], self._depths[url] = near, depth
            self._met.append(url)
        for url, near in self._near.items():
            for link in near:
                if link not in self._near:
                    self._leads_to.setdefault(link, []).append(url)
