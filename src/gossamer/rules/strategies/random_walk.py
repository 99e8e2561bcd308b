"""A sample of the web: walkers that follow links at random, and jump now and then.

What walkers meet is far from uniform: a page comes the sooner the more links lead to it. So each page that was met
counts as one divided by how likely it was to be met (`met.py`), as in samples of people who are hard to find.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random
from typing import Any, ClassVar, Final

import msgspec

from gossamer.config.kinds import Decimal, Whole
from gossamer.model.url import host_of
from gossamer.rules.strategies.met import Met, MetPage
from gossamer.rules.strategy import Pick, SeenPage, Strategy, StrategyOption

_FIRST: Final = 1  # priority: what a walker waits for comes before all else
_PATIENCE: Final = 60.0  # seconds that a walker waits for a page
_IN_MEMORY: Final = 1_000  # steps over known pages at a time
_PAGE, _ELSEWHERE = "page ", "elsewhere "  # before the URL, in what is kept


class _Walker(msgspec.Struct):
    at: str = ""  # a page that was met; empty: none yet
    waits_for: str = ""
    since: float = 0.0


class RandomWalk(Strategy):
    """Invariants: only what a walker waits for is queued; no more pages are met than `pages`, and the walk ends when
    there are so many, or after `steps`.
    """

    options: ClassVar = {
        "walkers": StrategyOption(Whole(1, 10_000), 16, "Walkers, independent of each other."),
        "jump": StrategyOption(
            Decimal(0, 1), 0.15, "How likely a walker is to jump to a page that was met, instead of following a link."
        ),
        "steps": StrategyOption(Whole(1), 1_000_000, "Steps of all walkers after which the walk ends."),
        "pages": StrategyOption(Whole(1, 1_000_000), 20_000, "Pages that were met when the walk ends."),
        "links": StrategyOption(Whole(1, 10_000), 64, "Links of a page that are remembered, chosen at random."),
        "seed": StrategyOption(Whole(0), 1, "The same seed makes the same choices where the web answers the same."),
    }

    def __init__(
        self,
        walkers: int = 16,
        jump: float = 0.15,
        steps: int = 1_000_000,
        pages: int = 20_000,
        links: int = 64,
        seed: int = 1,
    ) -> None:
        self._jump = jump
        self._most_steps = steps
        self._most_pages = pages
        self._seed = seed
        self._random = Random(seed)  # noqa: S311 - a sample, no secret
        self._met = Met(links, self._random)
        self._walkers = [_Walker() for _ in range(walkers)]
        self._waiting: dict[str, list[_Walker]] = {}
        self._requests: list[Pick] = []
        self._steps = self._jumps = 0
        self._estimate = 0.0

    @property
    def asks(self) -> bool:  # type: ignore[override]
        """A walker wants to go on."""
        return bool(self._requests)

    @property
    def _ended(self) -> bool:
        return self._steps >= self._most_steps or len(self._met) >= self._most_pages

    # -- pages that come ---------------------------------------------------------------------------------------------

    def order(self, page: SeenPage) -> list[int | None]:
        url, now = page.url, page.fetched_at
        if page.redirects and page.links:
            return self._redirected(url, page.links[0], page.depth, now)
        here = self._waiting.pop(url, [])
        if not page.ok:
            self._give_up(url, here, now)
        elif not page.again:
            self._met.meet(url, page.links, page.depth)
            for walker in here:
                walker.waits_for = ""
                self._follow_to(walker, url)
                self._go_on(walker, now)
            for walker in self._walkers:
                if not walker.at and not walker.waits_for:
                    self._go_on(walker, now)
        return [None] * len(page.links)  # walkers ask for what they want

    def _redirected(self, url: str, target: str, depth: int, now: float) -> list[int | None]:
        here = self._waiting.pop(url, [])
        self._met.moved(url, target)
        unknown = target not in self._met
        for walker in here:
            if unknown:
                self._wait(walker, target, now)
            else:
                walker.waits_for = ""
                self._follow_to(walker, target)
                self._go_on(walker, now)
        return [_FIRST if unknown and (here or not depth) else None]

    def _give_up(self, url: str, here: list[_Walker], now: float) -> None:
        """There is no such page: no link leads there."""
        self._met.moved(url, "")
        for walker in here:
            walker.waits_for = ""
            self._go_on(walker, now)

    # -- walkers -----------------------------------------------------------------------------------------------------

    def _go_on(self, walker: _Walker, now: float) -> None:
        """Over pages that were met, until it needs one that was not."""
        random, met = self._random, self._met
        for _ in range(_IN_MEMORY):
            if self._ended or not len(met):
                return
            links = met.links(walker.at) if walker.at else []
            if not links or random.random() < self._jump:
                self._jumps += bool(walker.at)
                self._steps += 1
                walker.at = met.any(random)
                continue
            target = random.choice(links)
            if target not in met:
                if target not in self._waiting and len(met) + len(self._waiting) >= self._most_pages:
                    return  # as many as there may be are on their way
                self._wait(walker, target, now)
                self._requests.append(Pick(target, _FIRST, met.depth(walker.at) + 1))
                return
            self._follow_to(walker, target)

    def _wait(self, walker: _Walker, url: str, now: float) -> None:
        walker.waits_for, walker.since = url, now
        self._waiting.setdefault(url, []).append(walker)

    def _follow_to(self, walker: _Walker, url: str) -> None:
        walker.at = url
        if self._steps < self._most_steps:
            self._steps += 1
            self._met.arrived(url)

    def awaited(self) -> Iterable[str]:
        return self._waiting

    def missed(self, url: str, now: float) -> None:
        self._give_up(url, self._waiting.pop(url, []), now)

    def requests(self, now: float, idle: bool) -> Iterable[Pick]:
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

    def results(self) -> Iterable[Mapping[str, Any]]:
        sample = self._met.sample()
        self._estimate = sum(page.weight for page in sample)
        return [
            {
                "url": page.url,
                "host": host_of(page.url),
                "visits": page.visits,
                "in_links": page.in_links,
                "weight": round(page.weight, 6),
            }
            for page in sample
        ]

    def unsaved(self, last: bool) -> Mapping[str, bytes]:
        encode = msgspec.msgpack.encode
        pages, moved = self._met.unsaved()
        return {
            **{_PAGE + url: encode(page) for url, page in pages.items()},
            **{_ELSEWHERE + url: target.encode() for url, target in moved.items()},
            "walkers": encode(self._walkers),
            "numbers": encode((self._steps, self._jumps, self._estimate)),
        }

    def restore(self, saved: Mapping[str, bytes]) -> None:
        decode = msgspec.msgpack.decode
        self._steps, self._jumps, self._estimate = decode(saved["numbers"], type=tuple[int, int, float])
        self._random.seed(f"{self._seed} {self._steps}")
        for name, value in saved.items():
            if name.startswith(_PAGE):
                self._met.take(name[len(_PAGE) :], decode(value, type=MetPage))
            elif name.startswith(_ELSEWHERE):
                self._met.take_moved(name[len(_ELSEWHERE) :], value.decode())
        kept = decode(saved["walkers"], type=list[_Walker])
        self._walkers[: len(kept)] = kept[: len(self._walkers)]
        for walker in self._walkers:
            walker.at = walker.at if walker.at in self._met else ""
            if walker.waits_for:
                self._waiting.setdefault(walker.waits_for, []).append(walker)

    def figures(self) -> Mapping[str, float]:
        found = {"steps": self._steps, "jumps": self._jumps, "pages_met": len(self._met)}
        return {**found, "pages_estimated": round(self._estimate)} if self._estimate else found
