"""The strategy of a crawl at work: asked once a page, kept with the commit, and left when it fails."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, TypeVar

import msgspec

from gossamer.agent.parts import whole_of
from gossamer.agent.patience import LONGEST_RESULT, Patience, TookTooLong, place_of
from gossamer.agent.progress import Progress
from gossamer.frontier import Frontier
from gossamer.graph import RankReader
from gossamer.model import Page, Visit
from gossamer.model.url import normalize
from gossamer.rules.policy import USUAL_PRIORITY
from gossamer.rules.strategy import Anchor, PageWords, SeenPage, Strategy

_KEPT: Final = "strategy:"  # before the names of what it keeps, in the frontier's notes
_WRITTEN: Final = "strategy-written"  # how much of its file is part of the commit
_BEGUN: Final = "strategy-begun"  # hosts, where only so many are visited at a time
_PRIORITIES: Final = frozenset(range(10))
_NONE: Final = msgspec.msgpack.encode([])
_MOST_REQUESTS: Final = 2_000  # at a time
_MOST_RECORDS: Final = 10_000
_MOST_FIGURES: Final = 20
_MOST_RESULTS: Final = 10_000_000
_MOST_KEPT: Final = 64 << 20  # bytes at a time


T = TypeVar("T")


class Ordered(NamedTuple):
    """Links by priority, those that are dropped left out; and in how many seconds to come again, if that is said."""

    links: Mapping[int, list[str]]
    again: float | None = None


class StrategyFailure(Exception):
    """What a strategy gave is not what it is to give; or, with a cause, what it raised looks like a failure of ours."""


_FAILURES: Final = (Exception, TookTooLong, SystemExit)


class Ordering:
    """Invariant: whatever a strategy does, links go into the frontier; one that failed is not asked again."""

    def __init__(
        self,
        strategy: Strategy,
        name: str,
        frontier: Frontier,
        directory: Path,
        notice: Callable[[str], None],
        patience: Patience,
    ) -> None:
        self.name = name
        self.error = ""
        self._strategy: Strategy | None = strategy
        self._frontier = frontier
        self._notice = notice
        self._patience = patience
        self._figures: dict[str, float] = {}
        self._prefix = f"{_KEPT}{name}:"
        self._comes_again = type(strategy).again is not Strategy.again
        self._gives_results = type(strategy).results is not Strategy.results
        self._results = directory / f"{_file_name(name)}-results.jsonl"
        self._file = _Lines(directory / f"{_file_name(name)}.jsonl", self._written())
        self._ranks = RankReader.of(whole_of(directory.parent))
        saved = {
            key: value
            for key in frontier.meta_names(self._prefix)
            if (value := frontier.meta(self._prefix + key)) is not None
        }
        with self._guard():
            if self._ranks is not None:
                strategy.ranked = _in_means(self._ranks)
            if saved:
                self._asked("restore", "", strategy.restore, saved)
            frontier.raises = bool(strategy.raises)
            frontier.in_order = True
            frontier.schedule.sites = strategy.hosts_at_once
            self._begun = msgspec.msgpack.decode(frontier.meta(_BEGUN) or _NONE, type=list[str])
            if strategy.hosts_at_once:
                frontier.go_on_with(self._begun[: strategy.hosts_at_once])

    def order(self, visit: Visit, page: Page, links: list[str]) -> Ordered:
        with self._guard():
            if self._strategy is not None:
                seen = SeenPage(visit, page, links, _read)
                priorities = self._asked("order", page.url, self._strategy.order, seen)
                ordered = Ordered(_by_priority(links, priorities), self._again(seen))
                if self._strategy.asks:
                    self.ask(page.fetched_at)
                return ordered
        return Ordered({USUAL_PRIORITY: links} if links else {})

    def _again(self, seen: SeenPage) -> float | None:
        if not self._comes_again or self._strategy is None:
            return None
        seconds = self._asked("again", seen.url, self._strategy.again, seen)
        if seconds is not None and not (math.isfinite(seconds) and seconds >= 0):
            raise StrategyFailure(f"again() gave {seconds!r} for {seen.url}, which is no number of seconds")
        return seconds

    def ask(self, now: float, idle: bool = False) -> bool:
        """Queue what the strategy asks for; whether that is something."""
        asked = False
        with self._guard():
            if self._strategy is not None:
                strategy = self._strategy
                awaited = self._asked("awaited", "", lambda: list(islice(strategy.awaited(), _MOST_REQUESTS)))
                for url in filter(self._frontier.is_settled, awaited):
                    self._asked("missed", url, strategy.missed, url, now)
                picks = self._asked("requests", "", lambda: list(islice(strategy.requests(now, idle), _MOST_REQUESTS)))
                for pick in picks:
                    wanted = normalize(pick.url)
                    if wanted is None or pick.priority not in _PRIORITIES:
                        raise StrategyFailure(f"{pick!r} is no URL that can be visited with a priority of 0 to 9")
                    self._frontier.ask(wanted, max(1, pick.depth), pick.priority, strategy.raises)
                    asked = True
        return asked and not (idle and self._frontier.exhausted)

    def unsaved(self, last: bool) -> dict[str, bytes]:
        """What the commit must hold; the lines that the strategy has written are on disk when this returns."""
        with self._guard():
            if self._strategy is not None:
                strategy = self._strategy
                if last and self._gives_results:
                    self._write_results(strategy)
                kept = self._asked("unsaved", "", strategy.unsaved, last)
                if sum(map(len, kept.values())) > _MOST_KEPT:
                    raise StrategyFailure(f"unsaved() gave more than {_MOST_KEPT >> 20} MB for one commit")
                self._figures = self._asked("figures", "", lambda: _numbers(strategy.figures()))
                self._file.append(self._asked("records", "", lambda: list(islice(strategy.records(), _MOST_RECORDS))))
                notes = {self._prefix + key: bytes(value) for key, value in kept.items()}
                written = msgspec.msgpack.encode((self.name, self._file.size))
                return {**notes, **self._sites(), _WRITTEN: written}
        return {}

    def _sites(self) -> dict[str, bytes]:
        """The hosts that are begun, if these are others than the last commit has."""
        begun = self._frontier.schedule.begun
        if begun == self._begun:
            return {}
        self._begun = begun
        return {_BEGUN: msgspec.msgpack.encode(begun)}

    def _written(self) -> int:
        stored = self._frontier.meta(_WRITTEN)
        name, size = ("", 0) if stored is None else msgspec.msgpack.decode(stored, type=tuple[str, int])
        return size if name == self.name else 0

    def fill(self, progress: Progress) -> None:
        progress.strategy, progress.strategy_error = self.name, self.error
        progress.strategy_figures = self._figures

    def close(self) -> None:
        self._patience.close()
        self._file.close()
        if self._ranks is not None:
            self._ranks.close()

    # -- asking it ---------------------------------------------------------------------------------------------------

    def _asked(self, what: str, about: str, call: Callable[..., T], *given: Any) -> T:
        """What the strategy says. A file that it does not find is its failure; one that we cannot write is not."""
        try:
            return self._patience.ask(what, about, call, *given)
        except OSError as error:
            raise StrategyFailure from error

    def _write_results(self, strategy: Strategy) -> None:
        def results() -> Iterable[Mapping[str, Any]]:
            try:
                yield from strategy.results()
            except OSError as error:
                raise StrategyFailure from error

        self._patience.ask("results", "", lambda: _write(self._results, results()), longest=LONGEST_RESULT)

    # -- one that fails ----------------------------------------------------------------------------------------------

    def _guard(self) -> Ordering:
        return self

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> bool:
        if error is None or not isinstance(error, _FAILURES) or isinstance(error, OSError):
            return False  # a disk that is full is no fault of the strategy's
        self._patience.rest()
        cause = error.__cause__
        if isinstance(error, StrategyFailure) and cause is not None:
            error, trace = cause, cause.__traceback__
        place = place_of(trace)
        self.error = f"{type(error).__name__}: {error}"[:500]
        self._strategy = None
        self._frontier.in_order = self._frontier.raises = False
        self._frontier.schedule.sites = 0
        self._notice(
            f"the strategy {self.name} has failed and is stopped: {self.error} ({Path(place.filename).name}, line"
            f" {place.lineno}). The crawl goes on breadth-first; the next run tries the strategy again"
        )
        return True


def _in_means(ranks: RankReader) -> Callable[[str], float | None]:
    mean = ranks.mean()

    def ranked(url: str) -> float | None:
        score = ranks.score(url)
        return None if score is None else score / mean

    return ranked


class _Lines:
    """A file of JSON lines. Invariant: what lies beyond the commit is cut off when it is opened."""

    def __init__(self, path: Path, size: int) -> None:
        self._path = path
        self._file: IO[bytes] | None = None
        self.size = size
        if path.exists():
            os.truncate(path, min(size, path.stat().st_size))
            self.size = path.stat().st_size

    def append(self, records: Any) -> None:
        encode = msgspec.json.encode
        lines = b"".join([encode(record) + b"\n" for record in records])
        if not lines:
            return
        if self._file is None:
            self._path.parent.mkdir(exist_ok=True)
            self._file = open(self._path, "ab")  # noqa: SIM115 - closed with the crawl
        self._file.write(lines)
        self._file.flush()
        os.fdatasync(self._file.fileno())
        self.size += len(lines)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def _write(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Whole or not at all."""
    path.parent.mkdir(exist_ok=True)
    fresh = path.with_suffix(".new")
    with open(fresh, "wb") as file:
        for record in islice(records, _MOST_RESULTS):
            file.write(msgspec.json.encode(record) + b"\n")
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


def _by_priority(links: list[str], priorities: Any) -> dict[int, list[str]]:
    if len(priorities) != len(links):
        raise StrategyFailure(f"order() gave {len(priorities)} priorities for {len(links)} links")
    found: dict[int, list[str]] = {}
    for link, priority in zip(links, priorities, strict=True):
        if priority is None:
            continue
        if priority not in _PRIORITIES:
            raise StrategyFailure(f"order() gave {priority!r}, which is no priority of 0 to 9, nor None")
        chosen = found.get(priority)
        if chosen is None:
            found[priority] = [link]
        else:
            chosen.append(link)
    return found


def _numbers(figures: Mapping[str, float]) -> dict[str, float]:
    return {
        str(name)[:50]: value if isinstance(value, int) else float(value)
        for name, value in islice(figures.items(), _MOST_FIGURES)
    }


def _read(page: Page) -> PageWords:
    from gossamer.parse.anchors import words_of  # loaded by the first strategy that asks: it takes 30 ms

    title, text, anchors = words_of(page.body, page.url, page.content_type)
    return PageWords(title, text, {url: Anchor(*said) for url, said in anchors.items()})


def _file_name(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name)[:100]
