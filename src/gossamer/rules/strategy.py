"""In what order URLs are visited: the port that a strategy fills.

A strategy is asked once for each page that was stored, with all links found on it, and gives each a priority, or drops
it. Everything else is optional. Pure: what it asks for is done by others, and time is passed in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from gossamer.config.kinds import Kind
from gossamer.model import Page, Visit
from gossamer.rules.policy import USUAL_PRIORITY


class Anchor(NamedTuple):
    """What a page says of a link: its own words, and those around it."""

    text: str = ""
    around: str = ""


class PageWords(NamedTuple):
    """What is written on a page."""

    title: str
    text: str
    anchors: Mapping[str, Anchor]  # by the URL that they lead to


class Pick(NamedTuple):
    """A URL that a strategy picks. One that waits already comes earlier from now on, if `raises` says so."""

    url: str
    priority: int = USUAL_PRIORITY
    depth: int = 1


class SeenPage:
    """A page as a strategy sees it. What is written on it is read when it is first asked for."""

    __slots__ = ("_page", "_read", "_visit", "_words", "links")

    def __init__(self, visit: Visit, page: Page, links: list[str], read: Callable[[Page], PageWords]) -> None:
        self._visit = visit
        self._page = page
        self._read = read
        self._words: PageWords | None = None
        self.links = links  # normalised, each once; of a redirect its target

    @property
    def url(self) -> str:
        return self._page.url

    @property
    def host(self) -> str:
        return self._visit.host

    @property
    def depth(self) -> int:
        """Links from a seed."""
        return self._visit.depth

    @property
    def priority(self) -> int:
        """With which it was visited."""
        return self._visit.priority

    @property
    def again(self) -> bool:
        """It was visited before."""
        return self._visit.before is not None

    @property
    def status(self) -> int:
        return self._page.status

    @property
    def redirects(self) -> bool:
        return 300 <= self._page.status < 400

    @property
    def ok(self) -> bool:
        return 200 <= self._page.status < 300

    @property
    def fetched_at(self) -> float:
        return self._page.fetched_at

    @property
    def content_type(self) -> str:
        return self._page.content_type or ""

    @property
    def body(self) -> bytes:
        return self._page.body

    @property
    def title(self) -> str:
        return self._written.title

    @property
    def text(self) -> str:
        return self._written.text

    @property
    def anchors(self) -> list[Anchor]:
        """For each of `links`, what is said of it."""
        known, nothing = self._written.anchors, Anchor()
        return [known.get(link, nothing) for link in self.links]

    @property
    def _written(self) -> PageWords:
        if self._words is None:
            self._words = self._read(self._page)
        return self._words


class StrategyOption(NamedTuple):
    """An option of a strategy: how it is read, what it is if it is not given, and what it means."""

    kind: Kind[Any]
    default: Any
    help: str
    files: bool = False  # values are names of files, and the strategy is given what is in them; URLs stay


class Strategy:
    """Only `order` must be there. A strategy that raises is stopped, and the crawl goes on breadth-first.

    Options that are declared in `options` are read, checked and given to `__init__` by name.
    """

    options: ClassVar[Mapping[str, StrategyOption]] = {}
    raises: ClassVar[bool] = False
    """`requests` may name URLs that wait already. To visit each once all the same costs a look-up a visit."""
    asks: bool = False
    """`requests` has something that is not to wait for the next commit."""
    hosts_at_once: int = 0
    """Hosts that are visited before others are begun; 0 is any number."""
    ranked: Callable[[str], float | None] | None = None
    """Given by a crawl that has ranks (`gossamer rank`): how many times that of the mean page a URL's PageRank is."""

    def order(self, page: SeenPage) -> Sequence[int | None]:
        """For each of `page.links` its priority, from 0 (first) to 9 (last; 4 is usual), or None to drop it."""
        raise NotImplementedError(f"{type(self).__name__} has no method `order`: write one that gives priorities")

    def again(self, page: SeenPage) -> float | None:
        """In how many seconds to visit a page again, where a crawl does that; None leaves it to the crawl."""
        return None

    def requests(self, now: float, idle: bool) -> Iterable[Pick]:
        """What to visit besides, asked in each commit; `idle`: nothing is left to visit."""
        return ()

    def awaited(self) -> Iterable[str]:
        """URLs that were asked for and have not come: looked up in each commit, and `missed` is told which will not."""
        return ()

    def missed(self, url: str, now: float) -> None:
        """An awaited URL is settled, and there was no page: it is dead, or excluded."""

    def records(self) -> Iterable[Mapping[str, Any]]:
        """What to write to the strategy's file since the last commit, a line of JSON each."""
        return ()

    def results(self) -> Iterable[Mapping[str, Any]]:
        """What to write to the strategy's other file when a run ends, in place of what an earlier run has written."""
        return ()

    def unsaved(self, last: bool) -> Mapping[str, bytes]:
        """What to keep with this commit, by name; it replaces what was kept under the same names."""
        return {}

    def restore(self, saved: Mapping[str, bytes]) -> None:
        """What the last commit of the crawl has kept; called once, before anything else, if there is something."""

    def figures(self) -> Mapping[str, float]:
        """What to show in status, summary and report."""
        return {}
