"""A sample of the web: walkers that follow links at random, and jump now and then.

What a walker is likely to meet is far from uniform: pages with many links to them come often. Here the links that it
follows are made a graph without directions while it is explored, as Bar-Yossef and others have done (2000): a link
counts both ways from the page that was met first, and what is found later about a page that was met changes nothing.
In such a graph a page is met as often as it has neighbours, and with jumps a little more evenly (Avrachenkov, Ribeiro
and Towsley, 2010); so a page counts in the sample as one divided by that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random
from typing import Any, ClassVar, Final

import msgspec

from gossamer.config.kinds import Decimal, Whole
from gossamer.model.url import host_of
from gossamer.rules.strategies.explored import Explored
from gossamer.rules.strategy import Request, SeenPage, Strategy, StrategyOption

_FIRST: Final = 1  # priority: what a walker waits for comes before all else
_PATIENCE: Final = 60.0  # seconds that a walker waits for a page
_IN_MEMORY: Final = 1_000  # steps over known pages at a time
_NODE: Final = "page "  # before the URL, in what is kept


class _Walker(msgspec.Struct):
    at: str = ""  # a page that was met; empty: none yet
    waits_for: str = ""
    since: float = 0.0
    steps: int = 0


class RandomWalk(Strategy):
    """Invariants: only what a walker waits for is queued; the sample has a line for each step of a walker after its
    first `burn_in`; no more pages are known than `pages`, and the walk ends when there are so many, or after `steps`.
    """

    options: ClassVar = {
        "walkers": StrategyOption(Whole(1, 10_000), 16, "Walkers, independent of each other."),
        "jump": StrategyOption(
            Decimal(0, 1000), 2.0, "How often walkers jump to a page that is known, as if it were so many more links."
        ),
        "burn_in": StrategyOption(Whole(0), 50, "Steps of each walker that are not part of the sample."),
        "steps": StrategyOption(Whole(1), 1_000_000, "Steps of all walkers after which the walk ends."),
        "pages": StrategyOption(Whole(1, 1_000_000), 20_000, "Pages that are known when the walk ends."),
        "links": StrategyOption(Whole(1, 10_000), 32, "Links of a page that are part of the graph, chosen at random."),
        "seed": StrategyOption(Whole(0), 1, "The same seed makes the same choices where the web answers the same."),
    }

    def __init__(
        self,
        walkers: int = 16,
        jump: float = 2.0,
        burn_in: int = 50,
        steps: int = 1_000_000,
        pages: int = 20_000,
        links: int = 32,
        seed: int = 1,
    ) -> None:
        self._jump = jump
        self._burn_in = burn_in
        self._most_steps = steps
        self._most_pages = pages
        self._seed = seed
        self._random = Random(seed)  # noqa: S311 - a sample, no secret
        self._graph = Explored(links, self._random)
        self._walkers = [_Walker() for _ in range(walkers)]
        self._waiting: dict[str, list[_Walker]] = {}
        self._requests: list[Request] = []
        self._records: list[dict[str, Any]] = []
        self._steps = self._jumps = 0
        self._weights = self._squares = 0.0

    @property
    def asks(self) -> bool:  # type: ignore[override]
        """A walker wants to go on."""
        return bool(self._requests)

    @property
    def _ended(self) -> bool:
        return self._steps >= self._most_steps or len(self._graph) >= self._most_pages

    # -- pages that come ---------------------------------------------------------------------------------------------

    def order(self, page: SeenPage) -> list[int | None]:
        url, now = page.url, page.fetched_at
        if page.redirects and page.links:
            return self._redirected(url, page.links[0], page.depth, now)
        here = self._waiting.pop(url, [])
        if not page.ok:
            self._give_up(url, here, now)
        elif not page.again:
            self._graph.meet(url, page.links, page.depth)
            for walker in here:
                walker.waits_for = ""
                self._arrive(walker, url)
                self._go_on(walker, now)
            self._set_out(now)
        return [None] * len(page.links)  # walkers ask for what they want

    def _redirected(self, url: str, target: str, depth: int, now: float) -> list[int | None]:
        here = self._waiting.pop(url, [])
        self._graph.rename(url, target)
        follows = target not in self._graph and (bool(here) or not depth)
        for walker in here:
            if follows:
                self._wait(walker, target, now)
            else:
                self._arrive_at_known(walker, target, now)
        return [_FIRST if follows else None]

    def _arrive_at_known(self, walker: _Walker, url: str, now: float) -> None:
        walker.waits_for = ""
        if url in self._graph:
            self._arrive(walker, url)
        self._go_on(walker, now)

    def _give_up(self, url: str, here: list[_Walker], now: float) -> None:
        """There is no such page: no link leads there."""
        self._graph.forget(url)
        for walker in here:
            walker.waits_for = ""
            self._go_on(walker, now)

    # -- walkers -----------------------------------------------------------------------------------------------------

    def _set_out(self, now: float) -> None:
        for walker in self._walkers:
            if not walker.at and not walker.waits_for:
                self._go_on(walker, now)

    def _go_on(self, walker: _Walker, now: float) -> None:
        """Over pages that are known, until it needs one that is not."""
        random, graph = self._random, self._graph
        for _ in range(_IN_MEMORY):
            if self._ended or not len(graph):
                return
            near = graph.near(walker.at) if walker.at else []
            if not walker.at or random.random() * (len(near) + self._jump) < self._jump or not near:
                self._jumps += bool(walker.at)
                self._arrive(walker, graph.any(random))
                continue
            target = random.choice(near)
            if target not in graph:
                if target not in self._waiting and len(graph) + len(self._waiting) >= self._most_pages:
                    return  # as many as there may be are on their way
                self._wait(walker, target, now)
                self._requests.append(Request(target, _FIRST, graph.depth(walker.at) + 1))
                return
            self._arrive(walker, target)

    def _wait(self, walker: _Walker, url: str, now: float) -> None:
        walker.waits_for, walker.since = url, now
        self._waiting.setdefault(url, []).append(walker)

    def _arrive(self, walker: _Walker, url: str) -> None:
        walker.at = url
        if self._steps >= self._most_steps:
            return
        walker.steps += 1
        self._steps += 1
        if walker.steps <= self._burn_in:
            return
        degree = len(self._graph.near(url))
        weight = 1 / (degree + self._jump) if degree + self._jump else 1.0
        self._weights += weight
        self._squares += weight * weight
        self._records.append(
            {
                "url": url,
                "host": host_of(url),
                "walker": self._walkers.index(walker),
                "step": walker.steps,
                "degree": degree,
                "weight": round(weight, 9),
            }
        )

    def requests(self, now: float, idle: bool) -> Iterable[Request]:
        """Walkers that wait in vain turn back."""
        for url, here in list(self._waiting.items()):
            if idle or now - here[0].since > _PATIENCE:
                del self._waiting[url]
                self._give_up(url, here, now)
        for walker in self._walkers:
            if not walker.waits_for and not self._ended:
                self._go_on(walker, now)
        found, self._requests = self._requests, []
        return found

    # -- what is kept and shown --------------------------------------------------------------------------------------

    def records(self) -> Iterable[Mapping[str, Any]]:
        found, self._records = self._records, []
        return found

    def unsaved(self, last: bool) -> Mapping[str, bytes]:
        encode = msgspec.msgpack.encode
        numbers = self._steps, self._jumps, self._weights, self._squares
        pages = {_NODE + url: encode(node) for url, node in self._graph.unsaved()}
        return {**pages, "walkers": encode(self._walkers), "numbers": encode(numbers)}

    def restore(self, saved: Mapping[str, bytes]) -> None:
        decode = msgspec.msgpack.decode
        self._steps, self._jumps, self._weights, self._squares = decode(
            saved["numbers"], type=tuple[int, int, float, float]
        )
        self._random.seed(f"{self._seed} {self._steps}")
        self._graph.restore(
            (name[len(_NODE) :], decode(value, type=tuple[int, list[str]]))
            for name, value in saved.items()
            if name.startswith(_NODE)
        )
        kept = decode(saved["walkers"], type=list[_Walker])
        self._walkers[: len(kept)] = kept[: len(self._walkers)]
        for walker in self._walkers:
            walker.at = walker.at if walker.at in self._graph else ""
            if walker.waits_for:
                self._waiting.setdefault(walker.waits_for, []).append(walker)

    def figures(self) -> Mapping[str, float]:
        effective = self._weights * self._weights / self._squares if self._squares else 0.0
        return {
            "steps": self._steps,
            "jumps": self._jumps,
            "pages_met": len(self._graph),
            "effective_sample": round(effective, 1),
        }
